/* Token text → token ends → shingles → distinct keys: the working memory of one thread, reused for
 * every document.  {0} is ready. */
#ifndef ND_FEATURE_SHINGLER_H
#define ND_FEATURE_SHINGLER_H

#include "feature/shingle.h"

typedef struct nd_shingler {
  uint32_t *end; /* where each token ends */
  size_t tokens, end_cap;
  nd_shingles shingles;
  uint64_t *key; /* distinct keys, ascending */
  size_t keys, key_cap;
  uint64_t *scratch;
  size_t scratch_cap;
} nd_shingler;

void nd_shingler_clear(nd_shingler *s);

/* Finds the tokens of a token text; `text` must outlive the next steps and have ND_SLACK readable
 * bytes after its end, as an nd_buf has. */
nd_status nd_shingler_split(nd_shingler *s, nd_str text, nd_error *err) ND_MUST_CHECK;

/* Splits, and makes the shingles: occurrences in text order, without their positions. */
nd_status nd_shingler_run(nd_shingler *s, nd_str text, nd_shingle_spec spec, uint64_t seed,
                          nd_error *err) ND_MUST_CHECK;

/* Fills `key` with the sampling keys (nd_sample_key) of the shingles, each once, ascending.  What
 * a sampler removed from `shingles` has no key. */
nd_status nd_shingler_keys(nd_shingler *s, nd_error *err) ND_MUST_CHECK;

/* Sorts the fingerprints themselves and removes repeats; text order and positions are lost. */
nd_status nd_shingler_sort(nd_shingler *s, nd_error *err) ND_MUST_CHECK;

#endif
