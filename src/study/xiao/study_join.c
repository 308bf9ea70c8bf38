/* `study join`: the experiments of Xiao et al. 2008, section 7, on any corpus.
 *
 *   candidates and times by threshold   Table 1, Figures 3(a) to 3(j)
 *   growth with the number of records   Figures 3(k), 3(l)
 *   4-grams against 32 MinHash values   Table 2
 *
 * Records are sets as in the paper: the second occurrence of a word is another token.  Documents
 * with the same tokens count once.  All joins run on one thread, as in the paper. */
#include "study/xiao/study_join.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/id_map.h"
#include "base/radix.h"
#include "base/threads.h"
#include "feature/shingle.h"
#include "plan/plan_measure.h"
#include "read/texts.h"
#include "settings/settings.h"
#include "study/common/corpus.h"

const nd_join_method nd_js_method[ND_JS_METHODS] = {ND_JOIN_ALLPAIRS, ND_JOIN_PPJOIN,
                                                    ND_JOIN_PPJOIN_PLUS, ND_JOIN_BLOCKS};
const char *const nd_js_method_name[ND_JS_METHODS] = {"allpairs", "ppjoin", "ppjoin+", "join"};
const unsigned nd_js_percent[ND_JS_THRESHOLDS] = {95, 90, 85, 80};
const char *const nd_js_curve_name[ND_JS_CURVES] = {"words, Jaccard", "words, cosine",
                                                    "3-grams, Jaccard"};
const double nd_js_table_1[ND_JS_THRESHOLDS][3] = {
    {199268, 176971, 32397}, {1857987, 657200, 36318}, {0, 0, 0}, {16983319, 3303232, 63265}};
const double nd_js_table_2[ND_JS_THRESHOLDS][5] = {{0.38, 0.11, 41.98, 11.76, 1.00},
                                                   {0.48, 0.06, 245.03, 43.37, 1.03},
                                                   {0.58, 0.04, 926.54, 202.65, 1.03},
                                                   {0.57, 0.03, 2467.31, 775.00, 1.05}};
/* Figure 2: records, average length, distinct tokens. */
static const struct {
  const char *name, *theirs;
  double records, average, distinct;
} sets_of[ND_JOINTSETS] = {{"words", "DBLP", 873524, 14.0, 566518},
                           {"3-grams", "DBLP-3GRAM", 873524, 102.5, 113169},
                           {"4-grams", "TREC-4GRAM", 348566, 866.9, 1701746},
                           {"shingles", "TREC-Shingle", 348566, 32.0, 9788436}};

/* Collects records. */
typedef struct records {
  uint64_t *raw, *begin;
  size_t tokens, n, raw_cap, begin_cap;
} records;

typedef struct collector {
  nd_join_study *study;
  records set[ND_JOINTSETS];
  nd_shingles shingles;
  uint64_t *spare;
  size_t spare_cap;
  nd_id_map seen; /* digests of token texts */
  uint64_t memory;
} collector;

static nd_status add_record(records *r, const uint64_t *token, size_t n, nd_error *err) {
  ND_TRY(nd_array_grow(&r->raw, &r->raw_cap, r->tokens + n, sizeof *r->raw, err));
  ND_TRY(nd_array_grow(&r->begin, &r->begin_cap, r->n + 2, sizeof *r->begin, err));
  r->begin[0] = 0;
  memcpy(r->raw + r->tokens, token, n * sizeof *token);
  r->tokens += n;
  r->begin[++r->n] = r->tokens;
  return ND_OK;
}

/* Tests whether this text is an exact duplicate. */
static nd_status seen_before(bool *out, collector *c, nd_str text, nd_error *err) {
  const uint64_t digest = nd_hash_bytes(text.p, text.n, nd_hash_key_of(3));
  const size_t before = c->seen.n;
  uint32_t number;
  ND_TRY(nd_id_map_number(&number, &c->seen, (nd_str){(const char *)&digest, sizeof digest}, err));
  *out = number < before;
  return ND_OK;
}

