/* The vector part of the tokeniser: operations on a block of 64 bytes per SIMD level, used by
 * the body in words_kernel.h. */
#include "text/words_ascii.h"

#if ND_X86
#include <immintrin.h>
#endif

/* --- any machine: eight bytes in a word --------------------------------- */
#define KERNEL(name) base_##name
#define TARGET
#define KERNEL_COMPRESS 0
#define ONES 0x0101010101010101u

typedef struct base_block {
  uint64_t v[8];
} base_block;

ND_INLINE uint64_t swap_le(uint64_t x) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(x);
#else
  return x;
#endif
}

ND_INLINE base_block base_load(const char *p) {
  base_block b;
  memcpy(&b, p, 64);
  for (int i = 0; i < 8; i++) b.v[i] = swap_le(b.v[i]);
  return b;
}

ND_INLINE void base_store(char *p, base_block b) {
  for (int i = 0; i < 8; i++) b.v[i] = swap_le(b.v[i]);
  memcpy(p, &b, 64);
}

/* Returns the top bits of eight bytes as one byte. */
ND_INLINE uint64_t top_bits(uint64_t x) {
  return ((x >> 7 & ONES) * 0x0102040810204080u) >> 56;
}

ND_INLINE uint64_t base_high(base_block b) {
  uint64_t any = 0, mask = 0;
  for (int i = 0; i < 8; i++) any |= b.v[i];
  if (ND_LIKELY(!(any & 0x80 * ONES))) return 0;
  for (int i = 0; i < 8; i++) mask |= top_bits(b.v[i]) << (8 * i);
  return mask;
}

/* Returns 0x80 in each byte in [lo, hi]; only for bytes < 0x80. */
ND_INLINE uint64_t between(uint64_t x, unsigned lo, unsigned hi) {
  return (x + (0x80 - lo) * ONES) & ~(x + (0x7F - hi) * ONES) & 0x80 * ONES;
}

ND_INLINE uint64_t base_classify(base_block *b) {
  uint64_t mask = 0;
  for (int i = 0; i < 8; i++) {
    /* Bytes >= 0x80 do not matter, but must not carry into the next byte. */
    uint64_t t = (b->v[i] & 0x7F * ONES) | 0x20 * ONES;
    uint64_t x = b->v[i] & 0x7F * ONES;
    uint64_t word = (between(t, 'a', 'z') | between(x, '0', '9')) & ~b->v[i];
    b->v[i] = (t & (word >> 7) * 0xFF) | 0x20 * ONES;
    mask |= top_bits(word) << (8 * i);
  }
  return mask;
}

ND_INLINE uint64_t base_equal_space(base_block b) {
  uint64_t mask = 0;
  for (int i = 0; i < 8; i++) {
    uint64_t x = b.v[i] ^ 0x20 * ONES;
    uint64_t zero = ~(((x & 0x7F * ONES) + 0x7F * ONES) | x) & 0x80 * ONES;
    mask |= top_bits(zero) << (8 * i);
  }
  return mask;
}

/* Copies run by run; each copy is an entire block, whose rest the next one overwrites.
 * Requires that not all bytes are kept. */
#define COMPACT_BY_RUNS(level, out, from, keep)                   \
  while (keep) {                                                  \
    unsigned skip = (unsigned)__builtin_ctzll(keep);              \
    unsigned length = (unsigned)__builtin_ctzll(~(keep >> skip)); \
    level##_block run = level##_load(from + skip);                \
    level##_classify(&run);                                       \
    level##_store(out, run);                                      \
    out += length;                                                \
    if (skip + length >= 64) break;                               \
    keep &= ~(uint64_t)0 << (skip + length);                      \
  }

ND_INLINE void base_compact(char *out, base_block b, const char *from, uint64_t keep) {
  (void)b;
  COMPACT_BY_RUNS(base, out, from, keep)
}

