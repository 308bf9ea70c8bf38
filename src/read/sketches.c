/* Computing sketch rows; see sketches.h. */
#include "read/sketches.h"

/* Equal numbers of values are equal values: each number of them is made once. */
static nd_status add_values(const uint64_t **out, nd_sketches *s, uint32_t k, nd_error *err) {
  const nd_settings *set = s->settings;
  for (unsigned i = 0; i < s->value_n; i++) {
    *out = s->values[i].value;
    if (s->values[i].hash.k == k) return ND_OK;
  }
  nd_min_values *v = &s->values[s->value_n++];
  ND_TRY(nd_minhash_init_family(&v->hash, set->family, k, set->options->seed, err));
  *out = v->value = nd_malloc(k * sizeof *v->value);
  return v->value ? ND_OK : nd_fail_memory(err, k * sizeof *v->value);
}

nd_status nd_sketches_init(nd_sketches *s, const nd_settings *settings, nd_error *err) {
  *s = (nd_sketches){.settings = settings};
  const nd_row *row = &settings->row;
  if (settings->permutations) ND_TRY(add_values(&s->bands, s, settings->permutations, err));
  for (unsigned i = 0; i < row->n; i++) {
    const nd_sketch *k = row->part[i].sketch;
    if (k->from == ND_FROM_MIN_VALUES)
      ND_TRY(add_values(&s->min[i], s, k->min_values(settings), err));
    if (k->open) ND_TRY(k->open(&s->state[i], settings, err));
  }
  return ND_OK;
}

void nd_sketches_clear(nd_sketches *s) {
  nd_shingles_clear(&s->features);
  for (unsigned i = 0; i < s->value_n; i++) {
    nd_minhash_clear(&s->values[i].hash);
    nd_free(s->values[i].value);
  }
  for (unsigned i = 0; s->settings && i < s->settings->row.n; i++) {
    const nd_sketch *k = s->settings->row.part[i].sketch;
    if (k->close) k->close(s->state[i]);
  }
  *s = (nd_sketches){0};
}

static bool has_from(const nd_settings *s, nd_sketch_from from) {
  for (unsigned i = 0; i < s->row.n; i++)
    if (s->row.part[i].sketch->from == from) return true;
  return false;
}

bool nd_sketches_use_shingles(const nd_settings *s) {
  return s->permutations || has_from(s, ND_FROM_SHINGLES) || has_from(s, ND_FROM_MIN_VALUES) ||
         (s->feature_shingles && has_from(s, ND_FROM_FEATURES));
}

nd_status nd_sketches_features(nd_shingles *out, const nd_settings *s, nd_str text,
                               const uint32_t *token_end, size_t token_count, nd_error *err) {
  const nd_shingle_spec word = {ND_SHINGLE_WORDS, 1};
  return nd_shingle_make(out, text, token_end, token_count, s->feature_shingles ? s->shingle : word,
                         s->options->seed, false, err);
}

nd_status nd_sketches_make(uint64_t *row, nd_sketches *s, const nd_shingles *shingles,
                           const nd_tokens *tokens, nd_str url, nd_error *err) {
  const nd_settings *set = s->settings;
  const nd_shingles *features = shingles;
  for (unsigned i = 0; i < s->value_n; i++)
    ND_TRY(nd_minhash_sketch(s->values[i].value, &s->values[i].hash, shingles->fingerprint,
                             shingles->n, err));
  if (has_from(set, ND_FROM_FEATURES) && !set->feature_shingles) {
    ND_TRY(nd_sketches_features(&s->features, set, nd_buf_str(&tokens->text), tokens->end,
                                tokens->count, err));
    features = &s->features;
  }
  for (unsigned i = 0; i < set->row.n; i++) {
    const nd_row_part *p = &set->row.part[i];
    nd_sketch_input in = {p->sketch->from == ND_FROM_FEATURES ? features : shingles, s->min[i],
                          url};
    ND_TRY(p->sketch->make(row + p->at, s->state[i], set, &in, err));
  }
  return ND_OK;
}
