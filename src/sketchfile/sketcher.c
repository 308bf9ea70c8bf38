/* The public one-document-at-a-time interface; see neardup/sketch.h. */
#include "neardup/sketch.h"

#include <xxhash.h>

#include "candidate/bands.h"
#include "settings/method.h"
#include "similarity/resemblance.h"
#include "sketch/minhash.h"
#include "sketch/projection.h"
#include "sketch/simhash.h"
#include "sketch/votes.h"
#include "text/web.h"

struct nd_sketcher {
  nd_options options;
  nd_settings settings;
  nd_tokens tokens, other;
  nd_shingles shingles;
  nd_sampler sampler;
  nd_minhash minhash;
  nd_comparer *comparer;
};

/* Splits a text that has no page around it: no images and no host of its own. */
static nd_status split(nd_tokens *out, nd_str text, nd_token_kind kind, nd_error *err) {
  if (kind == ND_TOKENS_WEB) return nd_web_split(out, text, false, (nd_str){"", 0}, err);
  return nd_words_split(out, text, kind, err);
}

nd_status nd_sketcher_new(nd_sketcher **out, const nd_options *options, nd_error *err) {
  nd_sketcher *s = nd_calloc(1, sizeof *s);
  if (!s) return nd_fail_memory(err, sizeof *s);
  s->options = *options;
  nd_status status = nd_options_check(&s->options, err);
  if (status == ND_OK) status = nd_settings_resolve(&s->settings, &s->options, err);
  if (status == ND_OK && strcmp(s->settings.method->name, "minhash") != 0)
    status =
        nd_fail(err, ND_ERR_USAGE, "a sketcher needs the method minhash, not %s", options->method);
  s->sampler.sample = &s->settings.sample;
  if (status == ND_OK && (s->settings.sample.sct || s->settings.sample.goal.num))
    status = nd_fail(
        err, ND_ERR_USAGE,
        "a sketcher sees one document at a time, so it cannot use sct or adaptive sampling");
  if (status == ND_OK)
    status = nd_minhash_init(&s->minhash, s->settings.permutations, s->options.seed, err);
  if (status == ND_OK)
    status = nd_comparer_new(&s->comparer, s->settings.shingle, s->options.seed, err);
  if (status != ND_OK) {
    nd_sketcher_free(s);
    return status;
  }
  *out = s;
  return ND_OK;
}

void nd_sketcher_free(nd_sketcher *s) {
  if (!s) return;
  nd_tokens_clear(&s->tokens);
  nd_tokens_clear(&s->other);
  nd_shingles_clear(&s->shingles);
  nd_sampler_clear(&s->sampler);
  nd_minhash_clear(&s->minhash);
  nd_comparer_free(s->comparer);
  nd_free(s);
}

uint32_t nd_sketcher_length(const nd_sketcher *s) {
  return s->minhash.k;
}

nd_status nd_sketcher_fingerprints(const uint64_t **out, size_t *n, nd_sketcher *s, nd_str text,
                                   nd_error *err) {
  ND_TRY(split(&s->tokens, text, s->settings.tokens, err));
  ND_TRY(nd_shingle_make(&s->shingles, nd_buf_str(&s->tokens.text), s->tokens.end, s->tokens.count,
                         s->settings.shingle, s->options.seed, false, err));
  bool emptied;
  if (s->settings.sample.on)
    ND_TRY(nd_sampler_run(&s->sampler, &emptied, &s->shingles, s->tokens.count,
                          XXH3_64bits(s->tokens.text.p, s->tokens.text.n), err));
  *out = s->shingles.fingerprint;
  *n = s->shingles.n;
  return ND_OK;
}

nd_status nd_sketcher_text(uint64_t *out, uint64_t *shingles, nd_sketcher *s, nd_str text,
                           nd_error *err) {
  const uint64_t *fingerprint;
  size_t n;
  ND_TRY(nd_sketcher_fingerprints(&fingerprint, &n, s, text, err));
  if (shingles) *shingles = n;
  return nd_minhash_sketch(out, &s->minhash, fingerprint, n, err);
}

uint64_t nd_sketcher_feature(const nd_sketcher *s, nd_str feature) {
  return XXH3_64bits_withSeed(feature.p, feature.n, s->options.seed);
}

nd_status nd_sketcher_sketch(uint64_t *out, nd_sketcher *s, const uint64_t *fingerprint, size_t n,
                             nd_error *err) {
  return nd_minhash_sketch(out, &s->minhash, fingerprint, n, err);
}

/* A value has its round above its random part, so the smaller one is the value of the union
 * (see minhash.h). */
void nd_sketcher_merge(uint64_t *sketch, const nd_sketcher *s, const uint64_t *other) {
  for (uint32_t i = 0; i < s->minhash.k; i++)
    if (other[i] < sketch[i]) sketch[i] = other[i];
}

uint32_t nd_sketcher_bands(const nd_sketcher *s) {
  return s->settings.bands;
}

uint32_t nd_sketcher_rows(const nd_sketcher *s) {
  return s->settings.rows;
}

void nd_sketcher_keys(uint64_t *keys, const nd_sketcher *s, const uint64_t *sketch) {
  nd_bands_keys(keys, (nd_bands){s->settings.bands, s->settings.rows}, sketch, s->options.seed);
}

nd_status nd_votes_add(int64_t *sums, const nd_votes_spec *spec, const uint64_t *fingerprint,
                       size_t n, nd_error *err) {
  const uint32_t bits = spec->bits;
  const uint64_t seed = spec->seed;
  nd_projection p = {.words = 1};
  if (spec->kind == ND_VOTES_SIMHASH) {
    nd_simhash h = {0};
    if (bits != 64) return nd_fail(err, ND_ERR_USAGE, "a simhash has 64 bits, not %u", bits);
    /* untaken: checked with the settings */
    ND_TRY(nd_simhash_init(&h, ND_WEIGHTS_TF, seed, NULL, err));
    p.key[0] = h.key;
    nd_simhash_clear(&h);
  } else {
    ND_TRY(nd_projection_init(&p, bits, seed, err));
  }
  nd_votes_count(sums, p.key, p.words, fingerprint, n);
  return ND_OK;
}

void nd_votes_bits(uint64_t *out, const int64_t *sums, uint32_t bits) {
  for (uint32_t w = 0; w < bits / 64; w++) {
    out[w] = 0;
    for (unsigned b = 0; b < 64; b++) out[w] |= (uint64_t)(sums[64 * w + b] > 0) << b;
  }
}

double nd_sketcher_estimate(const nd_sketcher *s, const uint64_t *a, const uint64_t *b) {
  return nd_minhash_estimate(a, b, s->minhash.k);
}

nd_status nd_sketcher_compare(double *resemblance, nd_sketcher *s, nd_str a, nd_str b,
                              nd_error *err) {
  nd_overlap overlap;
  ND_TRY(split(&s->tokens, a, s->settings.tokens, err));
  ND_TRY(split(&s->other, b, s->settings.tokens, err));
  ND_TRY(nd_comparer_left(s->comparer, nd_buf_str(&s->tokens.text), err));
  ND_TRY(nd_comparer_right(&overlap, s->comparer, nd_buf_str(&s->other.text), err));
  *resemblance = nd_overlap_value(overlap);
  return ND_OK;
}