/* Computes the features of a document, sorted; a second occurrence is another token. */
static nd_status features(collector *c, const nd_tokens *t, nd_shingle_spec spec, nd_error *err) {
  nd_shingles *s = &c->shingles;
  ND_TRY(nd_shingle_make(s, nd_buf_str(&t->text), t->end, t->count, spec, 1, false, err));
  ND_TRY(nd_array_grow(&c->spare, &c->spare_cap, s->n, sizeof *c->spare, err));
  nd_radix_u64(s->fingerprint, c->spare, s->n);
  uint64_t last = 0, times = 0;
  for (size_t i = 0; i < s->n; i++) {
    const uint64_t x = s->fingerprint[i];
    times = i && x == last ? times + 1 : 0;
    last = x;
    if (times) s->fingerprint[i] = nd_mix(x + times * 0x9e3779b97f4a7c15u);
  }
  return ND_OK;
}

/* Computes the minimum of each of 32 permutations, in 4 bytes (section 7.1). */
static void min_values(uint64_t out[ND_JS_SHINGLES], const uint64_t *x, size_t n) {
  for (unsigned k = 0; k < ND_JS_SHINGLES; k++) {
    const uint64_t key = nd_mix(k + 1);
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
      const uint64_t h = nd_mix(x[i] ^ key);
      least = h < least ? h : least;
    }
    out[k] = (uint64_t)k << 32 | least >> 32;
  }
}

static nd_status take_document(void *context, const nd_corpus_document *d, nd_error *err) {
  collector *c = context;
  static const nd_shingle_spec specs[] = {
      {ND_SHINGLE_WORDS, 1}, {ND_SHINGLE_CHARS, 3}, {ND_SHINGLE_CHARS, 4}};
  c->study->documents++;
  if (d->tokens->count == 0) return ND_OK;
  bool seen;
  ND_TRY(seen_before(&seen, c, nd_buf_str(&d->tokens->text), err));
  if (seen) return ND_OK;
  const unsigned kinds = c->study->have_grams ? 3 : 1;
  uint64_t tokens = 0;
  for (unsigned k = 0; k < kinds; k++) {
    ND_TRY(features(c, d->tokens, specs[k], err));
    ND_TRY(add_record(&c->set[k], c->shingles.fingerprint, c->shingles.n, err));
    tokens += c->set[k].tokens;
  }
  if (c->study->have_grams) {
    uint64_t least[ND_JS_SHINGLES];
    min_values(least, c->shingles.fingerprint, c->shingles.n);
    ND_TRY(add_record(&c->set[ND_JOINTSET_SHINGLES], least, ND_JS_SHINGLES, err));
  }
  /* A token takes 8 bytes here, and 26 while the largest kind is joined. */
  if (tokens * 8 + c->set[kinds - 1].tokens * 26 > c->memory)
    return nd_fail(
        err, ND_ERR_LIMIT,
        "the records of this corpus do not fit --memory; raise it, or use a part of the corpus");
  return ND_OK;
}

static nd_status ignore(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  (void)context, (void)pair, (void)n, (void)err;
  return ND_OK;
}

static nd_status join(nd_js_run *out, const nd_sets *sets, const nd_similarity *similarity,
                      unsigned percent, unsigned method, nd_error *err) {
  nd_join_options o = {
      .method = nd_js_method[method], .similarity = similarity, .num = percent, .den = 100};
  nd_join_stats stats;
  ND_TRY(nd_join_run(sets, &o, ignore, NULL, &stats, err));
  *out = (nd_js_run){stats.index_entries, stats.verified, stats.results, stats.seconds};
  return ND_OK;
}

/* Runs all methods at all thresholds; their pairs must agree. */
static nd_status run_curve(nd_join_study *s, unsigned curve, const nd_sets *sets,
                           const nd_similarity *similarity, nd_error *err) {
  for (unsigned t = 0; t < ND_JS_THRESHOLDS; t++) {
    nd_js_run *run = s->by_threshold[curve][t];
    for (unsigned m = 0; m < ND_JS_METHODS; m++) {
      ND_TRY(nd_hooks_check(s->run->hooks, err));
      ND_TRY(join(&run[m], sets, similarity, nd_js_percent[t], m, err));
    }
  }
  return ND_OK;
}

static nd_status build(nd_sets *out, const records *r, unsigned threads, nd_error *err) {
  static const uint64_t none[] = {0};
  return nd_sets_build(out, r->raw, r->n ? r->begin : none, r->n, threads, err);
}

