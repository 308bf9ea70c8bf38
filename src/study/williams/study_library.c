/* study library: Williams and Giles (2013), near-duplicates of a digital library
 * by simhash and MinHash.
 *
 * Documents have at least 15 tokens.  simhash: 64 bits, weight 1 per token, pairs within k
 * bits, k from 0 to 10.  MinHash: shingles of w = 5, 8 or 10 words, 84 functions (A x + B)
 * mod p; the resemblance R of a pair is the share of the 84 values that agree, from 50 to
 * 100%.  One search per sketch gives the pairs of all smaller k and larger R.
 *
 * Cosines are means over a sample of the pairs of each distance, weighted by the number of
 * pairs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/threads.h"
#include "candidate/hamming.h"
#include "candidate/shared_values.h"
#include "feature/shingle.h"
#include "sketch/linear.h"
#include "sketch/simhash.h"
#include "store/workdir.h"
#include "study/common/judge.h"
#include "study/common/pages.h"
#include "study/common/study_report.h"
#include "study/common/token_diff.h"

enum {
  FEWEST = 15,
  FUNCTIONS = 84,
  SIZES = 3,
  MOST_K = 10,
  STEPS = 6,    /* R >= 50, 60 … 100 % */
  LEVELS = 11,  /* distances 0 to 10; steps of R use the first 6 */
  SAMPLE = 100, /* pairs of each level for the cosine */
  CAP = 2000,
  WORDS = 1 + SIZES * FUNCTIONS
};
#define SORT_MEMORY (UINT64_C(1) << 28)
static const uint32_t shingle_sizes[SIZES] = {5, 8, 10};

/* Table 1 of the paper: the cosine for k = 0 … 10. */
static const double published_cosine[LEVELS] = {1,    0.97, 0.97, 0.99, 0.89, 0.97,
                                                0.81, 0.75, 0.66, 0.54, 0.49};

typedef struct sketcher {
  nd_simhash simhash;
  nd_linear values;
  nd_shingles shingles;
  uint64_t seed;
} sketcher;

/* A level: the pairs of a distance or of a step of R. */
typedef struct level {
  uint64_t pairs, correct, undecided;
  uint64_t seen;           /* pairs offered to the sample */
  uint64_t sample[SAMPLE]; /* keys */
  double cosine;           /* mean over the sample */
} level;

typedef struct treatment {
  level levels[LEVELS];
} treatment;

typedef struct library {
  nd_study_run *run;
  nd_options options;
  nd_pages pages;
  nd_judge judge;
  bool judged;
  treatment *of; /* simhash, then w = 5, 8, 10 */
  nd_rng rng;
  uint64_t hot;
} library;

static nd_status make_sketch(uint64_t *out, void *context, const nd_tokens *t, nd_error *err) {
  sketcher *s = context;
  nd_str text = nd_buf_str(&t->text);
  nd_shingle_spec spec = {ND_SHINGLE_WORDS, 1};
  ND_TRY(nd_shingle_make(&s->shingles, text, t->end, t->count, spec, s->seed, false, err));
  ND_TRY(nd_simhash_sketch(out, &s->simhash, s->shingles.fingerprint, s->shingles.n, err));
  for (int i = 0; i < SIZES; i++) {
    spec.size = shingle_sizes[i];
    ND_TRY(nd_shingle_make(&s->shingles, text, t->end, t->count, spec, s->seed, false, err));
    nd_linear_sketch(out + 1 + i * FUNCTIONS, &s->values, s->shingles.fingerprint, s->shingles.n);
  }
  return ND_OK;
}

/* --- pairs → levels ----------------------------------------------------------------- */

/* Reservoir sampling (Knuth 3.4.2, algorithm R). */
static void add_pair(library *l, level *to, uint64_t key) {
  to->pairs++;
  if (l->judged) {
    nd_verdict v = nd_judge_pair(&l->judge, key);
    to->correct += v == ND_CORRECT;
    to->undecided += v == ND_UNDECIDED;
  }
  uint64_t at = to->seen < SAMPLE ? to->seen : nd_rng_below(&l->rng, to->seen + 1);
  if (at < SAMPLE) to->sample[at] = key;
  to->seen++;
}

