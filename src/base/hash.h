/* Hashing: 64-bit multiply-and-fold, seeded keys, short byte strings.
 *
 * A hash alone never decides a result: equal hashes generate candidates, and the verifier compares
 * bytes.  Loads are little-endian on every machine, so sketches are portable. */
#ifndef ND_BASE_HASH_H
#define ND_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

/* Returns the 128-bit product of a and b, folded to 64 bits. */
ND_INLINE uint64_t nd_fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A bijection with full avalanche (the finaliser of splitmix64). */
ND_INLINE uint64_t nd_mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

ND_INLINE uint64_t nd_load64(const void *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  x = __builtin_bswap64(x);
#endif
  return x;
}

/* Keys of one seed for nd_hash_bytes.  The top byte of each key is 0xFF, which does not occur in
 * UTF-8, so that no factor of the product is ever zero. */
typedef struct nd_hash_key {
  uint64_t low, high;
} nd_hash_key;

ND_INLINE nd_hash_key nd_hash_key_of(uint64_t seed) {
  nd_hash_key key = {nd_mix(seed + 0x9e3779b97f4a7c15u), nd_mix(seed + 0xd1b54a32d192ed03u)};
  key.low |= (uint64_t)0xff << 56;
  key.high |= (uint64_t)0xff << 56;
  return key;
}

uint64_t nd_hash_long(const char *p, size_t n, nd_hash_key key);

extern const uint64_t nd_hash_masks[17][2];

/* Hashes n bytes at p; 16 bytes from p on must be readable. */
ND_INLINE uint64_t nd_hash_bytes(const char *p, size_t n, nd_hash_key key) {
  if (ND_UNLIKELY(n > 16)) return nd_hash_long(p, n, key);
  uint64_t low = nd_load64(p) & nd_hash_masks[n][0];
  uint64_t high = nd_load64(p + 8) & nd_hash_masks[n][1];
  return nd_fold(low ^ key.low, (high ^ key.high) + n);
}

/* Returns a number that differs from run to run, for in-memory tables whose order does not show in
 * results: nobody can craft input that falls into one slot. */
uint64_t nd_hash_secret(void);

/* Hashes a key for a table, whose layout the salt makes unpredictable. */
ND_INLINE uint64_t nd_hash_salted(uint64_t key, uint64_t salt) {
  return nd_fold(key ^ salt, 0x9fb21c651e98df25u);
}

/* Maps a key to one of `slots` slots (a power of two). */
ND_INLINE size_t nd_hash_slot(uint64_t key, uint64_t secret, size_t slots) {
  return (size_t)nd_hash_salted(key, secret) & (slots - 1);
}

#endif
