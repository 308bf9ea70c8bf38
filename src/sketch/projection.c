/* Random projections; see projection.h. */
#include "sketch/projection.h"

#include "base/hash.h"

nd_status nd_projection_init(nd_projection *p, uint32_t bits, uint64_t seed, nd_error *err) {
  *p = (nd_projection){.bits = bits, .words = bits / 64};
  if (bits < 64 || bits > ND_PROJECTION_MAX || bits % 64 != 0)
    return nd_fail(err, ND_ERR_USAGE, "%u bits: the number must be a multiple of 64 from 64 to %d",
                   bits, ND_PROJECTION_MAX);
  for (uint32_t w = 0; w < p->words; w++) p->key[w] = nd_mix(nd_mix(seed ^ 0x70726f6au) + w);
  return ND_OK;
}

void nd_projection_sketch_level(uint64_t *out, const nd_projection *p, const uint64_t *fingerprint,
                                size_t n, nd_cpu_level level) {
  (void)level;
  for (uint32_t w = 0; w < p->words; w++) {
    uint32_t ones[64] = {0};
    for (size_t i = 0; i < n; i++) {
      uint64_t h = nd_mix(fingerprint[i] + p->key[w]);
      for (int b = 0; b < 64; b++) ones[b] += h >> b & 1;
    }
    out[w] = 0;
    for (int b = 0; b < 64; b++) out[w] |= (uint64_t)(ones[b] > n / 2) << b;
  }
}

void nd_projection_sketch(uint64_t *out, const nd_projection *p, const uint64_t *fingerprint,
                          size_t n) {
  nd_projection_sketch_level(out, p, fingerprint, n, nd_cpu());
}

uint32_t nd_projection_agree(const uint64_t *a, const uint64_t *b, uint32_t words) {
  uint32_t differ = 0;
  for (uint32_t w = 0; w < words; w++) differ += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
  return 64 * words - differ;
}
