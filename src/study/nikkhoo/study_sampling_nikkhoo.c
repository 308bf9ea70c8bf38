/* Nikkhoo 2010, section 3.3: hash-value sampling (Tables 3.1 and 3.2) and the
 * shingle commonality threshold (Tables 3.3 and 3.4, Figure 3.9), next to the published
 * figures, which are for the relevant documents of TREC 2004 terabyte. */
#include <math.h>
#include <stdio.h>

#include "study/ye/study_sampling.h"

enum { TENTHS = 9 }; /* from 0.9 to 0.1 */

/* Share of documents with RR >= 0.9, 0.8 … 0.1, in percent. */
static const double table_3_1[TENTHS][1 + ND_NIK_RATIOS] = {
    {7.44, 7.44, 7.42, 7.53, 7.67, 7.79, 8.08, 8.42, 9.00, 8.51},
    {10.05, 10.09, 10.13, 10.14, 10.37, 10.54, 10.92, 10.78, 10.66, 9.59},
    {12.37, 12.43, 12.49, 12.80, 12.75, 12.81, 13.26, 12.75, 12.38, 10.73},
    {14.64, 14.67, 14.71, 14.97, 14.92, 15.15, 15.54, 15.01, 14.74, 12.41},
    {17.36, 17.30, 17.37, 17.53, 17.80, 17.88, 18.03, 17.28, 16.57, 13.83},
    {20.08, 20.07, 20.19, 20.42, 20.38, 20.38, 20.35, 19.37, 18.16, 14.73},
    {23.07, 23.06, 23.10, 23.16, 23.09, 23.35, 23.23, 21.76, 19.94, 15.76},
    {26.90, 26.81, 26.84, 26.87, 26.98, 27.14, 26.92, 24.97, 22.16, 17.24},
    {34.12, 34.05, 34.22, 34.38, 34.20, 34.67, 33.55, 29.84, 25.42, 19.57}};
static const double table_3_3[TENTHS][1 + ND_NIK_LEVELS] = {
    {7.44, 6.33, 6.31, 6.00, 5.89, 5.81, 5.80, 5.77, 5.68, 5.24, 4.31},
    {10.05, 9.29, 9.27, 8.81, 8.61, 8.59, 8.58, 8.55, 8.50, 8.01, 6.48},
    {12.37, 12.00, 11.98, 11.69, 11.16, 11.08, 11.06, 10.98, 10.93, 10.36, 8.54},
    {14.64, 14.26, 14.25, 14.03, 13.77, 13.34, 13.32, 13.12, 13.07, 12.43, 10.57},
    {17.36, 16.62, 16.61, 16.44, 16.32, 15.34, 15.31, 14.94, 14.88, 14.27, 12.05},
    {20.08, 19.08, 19.06, 18.89, 18.69, 17.87, 17.82, 17.13, 17.00, 16.22, 13.94},
    {23.07, 21.90, 21.88, 21.64, 21.36, 20.72, 20.69, 19.93, 19.52, 18.50, 16.10},
    {26.90, 25.54, 25.53, 25.30, 24.94, 24.16, 24.16, 23.51, 23.22, 22.12, 19.26},
    {34.12, 32.65, 32.64, 32.44, 32.03, 31.51, 31.08, 30.19, 29.84, 28.34, 25.00}};

/* Published average error, correlation, recall and precision. */
enum { MEASURES = 4 };
static const double table_3_2[ND_NIK_RATIOS][MEASURES] = {
    {0.0087, 0.9972, 0.9681, 0.9659}, {0.0177, 0.9888, 0.9378, 0.9086},
    {0.0444, 0.9371, 0.8810, 0.7922}, {0.0715, 0.8640, 0.8211, 0.7187},
    {0.0940, 0.7714, 0.8330, 0.6746}, {0.1053, 0.7191, 0.8607, 0.6791},
    {0.1627, 0.5465, 0.7258, 0.7695}, {0.2656, 0.2777, 0.6929, 0.5939},
    {0.3292, 0.1521, 0.6079, 0.6479}};
