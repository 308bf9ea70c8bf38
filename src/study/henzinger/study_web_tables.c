/* Tables of study web without a ground truth: pairs by similarity, one similarity against
 * the other, degrees, sites, term differences (Henzinger 2006, section 3). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "settings/option_fields.h"
#include "study/common/power_law.h"
#include "study/common/token_diff.h"
#include "study/henzinger/web_pairs.h"

static double share(double part, double whole) {
  return whole > 0 ? 100 * part / whole : NAN;
}

/* --- pairs by similarity -------------------------------------------------------- */

typedef struct level {
  uint64_t pairs, sum, none; /* sum of the other similarity; number of pairs where it is 0 */
  uint64_t same, sited;      /* pairs on the same site; pairs with known sites */
} level;

static void add_level(const nd_web *w, level *l, const nd_web_pair *p, uint32_t other) {
  l->pairs++;
  l->same += nd_web_where_of(w, p->key) == ND_SAME_SITE;
  l->sited += nd_web_where_of(w, p->key) != ND_NO_SITE;
  l->sum += other;
  l->none += other == 0;
}

static nd_status put_level(nd_table *t, const level *l, uint64_t all, bool none, nd_error *err) {
  ND_TRY(nd_table_count(t, l->pairs, err));
  ND_TRY(nd_table_real(t, share((double)l->pairs, (double)all), 1, err));
  ND_TRY(nd_table_real(t, l->pairs ? (double)l->sum / (double)l->pairs : NAN, 2, err));
  if (none) ND_TRY(nd_table_real(t, share((double)l->none, (double)l->pairs), 1, err));
  return nd_table_real(t, share((double)l->same, (double)l->sited), 1, err);
}

static nd_status b_table(const nd_web *w, nd_study_report *r, nd_error *err) {
  level of[ND_WEB_SUPERS + 1] = {{0}};
  for (size_t i = 0; i < w->b.n; i++)
    add_level(w, &of[w->b.pairs[i].b], &w->b.pairs[i], w->b.pairs[i].c);
  nd_table t = {0};
  nd_status status = nd_table_start(&t, "b_similarity",
                                    "Pairs of algorithm B by B-similarity, with their mean "
                                    "C-similarity (Henzinger 2006, "
                                    "section 3)",
                                    "B-similarity\tpairs\t%\tmean C-similarity\tsame site %", err);
  for (uint32_t b = ND_WEB_B; b <= ND_WEB_SUPERS && status == ND_OK; b++) {
    status = nd_table_count(&t, b, err);
    if (status == ND_OK) status = put_level(&t, &of[b], w->b.n, false, err);
  }
  return nd_study_report_table(r, &t, status, err);
}

static nd_status c_table(const nd_web *w, nd_study_report *r, nd_error *err) {
  enum { LEVELS = ND_WEB_BITS - ND_WEB_C + 1, RANGE = 3, RANGES = 4 };
  level of[LEVELS] = {{0}}, range[RANGES] = {{0}};
  for (size_t i = 0; i < w->c.n; i++) {
    const nd_web_pair *p = &w->c.pairs[i];
    uint32_t at = p->c - ND_WEB_C, k = (ND_WEB_BITS - p->c) / RANGE;
    add_level(w, &of[at], p, p->b);
    add_level(w, &range[k < RANGES ? k : RANGES - 1], p, p->b);
  }
  nd_table t = {0};
  nd_status status = nd_table_start(
      &t, "c_similarity",
      "Pairs of algorithm C by C-similarity, with their mean B-similarity and how many "
      "have none (Henzinger 2006, section 3)",
      "C-similarity\tpairs\t%\tmean B-similarity\tB-similarity 0 %\tsame site %", err);
  for (uint32_t c = 0; c < LEVELS && status == ND_OK; c++) {
    status = nd_table_count(&t, ND_WEB_C + c, err);
    if (status == ND_OK) status = put_level(&t, &of[c], w->c.n, true, err);
  }
  ND_TRY(nd_study_report_table(r, &t, status, err));
  status = nd_table_start(
      &t, "c_ranges", "The same by ranges of C-similarity, as the paper's tables have them",
      "C-similarity\tpairs\t%\tmean B-similarity\tB-similarity 0 %\tsame site %", err);
  for (int k = RANGES - 1; k >= 0 && status == ND_OK; k--) {
    char name[32];
    int high = ND_WEB_BITS - k * RANGE, low = k == RANGES - 1 ? ND_WEB_C : high - RANGE + 1;
    snprintf(name, sizeof name, "%d-%d", low, high);
    status = nd_table_text(&t, name, err);
    if (status == ND_OK) status = put_level(&t, &range[k], w->c.n, true, err);
  }
  return nd_study_report_table(r, &t, status, err);
}

