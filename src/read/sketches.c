/* Computing sketch rows; see sketches.h. */
#include "read/sketches.h"

#include "sketch/supershingle.h"
#include "text/site.h"

static nd_status make_values(uint64_t **out, nd_minhash *m, nd_family family, uint32_t k,
                             uint64_t seed, nd_error *err) {
  ND_TRY(nd_minhash_init_family(m, family, k, seed, err));
  *out = nd_malloc(k * sizeof **out);
  return *out ? ND_OK : nd_fail_memory(err, k * sizeof **out);
}

nd_status nd_sketches_init(nd_sketches *s, const nd_settings *settings, nd_error *err) {
  *s = (nd_sketches){.settings = settings};
  const nd_row *row = &settings->row;
  uint64_t seed = settings->options->seed;
  if (settings->permutations)
    ND_TRY(make_values(&s->min, &s->minhash, settings->family, settings->permutations, seed, err));
  /* With equal numbers of MinHash values, the values are the same. */
  if (row->words[ND_PART_SUPERSHINGLE] && settings->min_values != settings->permutations)
    ND_TRY(make_values(&s->grouped, &s->groups, settings->family, settings->min_values, seed, err));
  if (row->words[ND_PART_PROJECTION])
    ND_TRY(nd_projection_init(&s->projection, settings->bits, seed, err));
  /* TF-IDF weights are known only when all documents have been read. */
  if (row->words[ND_PART_SIMHASH] && settings->weights != ND_WEIGHTS_TFIDF)
    ND_TRY(nd_simhash_init(&s->simhash, settings->weights, seed, NULL, err));
  return ND_OK;
}

void nd_sketches_clear(nd_sketches *s) {
  nd_shingles_clear(&s->features);
  nd_minhash_clear(&s->minhash);
  nd_minhash_clear(&s->groups);
  nd_simhash_clear(&s->simhash);
  nd_free(s->min);
  nd_free(s->grouped);
  *s = (nd_sketches){0};
}

static bool adds_up(const nd_settings *s) {
  return s->row.words[ND_PART_PROJECTION] || s->row.words[ND_PART_SIMHASH];
}

bool nd_sketches_use_shingles(const nd_settings *s) {
  return s->permutations || s->row.words[ND_PART_SUPERSHINGLE] ||
         (s->feature_shingles && adds_up(s));
}

nd_status nd_sketches_features(nd_shingles *out, const nd_settings *s, nd_str text,
                               const uint32_t *token_end, size_t token_count, nd_error *err) {
  const nd_shingle_spec word = {ND_SHINGLE_WORDS, 1};
  return nd_shingle_make(out, text, token_end, token_count, s->feature_shingles ? s->shingle : word,
                         s->options->seed, false, err);
}

static nd_status make_min_values(uint64_t *row, nd_sketches *s, const nd_shingles *shingles,
                                 nd_error *err) {
  const nd_settings *set = s->settings;
  const nd_row *r = &set->row;
  const uint64_t *fp = shingles->fingerprint;
  if (s->min) ND_TRY(nd_minhash_sketch(s->min, &s->minhash, fp, shingles->n, err));
  if (s->grouped) ND_TRY(nd_minhash_sketch(s->grouped, &s->groups, fp, shingles->n, err));
  if (r->words[ND_PART_MINHASH])
    memcpy(row + r->at[ND_PART_MINHASH], s->min, set->permutations * sizeof *s->min);
  if (r->words[ND_PART_SUPERSHINGLE])
    nd_super_make(row + r->at[ND_PART_SUPERSHINGLE], s->grouped ? s->grouped : s->min,
                  set->min_values, set->supershingles, set->options->seed);
  return ND_OK;
}

static nd_status make_sums(uint64_t *row, nd_sketches *s, const nd_shingles *feature,
                           nd_error *err) {
  const nd_row *r = &s->settings->row;
  if (r->words[ND_PART_PROJECTION])
    nd_projection_sketch(row + r->at[ND_PART_PROJECTION], &s->projection, feature->fingerprint,
                         feature->n);
  if (!r->words[ND_PART_SIMHASH]) return ND_OK;
  uint64_t *simhash = row + r->at[ND_PART_SIMHASH];
  *simhash = 0;
  if (s->settings->weights == ND_WEIGHTS_TFIDF) return ND_OK;
  return nd_simhash_sketch(simhash, &s->simhash, feature->fingerprint, feature->n, err);
}

nd_status nd_sketches_make(uint64_t *row, nd_sketches *s, const nd_shingles *shingles,
                           const nd_tokens *tokens, nd_str url, nd_error *err) {
  const nd_settings *set = s->settings;
  if (s->min || s->grouped) ND_TRY(make_min_values(row, s, shingles, err));
  if (adds_up(set) && set->feature_shingles) ND_TRY(make_sums(row, s, shingles, err));
  if (adds_up(set) && !set->feature_shingles) {
    ND_TRY(nd_sketches_features(&s->features, set, nd_buf_str(&tokens->text), tokens->end,
                                tokens->count, err));
    ND_TRY(make_sums(row, s, &s->features, err));
  }
  if (set->row.words[ND_PART_SITE]) row[set->row.at[ND_PART_SITE]] = nd_site_key(url);
  return ND_OK;
}
