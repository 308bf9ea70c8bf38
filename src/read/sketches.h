/* Computes the sketch row (row.h) of a document from its tokens.  For one thread. */
#ifndef ND_READ_SKETCHES_H
#define ND_READ_SKETCHES_H

#include "settings/settings.h"
#include "sketch/projection.h"

typedef struct nd_sketches {
  const nd_settings *settings;
  nd_shingles features;
  nd_minhash minhash, groups; /* for the row and the bands; for super-shingles */
  nd_projection projection;
  nd_simhash simhash;
  uint64_t *min;     /* MinHash values of the last document */
  uint64_t *grouped; /* those for its super-shingles; NULL: `min` is used */
} nd_sketches;

nd_status nd_sketches_init(nd_sketches *s, const nd_settings *settings,
                           nd_error *err) ND_MUST_CHECK;
void nd_sketches_clear(nd_sketches *s);

/* Returns true if the sketches depend on the document's shingles. */
bool nd_sketches_use_shingles(const nd_settings *settings);

/* Computes a row (settings->row.total words; NULL if 0), and s->min if the settings have
 * permutations. */
nd_status nd_sketches_make(uint64_t *row, nd_sketches *s, const nd_shingles *shingles,
                           const nd_tokens *tokens, nd_str url, nd_error *err) ND_MUST_CHECK;

/* Computes the features of simhash and projection: fingerprints of tokens, or of all shingles. */
nd_status nd_sketches_features(nd_shingles *out, const nd_settings *settings, nd_str text,
                               const uint32_t *token_end, size_t token_count,
                               nd_error *err) ND_MUST_CHECK;

#endif