/* Adds sorted pairs to the levels of a treatment. */
typedef struct levelling {
  library *library;
  treatment *treatment;
  int which;
} levelling;

static nd_status take_simhash(void *context, nd_item *items, size_t n, nd_error *err) {
  const levelling *l = context;
  (void)err;
  for (size_t i = 0; i < n; i++)
    add_pair(l->library, &l->treatment->levels[items[i].value], items[i].key);
  return ND_OK;
}

static nd_status take_values(void *context, nd_item *items, size_t n, nd_error *err) {
  const levelling *l = context;
  const uint64_t *values = l->library->pages.sketch + 1 + l->which * FUNCTIONS;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    const uint64_t *x = values + (size_t)p.a * WORDS, *y = values + (size_t)p.b * WORDS;
    unsigned agree = 0;
    for (int k = 0; k < FUNCTIONS; k++) agree += x[k] == y[k];
    unsigned step = agree * 10 / FUNCTIONS; /* 5 to 10 */
    if (step >= 5) add_pair(l->library, &l->treatment->levels[step - 5], items[i].key);
  }
  return ND_OK;
}

static nd_status find_simhash(library *l, unsigned threads, const char *tmp, nd_error *err) {
  size_t n = l->pages.ids.n;
  nd_sorter *sorter = NULL;
  nd_hamming_stats stats = {0};
  uint64_t *vectors = nd_malloc((n + 1) * sizeof *vectors);
  if (!vectors) return nd_fail_memory(err, (n + 1) * sizeof *vectors);
  for (size_t i = 0; i < n; i++) vectors[i] = l->pages.sketch[i * WORDS];
  nd_hamming_request q = {
      .vectors = vectors, .n = n, .words = 1, .distance = MOST_K, .threads = threads, .cap = CAP};
  nd_status status = nd_sorter_new(&sorter, SORT_MEMORY, tmp, true, err);
  if (status == ND_OK) status = nd_hamming_pairs(sorter, &stats, &q, err);
  levelling to = {l, &l->of[0], 0};
  if (status == ND_OK) status = nd_sorter_finish(sorter, err);
  if (status == ND_OK) status = nd_sorter_each(sorter, take_simhash, &to, err);
  nd_sorter_free(sorter);
  nd_free(vectors);
  l->hot += stats.hot;
  return status;
}

typedef struct places {
  const nd_pages *pages;
  int which;
} places;

static uint64_t value_at(const void *context, uint64_t row, uint32_t place) {
  const places *p = context;
  return p->pages->sketch[row * WORDS + 1 + (size_t)p->which * FUNCTIONS + place];
}

static nd_status find_values(library *l, int which, unsigned threads, const char *tmp,
                             nd_error *err) {
  nd_sorter *sorter = NULL;
  nd_bucket_stats stats = {0};
  places p = {&l->pages, which};
  nd_shared_request q = {.value = value_at,
                         .context = &p,
                         .n = l->pages.ids.n,
                         .places = FUNCTIONS,
                         .needed = FUNCTIONS / 2,
                         .cap = CAP,
                         .threads = threads};
  nd_status status = nd_sorter_new(&sorter, SORT_MEMORY, tmp, true, err);
  if (status == ND_OK) nd_sorter_sum(sorter);
  if (status == ND_OK) status = nd_shared_pairs(sorter, &stats, &q, err);
  levelling to = {l, &l->of[1 + which], which};
  if (status == ND_OK) status = nd_sorter_finish(sorter, err);
  if (status == ND_OK) status = nd_sorter_each(sorter, take_values, &to, err);
  nd_sorter_free(sorter);
  l->hot += stats.hot;
  return status;
}

/* --- cosines -------------------------------------------------------------------------- */

static size_t sampled(const level *of) {
  return of->seen < SAMPLE ? (size_t)of->seen : SAMPLE;
}