/* The smallest sample has one record in five, and so on. */
static nd_status run_sizes(nd_join_study *s, const records *all, nd_error *err) {
  for (unsigned size = 0; size < ND_JS_SIZES; size++) {
    records part = {0};
    nd_sets sets = {0};
    nd_status status = ND_OK;
    for (size_t r = 0; r < all->n && status == ND_OK; r++)
      if (nd_mix(r + 1) % ND_JS_SIZES <= size)
        status =
            add_record(&part, all->raw + all->begin[r], all->begin[r + 1] - all->begin[r], err);
    s->size_records[size] = part.n;
    if (status == ND_OK) status = build(&sets, &part, 1, err);
    for (unsigned k = 0; k < 2 * ND_JS_METHODS && status == ND_OK; k++)
      status = join(&s->by_size[k / ND_JS_METHODS][size][k % ND_JS_METHODS], &sets,
                    k / ND_JS_METHODS ? &nd_similarity_cosine : &nd_similarity_jaccard, 90,
                    k % ND_JS_METHODS, err);
    nd_sets_clear(&sets);
    nd_free(part.raw);
    nd_free(part.begin);
    ND_TRY(status);
  }
  return ND_OK;
}

/* --- Table 2 ---------------------------------------------------------------------------------*/
typedef struct pairs {
  uint64_t *key;
  size_t n, cap;
} pairs;

static nd_status keep_pairs(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  pairs *p = context;
  ND_TRY(nd_array_grow(&p->key, &p->cap, p->n + n, sizeof *p->key, err));
  for (size_t i = 0; i < n; i++) p->key[p->n++] = nd_pair_key(pair[i].a, pair[i].b);
  return ND_OK;
}

