/* Common tokens of two ascending runs, for the block join; see block_join.h.
 *
 * Compares eight tokens of one run with eight of the other, all with all, then advances the run
 * whose eighth token is smaller.  A shorter rest is padded with numbers that no token has. */
#include "join/block_join.h"

#if ND_X86
#include <immintrin.h>
#endif

static uint32_t common_plain(const uint32_t *a, const uint32_t *a_end, const uint32_t *b,
                             const uint32_t *b_end, int64_t needed) {
  return nd_join_common(a, a_end, b, b_end, needed);
}

#if ND_X86
ND_TARGET_AVX2 static uint32_t common_avx2(const uint32_t *a, const uint32_t *a_end,
                                           const uint32_t *b, const uint32_t *b_end,
                                           int64_t needed) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  ptrdiff_t left_a = a_end - a, left_b = b_end - b;
  int64_t common = 0;
  while (left_a > 0 && left_b > 0) {
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)a);
    __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)b);
    uint32_t last_a = UINT32_MAX, last_b = UINT32_MAX;
    if (ND_LIKELY(left_a >= 8)) {
      last_a = a[7];
    } else {
      __m256i inside = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)left_a), lane);
      x = _mm256_blendv_epi8(_mm256_set1_epi32(-1), x, inside);
    }
    if (ND_LIKELY(left_b >= 8)) {
      last_b = b[7];
    } else {
      __m256i inside = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)left_b), lane);
      y = _mm256_blendv_epi8(_mm256_set1_epi32(-2), y, inside);
    }
    const __m256i z = _mm256_permute2x128_si256(y, y, 1);
    __m256i hit = _mm256_or_si256(_mm256_cmpeq_epi32(x, y), _mm256_cmpeq_epi32(x, z));
    __m256i hit1 = _mm256_or_si256(_mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, 0x39)),
                                   _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(z, 0x39)));
    __m256i hit2 = _mm256_or_si256(_mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, 0x4e)),
                                   _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(z, 0x4e)));
    __m256i hit3 = _mm256_or_si256(_mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(y, 0x93)),
                                   _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32(z, 0x93)));
    hit = _mm256_or_si256(_mm256_or_si256(hit, hit1), _mm256_or_si256(hit2, hit3));
    common += __builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(hit)));
    const ptrdiff_t step_a = last_a <= last_b ? 8 : 0, step_b = last_b <= last_a ? 8 : 0;
    a += step_a;
    b += step_b;
    left_a -= step_a;
    left_b -= step_b;
    const int64_t left = left_a < left_b ? left_a : left_b;
    if (common + (left > 0 ? left : 0) < needed) break;
  }
  return (uint32_t)common;
}
#endif

nd_block_common nd_block_common_kernel(nd_cpu_level level) {
#if ND_X86
  if (level >= ND_CPU_AVX2) return common_avx2;
#endif
  (void)level;
  return common_plain;
}