/* C-similarity of B-similar pairs, in steps of four bits. */
static nd_status b_against_c(const nd_web *w, nd_study_report *r, nd_error *err) {
  enum { STEP = 4, BINS = ND_WEB_BITS / STEP + 1 };
  static const char *const names[] = {"B = 2", "B = 3", "B = 4", "B = 5", "B = 6"};
  double x[BINS], y[ND_WEB_SUPERS + 1][BINS] = {{0}}, of[ND_WEB_SUPERS + 1] = {0};
  size_t first = BINS;
  for (size_t i = 0; i < w->b.n; i++) {
    const nd_web_pair *p = &w->b.pairs[i];
    size_t bin = p->c / STEP;
    y[p->b][bin]++;
    of[p->b]++;
    if (bin < first) first = bin;
  }
  nd_table t = {0};
  nd_status status = nd_table_start(&t, "b_against_c",
                                    "C-similarity of B-similar pairs: % of the pairs of each "
                                    "B-similarity (Henzinger 2006, section "
                                    "3, the C-similarity distribution)",
                                    "C-similarity from\tB = 2\tB = 3\tB = 4\tB = 5\tB = 6", err);
  for (size_t bin = 0; bin < BINS; bin++) {
    x[bin] = (double)(bin * STEP);
    for (uint32_t b = ND_WEB_B; b <= ND_WEB_SUPERS; b++) y[b][bin] = share(y[b][bin], of[b]);
  }
  for (size_t bin = first; bin < BINS && status == ND_OK; bin++) {
    status = nd_table_count(&t, bin * STEP, err);
    for (uint32_t b = ND_WEB_B; b <= ND_WEB_SUPERS && status == ND_OK; b++)
      status = nd_table_real(&t, y[b][bin], 2, err);
  }
  ND_TRY(nd_study_report_table(r, &t, status, err));
  if (w->b.n == 0) return ND_OK;
  nd_series series[ND_WEB_SUPERS - ND_WEB_B + 1];
  for (uint32_t b = ND_WEB_B; b <= ND_WEB_SUPERS; b++)
    series[b - ND_WEB_B] = (nd_series){
        .name = names[b - ND_WEB_B], .x = x + first, .y = y[b] + first, .n = BINS - first};
  nd_marker marker = {ND_WEB_COMBINED, false, "355: combined"};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = "b-against-c",
                    .title = "C-similarity of B-similar pairs",
                    .x_label = "C-similarity",
                    .y_label = "pairs of this B-similarity",
                    .y_unit = "%",
                    .series = series,
                    .series_n = ND_WEB_SUPERS - ND_WEB_B + 1,
                    .markers = &marker,
                    .marker_n = 1};
  nd_study_report_chart(r, &chart);
  return ND_OK;
}

/* --- the similarity graph -------------------------------------------------------- */

typedef struct graph {
  uint32_t *degree; /* per page */
  uint64_t *count;  /* per degree */
  size_t most;
  uint64_t nodes; /* with an edge */
} graph;

static nd_status count_degrees(graph *g, const nd_web *w, const nd_web_list *l, nd_error *err) {
  *g = (graph){0};
  size_t n = w->pages.ids.n;
  g->degree = nd_calloc(n + 1, sizeof *g->degree);
  if (!g->degree) return nd_fail_memory(err, (n + 1) * sizeof *g->degree);
  for (size_t i = 0; i < l->n; i++) {
    g->degree[nd_pair_of(l->pairs[i].key).a]++;
    g->degree[nd_pair_of(l->pairs[i].key).b]++;
  }
  for (size_t i = 0; i < n; i++) {
    if (g->degree[i] > g->most) g->most = g->degree[i];
    g->nodes += g->degree[i] > 0;
  }
  g->count = nd_calloc(g->most + 1, sizeof *g->count);
  if (!g->count) return nd_fail_memory(err, (g->most + 1) * sizeof *g->count);
  for (size_t i = 0; i < n; i++) g->count[g->degree[i]]++;
  return ND_OK;
}

