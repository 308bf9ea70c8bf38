/* The long way of hashing bytes, and the masks of the short one. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ONES(n) ((n) == 0 ? 0 : UINT64_MAX >> (64 - 8 * (n)))
#define LOW(n) \
  { ONES(n), 0 }
#define HIGH(n) \
  { UINT64_MAX, ONES((n)-8) }

const uint64_t nd_hash_masks[17][2] = {
    {0, 0},  LOW(1),   LOW(2),   LOW(3),   LOW(4),   LOW(5),   LOW(6),   LOW(7),  {UINT64_MAX, 0},
    HIGH(9), HIGH(10), HIGH(11), HIGH(12), HIGH(13), HIGH(14), HIGH(15), HIGH(16)};

uint64_t nd_hash_long(const char *p, size_t n, nd_hash_key key) {
  return XXH3_64bits_withSeed(p, n, key.low ^ key.high);
}