static void want_sampled(nd_pages *p, const level *of) {
  for (size_t k = 0; k < sampled(of); k++)
    p->wanted[nd_pair_of(of->sample[k]).a] = p->wanted[nd_pair_of(of->sample[k]).b] = 1;
}

static nd_status measure_level(level *of, const nd_pages *p, nd_token_diff *scratch,
                               nd_error *err) {
  size_t n = sampled(of);
  of->cosine = n ? 0 : NAN;
  for (size_t k = 0; k < n; k++) {
    const nd_pair pair = nd_pair_of(of->sample[k]);
    double cosine;
    ND_TRY(nd_token_cosine(&cosine, scratch, p->tokens + p->begin[pair.a], p->length[pair.a],
                           p->tokens + p->begin[pair.b], p->length[pair.b], err));
    of->cosine += cosine / (double)n;
  }
  return ND_OK;
}

static nd_status measure_cosines(library *l, const nd_options *options, nd_error *err) {
  nd_pages *p = &l->pages;
  level *of[(1 + SIZES) * LEVELS];
  for (int i = 0; i < (1 + SIZES) * LEVELS; i++) of[i] = &l->of[i / LEVELS].levels[i % LEVELS];
  ND_TRY(nd_pages_want(p, err));
  for (int i = 0; i < (1 + SIZES) * LEVELS; i++) want_sampled(p, of[i]);
  ND_TRY(nd_pages_fetch(p, l->run->request, options, l->run->hooks, err));
  nd_token_diff scratch = {0};
  nd_status status = ND_OK;
  for (int i = 0; i < (1 + SIZES) * LEVELS && status == ND_OK; i++)
    status = measure_level(of[i], p, &scratch, err);
  nd_token_diff_clear(&scratch);
  return status;
}

/* --- tables ----------------------------------------------------------------------------- */

/* Sums the levels from `first` to `last`. */
typedef struct total {
  double pairs, correct, undecided, cosine;
} total;

static total sum_levels(const treatment *t, int first, int last) {
  total s = {0};
  for (int i = first; i <= last; i++) {
    const level *of = &t->levels[i];
    s.pairs += (double)of->pairs;
    s.correct += (double)of->correct;
    s.undecided += (double)of->undecided;
    if (of->pairs) s.cosine += of->cosine * (double)of->pairs;
  }
  s.cosine = s.pairs > 0 ? s.cosine / s.pairs : NAN;
  return s;
}

typedef struct quality {
  double precision, recall, f;
} quality;

static quality quality_of(const library *l, const total *s) {
  double judged = s->pairs - s->undecided, truth = (double)l->judge.pairs;
  quality q = {NAN, NAN, NAN};
  if (!l->judged) return q;
  if (judged > 0) q.precision = s->correct / judged;
  if (truth > 0) q.recall = s->correct / truth;
  if (q.precision + q.recall > 0) q.f = 2 * q.precision * q.recall / (q.precision + q.recall);
  return q;
}

static nd_status put_total(nd_table *t, const library *l, const total *s, nd_error *err) {
  quality q = quality_of(l, s);
  ND_TRY(nd_table_count(t, (uint64_t)s->pairs, err));
  ND_TRY(nd_table_real(t, q.precision, 4, err));
  ND_TRY(nd_table_real(t, q.recall, 4, err));
  ND_TRY(nd_table_real(t, q.f, 4, err));
  return nd_table_real(t, s->cosine, 3, err);
}

/* The published figure for k = 3; the paper only draws the others. */
static nd_status put_published_k(nd_table *t, int k, nd_error *err) {
  ND_TRY(nd_table_real(t, k == 0 ? 769 : NAN, 0, err));
  ND_TRY(nd_table_real(t, k == 0 ? 1 : k == 3 ? 0.94 : k == 5 ? 0.65 : NAN, 2, err));
  ND_TRY(nd_table_real(t, k == 3 ? 0.88 : NAN, 2, err));
  ND_TRY(nd_table_real(t, k == 3 ? 0.91 : NAN, 2, err));
  return nd_table_real(t, published_cosine[k], 2, err);
}

