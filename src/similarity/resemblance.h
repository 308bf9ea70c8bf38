/* The exact resemblance of two documents.
 *
 * r(A,B) = |S(A) ∩ S(B)| / |S(A) ∪ S(B)| over sets of shingles (Broder 1997).
 * Two shingles are equal if their bytes are; fingerprints only speed up the
 * search, so the counts are exact for any hash function. */
#ifndef ND_SIMILARITY_RESEMBLANCE_H
#define ND_SIMILARITY_RESEMBLANCE_H

#include "feature/shingle.h"

typedef struct nd_overlap {
  uint32_t common, joint; /* |A ∩ B|, |A ∪ B| */
  uint32_t left;          /* |A| */
} nd_overlap;

/* A document prepared for several comparisons.  Start with {0}, put the token text into `text` and
 * call nd_prepared_set. */
typedef struct nd_prepared {
  nd_buf text;
  uint32_t *token_end;
  size_t token_count, token_cap;
  nd_shingles shingles;
  bool shingled; /* the shingles are computed */
  unsigned uses;
} nd_prepared;

nd_status nd_prepared_set(nd_prepared *p, nd_error *err) ND_MUST_CHECK;
void nd_prepared_clear(nd_prepared *p);
size_t nd_prepared_bytes(const nd_prepared *p); /* estimate of the memory in use */

typedef struct nd_comparer nd_comparer;

nd_status nd_comparer_new(nd_comparer **out, nd_shingle_spec spec, uint64_t seed,
                          nd_error *err) ND_MUST_CHECK;
void nd_comparer_free(nd_comparer *c);

/* Sets the left document, which is borrowed until the next call. */
nd_status nd_comparer_set(nd_comparer *c, nd_prepared *left, nd_error *err) ND_MUST_CHECK;

/* Compares another document with the left one. */
nd_status nd_comparer_run(nd_overlap *out, nd_comparer *c, nd_prepared *right,
                          nd_error *err) ND_MUST_CHECK;

/* Set the left document and compare with another one, from texts, which are copied. */
nd_status nd_comparer_left(nd_comparer *c, nd_str token_text, nd_error *err) ND_MUST_CHECK;
nd_status nd_comparer_right(nd_overlap *out, nd_comparer *c, nd_str token_text,
                            nd_error *err) ND_MUST_CHECK;

/* Tests common / joint >= num / den in integers. */
static inline bool nd_overlap_reaches(nd_overlap o, uint64_t num, uint64_t den) {
  return o.joint && (unsigned __int128)o.common * den >= (unsigned __int128)o.joint * num;
}

static inline double nd_overlap_value(nd_overlap o) {
  return o.joint ? (double)o.common / o.joint : 0;
}

#endif