static nd_status put_graph(nd_table *t, const char *name, const graph *g, const nd_web_list *l,
                           size_t pages, nd_error *err) {
  ND_TRY(nd_table_text(t, name, err));
  ND_TRY(nd_table_count(t, pages, err));
  ND_TRY(nd_table_count(t, g->nodes, err));
  ND_TRY(nd_table_real(t, share((double)g->nodes, (double)pages), 2, err));
  ND_TRY(nd_table_count(t, l->n, err));
  ND_TRY(nd_table_real(t, g->nodes ? 2 * (double)l->n / (double)g->nodes : NAN, 2, err));
  ND_TRY(nd_table_count(t, g->most, err));
  ND_TRY(nd_table_real(t, nd_power_law_slope(g->count, g->most), 3, err));
  return nd_table_real(t, -nd_power_law_likely(g->count, g->most), 3, err);
}

static nd_status degree_rows(nd_study_report *r, const graph *b, const graph *c, nd_error *err) {
  nd_table t = {0};
  size_t most = b->most > c->most ? b->most : c->most;
  nd_status status = nd_table_start(&t, "degrees",
                                    "Pages by number of near-duplicates (Henzinger 2006, the two "
                                    "figures of the degree distribution)",
                                    "degree\tpages in the B-graph\tpages in the C-graph", err);
  for (size_t d = 1; d <= most && status == ND_OK; d++) {
    uint64_t x = d <= b->most ? b->count[d] : 0, y = d <= c->most ? c->count[d] : 0;
    if (!x && !y) continue;
    status = nd_table_count(&t, d, err);
    if (status == ND_OK) status = nd_table_count(&t, x, err);
    if (status == ND_OK) status = nd_table_count(&t, y, err);
  }
  return nd_study_report_table(r, &t, status, err);
}

static nd_status degree_chart(nd_study_report *r, const graph *b, const graph *c, nd_error *err) {
  size_t most = (b->most > c->most ? b->most : c->most) + 1;
  double *numbers = nd_calloc(3 * most, sizeof *numbers);
  if (!numbers) return nd_fail_memory(err, 3 * most * sizeof *numbers);
  for (size_t d = 1; d < most; d++) {
    numbers[d] = (double)d;
    numbers[most + d] = d <= b->most ? (double)b->count[d] : 0;
    numbers[2 * most + d] = d <= c->most ? (double)c->count[d] : 0;
  }
  nd_series series[] = {{.name = "algorithm B", .x = numbers, .y = numbers + most, .n = most},
                        {.name = "algorithm C", .x = numbers, .y = numbers + 2 * most, .n = most}};
  nd_chart chart = {.kind = ND_CHART_SCATTER,
                    .name = "degrees",
                    .title = "Pages by number of near-duplicates",
                    .x_label = "near-duplicates of a page",
                    .y_label = "pages",
                    .x_log = true,
                    .y_log = true,
                    .series = series,
                    .series_n = 2};
  if (most > 1) nd_study_report_chart(r, &chart);
  nd_free(numbers);
  return ND_OK;
}

