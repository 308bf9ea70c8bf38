/* Which of many 64-bit vectors are within a distance of one: the innermost loop,
 * one kernel per SIMD level, all with the same result. */
#ifndef ND_CANDIDATE_HAMMING_MATCH_H
#define ND_CANDIDATE_HAMMING_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* Writes the places of the vectors v[0 .. n) that differ from x in at most
 * `distance` bits, rising; returns how many.  hit has n + 8 places. */
typedef size_t (*nd_match)(uint32_t *hit, const uint64_t *v, size_t n, uint64_t x,
                           uint32_t distance);

/* The kernels that this machine can run, slowest first; *n of them. */
const nd_match *nd_match_kernels(size_t *n);

/* The one that nd_cpu() asks for. */
nd_match nd_match_best(void);

#endif
