/* Random projections; see projection.h.  Eight words of a sketch, 512 bits, are
 * computed at once, with the counters of bit_counts.h. */
#include "sketch/projection.h"

#include "base/bits.h"
#include "base/hash.h"

enum { LANES = 8 };
typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

#define COUNTS(name) lanes_##name
#define WORD lanes
#include "sketch/bit_counts.h"
#undef COUNTS
#undef WORD

nd_status nd_projection_init(nd_projection *p, uint32_t bits, uint64_t seed, nd_error *err) {
  *p = (nd_projection){.bits = bits, .words = bits / 64};
  if (bits < 64 || bits > ND_PROJECTION_MAX || bits % 64 != 0)
    return nd_fail(err, ND_ERR_USAGE, "%u bits: the number must be a multiple of 64 from 64 to %d",
                   bits, ND_PROJECTION_MAX);
  for (uint32_t w = 0; w < p->words; w++) p->key[w] = nd_mix(nd_mix(seed ^ 0x70726f6au) + w);
  return ND_OK;
}

/* Computes nd_mix(x + key) in every lane. */
ND_INLINE void entries(lanes *out, const lanes *keys, uint64_t fingerprint) {
  lanes x = *keys + fingerprint;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  *out = x ^ (x >> 31);
}

/* Computes the words from `first` to first + 7 of the sketch of n >= 1 fingerprints. */
ND_INLINE void eight_words(uint64_t out[LANES], const uint64_t key[LANES], const uint64_t *fp,
                           size_t n) {
  lanes keys;
  memcpy(&keys, key, sizeof keys);
  lanes_counter c;
  lanes_start(&c);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    lanes w[16];
    for (int t = 0; t < 16; t++) entries(&w[t], &keys, fp[i + (size_t)t]);
    lanes_sixteen(&c, w);
  }
  if (i < n) {
    lanes w[16] = {{0}};
    for (size_t t = 0; i + t < n; t++) entries(&w[t], &keys, fp[i + t]);
    lanes_sixteen(&c, w);
  }
  lanes positive;
  lanes_at_least(&positive, &c, n / 2 + 1);
  memcpy(out, &positive, sizeof positive);
}

static void eight_words_base(uint64_t out[LANES], const uint64_t key[LANES], const uint64_t *fp,
                             size_t n) {
  eight_words(out, key, fp, n);
}
#if ND_X86
ND_TARGET_AVX2 static void eight_words_avx2(uint64_t out[LANES], const uint64_t key[LANES],
                                            const uint64_t *fp, size_t n) {
  eight_words(out, key, fp, n);
}
ND_TARGET_AVX512 static void eight_words_avx512(uint64_t out[LANES], const uint64_t key[LANES],
                                                const uint64_t *fp, size_t n) {
  eight_words(out, key, fp, n);
}
#endif

void nd_projection_sketch_level(uint64_t *out, const nd_projection *p, const uint64_t *fingerprint,
                                size_t n, nd_cpu_level level) {
  if (n == 0) {
    memset(out, 0, p->words * sizeof *out);
    return;
  }
  for (uint32_t first = 0; first < p->words; first += LANES) {
    uint64_t eight[LANES];
    uint32_t count = p->words - first < LANES ? p->words - first : LANES;
    switch (level) {
#if ND_X86
      case ND_CPU_AVX512: eight_words_avx512(eight, p->key + first, fingerprint, n); break;
      case ND_CPU_AVX2: eight_words_avx2(eight, p->key + first, fingerprint, n); break;
#endif
      default: eight_words_base(eight, p->key + first, fingerprint, n);
    }
    memcpy(out + first, eight, count * sizeof *out);
  }
}

void nd_projection_sketch(uint64_t *out, const nd_projection *p, const uint64_t *fingerprint,
                          size_t n) {
  nd_projection_sketch_level(out, p, fingerprint, n, nd_cpu());
}

uint32_t nd_projection_agree(const uint64_t *a, const uint64_t *b, uint32_t words) {
  return 64 * words - nd_bits_differ(a, b, words);
}