ND_INLINE uint32_t *base_ends(uint32_t *end, uint64_t e, uint64_t drop, uint32_t base) {
  while (e) {
    unsigned at = (unsigned)__builtin_ctzll(e);
    unsigned before = drop ? (unsigned)__builtin_popcountll(drop & (e ^ (e - 1))) : 0;
    *end++ = base + at - before;
    e &= e - 1;
  }
  return end;
}
#include "text/words_kernel.h"

#if ND_X86
/* --- SSE4.1 --------------------------------------------------------------- */
#define KERNEL(name) sse41_##name
#define TARGET ND_TARGET_SSE41
#define KERNEL_COMPRESS 0

typedef struct sse41_block {
  __m128i v[4];
} sse41_block;

ND_TARGET_SSE41 ND_INLINE sse41_block sse41_load(const char *p) {
  sse41_block b;
  for (int i = 0; i < 4; i++) b.v[i] = _mm_loadu_si128((const __m128i *)(p + 16 * i));
  return b;
}

ND_TARGET_SSE41 ND_INLINE void sse41_store(char *p, sse41_block b) {
  for (int i = 0; i < 4; i++) _mm_storeu_si128((__m128i *)(p + 16 * i), b.v[i]);
}

ND_TARGET_SSE41 ND_INLINE uint64_t sse41_mask(__m128i a, __m128i b, __m128i c, __m128i d) {
  uint64_t lo = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
  uint64_t hi = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;
  return lo | hi << 32;
}

ND_TARGET_SSE41 ND_INLINE uint64_t sse41_high(sse41_block b) {
  return sse41_mask(b.v[0], b.v[1], b.v[2], b.v[3]);
}

ND_TARGET_SSE41 ND_INLINE uint64_t sse41_classify(sse41_block *b) {
  const __m128i bit = _mm_set1_epi8(0x20);
  __m128i w[4];
  for (int i = 0; i < 4; i++) {
    __m128i t = _mm_or_si128(b->v[i], bit); /* digits already have this bit */
    __m128i a = _mm_sub_epi8(t, _mm_set1_epi8('a'));
    __m128i d = _mm_sub_epi8(b->v[i], _mm_set1_epi8('0'));
    a = _mm_cmpeq_epi8(_mm_min_epu8(a, _mm_set1_epi8(25)), a);
    d = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);
    w[i] = _mm_or_si128(a, d);
    b->v[i] = _mm_or_si128(_mm_and_si128(t, w[i]), bit);
  }
  return sse41_mask(w[0], w[1], w[2], w[3]);
}

ND_TARGET_SSE41 ND_INLINE uint64_t sse41_equal_space(sse41_block b) {
  for (int i = 0; i < 4; i++) b.v[i] = _mm_cmpeq_epi8(b.v[i], _mm_set1_epi8(' '));
  return sse41_high(b);
}

ND_TARGET_SSE41 ND_INLINE void sse41_compact(char *out, sse41_block b, const char *from,
                                             uint64_t keep) {
  (void)b;
  COMPACT_BY_RUNS(sse41, out, from, keep)
}

/* Writes eight at a time; the next ones overwrite the excess. */
#define ENDS_BY_EIGHT(end, e, drop, base)                                                \
  uint32_t *behind = end + __builtin_popcountll(e);                                      \
  while (end < behind) {                                                                 \
    for (int k = 0; k < 8; k++) {                                                        \
      unsigned at = (unsigned)__builtin_ctzll(e | (uint64_t)1 << 63);                    \
      unsigned before = drop ? (unsigned)__builtin_popcountll(drop & (e ^ (e - 1))) : 0; \
      end[k] = base + at - before;                                                       \
      e &= e - 1;                                                                        \
    }                                                                                    \
    end += 8;                                                                            \
  }                                                                                      \
  return behind;

ND_TARGET_SSE41 ND_INLINE uint32_t *sse41_ends(uint32_t *end, uint64_t e, uint64_t drop,
                                               uint32_t base) {
  ENDS_BY_EIGHT(end, e, drop, base)
}
#include "text/words_kernel.h"

