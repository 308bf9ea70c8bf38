/* Charts as SVG: the only place that draws.
 *
 *   title                          A chart is plain data; drawing it changes
 *   ── ours  -- paper, Table 3     nothing and asks nobody: same chart, same
 *   y│      .-·                    bytes.  Colours are told apart by people who
 *    │   .-· ¦                     see them differently, and lines by their marks
 *    └───────¦───── x              too.  Each mark carries its numbers as a title.
 *            threshold
 *
 * What cannot be drawn (NaN, infinities, 0 on a log axis) is left out and
 * counted in the description; long series are thinned, keeping their extremes. */
#ifndef ND_OUTPUT_CHART_H
#define ND_OUTPUT_CHART_H

#include "base/mem.h"

typedef enum nd_chart_kind {
  ND_CHART_LINES,     /* y over x, x rising */
  ND_CHART_SCATTER,   /* points */
  ND_CHART_HISTOGRAM, /* bars from x to x + bin (bin 0: to the next x) */
  ND_CHART_BARS,      /* a row per category, a bar per series; x is not used */
  ND_CHART_STACK      /* a row per category, its series one after another */
} nd_chart_kind;

typedef struct nd_series {
  const char *name;
  const double *x, *y;
  size_t n;
  bool published;     /* from a paper: dashed and open marks … */
  const char *source; /* … and labelled "Ye et al. 2008, Table 2" */
} nd_series;

/* A straight line across, at a value of x or (`level`) of y. */
typedef struct nd_marker {
  double at;
  bool level;
  const char *label;
} nd_marker;

typedef struct nd_chart {
  nd_chart_kind kind;
  const char *name; /* letters, digits, '-': ids in the page, file name of the picture */
  const char *title;
  const char *description;                         /* may be NULL */
  const char *x_label, *x_unit, *y_label, *y_unit; /* each may be NULL */
  bool x_log, y_log;
  const double *x_range, *y_range; /* low, high; NULL: from the data */
  double bin;                      /* HISTOGRAM */
  const nd_series *series;
  size_t series_n;
  const nd_marker *markers;
  size_t marker_n;
  const nd_str *categories; /* BARS, STACK: names of the rows */
  size_t category_n;
  unsigned width, height; /* 0: as fits */
} nd_chart;

/* Appends <svg>.  `alone`: a file of its own, with its style and colours; else
 * for a page that has nd_chart_style in its style. */
nd_status nd_chart_svg(nd_buf *out, const nd_chart *chart, bool alone, nd_error *err) ND_MUST_CHECK;

/* Appends the chart's numbers as an HTML table: what the picture cannot tell a
 * screen reader.  At most about 200 rows. */
nd_status nd_chart_table(nd_buf *out, const nd_chart *chart, nd_error *err) ND_MUST_CHECK;

/* CSS for pages with charts: colours as custom properties, light and dark. */
const char *nd_chart_style(void);

#endif
