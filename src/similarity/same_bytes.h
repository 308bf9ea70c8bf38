/* Comparison of two texts, eight bytes at a time.  Both must be readable for ND_SLACK bytes more.
 */
#ifndef ND_SIMILARITY_SAME_BYTES_H
#define ND_SIMILARITY_SAME_BYTES_H

#include "base/hash.h"

/* Tests whether n bytes are equal; short ones without a call. */
ND_INLINE bool nd_same_bytes(const char *p, const char *q, size_t n) {
  for (; n > 8; p += 8, q += 8, n -= 8)
    if (nd_load64(p) != nd_load64(q)) return false;
  return ((nd_load64(p) ^ nd_load64(q)) & nd_hash_masks[n][0]) == 0;
}

/* Returns the length of the common prefix. */
ND_INLINE size_t nd_equal_front(const char *p, const char *q, size_t n) {
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    uint64_t a = nd_load64(p + i) ^ nd_load64(q + i);
    uint64_t b = nd_load64(p + i + 8) ^ nd_load64(q + i + 8);
    uint64_t c = nd_load64(p + i + 16) ^ nd_load64(q + i + 16);
    uint64_t d = nd_load64(p + i + 24) ^ nd_load64(q + i + 24);
    if (a | b | c | d) break;
  }
  for (; i + 8 <= n; i += 8) {
    uint64_t x = nd_load64(p + i) ^ nd_load64(q + i);
    if (x) return i + (size_t)(__builtin_ctzll(x) >> 3);
  }
  while (i < n && p[i] == q[i]) i++;
  return i;
}

#endif
