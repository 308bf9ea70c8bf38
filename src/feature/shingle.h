/* Tokens → shingles.
 *
 *   words:K    K consecutive tokens; a text with fewer tokens is one shingle
 *   chars:Q    Q consecutive code points of the token text (tokens joined by single
 *              spaces); a shorter text is one shingle
 *   aligned:N  N code points from the start of every token (Nikkhoo 2010, 3.1), except
 *              in a tail shorter than N; a shorter text is one shingle
 *
 * A shingle is a run of bytes of the token text.  Its fingerprint is a
 * polynomial over 64-bit token (or code point) hashes modulo 2^64, rolled along
 * the text.  Occurrences are listed in text order, including repeats; sketches
 * and the verifier use their set. */
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

/* Parses "words:5", "chars:9", "aligned:64" … */
nd_status nd_shingle_parse(nd_shingle_spec *out, const char *text, nd_error *err) ND_MUST_CHECK;

typedef struct nd_shingles {
  uint64_t *fingerprint;
  size_t n;
  size_t cap;
  /* Positions of the shingles in the token text; filled on request. */
  uint32_t *begin, *end;
  size_t place_cap;
  /* scratch of chars and aligned */
  uint32_t *point;
  size_t point_cap;
} nd_shingles;

nd_status nd_shingle_make(nd_shingles *out, nd_str text, const uint32_t *token_end,
                          size_t token_count, nd_shingle_spec spec, uint64_t seed, bool places,
                          nd_error *err) ND_MUST_CHECK;

/* words:K only: computes the shingles of the tokens from `first` to first + count - 1, as if
 * there were no others (count >= K > 0); positions refer to the entire text. */
nd_status nd_shingle_range(nd_shingles *out, nd_str text, const uint32_t *token_end, size_t first,
                           size_t count, uint32_t size, uint64_t seed, nd_error *err) ND_MUST_CHECK;
void nd_shingles_clear(nd_shingles *s);

#endif
