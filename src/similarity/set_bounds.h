/* Bounds that a similarity threshold gives to joins of sets, in integers (Xiao et al. 2008,
 * sections 2.2 and 6).
 *
 * Every bound is exact: thresholds are fractions, products have 128 bits, and floating point
 * decides nothing.  In a pair y is the smaller record (|y| <= |x|).
 *
 *                overlap needed        smallest |y|   prefix that probes   prefix indexed
 *   jaccard      t/(1+t) (|x|+|y|)     t|x|           |x| - t|x| + 1       |y| - 2t/(1+t)|y| + 1
 *   cosine       t sqrt(|x||y|)        t²|x|          |x| - t²|x| + 1      |y| - t|y| + 1
 *   overlap      t                     t              |x| - t + 1          |y| - t + 1
 *   containment  t|y|                  1              |x|                  |y| - t|y| + 1
 *
 * (fractions rounded up).  A similarity states the overlap needed.  If that is linear in the sizes,
 * everything else follows from it; if not (cosine), the similarity states the rest too. */
#ifndef ND_SIMILARITY_SET_BOUNDS_H
#define ND_SIMILARITY_SET_BOUNDS_H

#include <stdbool.h>

#include "base/cpu.h"
#include "neardup/status.h"

struct nd_similarity;
typedef struct nd_set_bounds nd_set_bounds;

/* Bounds that are not linear; see nd_set_needed, nd_set_min_size and nd_set_max_size. */
typedef struct nd_set_curve {
  uint64_t (*needed)(const nd_set_bounds *b, uint64_t x, uint64_t y);
  uint64_t (*min_size)(const nd_set_bounds *b, uint64_t x);
  uint64_t (*max_size)(const nd_set_bounds *b, uint64_t x, uint64_t rest);
} nd_set_curve;

struct nd_set_bounds {
  uint64_t num, den; /* the threshold */
  /* The overlap needed is (per_x |x| + per_y |y| + fixed) / unit, rounded up.  per_y < unit, or
   * per_x and fixed are 0.  With sizes below 2^31 no sum may reach 2^64. */
  uint64_t per_x, per_y, fixed, unit;
  const nd_set_curve *curve; /* instead of those; NULL: linear */
  /* The Hamming distance allowed between x and y is at most
   * slope_x |x| + slope_y |y| - base, in units of 2^-32 rounded up. */
  int64_t slope_x, slope_y, base;
};

/* num/den is in (0, 1], both below 2^32; of a similarity that counts: num >= 1 and den 1. */
nd_status nd_set_bounds_init(nd_set_bounds *out, const struct nd_similarity *similarity,
                             uint64_t num, uint64_t den, nd_error *err) ND_MUST_CHECK;

/* a * 2^32 / b rounded up, for signed a. */
int64_t nd_set_slope(__int128 a, __int128 b);

ND_INLINE uint64_t nd_set_ceil(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

/* Returns the common tokens that records of sizes x >= y need; more than y: never similar. */
ND_INLINE uint64_t nd_set_needed(const nd_set_bounds *b, uint64_t x, uint64_t y) {
  if (ND_UNLIKELY(b->curve != NULL)) return b->curve->needed(b, x, y);
  const uint64_t units = b->per_x * x + b->per_y * y + b->fixed;
  return b->unit == 1 ? units : nd_set_ceil(units, b->unit);
}

/* Returns the smallest size y <= x of a record that can be similar to one of size x. */
uint64_t nd_set_min_size(const nd_set_bounds *b, uint64_t x);

/* Returns the largest size y <= x that needs at most `rest` common tokens; 0: none. */
uint64_t nd_set_max_size(const nd_set_bounds *b, uint64_t x, uint64_t rest);

/* Return the number of leading tokens of a record that probe, and that are indexed. */
uint64_t nd_set_probe_prefix(const nd_set_bounds *b, uint64_t size);
uint64_t nd_set_index_prefix(const nd_set_bounds *b, uint64_t size);

#endif