static nd_status graph_tables(const nd_web *w, nd_study_report *r, nd_error *err) {
  graph b, c = {0};
  nd_table t = {0};
  nd_status status = count_degrees(&b, w, &w->b, err);
  if (status == ND_OK) status = count_degrees(&c, w, &w->c, err);
  if (status == ND_OK)
    status = nd_table_start(
        &t, "graphs",
        "The similarity graphs: near-duplicate pages, degrees, and the exponent of the power law, "
        "as "
        "the slope of the log-log plot and by likelihood (Henzinger 2006, section 3)",
        "algorithm\tpages\tnear-duplicate pages\t%\tpairs\tmean degree\tlargest "
        "degree\texponent\tlikeliest exponent",
        err);
  if (status == ND_OK) status = put_graph(&t, "B", &b, &w->b, w->pages.ids.n, err);
  if (status == ND_OK) status = put_graph(&t, "C", &c, &w->c, w->pages.ids.n, err);
  status = nd_study_report_table(r, &t, status, err);
  if (status == ND_OK) status = degree_rows(r, &b, &c, err);
  if (status == ND_OK) status = degree_chart(r, &b, &c, err);
  nd_free(b.degree);
  nd_free(b.count);
  nd_free(c.degree);
  nd_free(c.count);
  return status;
}

static nd_status site_table(const nd_web *w, nd_study_report *r, nd_error *err) {
  const nd_web_list *lists[] = {&w->b, &w->c};
  nd_table t = {0};
  nd_status status = nd_table_start(
      &t, "sites", "Pairs on the same and on different sites (Henzinger 2006, section 3)",
      "algorithm\tpairs\tsame site\tother site\tunknown\tsame site %", err);
  for (int k = 0; k < 2 && status == ND_OK; k++) {
    uint64_t of[3] = {0};
    for (size_t i = 0; i < lists[k]->n; i++) of[nd_web_where_of(w, lists[k]->pairs[i].key)]++;
    status = nd_table_text(&t, k ? "C" : "B", err);
    if (status == ND_OK) status = nd_table_count(&t, lists[k]->n, err);
    for (int i = 0; i < 3 && status == ND_OK; i++) status = nd_table_count(&t, of[i], err);
    if (status == ND_OK)
      status = nd_table_real(
          &t, share((double)of[ND_SAME_SITE], (double)(of[ND_SAME_SITE] + of[ND_OTHER_SITE])), 1,
          err);
  }
  return nd_study_report_table(r, &t, status, err);
}

nd_status nd_web_tables(nd_web *w, nd_study_report *r, nd_error *err) {
  nd_study_report_heading(r, "Pairs by similarity");
  ND_TRY(b_table(w, r, err));
  ND_TRY(c_table(w, r, err));
  ND_TRY(b_against_c(w, r, err));
  nd_study_report_heading(r, "The similarity graphs");
  ND_TRY(graph_tables(w, r, err));
  return site_table(w, r, err);
}

/* --- term differences ---------------------------------------------------------------- */

enum { SAMPLE = 2000, MOST = 2000, SHOWN = 200, BIN = 5 };

typedef struct differences {
  size_t *at, n; /* the sample: positions in a list */
  uint32_t *of;  /* the differences */
} differences;

static nd_status draw(differences *d, nd_web *w, const nd_web_list *l, uint64_t seed,
                      nd_error *err) {
  ND_TRY(nd_sample_positions(&d->at, &d->n, l->n, SAMPLE, seed, err));
  d->of = nd_malloc((d->n + 1) * sizeof *d->of);
  if (!d->of) return nd_fail_memory(err, (d->n + 1) * sizeof *d->of);
  for (size_t i = 0; i < d->n; i++) {
    const nd_pair p = nd_pair_of(l->pairs[d->at[i]].key);
    w->pages.wanted[p.a] = w->pages.wanted[p.b] = 1;
  }
  return ND_OK;
}

