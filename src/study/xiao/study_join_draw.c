/* The charts of `study join`; see study_join.h. */
#include <math.h>
#include <stdio.h>

#include "study/xiao/study_join.h"

static const char table_1[] = "Xiao et al. 2008, Table 1";
static const char table_2[] = "Xiao et al. 2008, Table 2";

/* Ascending x: thresholds from the lowest. */
static void thresholds(double x[ND_JS_THRESHOLDS]) {
  for (unsigned i = 0; i < ND_JS_THRESHOLDS; i++)
    x[i] = nd_js_percent[ND_JS_THRESHOLDS - 1 - i] / 100.0;
}

static void draw_candidates(const nd_join_study *s, unsigned curve, nd_page *page) {
  double x[ND_JS_THRESHOLDS], y[ND_JS_METHODS + 1][ND_JS_THRESHOLDS], theirs[3][ND_JS_THRESHOLDS];
  nd_series series[2 * ND_JS_METHODS];
  size_t n = 0;
  thresholds(x);
  for (unsigned i = 0; i < ND_JS_THRESHOLDS; i++) {
    const unsigned t = ND_JS_THRESHOLDS - 1 - i;
    for (unsigned m = 0; m < ND_JS_METHODS; m++)
      y[m][i] = (double)s->by_threshold[curve][t][m].candidates;
    y[ND_JS_METHODS][i] = (double)s->by_threshold[curve][t][0].results;
    for (unsigned m = 0; m < 3; m++)
      theirs[m][i] = nd_js_table_1[t][m] > 0 ? nd_js_table_1[t][m] : NAN;
  }
  for (unsigned m = 0; m < ND_JS_METHODS; m++)
    series[n++] = (nd_series){nd_js_method_name[m], x, y[m], ND_JS_THRESHOLDS, false, NULL};
  series[n++] = (nd_series){"results", x, y[ND_JS_METHODS], ND_JS_THRESHOLDS, false, NULL};
  for (unsigned m = 0; m < 3 && curve == 0; m++)
    series[n++] = (nd_series){nd_js_method_name[m], x, theirs[m], ND_JS_THRESHOLDS, true, table_1};
  char name[40], title[80];
  snprintf(name, sizeof name, "candidates-%u", curve + 1);
  snprintf(title, sizeof title, "Candidates compared: %s", nd_js_curve_name[curve]);
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = name,
                    .title = title,
                    .x_label = "threshold",
                    .y_label = "pairs",
                    .y_log = true,
                    .series = series,
                    .series_n = n};
  nd_page_chart(page, &chart);
}

static void draw_times(const nd_join_study *s, unsigned curve, nd_page *page) {
  double x[ND_JS_THRESHOLDS], y[ND_JS_METHODS][ND_JS_THRESHOLDS];
  nd_series series[ND_JS_METHODS];
  thresholds(x);
  for (unsigned m = 0; m < ND_JS_METHODS; m++) {
    for (unsigned i = 0; i < ND_JS_THRESHOLDS; i++)
      y[m][i] = s->by_threshold[curve][ND_JS_THRESHOLDS - 1 - i][m].seconds;
    series[m] = (nd_series){nd_js_method_name[m], x, y[m], ND_JS_THRESHOLDS, false, NULL};
  }
  char name[40], title[80];
  snprintf(name, sizeof name, "seconds-%u", curve + 1);
  snprintf(title, sizeof title, "Time: %s", nd_js_curve_name[curve]);
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = name,
                    .title = title,
                    .x_label = "threshold",
                    .y_label = "index and join",
                    .y_unit = "s",
                    .y_log = true,
                    .series = series,
                    .series_n = ND_JS_METHODS};
  nd_page_chart(page, &chart);
}

