/* Super-shingles: hashes of groups of MinHash values, which similar documents share (Broder et
 * al.; Fetterly et al.; Henzinger 2006, section 2, algorithm B: 84 MinHash values, 6
 * super-shingles of 14, similar at 2 of 6).
 *
 *   MinHash values   v0 … v13 | v14 … v27 | …   `values` of them
 *   super-shingle    s0    |    s1     | …      64 bits: a hash of its group
 *   mega-shingle  (s0,s1) (s0,s2) … (s4,s5)     64 bits: a hash of a pair
 *
 * Two documents of resemblance r agree in one super-shingle with probability
 * r^(values / supers).  Two that share a mega-shingle agree in at least two
 * super-shingles, so mega-shingles find exactly the pairs of "2 of n". */
#ifndef ND_SKETCH_SUPERSHINGLE_H
#define ND_SKETCH_SUPERSHINGLE_H

#include "base/mem.h"

enum { ND_SUPER_MAX = 64 };

/* Returns ND_ERR_USAGE unless 1 <= needed <= supers <= ND_SUPER_MAX and `values` is a
 * multiple of `supers`. */
nd_status nd_super_check(uint32_t values, uint32_t supers, uint32_t needed,
                         nd_error *err) ND_MUST_CHECK;

/* Writes the `supers` super-shingles of a vector of MinHash values: UINT64_MAX for a vector
 * without shingles (all UINT64_MAX), and only for that. */
void nd_super_make(uint64_t *super, const uint64_t *min, uint32_t values, uint32_t supers,
                   uint64_t seed);

/* Returns the number of positions in which two vectors of super-shingles agree: the B-similarity.
 * UINT64_MAX agrees with nothing. */
uint32_t nd_super_agree(const uint64_t *a, const uint64_t *b, uint32_t supers);

/* Returns the number of mega-shingles: supers (supers - 1) / 2. */
static inline uint32_t nd_mega_count(uint32_t supers) {
  return supers * (supers - 1) / 2;
}

/* Returns mega-shingle `index` in the order (0,1) (0,2) … (1,2) …, or UINT64_MAX for a vector
 * without shingles. */
uint64_t nd_mega(const uint64_t *super, uint32_t supers, uint32_t index);

/* Returns the probability that two documents of resemblance r agree in at least `needed`
 * of the super-shingles, if positions are independent. */
double nd_super_recall(double r, uint32_t values, uint32_t supers, uint32_t needed);

#endif