/* --- AVX2 ------------------------------------------------------------------ */
#define KERNEL(name) avx2_##name
#define TARGET ND_TARGET_AVX2
#define KERNEL_COMPRESS 0

typedef struct avx2_block {
  __m256i v[2];
} avx2_block;

ND_TARGET_AVX2 ND_INLINE avx2_block avx2_load(const char *p) {
  avx2_block b;
  b.v[0] = _mm256_loadu_si256((const __m256i *)p);
  b.v[1] = _mm256_loadu_si256((const __m256i *)(p + 32));
  return b;
}

ND_TARGET_AVX2 ND_INLINE void avx2_store(char *p, avx2_block b) {
  _mm256_storeu_si256((__m256i *)p, b.v[0]);
  _mm256_storeu_si256((__m256i *)(p + 32), b.v[1]);
}

ND_TARGET_AVX2 ND_INLINE uint64_t avx2_high(avx2_block b) {
  uint64_t hi = (uint32_t)_mm256_movemask_epi8(b.v[1]);
  return (uint32_t)_mm256_movemask_epi8(b.v[0]) | hi << 32;
}

ND_TARGET_AVX2 ND_INLINE uint64_t avx2_classify(avx2_block *b) {
  const __m256i bit = _mm256_set1_epi8(0x20);
  avx2_block w;
  for (int i = 0; i < 2; i++) {
    __m256i t = _mm256_or_si256(b->v[i], bit);
    __m256i a = _mm256_sub_epi8(t, _mm256_set1_epi8('a'));
    __m256i d = _mm256_sub_epi8(b->v[i], _mm256_set1_epi8('0'));
    a = _mm256_cmpeq_epi8(_mm256_min_epu8(a, _mm256_set1_epi8(25)), a);
    d = _mm256_cmpeq_epi8(_mm256_min_epu8(d, _mm256_set1_epi8(9)), d);
    w.v[i] = _mm256_or_si256(a, d);
    b->v[i] = _mm256_or_si256(_mm256_and_si256(t, w.v[i]), bit);
  }
  return avx2_high(w);
}

ND_TARGET_AVX2 ND_INLINE uint64_t avx2_equal_space(avx2_block b) {
  for (int i = 0; i < 2; i++) b.v[i] = _mm256_cmpeq_epi8(b.v[i], _mm256_set1_epi8(' '));
  return avx2_high(b);
}

ND_TARGET_AVX2 ND_INLINE void avx2_compact(char *out, avx2_block b, const char *from,
                                           uint64_t keep) {
  (void)b;
  COMPACT_BY_RUNS(avx2, out, from, keep)
}

ND_TARGET_AVX2 ND_INLINE uint32_t *avx2_ends(uint32_t *end, uint64_t e, uint64_t drop,
                                             uint32_t base) {
  ENDS_BY_EIGHT(end, e, drop, base)
}
#include "text/words_kernel.h"

/* --- AVX-512 BW ------------------------------------------------------------ */
#define KERNEL(name) avx512_##name
#define TARGET ND_TARGET_AVX512
#define KERNEL_COMPRESS 0

typedef __m512i avx512_block;

ND_TARGET_AVX512 ND_INLINE __m512i avx512_load(const char *p) {
  return _mm512_loadu_si512(p);
}

ND_TARGET_AVX512 ND_INLINE void avx512_store(char *p, __m512i b) {
  _mm512_storeu_si512(p, b);
}

ND_TARGET_AVX512 ND_INLINE uint64_t avx512_high(__m512i b) {
  return _mm512_movepi8_mask(b);
}

ND_TARGET_AVX512 ND_INLINE uint64_t avx512_classify(__m512i *b) {
  const __m512i bit = _mm512_set1_epi8(0x20);
  __m512i t = _mm512_or_si512(*b, bit);
  __m512i a = _mm512_sub_epi8(t, _mm512_set1_epi8('a'));
  __m512i d = _mm512_sub_epi8(*b, _mm512_set1_epi8('0'));
  __mmask64 w = _mm512_cmple_epu8_mask(a, _mm512_set1_epi8(25)) |
                _mm512_cmple_epu8_mask(d, _mm512_set1_epi8(9));
  *b = _mm512_mask_blend_epi8(w, bit, t);
  return w;
}

