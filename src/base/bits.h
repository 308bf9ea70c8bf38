/* Population counts over two bit vectors: differing and common bits. */
#ifndef ND_BASE_BITS_H
#define ND_BASE_BITS_H

#include <stdint.h>

#include "base/cpu.h"

/* Returns the number of bits that differ in two vectors of `words` words. */
uint32_t nd_bits_differ(const uint64_t *a, const uint64_t *b, uint32_t words);

/* Returns the number of bits that are set in both vectors. */
uint32_t nd_bits_common(const uint64_t *a, const uint64_t *b, uint32_t words);

/* Returns the nd_bits_differ for one CPU level, which must be supported by this CPU. */
typedef uint32_t (*nd_bits_differ_fn)(const uint64_t *a, const uint64_t *b, uint32_t words);
nd_bits_differ_fn nd_bits_differ_best(nd_cpu_level level);

/* Portable population count. */
ND_INLINE uint32_t nd_bits_count(uint64_t x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (uint32_t)(x * 0x0101010101010101u >> 56);
}

#endif
