/* Tables of study web with a ground truth: precision of algorithm B, of C and, at every
 * threshold, of the combined algorithm, and R (Henzinger 2006, section 3).
 *
 * Precision is correct pairs among all pairs returned, undecided ones included,
 * as in the paper; R is correct pairs returned among those of algorithm B. */
#include <math.h>
#include <stdio.h>

#include "study/henzinger/web_pairs.h"

typedef struct score {
  uint64_t of[3]; /* by verdict */
} score;

static uint64_t all_of(const score *s) {
  return s->of[ND_CORRECT] + s->of[ND_INCORRECT] + s->of[ND_UNDECIDED];
}

static double part(uint64_t n, uint64_t whole) {
  return whole ? (double)n / (double)whole : NAN;
}

/* The pairs that a row counts. */
typedef struct rule {
  const char *name;
  bool from_c;            /* pairs of algorithm C, otherwise of B */
  bool either;            /* combined by site: B on the same site, C elsewhere */
  uint32_t b_low, b_high; /* range of similarities, inclusive */
  uint32_t c_low, c_high;
  int where;        /* nd_web_where; -1: anywhere */
  double published; /* published precision, or 0 */
  double published_r;
} rule;

static const rule rules[] = {
    {"B", false, false, 2, 6, 0, 384, -1, 0.38, 0},
    {"B, same site", false, false, 2, 6, 0, 384, ND_SAME_SITE, 0.34, 0},
    {"B, other site", false, false, 2, 6, 0, 384, ND_OTHER_SITE, 0.86, 0},
    {"B = 2", false, false, 2, 2, 0, 384, -1, 0, 0},
    {"B = 3", false, false, 3, 3, 0, 384, -1, 0, 0},
    {"B = 4", false, false, 4, 4, 0, 384, -1, 0, 0},
    {"B = 5", false, false, 5, 5, 0, 384, -1, 0, 0},
    {"B = 6", false, false, 6, 6, 0, 384, -1, 0, 0},
    {"C", true, false, 0, 6, 372, 384, -1, 0.50, 0},
    {"C, same site", true, false, 0, 6, 372, 384, ND_SAME_SITE, 0.36, 0},
    {"C, other site", true, false, 0, 6, 372, 384, ND_OTHER_SITE, 0.90, 0},
    {"C = 372-375", true, false, 0, 6, 372, 375, -1, 0, 0},
    {"C = 376-378", true, false, 0, 6, 376, 378, -1, 0, 0},
    {"C = 379-381", true, false, 0, 6, 379, 381, -1, 0, 0},
    {"C = 382-384", true, false, 0, 6, 382, 384, -1, 0, 0},
    {"combined", false, false, 2, 6, 355, 384, -1, 0.79, 0.79},
    {"combined, same site", false, false, 2, 6, 355, 384, ND_SAME_SITE, 0, 0},
    {"combined, other site", false, false, 2, 6, 355, 384, ND_OTHER_SITE, 0, 0},
    {"combined by site", false, true, 2, 6, 355, 384, -1, 0, 0},
    {NULL, false, false, 0, 0, 0, 0, 0, 0, 0}};

static void count(score *s, const nd_web *w, const nd_judge *j, const nd_web_list *l,
                  const rule *q) {
  for (size_t i = 0; i < l->n; i++) {
    const nd_web_pair *p = &l->pairs[i];
    nd_web_where where = nd_web_where_of(w, p->key);
    if (p->b < q->b_low || p->b > q->b_high || p->c < q->c_low || p->c > q->c_high) continue;
    if (q->where >= 0 && where != (nd_web_where)q->where) continue;
    if (q->either && where == ND_OTHER_SITE) continue;
    s->of[nd_judge_pair(j, p->key)]++;
  }
}

static score score_of(const nd_web *w, const nd_judge *j, const rule *q) {
  score s = {{0}};
  count(&s, w, j, q->from_c ? &w->c : &w->b, q);
  if (q->either) { /* add pairs of C on different sites */
    rule others = {.from_c = true,
                   .b_high = 6,
                   .c_low = ND_WEB_C,
                   .c_high = ND_WEB_BITS,
                   .where = ND_OTHER_SITE};
    count(&s, w, j, &w->c, &others);
  }
  return s;
}

static nd_status put_score(nd_table *t, const score *s, uint64_t correct_b, const nd_judge *j,
                           nd_error *err) {
  uint64_t n = all_of(s);
  ND_TRY(nd_table_count(t, n, err));
  ND_TRY(nd_table_real(t, part(s->of[ND_CORRECT], n), 4, err));
  ND_TRY(nd_table_real(t, part(s->of[ND_INCORRECT], n), 4, err));
  ND_TRY(nd_table_real(t, part(s->of[ND_UNDECIDED], n), 4, err));
  ND_TRY(nd_table_real(t, part(s->of[ND_CORRECT], correct_b), 4, err));
  return nd_table_real(t, part(s->of[ND_CORRECT], j->pairs), 4, err);
}

