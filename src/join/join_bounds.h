/* What a similarity threshold means in whole numbers (Xiao et al. 2008, sections
 * 2.2 and 6).
 *
 * Every bound is exact: thresholds are fractions, products are 128 bits wide, no
 * floating point decides anything.  In a pair y is the smaller record (|y| <= |x|).
 *
 *                overlap needed        smallest |y|   prefix that probes   prefix indexed
 *   jaccard      t/(1+t) (|x|+|y|)     t|x|           |x| - t|x| + 1       |y| - 2t/(1+t)|y| + 1
 *   cosine       t sqrt(|x||y|)        t²|x|          |x| - t²|x| + 1      |y| - t|y| + 1
 *   overlap      t                     t              |x| - t + 1          |y| - t + 1
 *   containment  t|y|                  1              |x|                  |y| - t|y| + 1
 *
 * (fractions rounded up). */
#ifndef ND_JOIN_JOIN_BOUNDS_H
#define ND_JOIN_JOIN_BOUNDS_H

#include <stdbool.h>

#include "base/cpu.h"
#include "neardup/status.h"

typedef enum nd_join_similarity {
  ND_JOIN_JACCARD,
  ND_JOIN_COSINE,
  ND_JOIN_OVERLAP,     /* the number of common tokens */
  ND_JOIN_CONTAINMENT, /* the share of the smaller record that the larger one holds */
} nd_join_similarity;

typedef struct nd_join_bounds {
  nd_join_similarity similarity;
  uint64_t num, den; /* the threshold; overlap: num, and den is 1 */
  /* The Hamming distance allowed between x and y is at most
   * slope_x |x| + slope_y |y| - base, in units of 2^-32 rounded up. */
  int64_t slope_x, slope_y, base;
} nd_join_bounds;

/* num/den is in (0, 1], both below 2^32; overlap: num >= 1 and den 1. */
nd_status nd_join_bounds_init(nd_join_bounds *out, nd_join_similarity similarity, uint64_t num,
                              uint64_t den, nd_error *err) ND_MUST_CHECK;

/* Common tokens that records of these sizes need; more than y: never similar. */
uint64_t nd_join_overlap_cosine(const nd_join_bounds *b, uint64_t x, uint64_t y);

ND_INLINE uint64_t nd_join_ceil(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

ND_INLINE uint64_t nd_join_overlap(const nd_join_bounds *b, uint64_t x, uint64_t y) {
  switch (b->similarity) {
    /* num < 2^32 and sizes < 2^31, so the product fits. */
    case ND_JOIN_JACCARD: return nd_join_ceil(b->num * (x + y), b->num + b->den);
    case ND_JOIN_COSINE: return nd_join_overlap_cosine(b, x, y);
    case ND_JOIN_CONTAINMENT: return nd_join_ceil(b->num * (x < y ? x : y), b->den);
    case ND_JOIN_OVERLAP: break;
  }
  return b->num;
}

/* The smallest size of a record that can be similar to one of size x >= it. */
uint64_t nd_join_min_size(const nd_join_bounds *b, uint64_t x);

/* The largest size y <= x that needs no more than `rest` common tokens (0: none). */
uint64_t nd_join_max_size(const nd_join_bounds *b, uint64_t x, uint64_t rest);

/* How many leading tokens of a record of this size probe, and how many are indexed. */
uint64_t nd_join_probe_prefix(const nd_join_bounds *b, uint64_t size);
uint64_t nd_join_index_prefix(const nd_join_bounds *b, uint64_t size);

#endif
