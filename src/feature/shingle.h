/* Tokens → shingles.
 *
 *   words:K    every K consecutive tokens; fewer than K tokens: all of them
 *   chars:Q    every Q consecutive code points of the token text (tokens joined
 *              by single spaces); a shorter text: all of it
 *   aligned:N  N code points from every token's start (Nikkhoo 2010, 3.1); a
 *              tail shorter than N gives none, a shorter text gives itself
 *
 * A shingle is a run of bytes of the token text.  Its fingerprint is a
 * polynomial over 64-bit token (or code point) hashes modulo 2^64, rolled along
 * the text.  Occurrences are listed in text order, repeated ones included; the
 * sketches and the verifier make a set of them. */
#ifndef ND_FEATURE_SHINGLE_H
#define ND_FEATURE_SHINGLE_H

#include "base/mem.h"
#include "text/text.h"

typedef enum nd_shingle_kind {
  ND_SHINGLE_WORDS,
  ND_SHINGLE_CHARS,
  ND_SHINGLE_ALIGNED
} nd_shingle_kind;

typedef struct nd_shingle_spec {
  nd_shingle_kind kind;
  uint32_t size;
} nd_shingle_spec;

/* "words:5", "chars:9", "aligned:64" … */
nd_status nd_shingle_parse(nd_shingle_spec *out, const char *text, nd_error *err) ND_MUST_CHECK;

typedef struct nd_shingles {
  uint64_t *fingerprint;
  size_t n;
  size_t cap;
  /* Where each shingle lies in the token text; filled only when asked for. */
  uint32_t *begin, *end;
  size_t place_cap;
  /* scratch of the code point kinds */
  uint32_t *point;
  size_t point_cap;
} nd_shingles;

nd_status nd_shingle_make(nd_shingles *out, nd_str text, const uint32_t *token_end,
                          size_t token_count, nd_shingle_spec spec, uint64_t seed, bool places,
                          nd_error *err) ND_MUST_CHECK;

/* words:K only: the shingles of the tokens first … first + count - 1, as if they
 * were all (count >= K > 0); their places are in the whole text. */
nd_status nd_shingle_range(nd_shingles *out, nd_str text, const uint32_t *token_end, size_t first,
                           size_t count, uint32_t size, uint64_t seed, nd_error *err) ND_MUST_CHECK;
void nd_shingles_clear(nd_shingles *s);

#endif
