/* --method minhash: MinHash values, compared in bands or, with --family linear, one by one
 * (Broder 1997; Williams and Giles 2013, section 3.2). */
#include <stdio.h>

#include "candidate/bands.h"
#include "find/finder.h"
#include "output/tsv.h"
#include "settings/method.h"
#include "similarity/similarity.h"

enum { USUAL_VALUES = 128, USUAL_LINEAR = 84 };

static const nd_sketch values;

/* --- the sketch: a word per MinHash value ---------------------------------------------------- */

static nd_status resolve_values(nd_settings *s, const nd_options *o, nd_error *err) {
  const bool linear = s->family == ND_FAMILY_LINEAR;
  /* --family linear counts single values, which must be in the row; bands are in blocks. */
  if (linear && s->candidates == &nd_method_minhash) nd_settings_keep(s, &values);
  if (!nd_row_has(&s->row, &values)) return ND_OK;
  if (linear && (o->bands || o->rows))
    return nd_fail(err, ND_ERR_USAGE, "--family linear counts single values and has no bands");
  s->permutations = o->permutations ? (uint32_t)o->permutations
                    : linear        ? USUAL_LINEAR
                                    : USUAL_VALUES;
  return ND_OK;
}

static uint32_t count_values(const nd_settings *s) {
  return s->permutations;
}

static nd_status copy_values(uint64_t *out, void *state, const nd_settings *s,
                             const nd_sketch_input *in, nd_error *err) {
  memcpy(out, in->min, s->permutations * sizeof *out);
  return ND_OK;
}

static uint32_t agreeing(const nd_settings *s, const uint64_t *a, const uint64_t *b) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < s->permutations; i++) same += a[i] == b[i];
  return same;
}

static nd_status show_share(nd_buf *out, const nd_settings *s, const uint64_t *a, const uint64_t *b,
                            nd_error *err) {
  return nd_tsv_ratio(out, agreeing(s, a, b), s->permutations, err);
}

static nd_status put_parameter(nd_buf *out, const nd_settings *s, nd_error *err) {
  return nd_buf_printf(out, err, "%u", s->permutations);
}

static uint32_t first_number(const uint32_t number[2]) {
  return number[0];
}

static const nd_sketch values = {.name = "minhash",
                                 .from = ND_FROM_MIN_VALUES,
                                 .resolve = resolve_values,
                                 .words = count_values,
                                 .min_values = count_values,
                                 .make = copy_values,
                                 .show = show_share,
                                 .parameter = put_parameter,
                                 .words_in = first_number,
                                 .min_values_in = first_number};

/* --- the method ------------------------------------------------------------------------------ */

/* Chooses bands and rows for the threshold and the recall, unless both are given. */
static nd_status resolve_bands(nd_settings *s, const nd_options *o, nd_error *err) {
  if (s->candidates != &nd_method_minhash || s->family == ND_FAMILY_LINEAR) return ND_OK;
  const double t = (double)s->threshold.num / (double)s->threshold.den;
  const double recall = (double)o->recall.num / (double)o->recall.den;
  if (recall <= 0 || recall > 1)
    return nd_fail(err, ND_ERR_USAGE, "--recall %.10g is out of range: above 0, at most 1", recall);
  if (recall >= 1) {
    return nd_fail(err, ND_ERR_USAGE,
                   "--recall 1 needs an exact method; minhash can reach any recall below 1");
  }
  uint64_t k = o->permutations, b = o->bands, r = o->rows;
  nd_bands cut;
  if (b && r) {
    if (k && b * r > k)
      return nd_fail(err, ND_ERR_USAGE,
                     "--bands %llu x --rows %llu is more than --permutations %llu",
                     (unsigned long long)b, (unsigned long long)r, (unsigned long long)k);
    cut = (nd_bands){(uint32_t)b, (uint32_t)r};
  } else if (b || r) {
    return nd_fail(err, ND_ERR_USAGE, "--bands and --rows must be given together");
  } else if (k) {
    cut = nd_bands_cut(t, recall, (uint32_t)k);
  } else {
    cut = nd_bands_choose(t, recall, USUAL_VALUES, ND_MINHASH_MAX);
    if (cut.bands == 0)
      return nd_fail(
          err, ND_ERR_USAGE,
          "recall %g at threshold %g needs more than %d permutations; the best they give is %.6f",
          recall, t, ND_MINHASH_MAX, nd_bands_recall(nd_bands_cut(t, recall, ND_MINHASH_MAX), t));
  }
  if ((uint64_t)cut.bands * cut.rows > ND_MINHASH_MAX)
    return nd_fail(err, ND_ERR_USAGE, "bands x rows is more than %d", ND_MINHASH_MAX);
  s->bands = cut.bands;
  s->rows = cut.rows;
  s->permutations = k ? (uint32_t)k : cut.bands * cut.rows;
  s->predicted_recall = nd_bands_recall(cut, t);
  return ND_OK;
}

static nd_status find_minhash(nd_finder *f, nd_error *err) {
  return f->settings->family == ND_FAMILY_LINEAR ? nd_find_values(f, &values, err)
                                                 : nd_find_by_keys(f, err);
}

static void band_keys(nd_keys *out, const nd_settings *s) {
  out->buckets = s->bands;
}

/* The share of MinHash values that agree estimates the resemblance. */
static bool judge_minhash(uint64_t *value, const nd_settings *s, const uint64_t *a,
                          const uint64_t *b) {
  const uint32_t k = s->permutations;
  const uint32_t same =
      agreeing(s, nd_row_words(&s->row, &values, a), nd_row_words(&s->row, &values, b));
  *value = nd_fraction_pack(same, k);
  return nd_similarity_reaches(&nd_similarity_jaccard, (nd_overlap){same, k, k}, s->threshold);
}

static void describe_rule(char *out, size_t room, const nd_settings *s) {
  snprintf(out, room, "a share of at least %.10g of %u min values agrees",
           (double)s->threshold.num / (double)s->threshold.den, s->permutations);
}

static void describe_coverage(char *out, size_t room, const nd_settings *s) {
  if (s->family == ND_FAMILY_LINEAR)
    snprintf(out, room, "every pair that shares a min value is counted");
}

/* Finding by single MinHash values also decides. */
static bool finding_decides(const nd_settings *s) {
  return s->family == ND_FAMILY_LINEAR;
}

const nd_method nd_method_minhash = {.name = "minhash",
                                     .help = "MinHash sketches in bands; documents decide",
                                     .sketch = &values,
                                     .judges = {&values},
                                     .resolve = resolve_bands,
                                     .find = find_minhash,
                                     .keys = band_keys,
                                     .judge = judge_minhash,
                                     .decides = finding_decides,
                                     .rule = describe_rule,
                                     .coverage = describe_coverage};
