/* A document's tokens → its row of sketches (row.h).  One per thread. */
#ifndef ND_READ_SKETCHES_H
#define ND_READ_SKETCHES_H

#include "settings/settings.h"
#include "sketch/projection.h"

typedef struct nd_sketches {
  const nd_settings *settings;
  nd_shingles features;
  nd_minhash minhash, groups; /* of the row and the bands; of the super-shingles */
  nd_projection projection;
  nd_simhash simhash;
  uint64_t *min;     /* min values of the document last made … */
  uint64_t *grouped; /* … and those that super-shingles are made of */
} nd_sketches;

nd_status nd_sketches_init(nd_sketches *s, const nd_settings *settings,
                           nd_error *err) ND_MUST_CHECK;
void nd_sketches_clear(nd_sketches *s);

/* Does making them need the document's shingles? */
bool nd_sketches_use_shingles(const nd_settings *settings);

/* Fills a row (settings->row.total words; NULL when that is 0), and s->min when
 * the settings have permutations. */
nd_status nd_sketches_make(uint64_t *row, nd_sketches *s, const nd_shingles *shingles,
                           const nd_tokens *tokens, nd_str url, nd_error *err) ND_MUST_CHECK;

/* What simhash and projection add up: fingerprints of tokens, or of all shingles. */
nd_status nd_sketches_features(nd_shingles *out, const nd_settings *settings, nd_str text,
                               const uint32_t *token_end, size_t token_count,
                               nd_error *err) ND_MUST_CHECK;

#endif