static void quality_chart(nd_study_report *r, const char *name, const char *title,
                          const char *x_label, const double *x, double y[3][LEVELS], size_t n,
                          double best, double f) {
  double at[] = {best}, published[] = {f};
  nd_series series[] = {{.name = "precision", .x = x, .y = y[0], .n = n},
                        {.name = "recall", .x = x, .y = y[1], .n = n},
                        {.name = "F", .x = x, .y = y[2], .n = n},
                        {.name = "best F published",
                         .x = at,
                         .y = published,
                         .n = 1,
                         .published = true,
                         .source = "Williams and Giles 2013, Figure 1"}};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = name,
                    .title = title,
                    .x_label = x_label,
                    .y_label = "precision, recall, F",
                    .series = series,
                    .series_n = 4};
  nd_study_report_chart(r, &chart);
}

static nd_status simhash_table(library *l, nd_study_report *r, nd_error *err) {
  nd_table t = {0};
  double x[LEVELS], y[3][LEVELS], pairs[LEVELS], cosine[LEVELS];
  nd_status status = nd_table_start(
      &t, "simhash",
      "simhash by Hamming distance: pairs, precision, recall and F against the truth, mean cosine, "
      "beside the published figures (Williams and Giles 2013, figures 1a and 2a, table 1; 95,558 "
      "papers)",
      "k\tpairs\tprecision\trecall\tF\tcosine\tpublished pairs\tpublished precision\tpublished "
      "recall\tpublished F\tpublished cosine",
      err);
  for (int k = 0; k <= MOST_K && status == ND_OK; k++) {
    total s = sum_levels(&l->of[0], 0, k);
    quality q = quality_of(l, &s);
    x[k] = k;
    pairs[k] = s.pairs;
    cosine[k] = s.cosine;
    y[0][k] = q.precision;
    y[1][k] = q.recall;
    y[2][k] = q.f;
    status = nd_table_count(&t, (uint64_t)k, err);
    if (status == ND_OK) status = put_total(&t, l, &s, err);
    if (status == ND_OK) status = put_published_k(&t, k, err);
  }
  ND_TRY(nd_study_report_table(r, &t, status, err));
  if (l->judged)
    quality_chart(r, "simhash-quality", "simhash by Hamming distance", "k", x, y, LEVELS, 3, 0.91);
  double first[] = {0}, published[] = {769};
  nd_series found[] = {{.name = "pairs", .x = x, .y = pairs, .n = LEVELS},
                       {.name = "published, k = 0",
                        .x = first,
                        .y = published,
                        .n = 1,
                        .published = true,
                        .source = "Williams and Giles 2013, Figure 2a"}};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = "simhash-pairs",
                    .title = "Pairs that simhash returns",
                    .x_label = "k",
                    .y_label = "pairs",
                    .y_log = true,
                    .series = found,
                    .series_n = 2};
  nd_study_report_chart(r, &chart);
  nd_series angles[] = {{.name = "ours", .x = x, .y = cosine, .n = LEVELS},
                        {.name = "published",
                         .x = x,
                         .y = published_cosine,
                         .n = LEVELS,
                         .published = true,
                         .source = "Williams and Giles 2013, Table 1"}};
  nd_chart second = {.kind = ND_CHART_LINES,
                     .name = "simhash-cosine",
                     .title = "Mean cosine of the pairs that simhash returns",
                     .x_label = "k",
                     .y_label = "cosine",
                     .series = angles,
                     .series_n = 2};
  nd_study_report_chart(r, &second);
  return ND_OK;
}

