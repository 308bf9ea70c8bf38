/* Computes the sketch row (row.h) of a document from its tokens.  For one thread. */
#ifndef ND_READ_SKETCHES_H
#define ND_READ_SKETCHES_H

#include "settings/method.h"

/* MinHash values of the document last made, for all sketches made from so many. */
typedef struct nd_min_values {
  nd_minhash hash;
  uint64_t *value;
} nd_min_values;

typedef struct nd_sketches {
  const nd_settings *settings;
  nd_shingles features;
  nd_min_values values[ND_ROW_MOST + 1]; /* no two of one length */
  unsigned value_n;
  const uint64_t *bands;            /* MinHash values from which bands are computed */
  const uint64_t *min[ND_ROW_MOST]; /* per part of the row: its MinHash values */
  void *state[ND_ROW_MOST];         /* per part of the row: what its sketch keeps */
} nd_sketches;

nd_status nd_sketches_init(nd_sketches *s, const nd_settings *settings,
                           nd_error *err) ND_MUST_CHECK;
void nd_sketches_clear(nd_sketches *s);

/* Returns true if the sketches depend on the document's shingles. */
bool nd_sketches_use_shingles(const nd_settings *settings);

/* Computes a row (settings->row.total words; NULL if 0), and the values of s->bands if the
 * settings have permutations. */
nd_status nd_sketches_make(uint64_t *row, nd_sketches *s, const nd_shingles *shingles,
                           const nd_tokens *tokens, nd_str url, nd_error *err) ND_MUST_CHECK;

/* Computes the features of ND_FROM_FEATURES: fingerprints of tokens, or of all shingles. */
nd_status nd_sketches_features(nd_shingles *out, const nd_settings *settings, nd_str text,
                               const uint32_t *token_end, size_t token_count,
                               nd_error *err) ND_MUST_CHECK;

#endif
