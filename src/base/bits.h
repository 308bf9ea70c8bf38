/* Differing and common bits of two bit vectors. */
#ifndef ND_BASE_BITS_H
#define ND_BASE_BITS_H

#include <stdint.h>

#include "base/cpu.h"

/* Bits that differ in `words` words. */
uint32_t nd_bits_differ(const uint64_t *a, const uint64_t *b, uint32_t words);

/* Bits that are set in both. */
uint32_t nd_bits_common(const uint64_t *a, const uint64_t *b, uint32_t words);

/* Differing bits as a function of one CPU level, which must be one that runs here. */
typedef uint32_t (*nd_bits_differ_fn)(const uint64_t *a, const uint64_t *b, uint32_t words);
nd_bits_differ_fn nd_bits_differ_best(nd_cpu_level level);

/* Bits set, without an instruction for it. */
ND_INLINE uint32_t nd_bits_count(uint64_t x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (uint32_t)(x * 0x0101010101010101u >> 56);
}

#endif
