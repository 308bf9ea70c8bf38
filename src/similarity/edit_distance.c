/* Bounded edit distance, bit-parallel along the diagonal; see edit_distance.h.
 *
 * Bit t of the window at column j (both from 0) is row j - lo + t.  vp and vn mark
 * cells that are one more or one less than the cell above, d0 cells that equal the
 * one diagonally before.  The window moves down with each column, so the vectors
 * that Myers shifts up stay and d0 is shifted down instead.  Cells outside the
 * window count as one more than their neighbour inside, which is never too low; a
 * path of cost <= tau does not touch them. */
#include "similarity/edit_distance.h"

#include "base/cpu.h"
#include "base/hash.h"
#include "text/unicode.h"

#if ND_X86
#include <emmintrin.h>
#endif

/* The largest bound that needs only one word. */
enum { ONE_WORD = 63 };

void nd_edit_scratch_clear(nd_edit_scratch *s) {
  nd_free(s->text);
  nd_free(s->bits);
  *s = (nd_edit_scratch){0};
}

/* Compares 16 symbols with c: bit i is set if symbol at + i of `a` equals c. */
ND_INLINE uint64_t match16(const void *a, ptrdiff_t at, uint32_t c, bool wide) {
#if ND_X86
  if (!wide) {
    __m128i rows = _mm_loadu_si128((const __m128i *)(const void *)((const uint8_t *)a + at));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(rows, _mm_set1_epi8((char)c)));
  }
  const __m128i *p = (const __m128i *)(const void *)((const uint32_t *)a + at);
  __m128i x = _mm_set1_epi32((int)c);
  __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(p), x),
                                _mm_cmpeq_epi32(_mm_loadu_si128(p + 1), x));
  __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(p + 2), x),
                                 _mm_cmpeq_epi32(_mm_loadu_si128(p + 3), x));
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
  uint64_t bits = 0;
  if (!wide) {
    const uint64_t ones = 0x0101010101010101u, low7 = ones * 0x7f;
    for (int half = 0; half < 2; half++) {
      uint64_t x = nd_load64((const uint8_t *)a + at + 8 * half) ^ ones * c;
      uint64_t zero = ~(((x & low7) + low7) | x) & ~low7; /* 0x80 where the byte is 0 */
      bits |= ((zero >> 7) * 0x0102040810204080u >> 56) << (8 * half);
    }
  } else {
    const uint32_t *p = (const uint32_t *)a + at;
    for (int i = 0; i < 16; i++) bits |= (uint64_t)(p[i] == c) << i;
  }
  return bits;
#endif
}

ND_INLINE uint64_t match(const void *a, ptrdiff_t at, uint32_t c, bool wide, int sixteens) {
  uint64_t bits = 0;
  for (int i = 0; i < sixteens; i++) bits |= match16(a, at + 16 * i, c, wide) << (16 * i);
  return bits;
}

ND_INLINE uint32_t symbol(const void *a, size_t i, bool wide) {
  return wide ? ((const uint32_t *)a)[i] : ((const uint8_t *)a)[i];
}

/* Computes the distance with a window of one word: m >= n, m - n <= tau <= ONE_WORD; `sixteens`
 * must cover tau + 1 rows. */
ND_INLINE uint32_t walk_word(const void *a, size_t m, const void *b, size_t n, uint32_t tau,
                             bool wide, int sixteens) {
  uint32_t distance = (uint32_t)(m - n);
  unsigned lo = (tau - distance) / 2, bit = lo + distance;
  uint64_t vp = ~(uint64_t)0 << lo, vn = 0;
  for (size_t j = 0; j < n; j++) {
    uint64_t x = match(a, (ptrdiff_t)j - (ptrdiff_t)lo, symbol(b, j, wide), wide, sixteens);
    if (j < lo) x &= ~(uint64_t)0 << (lo - j); /* rows above the first */
    uint64_t d0 = (((x & vp) + vp) ^ vp) | x | vn;
    distance += !(d0 >> bit & 1);
    if (distance > tau) return tau + 1;
    uint64_t hp = vn | ~(d0 | vp), hn = d0 & vp;
    d0 >>= 1;
    vp = hn | ~(d0 | hp);
    vn = d0 & hp;
  }
  return distance;
}

