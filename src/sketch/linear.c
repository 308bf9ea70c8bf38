/* The linear family; see linear.h. */
#include "sketch/linear.h"

#include "base/hash.h"
#include "base/rng.h"

enum { LANES = 8 };

nd_status nd_linear_init(nd_linear *l, uint32_t k, uint64_t seed, nd_error *err) {
  *l = (nd_linear){.k = k, .padded = (k + LANES - 1) / LANES * LANES};
  size_t bytes = 3 * (size_t)l->padded * sizeof *l->a;
  l->a = nd_malloc(bytes);
  if (!l->a) return nd_fail_memory(err, bytes);
  l->b = l->a + l->padded;
  l->least = l->b + l->padded;
  nd_rng rng = {nd_mix(seed ^ 0x6c696e656172u)}; /* "linear" */
  for (uint32_t i = 0; i < l->padded; i++) {
    l->a[i] = 1 + nd_rng_below(&rng, ND_LINEAR_PRIME - 1);
    l->b[i] = nd_rng_below(&rng, ND_LINEAR_PRIME);
  }
  return ND_OK;
}

void nd_linear_clear(nd_linear *l) {
  nd_free(l->a);
  *l = (nd_linear){0};
}

/* x modulo p for any x. */
ND_INLINE uint64_t reduce(uint64_t x) {
  x = (x & ND_LINEAR_PRIME) + (x >> 61);
  return x >= ND_LINEAR_PRIME ? x - ND_LINEAR_PRIME : x;
}

static void least_base(uint64_t *restrict least, const nd_linear *l, const uint64_t *fp, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint64_t x = reduce(fp[i]);
    for (uint32_t j = 0; j < l->k; j++) {
      unsigned __int128 y = (unsigned __int128)l->a[j] * x + l->b[j];
      uint64_t value = reduce(((uint64_t)y & ND_LINEAR_PRIME) + (uint64_t)(y >> 61));
      least[j] = value < least[j] ? value : least[j];
    }
  }
}

void nd_linear_sketch_level(uint64_t *out, const nd_linear *l, const uint64_t *fingerprint,
                            size_t n, nd_cpu_level level) {
  (void)level;
  memset(l->least, 0xff, l->padded * sizeof *l->least);
  least_base(l->least, l, fingerprint, n);
  memcpy(out, l->least, l->k * sizeof *out);
}

void nd_linear_sketch(uint64_t *out, const nd_linear *l, const uint64_t *fingerprint, size_t n) {
  nd_linear_sketch_level(out, l, fingerprint, n, nd_cpu());
}
