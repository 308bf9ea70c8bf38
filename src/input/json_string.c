/* JSON strings: where they end, whether they are UTF-8, what their escapes mean.
 *
 * Nearly all bytes of a corpus lie inside strings, so this is the hot part: 64
 * bytes at a time become one mask of the bytes that matter (quote, backslash,
 * control characters) and one of the non-ASCII bytes. */
#include "input/json.h"

#if ND_X86
#include <immintrin.h>
#endif

/* The value of a hexadecimal digit plus 1; 0: not one. */
static const uint8_t hex_digit[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* What a backslash and this byte mean; 0: not an escape of two bytes. */
static const char short_escape[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* The value of four hexadecimal digits; above 0xffff when one is none. */
static inline uint32_t hex4(const char *p) {
  uint32_t a = hex_digit[(uint8_t)p[0]] - 1u, b = hex_digit[(uint8_t)p[1]] - 1u;
  uint32_t c = hex_digit[(uint8_t)p[2]] - 1u, d = hex_digit[(uint8_t)p[3]] - 1u;
  return (a | b | c | d) > 15 ? UINT32_MAX : a << 12 | b << 8 | c << 4 | d;
}

/* Length of the escape at p ('\\'); 0 with *why set when it is none. */
static inline size_t escape_length(const char *p, const char *end, const char **why) {
  if (ND_LIKELY(end - p >= 2 && short_escape[(uint8_t)p[1]])) return 2;
  if (ND_LIKELY(end - p >= 6 && p[1] == 'u' && hex4(p + 2) <= 0xffff)) return 6;
  size_t n = 1;
  if (end - p >= 2 && p[1] == 'u') {
    for (n = 2; p + n != end && hex_digit[(uint8_t)p[n]];) n++;
  }
  if (p + n == end) {
    *why = ND_JSON_CUT;
  } else {
    *why = n > 1 ? "\\u needs four hexadecimal digits" : "an unknown escape";
  }
  return 0;
}

static inline size_t put_utf8(char *q, uint32_t c) {
  if (c < 0x80) {
    q[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    q[0] = (char)(0xc0 | c >> 6);
    q[1] = (char)(0x80 | (c & 63));
    return 2;
  }
  if (c < 0x10000) {
    q[0] = (char)(0xe0 | c >> 12);
    q[1] = (char)(0x80 | (c >> 6 & 63));
    q[2] = (char)(0x80 | (c & 63));
    return 3;
  }
  q[0] = (char)(0xf0 | c >> 18);
  q[1] = (char)(0x80 | (c >> 12 & 63));
  q[2] = (char)(0x80 | (c >> 6 & 63));
  q[3] = (char)(0x80 | (c & 63));
  return 4;
}

/* Resolves the checked escape at *p, moves past it, returns bytes written. */
static inline size_t resolve(char *q, const char **p, const char *end) {
  const char *e = *p;
  char c = short_escape[(uint8_t)e[1]];
  if (c) {
    *p = e + 2;
    *q = c;
    return 1;
  }
  uint32_t code = hex4(e + 2);
  *p = e + 6;
  if (ND_UNLIKELY(code >= 0xd800 && code < 0xe000)) {
    uint32_t low = 0;
    if (code < 0xdc00 && end - *p >= 6 && e[6] == '\\' && e[7] == 'u') low = hex4(e + 8);
    if (low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      *p = e + 12;
    } else {
      code = 0xfffd;
    }
  }
  return put_utf8(q, code);
}

bool nd_json_escaped_is(nd_str value, nd_str name) {
  if (value.n > 6 * name.n) return false;
  const char *p = value.p, *end = p + value.n;
  size_t at = 0;
  while (p != end) {
    char unit[4];
    size_t n = 1;
    if (*p == '\\') {
      n = resolve(unit, &p, end);
    } else {
      unit[0] = *p++;
    }
    if (n > name.n - at || memcmp(name.p + at, unit, n) != 0) return false;
    at += n;
  }
  return at == name.n;
}

/* --- 64 bytes at a time ----------------------------------------------------- */
/* classify_LEVEL: bit i of the result is set when p[i] ends a run of plain
 * string bytes; bit i of *high when p[i] is not ASCII. */

#define ONES 0x0101010101010101ull
#define TOPS 0x8080808080808080ull

/* The top bit of every byte of x that is zero; exact, without carries. */
static inline uint64_t zero_bytes(uint64_t x) {
  return ~(((x & ~TOPS) + ~TOPS) | x | ~TOPS);
}

/* Gathers the top bits of eight bytes, lowest byte first. */
static inline uint64_t gather(uint64_t tops) {
  return ((tops >> 7) * 0x0102040810204080ull) >> 56;
}

ND_INLINE uint64_t classify_base(const char *p, uint64_t *high) {
  uint64_t stop = 0, above = 0;
  for (int i = 0; i < 8; i++) {
    uint64_t x;
    memcpy(&x, p + 8 * i, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    uint64_t hit = zero_bytes(x ^ (ONES * '"')) | zero_bytes(x ^ (ONES * '\\')) |
                   zero_bytes(x & (ONES * 0xe0));
    if (ND_UNLIKELY(hit)) stop |= gather(hit) << (8 * i);
    if (ND_UNLIKELY(x & TOPS)) above |= gather(x & TOPS) << (8 * i);
  }
  *high = above;
  return stop;
}

#if ND_X86
ND_TARGET_SSE41 ND_INLINE uint64_t classify_sse41(const char *p, uint64_t *high) {
  const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
                control = _mm_set1_epi8(0x1f);
  uint64_t stop = 0, above = 0;
  for (int i = 0; i < 4; i++) {
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
    __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)),
                               _mm_cmpeq_epi8(_mm_min_epu8(x, control), x));
    stop |= (uint64_t)(uint32_t)_mm_movemask_epi8(hit) << (16 * i);
    above |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << (16 * i);
  }
  *high = above;
  return stop;
}

ND_TARGET_AVX2 ND_INLINE uint64_t classify_avx2(const char *p, uint64_t *high) {
  const __m256i quote = _mm256_set1_epi8('"'), slash = _mm256_set1_epi8('\\'),
                control = _mm256_set1_epi8(0x1f);
  uint64_t stop = 0, above = 0;
  for (int i = 0; i < 2; i++) {
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * i));
    __m256i hit =
        _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(x, quote), _mm256_cmpeq_epi8(x, slash)),
                        _mm256_cmpeq_epi8(_mm256_min_epu8(x, control), x));
    stop |= (uint64_t)(uint32_t)_mm256_movemask_epi8(hit) << (32 * i);
    above |= (uint64_t)(uint32_t)_mm256_movemask_epi8(x) << (32 * i);
  }
  *high = above;
  return stop;
}

