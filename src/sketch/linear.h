/* MinHash values of k linear functions h(x) = (A x + B) mod p, the classic sketch
 * (Broder et al.; Williams and Giles 2013, section 3.2, with k = 84).
 *
 * p = 2^61 - 1, A from 1 to p - 1, B from 0 to p - 1, products without
 * overflow.  x is the 64-bit fingerprint of a shingle modulo p.  A document of n
 * shingles costs k n steps; minhash.h is faster for the same estimate.
 *
 * x is itself random (a seeded hash), so over the choice of the seed each shingle of a set is
 * equally likely to have the smallest value, for any A and B, and the probability that a
 * position agrees is exactly the resemblance. */
#ifndef ND_SKETCH_LINEAR_H
#define ND_SKETCH_LINEAR_H

#include "base/cpu.h"
#include "base/mem.h"

#define ND_LINEAR_PRIME ((UINT64_C(1) << 61) - 1)

typedef struct nd_linear {
  uint32_t k, padded; /* padded: a multiple of 8 */
  uint64_t *a, *b;    /* `padded` of each */
  uint64_t *least;    /* scratch */
} nd_linear;

nd_status nd_linear_init(nd_linear *l, uint32_t k, uint64_t seed, nd_error *err) ND_MUST_CHECK;
void nd_linear_clear(nd_linear *l);

/* Writes k values below p to `out`, or UINT64_MAX if there are no shingles. */
void nd_linear_sketch(uint64_t *out, const nd_linear *l, const uint64_t *fingerprint, size_t n);

/* For tests: uses a given CPU level, which must be supported. */
void nd_linear_sketch_level(uint64_t *out, const nd_linear *l, const uint64_t *fingerprint,
                            size_t n, nd_cpu_level level);

#endif