ND_TARGET_AVX512 ND_INLINE uint64_t avx512_equal_space(__m512i b) {
  return _mm512_cmpeq_epi8_mask(b, _mm512_set1_epi8(' '));
}

ND_TARGET_AVX512 ND_INLINE void avx512_compact(char *out, __m512i b, const char *from,
                                               uint64_t keep) {
  (void)b;
  COMPACT_BY_RUNS(avx512, out, from, keep)
}

ND_TARGET_AVX512 ND_INLINE uint32_t *avx512_ends(uint32_t *end, uint64_t e, uint64_t drop,
                                                 uint32_t base) {
  const __m512i count = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  if (drop) e = _pext_u64(e, ~drop);
  for (unsigned k = 0; k < 64; k += 16) {
    __mmask16 m = (__mmask16)(e >> k);
    __m512i at = _mm512_add_epi32(count, _mm512_set1_epi32((int)(base + k)));
    _mm512_storeu_si512(end, _mm512_maskz_compress_epi32(m, at));
    end += (unsigned)__builtin_popcount(m);
  }
  return end;
}
#include "text/words_kernel.h"

/* --- AVX-512 with VBMI2: bytes can be moved together in a register ---------- */
#define KERNEL(name) vbmi2_##name
#define TARGET                                                                     \
  __attribute__((                                                                  \
      target("avx512vbmi2,avx512vbmi,avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi," \
             "bmi2,lzcnt,popcnt")))
#define KERNEL_COMPRESS 1

typedef __m512i vbmi2_block;
#define vbmi2_load avx512_load
#define vbmi2_store avx512_store
#define vbmi2_high avx512_high
#define vbmi2_classify avx512_classify
#define vbmi2_equal_space avx512_equal_space

TARGET ND_INLINE void vbmi2_compact(char *out, __m512i b, const char *from, uint64_t keep) {
  (void)from;
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(keep, b));
}

static const uint8_t places[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                   32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                   48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

TARGET ND_INLINE uint32_t *vbmi2_ends(uint32_t *end, uint64_t e, uint64_t drop, uint32_t base) {
  if (drop) e = _pext_u64(e, ~drop);
  __m512i at = _mm512_maskz_compress_epi8(e, _mm512_loadu_si512(places));
  __m512i first = _mm512_set1_epi32((int)base);
  unsigned count = (unsigned)__builtin_popcountll(e);
  _mm512_storeu_si512(end,
                      _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(at))));
  if (ND_UNLIKELY(count > 16)) {
    _mm512_storeu_si512(
        end + 16, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 1))));
    if (count > 32) { /* only `spaces` on a text of empty tokens */
      _mm512_storeu_si512(
          end + 32,
          _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 2))));
      _mm512_storeu_si512(
          end + 48,
          _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 3))));
    }
  }
  return end + count;
}
#include "text/words_kernel.h"
#endif

/* --- dispatch ---------------------------------------------------------------- */
static const nd_words_kernel kernels[] = {
    {"base", base_ascii, base_spaces},
#if ND_X86
    {"sse41", sse41_ascii, sse41_spaces},    {"avx2", avx2_ascii, avx2_spaces},
    {"avx512", avx512_ascii, avx512_spaces}, {"avx512 vbmi2", vbmi2_ascii, vbmi2_spaces},
#endif
};

const nd_words_kernel *nd_words_kernels(size_t *n) {
  *n = (size_t)nd_cpu() + 1;
#if ND_X86
  /* untaken: the machine has every CPU level */
  if (nd_cpu() == ND_CPU_AVX512 && __builtin_cpu_supports("avx512vbmi2")) ++*n;
#endif
  return kernels;
}

const nd_words_kernel *nd_words_kernel_best(void) {
  size_t n;
  const nd_words_kernel *all = nd_words_kernels(&n);
  return &all[n - 1];
}
