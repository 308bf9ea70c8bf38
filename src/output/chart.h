/* Charts as SVG; all drawing is here.
 *
 *   title                          A chart is plain data; drawing it changes
 *   ── ours  -- paper, Table 3     nothing and is deterministic.  Colours are
 *   y│      .-·                    distinct with any colour vision, and lines
 *    │   .-· ¦                     differ in their marks, too.  Each mark has its
 *    └───────¦───── x              numbers as a title.
 *            threshold
 *
 * Values that cannot be drawn (NaN, infinities, 0 on a log axis) are left out and
 * counted in the description; long series are thinned but keep their extremes. */
#ifndef ND_OUTPUT_CHART_H
#define ND_OUTPUT_CHART_H

#include "base/mem.h"

typedef enum nd_chart_kind {
  ND_CHART_LINES,     /* y over x, x ascending */
  ND_CHART_SCATTER,   /* points */
  ND_CHART_HISTOGRAM, /* bars from x to x + bin (bin 0: to the next x) */
  ND_CHART_BARS,      /* a row per category, a bar per series; x is not used */
  ND_CHART_STACK      /* a row per category, with its series one after another */
} nd_chart_kind;

typedef struct nd_series {
  const char *name;
  const double *x, *y;
  size_t n;
  bool published;     /* from a paper: dashed, with open marks */
  const char *source; /* if published: "Ye et al. 2008, Table 2" */
} nd_series;

/* A straight line at a value of x or, if `level`, of y. */
typedef struct nd_marker {
  double at;
  bool level;
  const char *label;
} nd_marker;

typedef struct nd_chart {
  nd_chart_kind kind;
  const char *name; /* letters, digits, '-': used for ids in the page and the SVG's file name */
  const char *title;
  const char *description;                         /* may be NULL */
  const char *x_label, *x_unit, *y_label, *y_unit; /* each may be NULL */
  bool x_log, y_log;
  const double *x_range, *y_range; /* low and high; NULL: from the data */
  double bin;                      /* HISTOGRAM */
  const nd_series *series;
  size_t series_n;
  const nd_marker *markers;
  size_t marker_n;
  const nd_str *categories; /* BARS, STACK: names of the rows */
  size_t category_n;
  unsigned width, height; /* 0: default */
} nd_chart;

/* Appends an <svg> element.  If `alone`, it is a file of its own, with style and colours; otherwise
 * it is for a page whose style contains nd_chart_style. */
nd_status nd_chart_svg(nd_buf *out, const nd_chart *chart, bool alone, nd_error *err) ND_MUST_CHECK;

/* Appends the numbers of a chart as an HTML table, for screen readers.  At most about 200 rows. */
nd_status nd_chart_table(nd_buf *out, const nd_chart *chart, nd_error *err) ND_MUST_CHECK;

/* Returns CSS for pages with charts: colours as custom properties, light and dark. */
const char *nd_chart_style(void);

#endif
