/* Shingles of the three kinds; see shingle.h. */
#include "feature/shingle.h"

#include <stdlib.h>

#include "base/hash.h"

/* An odd constant with well-spread bits, whose powers weight the tokens of a shingle. */
static const uint64_t base = 0x9e3779b97f4a7c15u;

static uint64_t power(uint64_t x, uint32_t n) {
  uint64_t result = 1;
  for (; n; n >>= 1, x *= x) {
    if (n & 1) result *= x;
  }
  return result;
}

nd_status nd_shingle_parse(nd_shingle_spec *out, const char *text, nd_error *err) {
  static const struct {
    const char *name;
    nd_shingle_kind kind;
  } kinds[] = {
      {"words:", ND_SHINGLE_WORDS}, {"chars:", ND_SHINGLE_CHARS}, {"aligned:", ND_SHINGLE_ALIGNED}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t n = strlen(kinds[i].name);
    if (strncmp(text, kinds[i].name, n) != 0) continue;
    char *end;
    const char *digits = text + n;
    unsigned long size = *digits >= '0' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;
    if (size < 1 || size > 1000 || *end != '\0') break;
    *out = (nd_shingle_spec){kinds[i].kind, (uint32_t)size};
    return ND_OK;
  }
  return nd_fail(err, ND_ERR_USAGE,
                 "--shingle %s is not known; use words:K, chars:Q or aligned:N with a number from "
                 "1 to 1000, such as words:5",
                 text);
}

void nd_shingles_clear(nd_shingles *s) {
  nd_free(s->fingerprint);
  nd_free(s->begin);
  nd_free(s->end);
  nd_free(s->point);
  *s = (nd_shingles){0};
}

static nd_status reserve(nd_shingles *s, size_t n, bool places, nd_error *err) {
  ND_TRY(nd_array_grow(&s->fingerprint, &s->cap, n, sizeof *s->fingerprint, err));
  if (!places) return ND_OK;
  size_t cap = s->place_cap;
  ND_TRY(nd_array_grow(&s->begin, &cap, n, sizeof *s->begin, err));
  cap = s->place_cap;
  ND_TRY(nd_array_grow(&s->end, &cap, n, sizeof *s->end, err));
  s->place_cap = cap;
  return ND_OK;
}

/* Writes the hashes of `count` > 0 tokens, then rolls over them in place: the hash at position
 * i (the token leaving the window) is read before the fingerprint is written. */
static void roll_words(nd_shingles *s, const char *text, uint32_t start, const uint32_t *end,
                       size_t count, uint32_t size, nd_hash_key key) {
  uint64_t *fp = s->fingerprint;
  for (size_t i = 0; i < count; i++) {
    fp[i] = nd_hash_bytes(text + start, end[i] - start, key);
    start = end[i] + 1;
  }
  if (count < size) size = (uint32_t)count;
  uint64_t out = power(base, size);
  uint64_t h = 0;
  for (size_t i = 0; i < size; i++) h = h * base + fp[i];
  for (size_t i = size; i < count; i++) {
    uint64_t leaving = fp[i - size];
    uint64_t entering = fp[i];
    fp[i - size] = h;
    h = h * base + (entering - leaving * out);
  }
  fp[count - size] = h;
  s->n = count - size + 1;
}

static void place_words(nd_shingles *s, uint32_t start, const uint32_t *end, size_t count) {
  size_t size = count - s->n + 1;
  for (size_t i = 0; i < s->n; i++) {
    s->begin[i] = i ? end[i - 1] + 1 : start;
    s->end[i] = end[i + size - 1];
  }
}

/* Finds the byte offset of every code point and their number. */
static size_t find_points(uint32_t *point, nd_str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++) {
    point[n] = (uint32_t)i;
    n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
  }
  point[n] = (uint32_t)text.n;
  return n;
}

ND_INLINE uint64_t hash_point(const char *text, const uint32_t *point, size_t i, nd_hash_key key) {
  uint64_t bytes = nd_load64(text + point[i]) & nd_hash_masks[point[i + 1] - point[i]][0];
  return nd_fold(bytes ^ key.low, key.high);
}

static nd_status make_points(nd_shingles *s, nd_str text, const uint32_t *token_end,
                             size_t token_count, nd_shingle_spec spec, nd_hash_key key, bool places,
                             nd_error *err) {
  ND_TRY(nd_array_grow(&s->point, &s->point_cap, text.n + 1, sizeof *s->point, err));
  const uint32_t *point = s->point;
  size_t n = find_points(s->point, text);
  size_t size = spec.size < n ? spec.size : n;
  bool whole = n <= spec.size; /* the entire text is one shingle */
  ND_TRY(reserve(s, spec.kind == ND_SHINGLE_CHARS ? n - size + 1 : token_count, places, err));
  uint64_t out = power(base, (uint32_t)size);
  uint64_t h = 0;
  for (size_t i = 0; i < size; i++) h = h * base + hash_point(text.p, point, i, key);
  size_t token = 0;
  uint32_t token_start = 0;
  s->n = 0;
  for (size_t i = 0; i + size <= n; i++) {
    if (i) {
      uint64_t leaving = hash_point(text.p, point, i - 1, key);
      h = h * base + (hash_point(text.p, point, i + size - 1, key) - leaving * out);
    }
    if (spec.kind == ND_SHINGLE_ALIGNED && !whole) {
      if (point[i] != token_start) continue;
      token_start = token_end[token++] + 1;
    }
    s->fingerprint[s->n] = h;
    if (places) {
      s->begin[s->n] = point[i];
      s->end[s->n] = point[i + size];
    }
    s->n++;
    if (whole) break;
  }
  return ND_OK;
}

nd_status nd_shingle_make(nd_shingles *out, nd_str text, const uint32_t *token_end,
                          size_t token_count, nd_shingle_spec spec, uint64_t seed, bool places,
                          nd_error *err) {
  out->n = 0;
  if (token_count == 0) return ND_OK;
  nd_hash_key key = nd_hash_key_of(seed);
  if (spec.kind != ND_SHINGLE_WORDS) {
    return make_points(out, text, token_end, token_count, spec, key, places, err);
  }
  ND_TRY(reserve(out, token_count, places, err));
  roll_words(out, text.p, 0, token_end, token_count, spec.size, key);
  if (places) place_words(out, 0, token_end, token_count);
  return ND_OK;
}

nd_status nd_shingle_range(nd_shingles *out, nd_str text, const uint32_t *token_end, size_t first,
                           size_t count, uint32_t size, uint64_t seed, nd_error *err) {
  uint32_t start = first ? token_end[first - 1] + 1 : 0;
  ND_TRY(reserve(out, count, true, err));
  roll_words(out, text.p, start, token_end + first, count, size, nd_hash_key_of(seed));
  place_words(out, start, token_end + first, count);
  return ND_OK;
}
