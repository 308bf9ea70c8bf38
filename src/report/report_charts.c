/* The charts of the report. */
#include <math.h>
#include <stdio.h>

#include "output/page.h"
#include "report/report_draw.h"

static double bin_start(const nd_report *r, size_t i) {
  return (double)i * r->bin;
}

nd_status nd_report_similarities(nd_buf *out, const nd_report *r, nd_error *err) {
  double x[ND_REPORT_BINS], y[ND_REPORT_BINS];
  size_t n = 0, last = 0;
  for (size_t i = 0; i < ND_REPORT_BINS; i++)
    if (r->pair_bins[i]) last = i;
  size_t first = r->whole ? 0 : (size_t)(r->threshold * 100 + 1e-9);
  for (size_t i = 0; i < first; i++)
    if (r->pair_bins[i]) first = i; /* chains of components may have lower similarities */
  for (size_t i = first; i < ND_REPORT_BINS && (!r->whole || i <= last); i++, n++) {
    x[n] = bin_start(r, i);
    y[n] = (double)r->pair_bins[i];
  }
  nd_series s = {.name = "pairs", .x = x, .y = y, .n = n};
  char label[64];
  snprintf(label, sizeof label, "threshold %.10g", r->threshold);
  nd_marker m = {.at = r->threshold, .label = label};
  double range[2] = {floor(r->threshold * 10) / 10 - 0.1, 1.01};
  if (range[0] < 0) range[0] = 0;
  bool fixed = !r->whole && first >= (size_t)(range[0] * 100);
  nd_chart c = {
      .kind = ND_CHART_HISTOGRAM,
      .name = "similarities",
      .title = "Similarity of the pairs found",
      .description =
          r->whole ? NULL : "The last bar holds exact duplicates and pairs of similarity 1.",
      .x_label = r->falling ? "edit distance" : "similarity",
      .y_label = "pairs",
      .x_range = fixed ? range : NULL,
      .bin = r->bin,
      .series = &s,
      .series_n = 1,
      .markers = &m,
      .marker_n = 1};
  /* Exact duplicates often far outnumber everything else. */
  double most = 0, second = 0;
  for (size_t i = 0; i < n; i++) {
    if (y[i] > most) {
      second = most;
      most = y[i];
    } else if (y[i] > second) {
      second = y[i];
    }
  }
  c.y_log = most > 50 * second && second > 0;
  return nd_page_figure(out, &c, err);
}

static double chance(const nd_report *r, double s) {
  return 1 - pow(1 - pow(s, r->summary->rows), r->summary->bands);
}

/* A pair of similarity s is found with probability p(s), so n pairs found represent n / p(s), of
 * which n (1 - p) / p were missed. */
double nd_report_missed(const nd_report *r) {
  if (!r->summary->bands || r->whole) return -1;
  double found = 0, missed = 0;
  for (size_t i = 0; i + 1 < ND_REPORT_BINS; i++) {
    if (!r->pair_bins[i]) continue;
    double middle = ((double)i + 0.5) / 100, n = (double)r->pair_bins[i];
    if (middle < r->threshold) middle = r->threshold;
    double p = chance(r, middle);
    if (p <= 0) continue;
    found += n;
    missed += n * (1 - p) / p;
  }
  found += (double)r->pair_bins[ND_REPORT_BINS - 1];
  return found > 0 ? missed / (found + missed) : 0;
}

nd_status nd_report_detection(nd_buf *out, const nd_report *r, nd_error *err) {
  double x[101], y[101];
  for (int i = 0; i <= 100; i++) {
    x[i] = i / 100.0;
    y[i] = chance(r, x[i]);
  }
  char name[80], label[64];
  snprintf(name, sizeof name, "%u bands \xc3\x97 %u rows", r->summary->bands, r->summary->rows);
  snprintf(label, sizeof label, "threshold %.10g", r->threshold);
  nd_series s = {.name = name, .x = x, .y = y, .n = 101};
  nd_marker m = {.at = r->threshold, .label = label};
  double unit[2] = {0, 1};
  char title[120];
  snprintf(title, sizeof title, "Chance that a pair is found (%s)", name);
  nd_chart c = {.kind = ND_CHART_LINES,
                .name = "detection",
                .title = title,
                .x_label = "similarity",
                .y_label = "chance",
                .x_range = unit,
                .y_range = unit,
                .series = &s,
                .series_n = 1,
                .markers = &m,
                .marker_n = 1};
  return nd_page_figure(out, &c, err);
}

nd_status nd_report_sizes(nd_buf *out, const nd_report *r, nd_error *err) {
  nd_series s = {.name = "clusters", .x = r->size_x, .y = r->size_y, .n = r->size_n};
  nd_chart c = {.kind = ND_CHART_SCATTER,
                .name = "cluster-sizes",
                .title = "Cluster sizes",
                .x_label = "documents in the cluster",
                .y_label = "clusters",
                .x_log = true,
                .y_log = true,
                .series = &s,
                .series_n = 1};
  return nd_page_figure(out, &c, err);
}

nd_status nd_report_parts(nd_buf *out, const nd_report_group *g, const char *name,
                          const char *title, nd_error *err) {
  nd_str names[ND_REPORT_ROWS];
  double kept[ND_REPORT_ROWS], dropped[ND_REPORT_ROWS];
  for (size_t i = 0; i < g->n; i++) {
    names[i] = nd_str_of(g->rows[i].name);
    kept[i] = (double)(g->rows[i].documents - g->rows[i].dropped);
    dropped[i] = (double)g->rows[i].dropped;
  }
  nd_series s[2] = {{.name = "kept", .y = kept, .n = g->n},
                    {.name = "dropped", .y = dropped, .n = g->n}};
  nd_chart c = {.kind = ND_CHART_STACK,
                .name = name,
                .title = title,
                .x_label = "documents",
                .series = s,
                .series_n = 2,
                .categories = names,
                .category_n = g->n};
  return nd_page_figure(out, &c, err);
}
