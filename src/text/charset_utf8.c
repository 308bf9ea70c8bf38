/* Validation of UTF-8.
 *
 * AVX2 uses the table method of Keiser and Lemire, "Validating UTF-8 in less than one
 * instruction per byte" (2021): three lookups by the halves of two adjacent bytes give the
 * errors possible for each half as bits, and an error is one that all three allow.  An
 * invalid block is read again byte by byte to find the exact position. */
#include "base/cpu.h"
#include "text/charset.h"
#include "text/text.h"

#if ND_X86
#include <immintrin.h>
#endif

size_t nd_ascii_prefix(const unsigned char *p, size_t n) {
  size_t i = 0;
  for (uint64_t w[4]; n - i >= sizeof w; i += sizeof w) {
    memcpy(w, p + i, sizeof w);
    if ((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080u) break;
  }
  while (i < n && p[i] < 0x80) i++;
  return i;
}

/* Range of the second byte after lead byte c, 0xC2 to 0xF4. */
static bool second_fits(unsigned char c, unsigned char second) {
  unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
  unsigned char high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
  return second >= low && second <= high;
}

size_t nd_utf8_sequence(const unsigned char *p, size_t left, size_t *bad) {
  unsigned char c = p[0];
  *bad = 1;
  if (c < 0xC2 || c > 0xF4) return 0;
  size_t n = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
  if (left < 2 || !second_fits(c, p[1])) return 0;
  for (size_t i = 2; i < n; i++) {
    *bad = i;
    if (left <= i || (p[i] & 0xC0) != 0x80) return 0;
  }
  return n;
}

static size_t valid_prefix_base(const unsigned char *p, size_t n) {
  size_t i = 0, bad;
  while (i < n) {
    if (p[i] < 0x80) {
      i += nd_ascii_prefix(p + i, n - i);
      continue;
    }
    /* Sequences of one script have the same length: process runs without branches. */
    while (n - i >= 2 && p[i] >= 0xC2 && p[i] < 0xE0 && (p[i + 1] & 0xC0) == 0x80) i += 2;
    while (n - i >= 3 && (p[i] & 0xF0) == 0xE0 && (p[i + 1] & 0xC0) == 0x80 &&
           (p[i + 2] & 0xC0) == 0x80 && second_fits(p[i], p[i + 1]))
      i += 3;
    if (i == n || p[i] < 0x80) continue;
    size_t step = nd_utf8_sequence(p + i, n - i, &bad);
    if (step == 0) return i;
    i += step;
  }
  return n;
}

#if ND_X86
enum {
  SHORT = 1, /* a lead byte, then no continuation */
  LONG = 2,  /* ASCII, then a continuation */
  OVER3 = 4, /* E0 and a second byte below A0 */
  LARGE = 8, /* F4 90 and up, F5 and up */
  SURROGATE = 16,
  OVER2 = 32, /* C0, C1 */
  OVER4 = 64, /* F0 and a second byte below 90; F5 and up with one, too */
  TWO = 128,  /* two continuations: wrong unless a third or fourth byte is due */
  ANY = SHORT | LONG | TWO
};
#define TABLE_(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

/* Returns the number of bytes before the first invalid block (or before the tail), moved back
 * to the start of a character. */
static ND_TARGET_AVX2 size_t valid_blocks_avx2(const unsigned char *p, size_t n) {
  const __m256i first_high =
      TABLE_(LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, (char)TWO, (char)TWO, (char)TWO,
             (char)TWO, SHORT | OVER2, SHORT, SHORT | OVER3 | SURROGATE, SHORT | LARGE | OVER4);
  const __m256i first_low =
      TABLE_((char)(ANY | OVER2 | OVER3 | OVER4), (char)(ANY | OVER2), (char)ANY, (char)ANY,
             (char)(ANY | LARGE), (char)(ANY | LARGE | OVER4), (char)(ANY | LARGE | OVER4),
             (char)(ANY | LARGE | OVER4), (char)(ANY | LARGE | OVER4), (char)(ANY | LARGE | OVER4),
             (char)(ANY | LARGE | OVER4), (char)(ANY | LARGE | OVER4), (char)(ANY | LARGE | OVER4),
             (char)(ANY | LARGE | OVER4 | SURROGATE), (char)(ANY | LARGE | OVER4),
             (char)(ANY | LARGE | OVER4));
  const char a = (char)(LONG | OVER2 | TWO | SURROGATE | LARGE);
  const __m256i second_high =
      TABLE_(SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT,
             (char)(LONG | OVER2 | TWO | OVER3 | OVER4), (char)(LONG | OVER2 | TWO | OVER3 | LARGE),
             a, a, SHORT, SHORT, SHORT, SHORT);
  const __m256i nibble = _mm256_set1_epi8(15);
  __m256i before = _mm256_setzero_si256();
  size_t i = 0;
  for (; n - i >= 32; i += 32) {
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));
    if (_mm256_movemask_epi8(v) == 0) {
      /* ASCII: the previous block must not end inside a character. */
      if (i && (p[i - 1] >= 0xC0 || p[i - 2] >= 0xE0 || p[i - 3] >= 0xF0)) break;
      before = v;
      continue;
    }
    __m256i across = _mm256_permute2x128_si256(before, v, 0x21);
    __m256i back1 = _mm256_alignr_epi8(v, across, 15);
    __m256i back2 = _mm256_alignr_epi8(v, across, 14);
    __m256i back3 = _mm256_alignr_epi8(v, across, 13);
    __m256i wrong = _mm256_and_si256(
        _mm256_and_si256(
            _mm256_shuffle_epi8(first_high, _mm256_and_si256(_mm256_srli_epi16(back1, 4), nibble)),
            _mm256_shuffle_epi8(first_low, _mm256_and_si256(back1, nibble))),
        _mm256_shuffle_epi8(second_high, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble)));
    /* The high bit is set where a third or fourth byte is expected: two continuations must be
     * there, and nowhere else. */
    __m256i due = _mm256_or_si256(_mm256_subs_epu8(back2, _mm256_set1_epi8(0xE0 - 0x80)),
                                  _mm256_subs_epu8(back3, _mm256_set1_epi8(0xF0 - 0x80)));
    due = _mm256_and_si256(due, _mm256_set1_epi8((char)0x80));
    wrong = _mm256_xor_si256(wrong, due);
    if (!_mm256_testz_si256(wrong, wrong)) break;
    before = v;
  }
  for (size_t k = 1; k <= 3 && k <= i; k++) {
    if (p[i - k] < 0x80) break;
    if (p[i - k] >= 0xC0) return i - k;
  }
  return i;
}
#endif

size_t nd_utf8_valid_prefix(nd_str bytes) {
  const unsigned char *p = (const unsigned char *)bytes.p;
  size_t i = 0;
#if ND_X86
  if (nd_cpu() >= ND_CPU_AVX2) i = valid_blocks_avx2(p, bytes.n);
#endif
  return bytes.n ? i + valid_prefix_base(p + i, bytes.n - i) : 0;
}
