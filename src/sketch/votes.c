/* Sums of votes; see votes.h. */
#include "sketch/votes.h"

#include "base/hash.h"

void nd_votes_count(int64_t *sums, const uint64_t *key, uint32_t words, const uint64_t *fingerprint,
                    size_t n) {
  for (uint32_t w = 0; w < words; w++) {
    int64_t ones[64] = {0};
    for (size_t i = 0; i < n; i++) {
      uint64_t votes = nd_mix(fingerprint[i] + key[w]);
      for (unsigned b = 0; b < 64; b++) ones[b] += (int64_t)(votes >> b & 1);
    }
    for (unsigned b = 0; b < 64; b++) sums[64 * w + b] += 2 * ones[b] - (int64_t)n;
  }
}