ND_TARGET_AVX512 ND_INLINE uint64_t classify_avx512(const char *p, uint64_t *high) {
  __m512i x = _mm512_loadu_si512(p);
  *high = _mm512_movepi8_mask(x);
  return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"')) |
         _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\\')) |
         _mm512_cmplt_epu8_mask(x, _mm512_set1_epi8(0x20));
}
#endif

/* The scanner.  The last bytes are looked at in a padded copy: nothing is
 * promised about memory after the text. */
#define SCAN_BODY(classify)                                            \
  const char *p = bytes.p, *end = bytes.p + bytes.n, *why = NULL;      \
  uint64_t seen = 0;                                                   \
  bool escaped = false;                                                \
  for (;;) {                                                           \
    uint64_t high, stop;                                               \
    if (ND_LIKELY(end - p >= 64)) {                                    \
      stop = classify(p, &high);                                       \
      if (stop == 0) {                                                 \
        seen |= high;                                                  \
        p += 64;                                                       \
        continue;                                                      \
      }                                                                \
    } else {                                                           \
      char pad[64];                                                    \
      memset(pad, '"', sizeof pad);                                    \
      if (p != end) memcpy(pad, p, (size_t)(end - p));                 \
      stop = classify(pad, &high);                                     \
    }                                                                  \
    seen |= high & ((stop & -stop) - 1);                               \
    p += __builtin_ctzll(stop);                                        \
    if (p == end) {                                                    \
      why = ND_JSON_CUT;                                               \
      break;                                                           \
    }                                                                  \
    if (*p == '"') break;                                              \
    if (*p != '\\') {                                                  \
      why = "a control character inside a string";                     \
      break;                                                           \
    }                                                                  \
    escaped = true;                                                    \
    do { /* text in other scripts is often one escape after another */ \
      size_t n = escape_length(p, end, &why);                          \
      p += n;                                                          \
    } while (!why && p != end && *p == '\\');                          \
    if (why) break;                                                    \
  }                                                                    \
  *out = (nd_json_string) {                                            \
    (size_t)(p - bytes.p), escaped, seen != 0, why                     \
  }

