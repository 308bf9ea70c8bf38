/* The linear family; see linear.h. */
#include "sketch/linear.h"

#include "base/hash.h"
#include "base/rng.h"

#if ND_X86
#include <immintrin.h>
#endif

enum { LANES = 8, BLOCK = 256 };

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

/* Each updates l->least with the minima of the values of x[0 .. n), which are below p. */
static void least_base(const nd_linear *l, const uint64_t *x, size_t n) {
  for (uint32_t j = 0; j < l->k; j++) {
    uint64_t a = l->a[j], b = l->b[j], least = l->least[j];
    for (size_t i = 0; i < n; i++) {
      unsigned __int128 y = (unsigned __int128)a * x[i] + b;
      uint64_t value = reduce(((uint64_t)y & ND_LINEAR_PRIME) + (uint64_t)(y >> 61));
      least = value < least ? value : least;
    }
    l->least[j] = least;
  }
}

#if ND_X86
/* The product from halves of 32 bits, a = ah al, x = xh xl, with 2^61 = 1 (mod p):
 *
 *   a x = ah xh 2^64 + (ah xl + al xh) 2^32 + al xl
 *   ah xh 2^64                 = 8 ah xh                           < 2^61
 *   (m = ah xl + al xh) 2^32   = (m >> 29) + (m & (2^29 - 1)) 2^32   < 2^61 + 2^33
 *   al xl                      = (al xl & p) + (al xl >> 61)         < 2^61 + 8
 *
 * so the sum with b is below 2^64.  VALUE computes this for vectors of any size. */
#define VALUE(OP, P, v, a, ah, b, xl, xh)                                          \
  do {                                                                             \
    VEC low = OP(mul_epu32)(a, xl);                                                \
    VEC mid = OP(add_epi64)(OP(mul_epu32)(ah, xl), OP(mul_epu32)(a, xh));          \
    VEC high = OP(slli_epi64)(OP(mul_epu32)(ah, xh), 3);                           \
    VEC sum = OP(add_epi64)(OP(add_epi64)(high, b), OP(srli_epi64)(mid, 29));      \
    sum = OP(add_epi64)(sum, OP(srli_epi64)(OP(slli_epi64)(mid, 35), 3));          \
    sum = OP(add_epi64)(sum, OP(add_epi64)(AND(low, P), OP(srli_epi64)(low, 61))); \
    v = OP(add_epi64)(AND(sum, P), OP(srli_epi64)(sum, 61));                       \
  } while (0)

#define AVX2_(name) _mm256_##name
#define VEC __m256i
#define AND _mm256_and_si256
ND_TARGET_AVX2 static void least_avx2(const nd_linear *l, const uint64_t *x, size_t n) {
  const __m256i p = _mm256_set1_epi64x((long long)ND_LINEAR_PRIME);
  for (uint32_t j = 0; j < l->padded; j += 4) {
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(l->a + j));
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(l->b + j));
    __m256i least = _mm256_loadu_si256((const __m256i *)(const void *)(l->least + j));
    __m256i ah = _mm256_srli_epi64(a, 32);
    for (size_t i = 0; i < n; i++) {
      __m256i xl = _mm256_set1_epi64x((long long)x[i]), xh = _mm256_srli_epi64(xl, 32), v;
      VALUE(AVX2_, p, v, a, ah, b, xl, xh);
      __m256i less = _mm256_sub_epi64(v, p); /* negative where v < p */
      v = _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(less), _mm256_castsi256_pd(v),
                                               _mm256_castsi256_pd(less)));
      least = _mm256_blendv_epi8(least, v, _mm256_cmpgt_epi64(least, v));
    }
    _mm256_storeu_si256((__m256i *)(void *)(l->least + j), least);
  }
}
#undef VEC
#undef AND

#define AVX512_(name) _mm512_##name
#define VEC __m512i
#define AND _mm512_and_si512
ND_TARGET_AVX512 static void least_avx512(const nd_linear *l, const uint64_t *x, size_t n) {
  const __m512i p = _mm512_set1_epi64((long long)ND_LINEAR_PRIME);
  for (uint32_t j = 0; j < l->padded; j += 8) {
    __m512i a = _mm512_loadu_si512(l->a + j), b = _mm512_loadu_si512(l->b + j);
    __m512i least = _mm512_loadu_si512(l->least + j), ah = _mm512_srli_epi64(a, 32);
    for (size_t i = 0; i < n; i++) {
      __m512i xl = _mm512_set1_epi64((long long)x[i]), xh = _mm512_srli_epi64(xl, 32), v;
      VALUE(AVX512_, p, v, a, ah, b, xl, xh);
      v = _mm512_min_epu64(v, _mm512_sub_epi64(v, p));
      least = _mm512_min_epu64(least, v);
    }
    _mm512_storeu_si512(l->least + j, least);
  }
}
#undef VEC
#undef AND
#endif

void nd_linear_sketch_level(uint64_t *out, const nd_linear *l, const uint64_t *fingerprint,
                            size_t n, nd_cpu_level level) {
  if (n == 0) {
    memset(out, 0xff, l->k * sizeof *out);
    return;
  }
  for (uint32_t j = 0; j < l->padded; j++)
    l->least[j] = INT64_MAX; /* the maximum as a signed number too */
  uint64_t x[BLOCK];
  for (size_t first = 0; first < n; first += BLOCK) {
    size_t m = n - first < BLOCK ? n - first : BLOCK;
    for (size_t i = 0; i < m; i++) x[i] = reduce(fingerprint[first + i]);
    switch (level) {
#if ND_X86
      case ND_CPU_AVX512: least_avx512(l, x, m); break;
      case ND_CPU_AVX2: least_avx2(l, x, m); break;
#endif
      default: least_base(l, x, m);
    }
  }
  memcpy(out, l->least, l->k * sizeof *out);
}

void nd_linear_sketch(uint64_t *out, const nd_linear *l, const uint64_t *fingerprint, size_t n) {
  nd_linear_sketch_level(out, l, fingerprint, n, nd_cpu());
}
