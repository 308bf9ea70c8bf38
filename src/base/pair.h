/* Two 32-bit numbers in one 64-bit word, so that pairs can be sorted by an integer sort.
 *
 *   pair      a << 32 | b                     ascends by a, then by b
 *   fraction  numerator << 32 | denominator   what is kept of a similarity */
#ifndef ND_BASE_PAIR_H
#define ND_BASE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

typedef struct nd_pair {
  uint32_t a, b;
} nd_pair;

ND_INLINE nd_pair nd_pair_of(uint64_t key) {
  return (nd_pair){(uint32_t)(key >> 32), (uint32_t)key};
}

ND_INLINE uint64_t nd_pair_key(uint32_t a, uint32_t b) {
  return (uint64_t)a << 32 | b;
}

/* Returns the key of the pair with the smaller number first. */
ND_INLINE uint64_t nd_pair_ascending(uint32_t a, uint32_t b) {
  return a < b ? nd_pair_key(a, b) : nd_pair_key(b, a);
}

typedef struct nd_fraction {
  uint32_t num, den;
} nd_fraction;

ND_INLINE nd_fraction nd_fraction_of(uint64_t value) {
  return (nd_fraction){(uint32_t)(value >> 32), (uint32_t)value};
}

ND_INLINE uint64_t nd_fraction_pack(uint32_t num, uint32_t den) {
  return (uint64_t)num << 32 | den;
}

/* Compares a/b with c/d as a*d with b*c: returns a number below, equal to or above 0. */
ND_INLINE int nd_fraction_compare(nd_fraction x, nd_fraction y) {
  const uint64_t left = (uint64_t)x.num * y.den, right = (uint64_t)y.num * x.den;
  return (left > right) - (left < right);
}

/* Returns x/y as a number; `none` if the denominator is 0. */
ND_INLINE double nd_fraction_real(nd_fraction x, double none) {
  return x.den ? (double)x.num / (double)x.den : none;
}

#endif