/* Resolves all escapes, returns the end of what was written.  It is never
 * ahead of the reading place, so whole blocks may be copied.  In a checked
 * string, the first byte that stops a run is a backslash. */
#define UNESCAPE_BODY(classify)                              \
  const char *p = value.p, *end = p + value.n;               \
  while (end - p >= 64) {                                    \
    uint64_t high, stop = classify(p, &high);                \
    memcpy(q, p, 64);                                        \
    size_t run = stop ? (size_t)__builtin_ctzll(stop) : 64;  \
    p += run;                                                \
    q += run;                                                \
    while (p != end && *p == '\\') q += resolve(q, &p, end); \
  }                                                          \
  while (p != end) {                                         \
    if (*p == '\\') {                                        \
      q += resolve(q, &p, end);                              \
    } else {                                                 \
      *q++ = *p++;                                           \
    }                                                        \
  }                                                          \
  return q

#define LEVEL(name, target)                                           \
  target static void scan_##name(nd_json_string *out, nd_str bytes) { \
    SCAN_BODY(classify_##name);                                       \
  }                                                                   \
  target static char *unescape_##name(char *q, nd_str value) {        \
    UNESCAPE_BODY(classify_##name);                                   \
  }

LEVEL(base, )
#if ND_X86
LEVEL(sse41, ND_TARGET_SSE41)
LEVEL(avx2, ND_TARGET_AVX2)
LEVEL(avx512, ND_TARGET_AVX512)
#endif

/* --- UTF-8 ------------------------------------------------------------------ */

/* The first place that is not UTF-8, or NULL. */
static const char *utf8_fault_base(nd_str text) {
  const unsigned char *p = (const unsigned char *)text.p, *end = p + text.n;
  while (p < end) {
    if (*p < 0x80) {
      uint64_t x;
      while (end - p >= 8 && (memcpy(&x, p, 8), (x & TOPS) == 0)) p += 8;
      while (p < end && *p < 0x80) p++;
      continue;
    }
    size_t left = (size_t)(end - p);
    unsigned a = p[0], b = left > 1 ? p[1] : 0, c = left > 2 ? p[2] : 0, d = left > 3 ? p[3] : 0;
    if (a >= 0xc2 && a < 0xe0 && (b & 0xc0) == 0x80) {
      p += 2;
    } else if ((a & 0xf0) == 0xe0 && (b & 0xc0) == 0x80 && (c & 0xc0) == 0x80 &&
               (a != 0xe0 || b >= 0xa0) && (a != 0xed || b < 0xa0)) {
      p += 3;
    } else if (a >= 0xf0 && a < 0xf5 && (b & 0xc0) == 0x80 && (c & 0xc0) == 0x80 &&
               (d & 0xc0) == 0x80 && (a != 0xf0 || b >= 0x90) && (a != 0xf4 || b < 0x90)) {
      p += 4;
    } else {
      return (const char *)p;
    }
  }
  return NULL;
}

