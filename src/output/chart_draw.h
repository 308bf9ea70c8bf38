/* A chart being drawn: shared by the files that draw it, by no one else. */
#ifndef ND_OUTPUT_CHART_DRAW_H
#define ND_OUTPUT_CHART_DRAW_H

#include "output/chart.h"
#include "output/chart_scale.h"

enum {
  ND_CHART_COLOURS = 6,
  ND_CHART_MARKS = 160,    /* marks with a title, per series, at most */
  ND_CHART_POINTS = 2000,  /* points of a line or cloud, at most */
  ND_CHART_ROWS = 60,      /* rows of bars, at most */
  ND_CHART_ROW_HEIGHT = 17 /* of one bar with its gap */
};

/* Writes as long as all goes well; the first failure stays. */
typedef struct nd_pen {
  nd_buf *out;
  nd_status status;
  nd_error *err;
} nd_pen;

void nd_pen_put(nd_pen *p, const char *format, ...) ND_PRINTF(2, 3);
/* Escaped, on one line; NULL is nothing. */
void nd_pen_text(nd_pen *p, const char *text);
void nd_pen_str(nd_pen *p, nd_str text);
/* The number in full, for titles and tables. */
void nd_pen_number(nd_pen *p, double v);

typedef struct nd_drawing {
  nd_pen pen;
  const nd_chart *chart;
  nd_scale x, y;
  double width, height;
  double left, right, top, bottom; /* of the field inside the axes */
  size_t rows;                     /* of bars, drawn */
  uint64_t undrawn;                /* points without a place */
} nd_drawing;

/* chart_marks.c */
void nd_draw_series(nd_drawing *d);
/* How a series looks: a published one as ours of the same name, but dashed and open. */
size_t nd_draw_look(const nd_chart *c, size_t series);
/* The colour of a look: 1 … ND_CHART_COLOURS. */
static inline unsigned nd_draw_colour(size_t look) {
  return 1 + (unsigned)(look % ND_CHART_COLOURS);
}
/* The mark of a look, as a path around (x, y). */
void nd_draw_mark(nd_pen *p, size_t look, bool open, double x, double y);

static inline bool nd_chart_has_rows(const nd_chart *c) {
  return c->kind == ND_CHART_BARS || c->kind == ND_CHART_STACK;
}

#endif