static int by_size(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

static nd_status compare(differences *d, const nd_web *w, const nd_web_list *l, nd_token_diff *t,
                         nd_error *err) {
  const nd_pages *p = &w->pages;
  for (size_t i = 0; i < d->n; i++) {
    const nd_pair pair = nd_pair_of(l->pairs[d->at[i]].key);
    ND_TRY(nd_token_difference(&d->of[i], t, p->tokens + p->begin[pair.a], p->length[pair.a],
                               p->tokens + p->begin[pair.b], p->length[pair.b], MOST, err));
  }
  qsort(d->of, d->n, sizeof *d->of, by_size);
  return ND_OK;
}

/* Returns the quantile part/whole of the differences. */
static double quantile(const differences *d, size_t part, size_t whole) {
  size_t at = d->n * part / whole;
  return d->n ? (double)d->of[at] : NAN;
}

static nd_status put_differences(nd_table *t, const char *name, const differences *d,
                                 nd_error *err) {
  double sum = 0, two = 0, ten = 0, large = 0, beyond = 0, n = (double)d->n;
  for (size_t i = 0; i < d->n; i++) {
    sum += d->of[i];
    two += d->of[i] <= 2;
    ten += d->of[i] <= 10;
    large += d->of[i] > SHOWN;
    beyond += d->of[i] > MOST;
  }
  ND_TRY(nd_table_text(t, name, err));
  ND_TRY(nd_table_count(t, d->n, err));
  ND_TRY(nd_table_real(t, d->n ? sum / n : NAN, 1, err));
  ND_TRY(nd_table_real(t, quantile(d, 1, 2), 0, err));
  ND_TRY(nd_table_real(t, quantile(d, 9, 10), 0, err));
  ND_TRY(nd_table_real(t, share(two, n), 1, err));
  ND_TRY(nd_table_real(t, share(ten, n), 1, err));
  ND_TRY(nd_table_count(t, (uint64_t)large, err));
  return nd_table_count(t, (uint64_t)beyond, err);
}

static nd_status difference_tables(nd_study_report *r, const differences *d, nd_error *err) {
  enum { BINS = SHOWN / BIN };
  double x[BINS], y[2][BINS] = {{0}};
  nd_table t = {0};
  nd_status status = nd_table_start(
      &t, "term_differences",
      "Term differences of a sample of pairs: the tokens that diff lists (Henzinger 2006, section "
      "3); above 2000 they count as 2001",
      "algorithm\tpairs\tmean\tmedian\t9 of 10 up to\t<= 2 %\t<= 10 %\t> 200\t> 2000", err);
  if (status == ND_OK) status = put_differences(&t, "B", &d[0], err);
  if (status == ND_OK) status = put_differences(&t, "C", &d[1], err);
  ND_TRY(nd_study_report_table(r, &t, status, err));
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < d[k].n; i++) {
      if (d[k].of[i] < SHOWN) y[k][d[k].of[i] / BIN]++;
    }
  }
  status = nd_table_start(&t, "term_difference_counts", "The sampled pairs by term difference",
                          "difference from\tB\tC", err);
  for (int i = 0; i < BINS && status == ND_OK; i++) {
    x[i] = i * BIN;
    status = nd_table_count(&t, (uint64_t)i * BIN, err);
    for (int k = 0; k < 2 && status == ND_OK; k++)
      status = nd_table_count(&t, (uint64_t)y[k][i], err);
  }
  ND_TRY(nd_study_report_table(r, &t, status, err));
  nd_series series[] = {{.name = "algorithm B", .x = x, .y = y[0], .n = BINS},
                        {.name = "algorithm C", .x = x, .y = y[1], .n = BINS}};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = "term-differences",
                    .title = "Term differences of near-duplicate pairs",
                    .x_label = "differing tokens",
                    .y_label = "pairs of the sample",
                    .series = series,
                    .series_n = 2};
  nd_study_report_chart(r, &chart);
  return ND_OK;
}

nd_status nd_web_differences(nd_web *w, nd_study_report *r, const nd_options *options,
                             nd_error *err) {
  differences d[2] = {{0}};
  nd_token_diff t = {0};
  nd_study_report_heading(r, "Term differences");
  nd_status status = nd_pages_want(&w->pages, err);
  if (status == ND_OK) status = draw(&d[0], w, &w->b, options->seed, err);
  if (status == ND_OK) status = draw(&d[1], w, &w->c, options->seed + 1, err);
  if (status == ND_OK && d[0].n + d[1].n)
    status = nd_pages_fetch(&w->pages, r->run->request, options, r->run->hooks, err);
  if (status == ND_OK) status = compare(&d[0], w, &w->b, &t, err);
  if (status == ND_OK) status = compare(&d[1], w, &w->c, &t, err);
  if (status == ND_OK) status = difference_tables(r, d, err);
  for (int k = 0; k < 2; k++) {
    nd_free(d[k].at);
    nd_free(d[k].of);
  }
  nd_token_diff_clear(&t);
  return status;
}