ND_INLINE uint32_t walk_small(const void *a, size_t m, const void *b, size_t n, uint32_t tau,
                              bool wide) {
  if (tau < 16) return walk_word(a, m, b, n, tau, wide, 1);
  if (tau < 32) return walk_word(a, m, b, n, tau, wide, 2);
  return walk_word(a, m, b, n, tau, wide, 4);
}

/* Computes the distance with a window of several words; `bits` has 3 words for each. */
ND_INLINE uint32_t walk_words(uint64_t *bits, const void *a, size_t m, const void *b, size_t n,
                              uint32_t tau, bool wide) {
  uint32_t distance = (uint32_t)(m - n);
  size_t lo = (tau - distance) / 2, bit = lo + distance, words = (size_t)tau / 64 + 1;
  uint64_t *vp = bits, *vn = bits + words, *d0 = bits + 2 * words;
  memset(vn, 0, words * sizeof *vn);
  for (size_t w = 0; w < words; w++) {
    size_t first = w * 64;
    vp[w] = first >= lo ? ~(uint64_t)0 : first + 64 <= lo ? 0 : ~(uint64_t)0 << (lo - first);
  }
  for (size_t j = 0; j < n; j++) {
    uint32_t c = symbol(b, j, wide);
    bool carry = false;
    for (size_t w = 0; w < words; w++) {
      ptrdiff_t row = (ptrdiff_t)j - (ptrdiff_t)lo + (ptrdiff_t)(w * 64);
      uint64_t x = 0;
      if (row > -64 && row < (ptrdiff_t)m) {
        x = match(a, row, c, wide, 4);
        if (row < 0) x &= ~(uint64_t)0 << -row;
      }
      uint64_t sum;
      bool over = __builtin_add_overflow(x & vp[w], vp[w], &sum);
      over |= __builtin_add_overflow(sum, (uint64_t)carry, &sum);
      carry = over;
      d0[w] = (sum ^ vp[w]) | x | vn[w];
    }
    distance += !(d0[bit / 64] >> (bit & 63) & 1);
    if (distance > tau) return tau + 1;
    for (size_t w = 0; w < words; w++) {
      uint64_t hp = vn[w] | ~(d0[w] | vp[w]), hn = d0[w] & vp[w];
      uint64_t moved = d0[w] >> 1 | (w + 1 < words ? d0[w + 1] << 63 : 0);
      vp[w] = hn | ~(moved | hp);
      vn[w] = moved & hp;
    }
  }
  return distance;
}

/* Computes the distance for a large bound: tries a narrow window first, then wider ones, because
 * the distance is usually far below such a bound. */
static nd_status walk_large(uint32_t *out, nd_edit_scratch *s, const void *a, size_t m,
                            const void *b, size_t n, bool wide, uint32_t tau, nd_error *err) {
  uint64_t bound = m - n;
  for (bound = bound < ONE_WORD ? ONE_WORD : 2 * bound;; bound = 2 * bound + 1) {
    uint32_t k = bound < tau ? (uint32_t)bound : tau;
    ND_TRY(nd_array_grow(&s->bits, &s->bits_cap, 3 * ((size_t)k / 64 + 1), sizeof *s->bits, err));
    *out =
        wide ? walk_words(s->bits, a, m, b, n, k, true) : walk_words(s->bits, a, m, b, n, k, false);
    if (*out <= k || k == tau) return ND_OK;
  }
}