static const double table_3_4[ND_NIK_LEVELS][MEASURES] = {
    {0.0433, 0.8511, 0.9127, 1}, {0.0443, 0.8484, 0.9117, 1}, {0.0508, 0.8273, 0.9014, 1},
    {0.0628, 0.7756, 0.8982, 1}, {0.1333, 0.7639, 0.7310, 1}, {0.1366, 0.7611, 0.7287, 1},
    {0.2054, 0.7767, 0.6321, 1}, {0.2126, 0.7730, 0.6261, 1}, {0.2582, 0.7559, 0.5563, 1},
    {0.3922, 0.6212, 0.3706, 1}};

/* One of the two experiments. */
typedef struct experiment {
  bool level;    /* by commonality threshold, otherwise by hash value */
  unsigned from; /* its first run */
  unsigned n;
  const char *shares, *shares_title, *measures, *measures_title;
  const char *shares_source, *measures_source;
} experiment;

static const experiment experiments[2] = {
    {false, 1, ND_NIK_RATIOS, "nikkhoo-3-1",
     "Hash-value sampling: share of documents with a neighbour at RR or above, per cent (Nikkhoo "
     "2010, Table 3.1)",
     "nikkhoo-3-2", "Hash-value sampling against no sampling (Nikkhoo 2010, Table 3.2)",
     "Nikkhoo 2010, Table 3.1", "Nikkhoo 2010, Table 3.2"},
    {true, 1 + ND_NIK_RATIOS, ND_NIK_LEVELS, "nikkhoo-3-3",
     "Commonality threshold: share of documents with a neighbour at RR or above, per cent (Nikkhoo "
     "2010, Table 3.3)",
     "nikkhoo-3-4",
     "Commonality threshold against no sampling (Nikkhoo 2010, Table 3.4 and Figure 3.9)",
     "Nikkhoo 2010, Table 3.3", "Nikkhoo 2010, Table 3.4"}};

static void run_name(char out[24], const experiment *e, unsigned i) {
  if (e->level)
    snprintf(out, 24, "%u", ND_TRIAL_LEVEL_STEP * (ND_NIK_LEVELS - i));
  else
    snprintf(out, 24, "1/%u", 2u << i);
}

static double share_of_documents(const nd_sampling_study *s, unsigned run, unsigned tenths) {
  uint64_t n = 0;
  for (uint32_t r = 0; r < s->trials.n; r++) n += s->sum.best[r][run] >= tenths ? s->copies[r] : 0;
  return s->documents ? 100.0 * (double)n / (double)s->documents : NAN;
}

static double published_share(const experiment *e, unsigned row, unsigned column) {
  return e->level ? table_3_3[row][column] : table_3_1[row][column];
}

static nd_status write_shares(nd_sampling_study *s, const experiment *e, nd_error *err) {
  nd_table t;
  ND_TRY(nd_table_start(&t, e->shares, e->shares_title,
                        e->level ? "rr\tsct\there\tpublished" : "rr\tkept\there\tpublished", err));
  nd_status status = ND_OK;
  for (unsigned i = 0; i < TENTHS * (e->n + 1) && status == ND_OK; i++) {
    unsigned row = i / (e->n + 1), column = i % (e->n + 1);
    char name[24];
    if (column) run_name(name, e, column - 1);
    status = nd_table_real(&t, (9 - row) / 10.0, 1, err);
    if (status == ND_OK) status = nd_table_text(&t, column ? name : e->level ? "none" : "1/1", err);
    unsigned run = column ? e->from + column - 1 : 0;
    if (status == ND_OK) status = nd_table_real(&t, share_of_documents(s, run, 9 - row), 2, err);
    if (status == ND_OK) status = nd_table_real(&t, published_share(e, row, column), 2, err);
  }
  if (status == ND_OK) status = nd_study_table(s->run, &t, err);
  nd_table_clear(&t);
  return status;
}

/* Computes average error, correlation, recall and precision of a run. */
static void measure(double out[MEASURES], const nd_sampling_study *s, unsigned run) {
  out[0] = nd_pair_error(&s->sum.near[run]);
  out[1] = nd_pair_correlation(&s->sum.near[run]);
  out[2] = s->sum.truth ? (double)s->sum.both[run] / (double)s->sum.truth : NAN;
  out[3] = s->sum.found[run] ? (double)s->sum.both[run] / (double)s->sum.found[run] : NAN;
}

