/* The kernels; see hamming_match.h. */
#include "candidate/hamming_match.h"

#include "base/bits.h"

#if ND_X86
#include <immintrin.h>
#endif

static size_t match_base(uint32_t *hit, const uint64_t *v, size_t n, uint64_t x,
                         uint32_t distance) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    hit[found] = (uint32_t)i;
    found += nd_bits_count(v[i] ^ x) <= distance;
  }
  return found;
}

#if ND_X86
ND_TARGET_SSE41 static size_t match_sse41(uint32_t *hit, const uint64_t *v, size_t n, uint64_t x,
                                          uint32_t distance) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    hit[found] = (uint32_t)i;
    found += (uint32_t)__builtin_popcountll(v[i] ^ x) <= distance;
  }
  return found;
}

/* The remainder, fewer than a SIMD vector. */
ND_INLINE size_t match_rest(uint32_t *hit, size_t found, const uint64_t *v, size_t i, size_t n,
                            uint64_t x, uint32_t distance) {
  for (; i < n; i++) {
    hit[found] = (uint32_t)i;
    found += (uint32_t)__builtin_popcountll(v[i] ^ x) <= distance;
  }
  return found;
}

#define PUT_HITS(mask)                                               \
  for (unsigned bits_ = (unsigned)(mask); bits_; bits_ &= bits_ - 1) \
    hit[found++] = (uint32_t)i + (uint32_t)__builtin_ctz(bits_);

/* Four vectors: bit counts of half bytes from a table, summed by bytes. */
ND_TARGET_AVX2 static size_t match_avx2(uint32_t *hit, const uint64_t *v, size_t n, uint64_t x,
                                        uint32_t distance) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                         1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(15), most = _mm256_set1_epi64x((long long)distance);
  const __m256i xs = _mm256_set1_epi64x((long long)x);
  size_t found = 0, i = 0;
  for (; i + 4 <= n; i += 4) {
    __m256i d = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(v + i)), xs);
    __m256i a = _mm256_shuffle_epi8(table, _mm256_and_si256(d, low));
    __m256i b = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi64(d, 4), low));
    __m256i sum = _mm256_sad_epu8(_mm256_add_epi8(a, b), _mm256_setzero_si256());
    unsigned above =
        (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(sum, most)));
    if (ND_UNLIKELY(above != 15)) PUT_HITS(above ^ 15)
  }
  return match_rest(hit, found, v, i, n, x, distance);
}

#define TARGET_POPCNT                                                            \
  __attribute__((                                                                \
      target("avx512vpopcntdq,avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2," \
             "lzcnt,popcnt")))

TARGET_POPCNT static size_t match_avx512(uint32_t *hit, const uint64_t *v, size_t n, uint64_t x,
                                         uint32_t distance) {
  const __m512i most = _mm512_set1_epi64((long long)distance);
  const __m512i xs = _mm512_set1_epi64((long long)x);
  size_t found = 0, i = 0;
  for (; i + 16 <= n; i += 16) {
    __m512i a = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(v + i), xs));
    __m512i b = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(v + i + 8), xs));
    unsigned m = (unsigned)_mm512_cmple_epu64_mask(a, most) |
                 (unsigned)_mm512_cmple_epu64_mask(b, most) << 8;
    if (ND_UNLIKELY(m != 0)) PUT_HITS(m)
  }
  for (; i < n; i += 8) {
    unsigned valid = n - i >= 8 ? 255 : (1u << (n - i)) - 1;
    __m512i a = _mm512_maskz_loadu_epi64((__mmask8)valid, v + i);
    a = _mm512_popcnt_epi64(_mm512_xor_si512(a, xs));
    unsigned m = _mm512_mask_cmple_epu64_mask((__mmask8)valid, a, most);
    if (ND_UNLIKELY(m != 0)) PUT_HITS(m)
  }
  return found;
}
#endif

static const nd_match kernels[] = {
    match_base,
#if ND_X86
    match_sse41,
    match_avx2,
    match_avx512,
#endif
};

const nd_match *nd_match_kernels(size_t *n) {
  *n = (size_t)nd_cpu() + 1;
#if ND_X86
  /* untaken: the machine has every CPU level */
  if (nd_cpu() == ND_CPU_AVX512 && !__builtin_cpu_supports("avx512vpopcntdq")) --*n;
#endif
  return kernels;
}

nd_match nd_match_best(void) {
  size_t n;
  const nd_match *all = nd_match_kernels(&n);
  return all[n - 1];
}
