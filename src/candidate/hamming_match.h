/* The innermost loop: finds the 64-bit vectors within a distance of one vector.  One kernel per
 * SIMD level, all with the same result. */
#ifndef ND_CANDIDATE_HAMMING_MATCH_H
#define ND_CANDIDATE_HAMMING_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* Writes the indices of the vectors v[0 .. n) that differ from x in at most `distance` bits,
 * ascending; returns their number.  hit has room for n + 8. */
typedef size_t (*nd_match)(uint32_t *hit, const uint64_t *v, size_t n, uint64_t x,
                           uint32_t distance);

/* Returns the *n kernels that this machine can run, slowest first. */
const nd_match *nd_match_kernels(size_t *n);

/* Returns the kernel for nd_cpu(). */
nd_match nd_match_best(void);

#endif
