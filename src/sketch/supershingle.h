/* Super-shingles: min values in groups, so that similar documents meet in one
 * comparison (Broder et al.; Fetterly et al.; Henzinger 2006, section 2,
 * algorithm B: 84 min values, 6 super-shingles of 14, similar at 2 of 6).
 *
 *   min values    v0 … v13 | v14 … v27 | …      `values` of them
 *   super-shingle    s0    |    s1     | …      64 bits: a hash of its group
 *   mega-shingle  (s0,s1) (s0,s2) … (s4,s5)     64 bits: a hash of a pair
 *
 * Two documents of resemblance r agree in one super-shingle with probability
 * r^(values / supers).  Two that share a mega-shingle agree in at least two
 * super-shingles, so that mega-shingles find the pairs of "2 of n" with no false
 * ones among them. */
#ifndef ND_SKETCH_SUPERSHINGLE_H
#define ND_SKETCH_SUPERSHINGLE_H

#include "base/mem.h"

enum { ND_SUPER_MAX = 64 };

/* ND_ERR_USAGE unless 1 <= needed <= supers <= ND_SUPER_MAX and `values` is a
 * multiple of `supers`. */
nd_status nd_super_check(uint32_t values, uint32_t supers, uint32_t needed,
                         nd_error *err) ND_MUST_CHECK;

/* Writes `supers` super-shingles of a min-value vector.  One of no shingles (all
 * UINT64_MAX) has UINT64_MAX for each, and no other has. */
void nd_super_make(uint64_t *super, const uint64_t *min, uint32_t values, uint32_t supers,
                   uint64_t seed);

/* In how many places two vectors of super-shingles agree: the B-similarity.
 * UINT64_MAX agrees with nothing. */
uint32_t nd_super_agree(const uint64_t *a, const uint64_t *b, uint32_t supers);

/* The number of mega-shingles: supers (supers - 1) / 2. */
static inline uint32_t nd_mega_count(uint32_t supers) {
  return supers * (supers - 1) / 2;
}

/* Mega-shingle `index` in the order (0,1) (0,2) … (1,2) …; UINT64_MAX when the
 * vector is one of no shingles. */
uint64_t nd_mega(const uint64_t *super, uint32_t supers, uint32_t index);

/* The probability that two documents of resemblance r agree in at least `needed`
 * of the super-shingles, if positions are independent. */
double nd_super_recall(double r, uint32_t values, uint32_t supers, uint32_t needed);

#endif