static void draw_growth(const nd_join_study *s, unsigned kind, nd_page *page) {
  double x[ND_JS_SIZES], y[ND_JS_METHODS][ND_JS_SIZES];
  nd_series series[ND_JS_METHODS];
  for (unsigned m = 0; m < ND_JS_METHODS; m++) {
    for (unsigned i = 0; i < ND_JS_SIZES; i++) {
      x[i] = 100.0 * (i + 1) / ND_JS_SIZES;
      y[m][i] = sqrt(s->by_size[kind][i][m].seconds);
    }
    series[m] = (nd_series){nd_js_method_name[m], x, y[m], ND_JS_SIZES, false, NULL};
  }
  nd_chart chart = {
      .kind = ND_CHART_LINES,
      .name = kind ? "growth-cosine" : "growth-jaccard",
      .title = kind ? "Growth: words, cosine at 0.9" : "Growth: words, Jaccard at 0.9",
      .description = "The square root of the time: a straight line is quadratic.",
      .x_label = "records",
      .x_unit = "%",
      .y_label = "root of seconds",
      .series = series,
      .series_n = ND_JS_METHODS};
  nd_page_chart(page, &chart);
}

static void draw_quality(const nd_join_study *s, nd_page *page) {
  enum { LINES = 4 };
  double x[ND_JS_THRESHOLDS], y[LINES][ND_JS_THRESHOLDS], theirs[2][ND_JS_THRESHOLDS];
  thresholds(x);
  for (unsigned i = 0; i < ND_JS_THRESHOLDS; i++) {
    const unsigned t = ND_JS_THRESHOLDS - 1 - i;
    const nd_js_quality *q = &s->quality[t];
    y[0][i] = q->precision;
    y[1][i] = q->recall;
    y[2][i] = q->estimate_precision;
    y[3][i] = q->estimate_recall;
    theirs[0][i] = nd_js_table_2[t][0];
    theirs[1][i] = nd_js_table_2[t][1];
  }
  static const double range[2] = {0, 1};
  nd_series series[LINES + 2] = {
      {"precision", x, y[0], ND_JS_THRESHOLDS, false, NULL},
      {"recall", x, y[1], ND_JS_THRESHOLDS, false, NULL},
      {"precision of the estimate", x, y[2], ND_JS_THRESHOLDS, false, NULL},
      {"recall of the estimate", x, y[3], ND_JS_THRESHOLDS, false, NULL},
      {"precision", x, theirs[0], ND_JS_THRESHOLDS, true, table_2},
      {"recall", x, theirs[1], ND_JS_THRESHOLDS, true, table_2}};
  nd_chart chart = {
      .kind = ND_CHART_LINES,
      .name = "quality",
      .title = "32 min-hash shingles against all 4-grams",
      .description =
          "The paper asks for a Jaccard similarity of the two sets of 32 shingles; the estimate "
          "asks for the share of shingles that agree, which is larger.",
      .x_label = "threshold",
      .y_range = range,
      .series = series,
      .series_n = LINES + 2};
  nd_page_chart(page, &chart);
}

static void draw_quality_times(const nd_join_study *s, nd_page *page) {
  enum { LINES = 4 };
  static const char *const names[LINES] = {"allpairs on 4-grams", "ppjoin+ on 4-grams",
                                           "ppjoin+ on shingles", "join on 4-grams"};
  double x[ND_JS_THRESHOLDS], y[LINES][ND_JS_THRESHOLDS];
  nd_series series[LINES];
  thresholds(x);
  for (unsigned i = 0; i < ND_JS_THRESHOLDS; i++) {
    const nd_js_quality *q = &s->quality[ND_JS_THRESHOLDS - 1 - i];
    y[0][i] = q->allpairs;
    y[1][i] = q->plus;
    y[2][i] = q->shingles;
    y[3][i] = q->ours;
  }
  for (unsigned k = 0; k < LINES; k++)
    series[k] = (nd_series){names[k], x, y[k], ND_JS_THRESHOLDS, false, NULL};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = "quality-seconds",
                    .title = "Time of exact joins and of shingles",
                    .x_label = "threshold",
                    .y_label = "index and join",
                    .y_unit = "s",
                    .y_log = true,
                    .series = series,
                    .series_n = LINES};
  nd_page_chart(page, &chart);
}

void nd_join_study_draw(const nd_join_study *s, nd_page *page) {
  nd_page_heading(page, "By threshold");
  for (unsigned k = 0; k < (s->have_grams ? ND_JS_CURVES : 2); k++) {
    draw_candidates(s, k, page);
    draw_times(s, k, page);
  }
  nd_page_heading(page, "Growth");
  draw_growth(s, 0, page);
  draw_growth(s, 1, page);
  if (!s->have_grams) return;
  nd_page_heading(page, "Exact joins against shingles");
  draw_quality(s, page);
  draw_quality_times(s, page);
}