/* Returns the share of pairs that step 1 no longer generates (Figure 3.9). */
static double fewer_pairs(const nd_sampling_study *s, const experiment *e, unsigned i) {
  uint64_t given = 0;
  const uint64_t *cell = s->trials.given_of;
  if (e->level) {
    for (unsigned k = 0; k + i < ND_NIK_LEVELS; k++)
      given += cell[ND_TRIAL_RESIDUES + ND_TRIAL_DEEP + k];
  } else if (i < ND_YE_RATIOS) {
    for (unsigned r = 0; r < ND_TRIAL_RESIDUES; r += 2u << i) given += cell[r];
  } else {
    given = cell[ND_TRIAL_RESIDUES + i - ND_YE_RATIOS];
  }
  return s->trials.given ? 1 - (double)given / (double)s->trials.given : NAN;
}

static nd_status write_measures(nd_sampling_study *s, const experiment *e, nd_error *err) {
  nd_table t;
  const char *columns =
      e->level
          ? "sct\tshingles_kept\terror\tpublished\tcorrelation\tpublished\trecall\tpublished\t"
            "precision\tpublished\terror_of_all\tcorrelation_of_all\tfewer_pairs"
          : "kept\tshingles_kept\terror\tpublished\tcorrelation\tpublished\trecall\tpublished\t"
            "precision\tpublished\terror_of_all\tcorrelation_of_all\tfewer_pairs";
  ND_TRY(nd_table_start(&t, e->measures, e->measures_title, columns, err));
  nd_status status = ND_OK;
  for (unsigned i = 0; i < e->n && status == ND_OK; i++) {
    double m[MEASURES];
    char name[24];
    unsigned run = e->from + i;
    run_name(name, e, i);
    measure(m, s, run);
    status = nd_table_text(&t, name, err);
    if (status == ND_OK)
      status = nd_table_real(&t, (double)s->kept[run] / (double)s->kept[0], 4, err);
    for (unsigned k = 0; k < MEASURES && status == ND_OK; k++) {
      status = nd_table_real(&t, m[k], 4, err);
      if (status == ND_OK)
        status = nd_table_real(&t, e->level ? table_3_4[i][k] : table_3_2[i][k], 4, err);
    }
    if (status == ND_OK) status = nd_table_real(&t, nd_pair_error(&s->sum.all[run]), 4, err);
    if (status == ND_OK) status = nd_table_real(&t, nd_pair_correlation(&s->sum.all[run]), 4, err);
    if (status == ND_OK) status = nd_table_real(&t, fewer_pairs(s, e, i), 4, err);
  }
  if (status == ND_OK) status = nd_study_table(s->run, &t, err);
  nd_table_clear(&t);
  return status;
}

/* Returns the x coordinate of a run. */
static double place(const experiment *e, unsigned i) {
  return e->level ? ND_TRIAL_LEVEL_STEP * (double)(ND_NIK_LEVELS - i) : 100.0 / (2u << i);
}

static void draw_shares(const nd_sampling_study *s, const experiment *e, nd_page *page) {
  static const unsigned rows[] = {0, 2, 4, 6, 8}; /* 0.9, 0.7 … 0.1 */
  enum { ROWS = 5 };
  double x[ND_NIK_LEVELS], here[ROWS][ND_NIK_LEVELS], theirs[ROWS][ND_NIK_LEVELS];
  char names[ROWS][24];
  nd_series series[2 * ROWS];
  for (unsigned k = 0; k < ROWS; k++) {
    for (unsigned i = 0; i < e->n; i++) {
      unsigned at = e->n - 1 - i; /* ascending x */
      x[i] = place(e, at);
      here[k][i] = share_of_documents(s, e->from + at, 9 - rows[k]);
      theirs[k][i] = published_share(e, rows[k], at + 1);
    }
    snprintf(names[k], sizeof names[k], "RR at least %.1f", (9 - rows[k]) / 10.0);
    series[2 * k] = (nd_series){names[k], x, here[k], e->n, false, NULL};
    series[2 * k + 1] = (nd_series){names[k], x, theirs[k], e->n, true, e->shares_source};
  }
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = e->level ? "nikkhoo-figure-3-7" : "nikkhoo-figure-3-5",
                    .title = e->level
                                 ? "Documents with a near-duplicate, by commonality threshold"
                                 : "Documents with a near-duplicate, by share of shingles kept",
                    .x_label = e->level ? "shingle commonality threshold" : "shingles kept",
                    .x_unit = e->level ? NULL : "%",
                    .x_log = !e->level,
                    .y_label = "documents",
                    .y_unit = "%",
                    .series = series,
                    .series_n = 2 * ROWS};
  nd_page_chart(page, &chart);
}