static nd_status shingle_table(library *l, nd_study_report *r, nd_error *err) {
  static const char *const names[SIZES] = {"w = 5", "w = 8", "w = 10"};
  nd_table t = {0};
  double x[STEPS], pairs[SIZES][STEPS], recall[SIZES][STEPS];
  nd_status status = nd_table_start(&t, "shingles",
                                    "84 min values by shingle size w and resemblance R: pairs, "
                                    "precision, recall and F against the "
                                    "truth, mean cosine, beside the published figures (Williams "
                                    "and Giles 2013, figures 1b, 1c and "
                                    "2b)",
                                    "w\tR\tpairs\tprecision\trecall\tF\tcosine\tpublished "
                                    "precision\tpublished recall\tpublished F",
                                    err);
  for (int w = 0; w < SIZES && status == ND_OK; w++) {
    for (int i = 0; i < STEPS && status == ND_OK; i++) {
      total s = sum_levels(&l->of[1 + w], i, STEPS - 1);
      bool best = w == 0 && i == 0;
      x[i] = 50 + 10 * i;
      pairs[w][i] = s.pairs;
      recall[w][i] = quality_of(l, &s).recall;
      status = nd_table_count(&t, shingle_sizes[w], err);
      if (status == ND_OK) status = nd_table_count(&t, (uint64_t)x[i], err);
      if (status == ND_OK) status = put_total(&t, l, &s, err);
      if (status == ND_OK) status = nd_table_real(&t, best ? 1 : NAN, 2, err);
      if (status == ND_OK) status = nd_table_real(&t, best ? 0.98 : NAN, 2, err);
      if (status == ND_OK) status = nd_table_real(&t, best ? 0.99 : NAN, 2, err);
    }
  }
  ND_TRY(nd_study_report_table(r, &t, status, err));
  nd_series found[SIZES], recalled[SIZES];
  for (int w = 0; w < SIZES; w++) {
    found[w] = (nd_series){.name = names[w], .x = x, .y = pairs[w], .n = STEPS};
    recalled[w] = (nd_series){.name = names[w], .x = x, .y = recall[w], .n = STEPS};
  }
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = "shingle-pairs",
                    .title = "Pairs that min values return",
                    .x_label = "resemblance R",
                    .x_unit = "%",
                    .y_label = "pairs",
                    .series = found,
                    .series_n = SIZES};
  nd_study_report_chart(r, &chart);
  nd_chart second = {.kind = ND_CHART_LINES,
                     .name = "shingle-recall",
                     .title = "Recall of min values",
                     .x_label = "resemblance R",
                     .x_unit = "%",
                     .y_label = "recall",
                     .series = recalled,
                     .series_n = SIZES};
  if (l->judged) nd_study_report_chart(r, &second);
  return ND_OK;
}

/* Returns the slope of y over x by least squares, or NAN with fewer than two points. */
static double slope(const double *x, const double *y, int n) {
  double m = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < n; i++) {
    if (!isfinite(y[i])) continue;
    m++;
    sx += x[i];
    sy += y[i];
    sxx += x[i] * x[i];
    sxy += x[i] * y[i];
  }
  return m >= 2 ? (m * sxy - sx * sy) / (m * sxx - sx * sx) : NAN; /* the x are distinct */
}

static nd_status growth_table(library *l, nd_study_report *r, nd_error *err) {
  nd_table t = {0};
  double x[LEVELS], y[LEVELS];
  for (int k = 0; k <= MOST_K; k++) {
    x[k] = k;
    y[k] = log(sum_levels(&l->of[0], 0, k).pairs);
  }
  nd_status status = nd_table_start(&t, "growth",
                                    "How the number of pairs grows: simhash by a factor per bit "
                                    "(exponential), min values by pairs "
                                    "per 10 % of R (linear; Williams and Giles 2013, section 4.3)",
                                    "sketch\tper step\tpublished", err);
  if (status == ND_OK) status = nd_table_text(&t, "simhash, factor per bit", err);
  if (status == ND_OK) status = nd_table_real(&t, exp(slope(x, y, LEVELS)), 3, err);
  /* From 769 pairs to nearly 120,000 in ten steps. */
  if (status == ND_OK) status = nd_table_real(&t, pow(120000.0 / 769, 0.1), 3, err);
  double mean = 0;
  for (int w = 0; w < SIZES; w++) {
    for (int i = 0; i < STEPS; i++) {
      x[i] = -i;
      y[i] = sum_levels(&l->of[1 + w], i, STEPS - 1).pairs;
    }
    mean += slope(x, y, STEPS) / SIZES;
  }
  if (status == ND_OK) status = nd_table_text(&t, "min values, pairs per 10 % of R", err);
  if (status == ND_OK) status = nd_table_real(&t, mean, 2, err);
  if (status == ND_OK) status = nd_table_real(&t, 157.35, 2, err);
  return nd_study_report_table(r, &t, status, err);
}