static size_t common_front(const void *a, const void *b, size_t n, bool wide) {
  const char *p = a, *q = b;
  size_t bytes = wide ? 4 * n : n;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t x = nd_load64(p + i) ^ nd_load64(q + i);
    if (!x) continue;
    i += (size_t)__builtin_ctzll(x) >> 3;
    return (i < bytes ? i : bytes) >> (wide ? 2 : 0);
  }
  return n;
}

static size_t common_back(const void *a, size_t m, const void *b, size_t n, bool wide) {
  unsigned shift = wide ? 2 : 0;
  const char *p = (const char *)a + (m << shift), *q = (const char *)b + (n << shift);
  size_t bytes = n << shift;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t x = nd_load64(p - i - 8) ^ nd_load64(q - i - 8);
    if (!x) continue;
    i += (size_t)__builtin_clzll(x) >> 3;
    return (i < bytes ? i : bytes) >> shift;
  }
  return n;
}

nd_status nd_edit_symbols(uint32_t *out, nd_edit_scratch *s, const void *a, size_t m, const void *b,
                          size_t n, bool wide, uint32_t tau, nd_error *err) {
  if (m < n) {
    const void *p = a;
    a = b;
    b = p;
    size_t size = m;
    m = n;
    n = size;
  }
  if (m - n > tau) {
    *out = tau + 1;
    return ND_OK;
  }
  unsigned shift = wide ? 2 : 0;
  size_t front = common_front(a, b, n, wide);
  a = (const char *)a + (front << shift);
  b = (const char *)b + (front << shift);
  m -= front;
  n -= front;
  size_t back = common_back(a, m, b, n, wide);
  m -= back;
  n -= back;
  if (tau > m) tau = (uint32_t)m;
  if (n == 0)
    *out = (uint32_t)m;
  else if (tau == 0)
    *out = 1;
  else if (tau > ONE_WORD)
    return walk_large(out, s, a, m, b, n, wide, tau, err);
  else
    *out = wide ? walk_small(a, m, b, n, tau, true) : walk_small(a, m, b, n, tau, false);
  return ND_OK;
}

size_t nd_edit_decode(uint32_t *out, nd_str utf8) {
  size_t n = 0;
  for (size_t i = 0; i < utf8.n;) {
    unsigned length = nd_utf8_decode(&out[n], utf8.p + i, utf8.n - i);
    if (!length) out[n] = 0x110000u + (unsigned char)utf8.p[i];
    i += length ? length : 1;
    n++;
  }
  return n;
}

static bool is_ascii(nd_str s) {
  unsigned char seen = 0;
  for (size_t i = 0; i < s.n; i++) seen |= (unsigned char)s.p[i];
  return seen < 0x80;
}

nd_status nd_edit_distance(uint32_t *out, nd_edit_scratch *s, nd_str a, nd_str b, uint32_t tau,
                           nd_error *err) {
  if (a.n >= UINT32_MAX || b.n >= UINT32_MAX) /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT,
                   "cannot compute the edit distance of a string of 4 GiB or more");
  bool wide = !is_ascii(a) || !is_ascii(b);
  unsigned shift = wide ? 2 : 0;
  size_t room = (a.n + b.n + 3 * ND_EDIT_SLACK) << shift;
  size_t had = s->text_cap;
  ND_TRY(nd_array_grow(&s->text, &s->text_cap, room, 1, err));
  if (s->text_cap > had) memset((char *)s->text + had, 0, s->text_cap - had);
  size_t slack = (size_t)ND_EDIT_SLACK << shift;
  char *p = (char *)s->text + slack, *q = p + (a.n << shift) + slack;
  size_t m = a.n, n = b.n;
  if (wide) {
    m = nd_edit_decode((uint32_t *)(void *)p, a);
    n = nd_edit_decode((uint32_t *)(void *)q, b);
  } else {
    if (m) memcpy(p, a.p, m);
    if (n) memcpy(q, b.p, n);
  }
  return nd_edit_symbols(out, s, p, m, q, n, wide, tau, err);
}