static nd_status precision_table(const nd_web *w, const nd_judge *j, nd_study_report *r,
                                 uint64_t correct_b, nd_error *err) {
  nd_table t = {0};
  nd_status status = nd_table_start(
      &t, "precision",
      "Correct, incorrect and undecided pairs, R (correct pairs per correct pair of B) and recall, "
      "beside the published precision and R (Henzinger 2006, section 3)",
      "pairs of\tpairs\tcorrect\tincorrect\tundecided\tR\trecall\tpublished correct\tpublished R",
      err);
  for (const rule *q = rules; q->name && status == ND_OK; q++) {
    score s = score_of(w, j, q);
    status = nd_table_text(&t, q->name, err);
    if (status == ND_OK) status = put_score(&t, &s, correct_b, j, err);
    if (status == ND_OK) status = nd_table_real(&t, q->published > 0 ? q->published : NAN, 2, err);
    if (status == ND_OK)
      status = nd_table_real(&t, q->published_r > 0 ? q->published_r : NAN, 2, err);
  }
  return nd_study_report_table(r, &t, status, err);
}

/* The combined algorithm at every threshold: sums from the highest down. */
static nd_status combined_table(const nd_web *w, const nd_judge *j, nd_study_report *r,
                                uint64_t correct_b, nd_error *err) {
  enum { LEVELS = ND_WEB_BITS + 1 };
  double *x = nd_calloc(3 * LEVELS, sizeof *x);
  if (!x) return nd_fail_memory(err, 3 * LEVELS * sizeof *x);
  double *precision = x + LEVELS, *ratio = x + 2 * LEVELS;
  score *sum = nd_calloc(LEVELS + 1, sizeof *sum);
  if (!sum) {
    nd_free(x);
    return nd_fail_memory(err, (LEVELS + 1) * sizeof *sum);
  }
  size_t first = LEVELS;
  for (size_t i = 0; i < w->b.n; i++) {
    const nd_web_pair *p = &w->b.pairs[i];
    sum[p->c].of[nd_judge_pair(j, p->key)]++;
    if (p->c < first) first = p->c;
  }
  for (size_t c = LEVELS; c-- > 0;) {
    for (int v = 0; v < 3; v++) sum[c].of[v] += sum[c + 1].of[v];
    x[c] = (double)c;
    precision[c] = part(sum[c].of[ND_CORRECT], all_of(&sum[c]));
    ratio[c] = part(sum[c].of[ND_CORRECT], correct_b);
  }
  nd_table t = {0};
  nd_status status = nd_table_start(
      &t, "combined",
      "The combined algorithm at every threshold of C-similarity (Henzinger 2006, section 3; "
      "published for 355: precision 0.79 at R 0.79)",
      "threshold\tpairs\tcorrect\tincorrect\tundecided\tR\trecall", err);
  for (size_t c = first; c < LEVELS && status == ND_OK; c++) {
    status = nd_table_count(&t, c, err);
    if (status == ND_OK) status = put_score(&t, &sum[c], correct_b, j, err);
  }
  status = nd_study_report_table(r, &t, status, err);
  if (status == ND_OK && first < LEVELS) {
    double published_x[] = {0.79}, published_y[] = {0.79}, published_t[] = {355};
    size_t n = LEVELS - first;
    nd_series by_threshold[] = {
        {.name = "precision", .x = x + first, .y = precision + first, .n = n},
        {.name = "R", .x = x + first, .y = ratio + first, .n = n},
        {.name = "published",
         .x = published_t,
         .y = published_y,
         .n = 1,
         .published = true,
         .source = "Henzinger 2006, section 3"}};
    nd_chart chart = {.kind = ND_CHART_LINES,
                      .name = "combined",
                      .title = "The combined algorithm by threshold",
                      .x_label = "threshold of C-similarity",
                      .y_label = "precision and R",
                      .series = by_threshold,
                      .series_n = 3};
    nd_study_report_chart(r, &chart);
    nd_series against[] = {{.name = "ours", .x = ratio + first, .y = precision + first, .n = n},
                           {.name = "published",
                            .x = published_x,
                            .y = published_y,
                            .n = 1,
                            .published = true,
                            .source = "Henzinger 2006, section 3"}};
    nd_chart curve = {.kind = ND_CHART_SCATTER,
                      .name = "precision-against-r",
                      .title = "Precision of the combined algorithm against R",
                      .x_label = "R",
                      .y_label = "precision",
                      .series = against,
                      .series_n = 2};
    nd_study_report_chart(r, &curve);
  }
  nd_free(x);
  nd_free(sum);
  return status;
}

nd_status nd_web_precision(const nd_web *w, const nd_judge *j, nd_study_report *r, nd_error *err) {
  nd_study_report_heading(r, "Precision");
  uint64_t correct_b = score_of(w, j, &rules[0]).of[ND_CORRECT];
  ND_TRY(precision_table(w, j, r, correct_b, err));
  return combined_table(w, j, r, correct_b, err);
}

void nd_web_same_site(uint64_t *pairs, uint64_t *correct, const nd_web *w, const nd_judge *j,
                      nd_web_algorithm which) {
  static const size_t row[] = {1, 9, 16}; /* rows of `rules`: same site */
  score s = score_of(w, j, &rules[row[which]]);
  *pairs = all_of(&s);
  *correct = s.of[ND_CORRECT];
}
