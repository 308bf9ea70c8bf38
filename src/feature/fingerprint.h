/* Fingerprints that identify shingles: 64-bit Rabin or XXH3, or the 128 bits of MD5
 * (RFC 1321).
 *
 *            chars:Q, aligned:N           words:K
 *   rabin    f of the shingle's bytes     f of the fingerprints of its tokens, 8 bytes each
 *   xxh3     XXH3, 64 bits, of the shingle's bytes (both)
 *   md5      MD5 of the shingle's bytes (both): low = the first 8 bytes of the
 *            digest, little-endian, high = the last 8
 *
 * shingle.h defines the shingles and their order. */
#ifndef ND_FEATURE_FINGERPRINT_H
#define ND_FEATURE_FINGERPRINT_H

#include "feature/shingle.h"

typedef enum nd_fingerprint_kind {
  ND_FINGERPRINT_RABIN = 0,
  ND_FINGERPRINT_XXH3,
  ND_FINGERPRINT_MD5
} nd_fingerprint_kind;

/* Parses "rabin", "xxh3" or "md5". */
nd_status nd_fingerprint_parse(nd_fingerprint_kind *out, const char *text,
                               nd_error *err) ND_MUST_CHECK;
const char *nd_fingerprint_name(nd_fingerprint_kind kind);

/* Fingerprint i is (low[i], high[i]); high is 0 for the 64-bit kinds.  {0} is empty; the
 * arrays are reused for the next document. */
typedef struct nd_fingerprints {
  uint64_t *low, *high;
  size_t n;
  size_t low_cap, high_cap;
  struct nd_fingerprint_scratch *scratch;
} nd_fingerprints;

/* Replaces *out by the fingerprints of all shingles of a document, including repeats.  `text`
 * and the token ends are as in nd_tokens. */
nd_status nd_fingerprint_shingles(nd_fingerprints *out, nd_str text, const uint32_t *token_end,
                                  size_t token_count, nd_shingle_spec spec,
                                  nd_fingerprint_kind kind, nd_error *err) ND_MUST_CHECK;
void nd_fingerprints_clear(nd_fingerprints *f);

/* Computes the MD5 digest of n bytes. */
void nd_md5(uint8_t digest[16], const void *p, size_t n);

#endif