static void draw_measures(const nd_sampling_study *s, const experiment *e, nd_page *page) {
  static const char *const what[MEASURES] = {"average error", "correlation", "recall", "precision"};
  double x[ND_NIK_LEVELS], here[MEASURES][ND_NIK_LEVELS], theirs[MEASURES][ND_NIK_LEVELS];
  for (unsigned i = 0; i < e->n; i++) {
    double m[MEASURES];
    unsigned at = e->n - 1 - i;
    measure(m, s, e->from + at);
    x[i] = place(e, at);
    for (unsigned k = 0; k < MEASURES; k++) {
      here[k][i] = m[k];
      theirs[k][i] = e->level ? table_3_4[at][k] : table_3_2[at][k];
    }
  }
  for (unsigned k = 0; k < MEASURES; k++) {
    char name[40], title[80];
    static const char letter[] = "abcd";
    snprintf(name, sizeof name, "nikkhoo-figure-3-%u%c", e->level ? 8u : 6u, letter[k]);
    snprintf(title, sizeof title, "%s: %s",
             e->level ? "Commonality threshold" : "Hash-value sampling", what[k]);
    nd_series series[2] = {{"here", x, here[k], e->n, false, NULL},
                           {"published", x, theirs[k], e->n, true, e->measures_source}};
    nd_chart chart = {.kind = ND_CHART_LINES,
                      .name = name,
                      .title = title,
                      .x_label = e->level ? "shingle commonality threshold" : "shingles kept",
                      .x_unit = e->level ? NULL : "%",
                      .x_log = !e->level,
                      .y_label = what[k],
                      .series = series,
                      .series_n = 2};
    nd_page_chart(page, &chart);
  }
}

static void draw_fewer(const nd_sampling_study *s, nd_page *page) {
  double x[ND_NIK_LEVELS], y[ND_NIK_LEVELS];
  for (unsigned i = 0; i < ND_NIK_LEVELS; i++) {
    x[i] = place(&experiments[1], ND_NIK_LEVELS - 1 - i);
    y[i] = 100 * fewer_pairs(s, &experiments[1], ND_NIK_LEVELS - 1 - i);
  }
  static const double at = 70, about = 25;
  nd_series series[2] = {{"here", x, y, ND_NIK_LEVELS, false, NULL},
                         {"published", &at, &about, 1, true, "Nikkhoo 2010, Figure 3.9"}};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = "nikkhoo-figure-3-9",
                    .title = "Pairs that the first step gives no more",
                    .description =
                        "Every shingle gives all pairs of its documents; of the figure only "
                        "the point at 70 is published in numbers.",
                    .x_label = "shingle commonality threshold",
                    .y_label = "fewer pairs",
                    .y_unit = "%",
                    .series = series,
                    .series_n = 2};
  nd_page_chart(page, &chart);
}

nd_status nd_sampling_nikkhoo(nd_sampling_study *s, nd_page *page, nd_error *err) {
  for (unsigned i = 0; i < 2; i++) {
    ND_TRY(write_shares(s, &experiments[i], err));
    ND_TRY(write_measures(s, &experiments[i], err));
  }
  if (!s->run->request->directory) return ND_OK;
  nd_page_heading(page, "Keeping a share of the shingles");
  nd_page_paragraph(page,
                    "Shingles whose key is 0 modulo 2, 4 … 512. A document counts when some other "
                    "document, or a copy, resembles it by RR. Error and correlation are over the "
                    "pairs that resemble each other by 0.5 or more without sampling; recall and "
                    "precision are those of such pairs. Dashed: as published.");
  draw_shares(s, &experiments[0], page);
  draw_measures(s, &experiments[0], page);
  nd_page_heading(page, "Leaving common shingles out");
  nd_page_paragraph(page,
                    "A shingle that more documents have than the threshold says is left out.");
  draw_shares(s, &experiments[1], page);
  draw_measures(s, &experiments[1], page);
  draw_fewer(s, page);
  return ND_OK;
}