static int by_key(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static nd_status join_pairs(pairs *out, double *seconds, const nd_sets *sets,
                            const nd_join_options *o, nd_error *err) {
  nd_join_stats stats;
  out->n = 0;
  ND_TRY(nd_join_run(sets, o, keep_pairs, out, &stats, err));
  if (out->n) qsort(out->key, out->n, sizeof *out->key, by_key);
  if (seconds) *seconds = stats.seconds;
  return ND_OK;
}

static double common_share(const pairs *a, const pairs *b, size_t of) {
  size_t i = 0, j = 0, both = 0;
  while (i < a->n && j < b->n) {
    both += a->key[i] == b->key[j];
    const uint64_t x = a->key[i], y = b->key[j];
    i += x <= y;
    j += y <= x;
  }
  return of ? (double)both / (double)of : NAN;
}

static nd_status compare(nd_js_quality *q, pairs *truth, pairs *found, const nd_sets *grams,
                         const nd_sets *shingles, unsigned percent, nd_error *err) {
  nd_join_options o = {.similarity = &nd_similarity_jaccard, .num = percent, .den = 100};
  nd_js_run ours;
  ND_TRY(join(&ours, grams, &nd_similarity_jaccard, percent, 3, err));
  q->ours = ours.seconds;
  o.method = ND_JOIN_ALLPAIRS;
  ND_TRY(join_pairs(truth, &q->allpairs, grams, &o, err));
  o.method = ND_JOIN_PPJOIN_PLUS;
  ND_TRY(join_pairs(truth, &q->plus, grams, &o, err));
  ND_TRY(join_pairs(found, &q->shingles, shingles, &o, err));
  q->precision = common_share(truth, found, found->n);
  q->recall = common_share(truth, found, truth->n);
  /* The share of equal MinHash values estimates the resemblance; the Jaccard similarity of the
   * two sets of 32 is smaller: c / (64 - c). */
  o.similarity = &nd_similarity_overlap;
  o.num = (percent * ND_JS_SHINGLES + 99) / 100;
  o.den = 1;
  ND_TRY(join_pairs(found, NULL, shingles, &o, err));
  q->estimate_precision = common_share(truth, found, found->n);
  q->estimate_recall = common_share(truth, found, truth->n);
  return ND_OK;
}

static nd_status run_quality(nd_join_study *s, const nd_sets *grams, const nd_sets *shingles,
                             nd_error *err) {
  pairs truth = {0}, found = {0};
  nd_status status = ND_OK;
  for (unsigned t = 0; t < ND_JS_THRESHOLDS && status == ND_OK; t++) {
    status = nd_hooks_check(s->run->hooks, err);
    if (status == ND_OK)
      status = compare(&s->quality[t], &truth, &found, grams, shingles, nd_js_percent[t], err);
  }
  nd_free(truth.key);
  nd_free(found.key);
  return status;
}

/* --- tables ----------------------------------------------------------------------------------*/
typedef struct row_of {
  nd_table *table;
  nd_status status;
  nd_error *err;
} row_of;

static void text(row_of *r, const char *cell) {
  if (r->status == ND_OK) r->status = nd_table_text(r->table, cell, r->err);
}
static void count(row_of *r, uint64_t n) {
  if (r->status == ND_OK) r->status = nd_table_count(r->table, n, r->err);
}
static void real(row_of *r, double x, int decimals) {
  if (r->status == ND_OK) r->status = nd_table_real(r->table, x, decimals, r->err);
}

static nd_status finish(nd_join_study *s, row_of *r) {
  if (r->status == ND_OK) r->status = nd_study_table(s->run, r->table, r->err);
  nd_table_clear(r->table);
  return r->status;
}

static nd_status write_sets(nd_join_study *s, const collector *c, const nd_sets *sets,
                            nd_error *err) {
  nd_table t;
  ND_TRY(nd_table_start(&t, "records", "Records (Xiao et al. 2008, Figure 2)",
                        "records_of\trecords\taverage_length\ttokens_in_common\t"
                        "published\tpublished_records\tpublished_length\tpublished_tokens",
                        err));
  row_of r = {&t, ND_OK, err};
  for (unsigned k = 0; k < (s->have_grams ? ND_JOINTSETS : 1); k++) {
    text(&r, sets_of[k].name);
    count(&r, c->set[k].n);
    real(&r, c->set[k].n ? (double)c->set[k].tokens / (double)c->set[k].n : NAN, 1);
    count(&r, sets[k].distinct);
    text(&r, sets_of[k].theirs);
    real(&r, sets_of[k].records, 0);
    real(&r, sets_of[k].average, 1);
    real(&r, sets_of[k].distinct, 0);
  }
  return finish(s, &r);
}

static nd_status write_thresholds(nd_join_study *s, nd_error *err) {
  nd_table t;
  ND_TRY(nd_table_start(
      &t, "thresholds",
      "Candidates and times by threshold (Xiao et al. 2008, Table 1 and Figures 3(a) to 3(j))",
      "records_of\tthreshold\tmethod\tindex_entries\tcandidates\tresults\tseconds\t"
      "published_candidates",
      err));
  row_of r = {&t, ND_OK, err};
  for (unsigned k = 0; k < (s->have_grams ? ND_JS_CURVES : 2); k++) {
    for (unsigned i = 0; i < ND_JS_THRESHOLDS * ND_JS_METHODS; i++) {
      const unsigned p = i / ND_JS_METHODS, m = i % ND_JS_METHODS;
      const nd_js_run *run = &s->by_threshold[k][p][m];
      const double theirs = k == 0 && m < 3 ? nd_js_table_1[p][m] : 0;
      text(&r, nd_js_curve_name[k]);
      real(&r, nd_js_percent[p] / 100.0, 2);
      text(&r, nd_js_method_name[m]);
      count(&r, run->index_entries);
      count(&r, run->candidates);
      count(&r, run->results);
      real(&r, run->seconds, 4);
      real(&r, theirs > 0 ? theirs : NAN, 0);
    }
  }
  return finish(s, &r);
}

static nd_status write_sizes(nd_join_study *s, nd_error *err) {
  nd_table t;
  ND_TRY(nd_table_start(&t, "growth",
                        "Growth with the number of records, words at 0.9 (Xiao et al. 2008, "
                        "Figures 1, 3(k) and 3(l))",
                        "similarity\tshare\trecords\tmethod\tcandidates\tresults\tseconds\t"
                        "root_of_seconds",
                        err));
  row_of r = {&t, ND_OK, err};
  for (unsigned k = 0; k < 2; k++) {
    for (unsigned i = 0; i < ND_JS_SIZES * ND_JS_METHODS; i++) {
      const unsigned size = i / ND_JS_METHODS, m = i % ND_JS_METHODS;
      const nd_js_run *run = &s->by_size[k][size][m];
      text(&r, k ? "cosine" : "jaccard");
      real(&r, (size + 1) / (double)ND_JS_SIZES, 1);
      count(&r, s->size_records[size]);
      text(&r, nd_js_method_name[m]);
      count(&r, run->candidates);
      count(&r, run->results);
      real(&r, run->seconds, 4);
      real(&r, sqrt(run->seconds), 4);
    }
  }
  return finish(s, &r);
}

static nd_status write_quality(nd_join_study *s, nd_error *err) {
  nd_table t;
  ND_TRY(nd_table_start(
      &t, "quality", "32 min-hash shingles against all 4-grams (Xiao et al. 2008, Table 2)",
      "threshold\tprecision\trecall\testimate_precision\testimate_recall\tseconds_allpairs\t"
      "seconds_ppjoin+\tseconds_shingles\tseconds_join\tpublished_precision\tpublished_recall\t"
      "published_seconds_allpairs\tpublished_seconds_ppjoin+\tpublished_seconds_shingles",
      err));
  row_of r = {&t, ND_OK, err};
  for (unsigned i = 0; i < ND_JS_THRESHOLDS; i++) {
    const nd_js_quality *q = &s->quality[i];
    real(&r, nd_js_percent[i] / 100.0, 2);
    real(&r, q->precision, 4);
    real(&r, q->recall, 4);
    real(&r, q->estimate_precision, 4);
    real(&r, q->estimate_recall, 4);
    real(&r, q->allpairs, 4);
    real(&r, q->plus, 4);
    real(&r, q->shingles, 4);
    real(&r, q->ours, 4);
    for (unsigned k = 0; k < 5; k++) real(&r, nd_js_table_2[i][k], 2);
  }
  return finish(s, &r);
}

/* --- the study -------------------------------------------------------------------------------*/
static nd_status measure(nd_join_study *s, const collector *c, nd_sets *sets, nd_error *err) {
  const unsigned threads =
      s->run->options->threads ? (unsigned)s->run->options->threads : nd_threads_cores();
  for (unsigned k = 0; k < (s->have_grams ? ND_JOINTSETS : 1); k++)
    ND_TRY(build(&sets[k], &c->set[k], threads, err));
  ND_TRY(write_sets(s, c, sets, err));
  ND_TRY(run_curve(s, 0, &sets[ND_JOINTSET_WORDS], &nd_similarity_jaccard, err));
  ND_TRY(run_curve(s, 1, &sets[ND_JOINTSET_WORDS], &nd_similarity_cosine, err));
  if (s->have_grams)
    ND_TRY(run_curve(s, 2, &sets[ND_JOINTSET_3GRAMS], &nd_similarity_jaccard, err));
  ND_TRY(write_thresholds(s, err));
  ND_TRY(run_sizes(s, &c->set[ND_JOINTSET_WORDS], err));
  ND_TRY(write_sizes(s, err));
  if (!s->have_grams) return ND_OK;
  ND_TRY(run_quality(s, &sets[ND_JOINTSET_4GRAMS], &sets[ND_JOINTSET_SHINGLES], err));
  return write_quality(s, err);
}

static nd_status draw(nd_join_study *s, nd_error *err) {
  nd_page page;
  char lead[512];
  snprintf(lead, sizeof lead,
           "%llu documents, %llu of them different. Every join ran on one thread; a candidate is a "
           "pair whose tokens were compared. Values of the paper are of its own collections.",
           (unsigned long long)s->documents, (unsigned long long)s->records);
  nd_page_start(&page, s->run->request->directory, "Exact joins", lead, err);
  nd_join_study_draw(s, &page);
  return nd_page_write(&page);
}

nd_status nd_study_join(nd_study_run *run, nd_error *err) {
  nd_join_study s = {.run = run, .have_grams = strcmp(run->options->format, "sets") != 0};
  collector c = {.study = &s};
  nd_sets sets[ND_JOINTSETS] = {0};
  nd_options options;
  nd_reading_options(&options, run->options);
  options.against[0] = '\0';
  nd_settings settings;
  ND_TRY(nd_settings_resolve(&settings, &options, err));
  c.memory = settings.memory;
  nd_status status = nd_corpus_each(run->summary, run->request->inputs, run->request->input_n,
                                    &options, run->hooks, take_document, &c, err);
  s.records = c.set[0].n;
  if (status == ND_OK) status = measure(&s, &c, sets, err);
  if (status == ND_OK && run->request->directory) status = draw(&s, err);
  for (unsigned k = 0; k < ND_JOINTSETS; k++) {
    nd_sets_clear(&sets[k]);
    nd_free(c.set[k].raw);
    nd_free(c.set[k].begin);
  }
  nd_shingles_clear(&c.shingles);
  nd_free(c.spare);
  nd_id_map_clear(&c.seen);
  return status;
}