#if ND_X86
/* Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte"
 * (2021): each pair of neighbours is looked up by three of its half
 * bytes; a bit that all three share is a fault.  The bit TWO says that both
 * are continuation bytes, which is right exactly where a three- or four-byte
 * sequence asks for it. */
enum {
  SHORT = 1,      /* a lead without its continuation */
  LONG = 2,       /* a continuation after ASCII */
  OVER3 = 4,      /* e0 80..9f */
  LARGE = 8,      /* f4 90.., f5.. */
  SURROGATE = 16, /* ed a0.. */
  OVER2 = 32,     /* c0, c1 */
  OVER4 = 64,     /* f0 80..8f, and f5.. with 80..8f */
  TWO = 128,      /* a continuation after a continuation */
  CARRY = SHORT | LONG | TWO
};

#define FIRST_HIGH                                                                            \
  LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, (char)TWO, (char)TWO, (char)TWO, (char)TWO, \
      SHORT | OVER2, SHORT, SHORT | OVER3 | SURROGATE, SHORT | LARGE | OVER4
#define CARRY_BIG (char)(CARRY | LARGE | OVER4)
#define FIRST_LOW                                                                              \
  (char)(CARRY | OVER3 | OVER2 | OVER4), (char)(CARRY | OVER2), (char)CARRY, (char)CARRY,      \
      (char)(CARRY | LARGE), CARRY_BIG, CARRY_BIG, CARRY_BIG, CARRY_BIG, CARRY_BIG, CARRY_BIG, \
      CARRY_BIG, CARRY_BIG, (char)(CARRY | LARGE | OVER4 | SURROGATE), CARRY_BIG, CARRY_BIG
#define SECOND_HIGH                                                                           \
  SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT,                                     \
      (char)(LONG | OVER2 | TWO | OVER3 | OVER4), (char)(LONG | OVER2 | TWO | OVER3 | LARGE), \
      (char)(LONG | OVER2 | TWO | SURROGATE | LARGE),                                         \
      (char)(LONG | OVER2 | TWO | SURROGATE | LARGE), SHORT, SHORT, SHORT, SHORT

ND_TARGET_SSE41 static bool utf8_valid_sse41(nd_str text) {
  const __m128i first_high = _mm_setr_epi8(FIRST_HIGH), first_low = _mm_setr_epi8(FIRST_LOW),
                second_high = _mm_setr_epi8(SECOND_HIGH), half = _mm_set1_epi8(15);
  __m128i previous = _mm_setzero_si128(), fault = previous;
  for (size_t i = 0; i <= text.n; i += 16) { /* the last block ends with zeros */
    __m128i x;
    if (text.n - i >= 16) {
      x = _mm_loadu_si128((const __m128i *)(const void *)(text.p + i));
    } else {
      char pad[16] = {0};
      memcpy(pad, text.p + i, text.n - i);
      x = _mm_loadu_si128((const __m128i *)(const void *)pad);
    }
    __m128i back1 = _mm_alignr_epi8(x, previous, 15), back2 = _mm_alignr_epi8(x, previous, 14),
            back3 = _mm_alignr_epi8(x, previous, 13);
    __m128i pair = _mm_and_si128(
        _mm_and_si128(_mm_shuffle_epi8(first_high, _mm_and_si128(_mm_srli_epi16(back1, 4), half)),
                      _mm_shuffle_epi8(first_low, _mm_and_si128(back1, half))),
        _mm_shuffle_epi8(second_high, _mm_and_si128(_mm_srli_epi16(x, 4), half)));
    __m128i third = _mm_or_si128(_mm_subs_epu8(back2, _mm_set1_epi8(0xe0 - 0x80)),
                                 _mm_subs_epu8(back3, _mm_set1_epi8(0xf0 - 0x80)));
    third = _mm_and_si128(third, _mm_set1_epi8((char)0x80));
    fault = _mm_or_si128(fault, _mm_xor_si128(third, pair));
    previous = x;
  }
  return _mm_testz_si128(fault, fault);
}

