/* Fingerprints of the shingles of a document; see fingerprint.h. */
#include "feature/fingerprint.h"

#include <xxhash.h>

#include "base/hash.h"
#include "feature/rabin.h"

/* State kept between documents. */
struct nd_fingerprint_scratch {
  nd_shingles shingles;
  nd_rabin_window window; /* size 0: not initialised */
  nd_rabin_units units;
  uint64_t *power;
  size_t power_count, power_cap;
  uint64_t *rolled;
  size_t rolled_cap;
};

typedef struct nd_fingerprint_scratch scratch;

static const char *const names[] = {"rabin", "xxh3", "md5"};

nd_status nd_fingerprint_parse(nd_fingerprint_kind *out, const char *text, nd_error *err) {
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *out = (nd_fingerprint_kind)i;
    return ND_OK;
  }
  return nd_fail(err, ND_ERR_USAGE, "--fingerprint %s is not known; use rabin, xxh3 or md5", text);
}

const char *nd_fingerprint_name(nd_fingerprint_kind kind) {
  return names[kind];
}

void nd_fingerprints_clear(nd_fingerprints *f) {
  nd_free(f->low);
  nd_free(f->high);
  if (f->scratch) {
    nd_shingles_clear(&f->scratch->shingles);
    nd_free(f->scratch->power);
    nd_free(f->scratch->rolled);
    nd_free(f->scratch);
  }
  *f = (nd_fingerprints){0};
}

/* --- MD5 ------------------------------------------------------------------ */