static nd_status input_table(library *l, nd_study_report *r, nd_error *err) {
  const nd_summary *s = l->run->summary;
  nd_table t = {0};
  nd_status status = nd_table_start(&t, "documents", "The documents",
                                    "read\trejected\tfewer than 15 tokens\trepeated "
                                    "ids\tcompared\ttrue pairs\tcrowded values",
                                    err);
  uint64_t row[] = {s->documents,   s->rejected,    l->pages.small, l->pages.repeated,
                    l->pages.ids.n, l->judge.pairs, l->hot};
  for (size_t i = 0; i < sizeof row / sizeof *row && status == ND_OK; i++)
    status = nd_table_count(&t, row[i], err);
  return nd_study_report_table(r, &t, status, err);
}

/* --- the whole -------------------------------------------------------------------------- */

static nd_status read_all(library *l, nd_error *err) {
  const nd_options *options = &l->options;
  sketcher s = {.seed = options->seed};
  l->pages = (nd_pages){.fewest = FEWEST, .words = WORDS, .make = make_sketch, .context = &s};
  /* untaken: checked with the settings */
  ND_TRY(nd_simhash_init(&s.simhash, ND_WEIGHTS_ONE, s.seed, NULL, err));
  nd_status status = nd_linear_init(&s.values, FUNCTIONS, s.seed, err);
  if (status == ND_OK)
    status =
        nd_pages_read(&l->pages, l->run->summary, l->run->request, options, l->run->hooks, err);
  nd_simhash_clear(&s.simhash);
  nd_linear_clear(&s.values);
  nd_shingles_clear(&s.shingles);
  return status;
}

static nd_status fill(library *l, nd_study_report *r, nd_error *err) {
  const nd_options *options = &l->options;
  const char *tmp = nd_workdir_tmp(options->tmp);
  unsigned threads = options->threads ? (unsigned)options->threads : nd_threads_cores();
  ND_TRY(read_all(l, err));
  if (l->run->request->truth) {
    ND_TRY(nd_judge_open(&l->judge, l->run->request->truth, &l->pages.ids, l->run->hooks, err));
    l->judged = true;
  }
  ND_TRY(find_simhash(l, threads, tmp, err));
  for (int w = 0; w < SIZES; w++) ND_TRY(find_values(l, w, threads, tmp, err));
  ND_TRY(measure_cosines(l, options, err));
  ND_TRY(input_table(l, r, err));
  ND_TRY(simhash_table(l, r, err));
  ND_TRY(shingle_table(l, r, err));
  return growth_table(l, r, err);
}

nd_status nd_study_library(nd_study_run *run, nd_error *err) {
  library l = {.run = run, .options = *run->options, .rng = {run->options->seed}};
  l.options.sample[0] = '\0'; /* sketches use all shingles */
  nd_study_report r;
  l.of = nd_calloc(1 + SIZES, sizeof *l.of);
  if (!l.of) return nd_fail_memory(err, (1 + SIZES) * sizeof *l.of);
  nd_study_report_start(
      &r, run, "Near-duplicates of a digital library",
      "simhash and min values of shingles as Williams and Giles (DocEng 2013) ran them, "
      "on this corpus.",
      err);
  nd_status status = fill(&l, &r, err);
  nd_judge_close(&l.judge);
  nd_pages_clear(&l.pages);
  nd_free(l.of);
  return nd_study_report_end(&r, status);
}