#define TWICE(table) _mm256_setr_epi8(table, table)

ND_TARGET_AVX2 static bool utf8_valid_avx2(nd_str text) {
  const __m256i first_high = TWICE(FIRST_HIGH), first_low = TWICE(FIRST_LOW),
                second_high = TWICE(SECOND_HIGH), half = _mm256_set1_epi8(15);
  __m256i previous = _mm256_setzero_si256(), fault = previous;
  for (size_t i = 0; i <= text.n; i += 32) {
    __m256i x;
    if (text.n - i >= 32) {
      x = _mm256_loadu_si256((const __m256i *)(const void *)(text.p + i));
    } else {
      char pad[32] = {0};
      memcpy(pad, text.p + i, text.n - i);
      x = _mm256_loadu_si256((const __m256i *)(const void *)pad);
    }
    __m256i across = _mm256_permute2x128_si256(previous, x, 0x21);
    __m256i back1 = _mm256_alignr_epi8(x, across, 15), back2 = _mm256_alignr_epi8(x, across, 14),
            back3 = _mm256_alignr_epi8(x, across, 13);
    __m256i pair = _mm256_and_si256(
        _mm256_and_si256(
            _mm256_shuffle_epi8(first_high, _mm256_and_si256(_mm256_srli_epi16(back1, 4), half)),
            _mm256_shuffle_epi8(first_low, _mm256_and_si256(back1, half))),
        _mm256_shuffle_epi8(second_high, _mm256_and_si256(_mm256_srli_epi16(x, 4), half)));
    __m256i third = _mm256_or_si256(_mm256_subs_epu8(back2, _mm256_set1_epi8(0xe0 - 0x80)),
                                    _mm256_subs_epu8(back3, _mm256_set1_epi8(0xf0 - 0x80)));
    third = _mm256_and_si256(third, _mm256_set1_epi8((char)0x80));
    fault = _mm256_or_si256(fault, _mm256_xor_si256(third, pair));
    previous = x;
  }
  return _mm256_testz_si256(fault, fault);
}
#endif

/* --- the doors ---------------------------------------------------------------- */

typedef struct kernel {
  void (*scan)(nd_json_string *out, nd_str bytes);
  char *(*unescape)(char *q, nd_str value);
  bool (*utf8_valid)(nd_str text); /* NULL: only the slow one */
} kernel;

static const kernel kernels[ND_CPU_LEVELS] = {
#if ND_X86
    [ND_CPU_BASE] = {scan_base, unescape_base, NULL},
    [ND_CPU_SSE41] = {scan_sse41, unescape_sse41, utf8_valid_sse41},
    [ND_CPU_AVX2] = {scan_avx2, unescape_avx2, utf8_valid_avx2},
    [ND_CPU_AVX512] = {scan_avx512, unescape_avx512, utf8_valid_avx2},
#else
    {scan_base, unescape_base, NULL},
    {scan_base, unescape_base, NULL},
    {scan_base, unescape_base, NULL},
    {scan_base, unescape_base, NULL},
#endif
};

void nd_json_scan(nd_json_string *out, nd_str bytes, nd_cpu_level level) {
  kernels[level].scan(out, bytes);
}

const char *nd_json_utf8_fault(nd_str text, nd_cpu_level level) {
  if (kernels[level].utf8_valid && kernels[level].utf8_valid(text)) return NULL;
  return utf8_fault_base(text);
}

nd_status nd_json_unescape(nd_buf *out, nd_str value, nd_error *err) {
  ND_TRY(nd_buf_reserve(out, value.n, err)); /* no escape is shorter than what it means */
  out->n = (size_t)(kernels[nd_cpu()].unescape(out->p + out->n, value) - out->p);
  return ND_OK;
}