/* The integer parts of 2^32 |sin(i + 1)|. */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
static const uint8_t turns[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

/* The 64 steps, for one block (word = uint32_t) or LANES blocks.  `i` is constant after
 * unrolling, so there is no branch. */
#define MD5_STEPS(name, word)                               \
  ND_INLINE void name(word s[4], const word m[16]) {        \
    word a = s[0], b = s[1], c = s[2], d = s[3];            \
    _Pragma("GCC unroll 64") for (int i = 0; i < 64; i++) { \
      int round = i / 16, k, turn = turns[round][i & 3];    \
      word sum;                                             \
      if (round == 0)                                       \
        sum = d ^ (b & (c ^ d)), k = i;                     \
      else if (round == 1)                                  \
        sum = c ^ (d & (b ^ c)), k = 5 * i + 1;             \
      else if (round == 2)                                  \
        sum = b ^ c ^ d, k = 3 * i + 5;                     \
      else                                                  \
        sum = c ^ (b | ~d), k = 7 * i;                      \
      sum += a + sines[i] + m[k & 15];                      \
      a = d;                                                \
      d = c;                                                \
      c = b;                                                \
      b += sum << turn | sum >> (32 - turn);                \
    }                                                       \
    s[0] += a;                                              \
    s[1] += b;                                              \
    s[2] += c;                                              \
    s[3] += d;                                              \
  }

enum { LANES = 16 };
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

MD5_STEPS(steps_one, uint32_t)
MD5_STEPS(steps_lanes, lanes)

static const uint32_t md5_begin[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

ND_INLINE uint32_t load32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void md5_block(uint32_t state[4], const uint8_t *p) {
  uint32_t m[16];
  for (int i = 0; i < 16; i++) m[i] = load32(p + 4 * i);
  steps_one(state, m);
}

static void md5_state(uint32_t state[4], const uint8_t *p, size_t n) {
  memcpy(state, md5_begin, sizeof md5_begin);
  uint64_t bits = (uint64_t)n * 8;
  for (; n >= 64; p += 64, n -= 64) md5_block(state, p);
  uint8_t last[128] = {0};
  if (n) memcpy(last, p, n);
  last[n] = 0x80;
  size_t end = n < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++) last[end - 8 + (size_t)i] = (uint8_t)(bits >> (8 * i));
  for (size_t at = 0; at < end; at += 64) md5_block(state, last + at);
}

void nd_md5(uint8_t digest[16], const void *p, size_t n) {
  uint32_t state[4];
  md5_state(state, p, n);
  for (int i = 0; i < 16; i++) digest[i] = (uint8_t)(state[i / 4] >> (8 * (i & 3)));
}

/* Computes MD5 of all shingles; LANES consecutive ones that fit one block each in parallel. */
ND_INLINE void md5_all(nd_fingerprints *out, nd_str text, const nd_shingles *s) {
  enum { ONE_BLOCK = 55 };
  const uint8_t *p = (const uint8_t *)text.p;
  for (size_t first = 0; first < s->n; first += LANES) {
    size_t count = s->n - first < LANES ? s->n - first : LANES;
    bool fit = count == LANES;
    for (size_t k = first; k < first + count; k++) fit &= s->end[k] - s->begin[k] <= ONE_BLOCK;
    if (!fit) {
      for (size_t k = first; k < first + count; k++) {
        uint32_t state[4];
        md5_state(state, p + s->begin[k], s->end[k] - s->begin[k]);
        out->low[k] = state[0] | (uint64_t)state[1] << 32;
        out->high[k] = state[2] | (uint64_t)state[3] << 32;
      }
      continue;
    }
    lanes m[16], state[4];
    uint8_t block[LANES][64] = {{0}};
    for (size_t k = 0; k < LANES; k++) {
      size_t n = s->end[first + k] - s->begin[first + k];
      memcpy(block[k], p + s->begin[first + k], n);
      block[k][n] = 0x80;
      block[k][56] = (uint8_t)(8 * n);
      block[k][57] = (uint8_t)(8 * n >> 8);
    }
    for (int i = 0; i < 16; i++) {
      for (int k = 0; k < LANES; k++) m[i][k] = load32(block[k] + 4 * i);
    }
    for (int i = 0; i < 4; i++) state[i] = md5_begin[i] - (lanes){0};
    steps_lanes(state, m);
    for (size_t k = 0; k < LANES; k++) {
      out->low[first + k] = state[0][k] | (uint64_t)state[1][k] << 32;
      out->high[first + k] = state[2][k] | (uint64_t)state[3][k] << 32;
    }
  }
}

static void md5_all_base(nd_fingerprints *out, nd_str text, const nd_shingles *s) {
  md5_all(out, text, s);
}
#if ND_X86
ND_TARGET_AVX2 static void md5_all_avx2(nd_fingerprints *out, nd_str text, const nd_shingles *s) {
  md5_all(out, text, s);
}
#endif

static void md5_shingles(nd_fingerprints *out, nd_str text, const nd_shingles *s) {
#if ND_X86
  if (nd_cpu() >= ND_CPU_AVX2) {
    md5_all_avx2(out, text, s);
    return;
  }
#endif
  md5_all_base(out, text, s);
}

/* --- shingles -------------------------------------------------------------- */

/* words:K: rolls over token fingerprints in place. */
static nd_status rabin_words(nd_fingerprints *out, nd_str text, const uint32_t *token_end,
                             size_t count, uint32_t size, nd_error *err) {
  scratch *s = out->scratch;
  ND_TRY(nd_array_grow(&out->low, &out->low_cap, count, sizeof *out->low, err));
  uint32_t begin = 0;
  for (size_t i = 0; i < count; i++) {
    out->low[i] = nd_rabin_bytes(text.p + begin, token_end[i] - begin);
    begin = token_end[i] + 1;
  }
  size_t window = count < size ? count : size;
  if (s->units.size != window) nd_rabin_units_init(&s->units, window);
  nd_rabin_roll_units(out->low, &s->units, out->low, count);
  out->n = count - window + 1;
  return ND_OK;
}

static bool is_ascii(nd_str text) {
  uint64_t seen = 0;
  size_t i = 0;
  for (; i + 8 <= text.n; i += 8) seen |= nd_load64(text.p + i);
  for (; i < text.n; i++) seen |= (uint64_t)(unsigned char)text.p[i] << 56;
  return (seen & 0x8080808080808080u) == 0;
}

/* ASCII: all windows have the same length in bytes, at every position or, for aligned:N, at
 * the starts of tokens. */
static nd_status rabin_ascii(nd_fingerprints *out, nd_str text, const uint32_t *token_end,
                             size_t token_count, nd_shingle_spec spec, nd_error *err) {
  scratch *s = out->scratch;
  size_t window = text.n < spec.size ? text.n : spec.size;
  size_t windows = text.n - window + 1;
  if (s->window.size != window) nd_rabin_window_init(&s->window, window);
  if (spec.kind == ND_SHINGLE_CHARS || windows == 1) {
    ND_TRY(nd_array_grow(&out->low, &out->low_cap, windows, sizeof *out->low, err));
    nd_rabin_roll(out->low, &s->window, text.p, text.n);
    out->n = windows;
    return ND_OK;
  }
  ND_TRY(nd_array_grow(&s->rolled, &s->rolled_cap, windows, sizeof *s->rolled, err));
  ND_TRY(nd_array_grow(&out->low, &out->low_cap, token_count, sizeof *out->low, err));
  nd_rabin_roll(s->rolled, &s->window, text.p, text.n);
  size_t begin = 0;
  for (size_t i = 0; i < token_count && begin < windows; i++) {
    out->low[out->n++] = s->rolled[begin];
    begin = (size_t)token_end[i] + 1;
  }
  return ND_OK;
}

/* Any text: the positions come from shingle.c, and the window changes its size. */
static nd_status rabin_places(nd_fingerprints *out, nd_str text, nd_error *err) {
  scratch *s = out->scratch;
  const nd_shingles *places = &s->shingles;
  size_t longest = 0;
  for (size_t i = 0; i < places->n; i++) {
    size_t length = places->end[i] - places->begin[i];
    if (length > longest) longest = length;
  }
  if (s->power_count < longest) {
    ND_TRY(nd_array_grow(&s->power, &s->power_cap, longest, sizeof *s->power, err));
    nd_rabin_powers(s->power, s->power_cap);
    s->power_count = s->power_cap;
  }
  uint64_t h = 0;
  uint32_t begin = 0, end = 0;
  for (size_t i = 0; i < places->n; i++) {
    h = nd_rabin_slide(h, s->power, text.p, begin, end, places->begin[i], places->end[i]);
    begin = places->begin[i];
    end = places->end[i];
    out->low[i] = h;
  }
  return ND_OK;
}

static nd_status cut(nd_fingerprints *out, nd_str text, const uint32_t *token_end,
                     size_t token_count, nd_shingle_spec spec, nd_error *err) {
  nd_shingles *s = &out->scratch->shingles;
  ND_TRY(nd_shingle_make(s, text, token_end, token_count, spec, 0, true, err));
  ND_TRY(nd_array_grow(&out->low, &out->low_cap, s->n, sizeof *out->low, err));
  out->n = s->n;
  return ND_OK;
}

static nd_status rabin(nd_fingerprints *out, nd_str text, const uint32_t *token_end,
                       size_t token_count, nd_shingle_spec spec, nd_error *err) {
  if (spec.kind == ND_SHINGLE_WORDS) {
    return rabin_words(out, text, token_end, token_count, spec.size, err);
  }
  if (is_ascii(text)) return rabin_ascii(out, text, token_end, token_count, spec, err);
  ND_TRY(cut(out, text, token_end, token_count, spec, err));
  return rabin_places(out, text, err);
}

nd_status nd_fingerprint_shingles(nd_fingerprints *out, nd_str text, const uint32_t *token_end,
                                  size_t token_count, nd_shingle_spec spec,
                                  nd_fingerprint_kind kind, nd_error *err) {
  out->n = 0;
  if (token_count == 0) return ND_OK;
  if (!out->scratch) {
    out->scratch = nd_calloc(1, sizeof *out->scratch);
    if (!out->scratch) return nd_fail_memory(err, sizeof *out->scratch);
  }
  if (kind == ND_FINGERPRINT_RABIN) {
    ND_TRY(rabin(out, text, token_end, token_count, spec, err));
  } else {
    ND_TRY(cut(out, text, token_end, token_count, spec, err));
  }
  ND_TRY(nd_array_grow(&out->high, &out->high_cap, out->n, sizeof *out->high, err));
  const nd_shingles *s = &out->scratch->shingles;
  if (kind == ND_FINGERPRINT_MD5) {
    md5_shingles(out, text, s);
    return ND_OK;
  }
  if (kind == ND_FINGERPRINT_XXH3) {
    for (size_t i = 0; i < s->n; i++) {
      out->low[i] = XXH3_64bits(text.p + s->begin[i], s->end[i] - s->begin[i]);
    }
  }
  memset(out->high, 0, out->n * sizeof *out->high);
  return ND_OK;
}
