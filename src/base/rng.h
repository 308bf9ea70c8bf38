/* A small, fast, seedable random generator (splitmix64) for tests and sampling. */
#ifndef ND_BASE_RNG_H
#define ND_BASE_RNG_H

#include "base/hash.h"

typedef struct nd_rng {
  uint64_t state;
} nd_rng;

ND_INLINE uint64_t nd_rng_next(nd_rng *r) {
  r->state += 0x9e3779b97f4a7c15u;
  return nd_mix(r->state);
}

/* Uniform in [0, n). */
ND_INLINE uint64_t nd_rng_below(nd_rng *r, uint64_t n) {
  return (uint64_t)(((unsigned __int128)nd_rng_next(r) * n) >> 64);
}

ND_INLINE double nd_rng_unit(nd_rng *r) {
  return (double)(nd_rng_next(r) >> 11) * 0x1p-53;
}

#endif
