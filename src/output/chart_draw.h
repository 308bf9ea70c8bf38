/* A chart being drawn: shared by the files that draw charts. */
#ifndef ND_OUTPUT_CHART_DRAW_H
#define ND_OUTPUT_CHART_DRAW_H

#include "output/chart.h"
#include "output/chart_scale.h"

enum {
  ND_CHART_COLOURS = 6,
  ND_CHART_MARKS = 160,    /* maximum of marks with a title, per series */
  ND_CHART_POINTS = 2000,  /* maximum of points in a line or cloud */
  ND_CHART_ROWS = 60,      /* maximum of rows of bars */
  ND_CHART_ROW_HEIGHT = 17 /* of one bar with its gap */
};

/* Appends to a buffer; after the first failure, which is kept, calls do nothing. */
typedef struct nd_pen {
  nd_buf *out;
  nd_status status;
  nd_error *err;
} nd_pen;

void nd_pen_put(nd_pen *p, const char *format, ...) ND_PRINTF(2, 3);
/* Appends text, escaped, on one line; NULL appends nothing. */
void nd_pen_text(nd_pen *p, const char *text);
void nd_pen_str(nd_pen *p, nd_str text);
/* Appends a number in full precision, for titles and tables. */
void nd_pen_number(nd_pen *p, double v);

typedef struct nd_drawing {
  nd_pen pen;
  const nd_chart *chart;
  nd_scale x, y;
  double width, height;
  double left, right, top, bottom; /* of the area inside the axes */
  size_t rows;                     /* of bars drawn */
  uint64_t undrawn;                /* values that do not fit the axes */
} nd_drawing;

/* chart_marks.c */
void nd_draw_series(nd_drawing *d);
/* Returns the look of a series.  A published series looks like ours of the same name, but dashed
 * and open. */
size_t nd_draw_look(const nd_chart *c, size_t series);
/* Returns the colour of a look, 1 … ND_CHART_COLOURS. */
static inline unsigned nd_draw_colour(size_t look) {
  return 1 + (unsigned)(look % ND_CHART_COLOURS);
}
/* Draws the mark of a look as a path around (x, y). */
void nd_draw_mark(nd_pen *p, size_t look, bool open, double x, double y);

static inline bool nd_chart_has_rows(const nd_chart *c) {
  return c->kind == ND_CHART_BARS || c->kind == ND_CHART_STACK;
}

#endif
