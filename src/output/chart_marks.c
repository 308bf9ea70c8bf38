/* The data of a chart: lines, clouds, bins and rows of bars; each mark has its numbers as a
 * title. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/chart_draw.h"

/* Returns the index, among our series, of the one with the name of a published series; the number
 * of our series if there is none. */
static size_t partner(const nd_chart *c, const nd_series *published) {
  size_t ours = 0;
  for (size_t i = 0; i < c->series_n; i++) {
    const nd_series *s = &c->series[i];
    if (s->published) continue;
    if (s->name && published->name && strcmp(s->name, published->name) == 0) break;
    ours++;
  }
  return ours;
}

size_t nd_draw_look(const nd_chart *c, size_t series) {
  size_t ours = 0, alone = 0, all = 0;
  for (size_t i = 0; i < c->series_n; i++) all += !c->series[i].published;
  for (size_t i = 0; i < series; i++) {
    ours += !c->series[i].published;
    alone += c->series[i].published && partner(c, &c->series[i]) == all;
  }
  if (!c->series[series].published) return ours;
  const size_t beside = partner(c, &c->series[series]);
  return beside < all ? beside : all + alone;
}

/* Series differ in shape as well as in colour. */
void nd_draw_mark(nd_pen *p, size_t look, bool open, double x, double y) {
  static const char *const forms[] = {"m-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0z",
                                      "m-3.2,-3.2h6.4v6.4h-6.4z",
                                      "m0,-4.2l4,7h-8z",
                                      "m0,-4.4l4.4,4.4l-4.4,4.4l-4.4,-4.4z",
                                      "m0,4.2l4,-7h-8z",
                                      "m-4,-1.2h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z"};
  nd_pen_put(p, "<path class=\"nd-mark nd-c%u%s\" d=\"M%.2f,%.2f%s\"", nd_draw_colour(look),
             open ? " nd-open" : "", x, y, forms[look % ND_CHART_COLOURS]);
}

static void put_quantity(nd_pen *p, const char *label, const char *unit, double v) {
  if (label) {
    nd_pen_text(p, label);
    nd_pen_put(p, " ");
  }
  nd_pen_number(p, v);
  if (unit) {
    nd_pen_put(p, " ");
    nd_pen_text(p, unit);
  }
}

static void put_point_title(nd_drawing *d, const nd_series *s, size_t i) {
  const nd_chart *c = d->chart;
  nd_pen *p = &d->pen;
  nd_pen_put(p, "<title>");
  if (s->name) {
    nd_pen_text(p, s->name);
    nd_pen_put(p, ": ");
  }
  put_quantity(p, c->x_label, c->x_unit, s->x[i]);
  if (c->kind == ND_CHART_HISTOGRAM) {
    double end = c->bin > 0 ? s->x[i] + c->bin : i + 1 < s->n ? s->x[i + 1] : s->x[i];
    nd_pen_put(p, " to ");
    nd_pen_number(p, end);
  }
  nd_pen_put(p, ", ");
  put_quantity(p, c->y_label, c->y_unit, s->y[i]);
  nd_pen_put(p, "</title>");
}

static bool has_place(const nd_drawing *d, const nd_series *s, size_t i) {
  return nd_scale_takes(&d->x, s->x[i]) && nd_scale_takes(&d->y, s->y[i]);
}

static void put_marks(nd_drawing *d, const nd_series *s, size_t look) {
  size_t every = s->n / ND_CHART_MARKS + 1;
  /* Marks that would touch are shown only under the pointer. */
  const char *quiet = s->n > 40 ? " nd-quiet" : "";
  nd_pen_put(&d->pen, "<g class=\"nd-marks%s\">", quiet);
  for (size_t i = 0; i < s->n; i += every) {
    if (!has_place(d, s, i)) continue;
    nd_draw_mark(&d->pen, look, s->published, nd_scale_position(&d->x, s->x[i]),
                 nd_scale_position(&d->y, s->y[i]));
    nd_pen_put(&d->pen, ">");
    put_point_title(d, s, i);
    nd_pen_put(&d->pen, "</path>\n");
  }
  nd_pen_put(&d->pen, "</g>\n");
}

/* The first, lowest, highest and last point of a column of pixels: no peak is lost, and a line has
 * at most four points per column. */
typedef struct column {
  double at, first, low, high, last;
  bool any;
} column;

static void put_column(nd_pen *p, const column *c, bool *begun) {
  if (!c->any) return;
  double y[4] = {c->first, c->low, c->high, c->last};
  for (int i = 0; i < 4; i++) {
    if (i > 0 && y[i] == y[i - 1]) continue;
    nd_pen_put(p, "%s%.2f,%.2f", *begun ? "L" : "M", c->at, y[i]);
    *begun = true;
  }
}

static void put_line(nd_drawing *d, const nd_series *s, size_t look) {
  bool thin = s->n > ND_CHART_POINTS;
  bool begun = false;
  column c = {0};
  nd_pen_put(&d->pen, "<path class=\"nd-line nd-c%u%s\" d=\"", nd_draw_colour(look),
             s->published ? " nd-dash" : "");
  for (size_t i = 0; i < s->n; i++) {
    if (!has_place(d, s, i)) {
      put_column(&d->pen, &c, &begun);
      c.any = begun = false;
      continue;
    }
    double x = nd_scale_position(&d->x, s->x[i]), y = nd_scale_position(&d->y, s->y[i]);
    double at = thin ? floor(x) : x;
    if (!c.any || at != c.at || !thin) {
      put_column(&d->pen, &c, &begun);
      c = (column){at, y, y, y, y, true};
    }
    c.low = fmin(c.low, y);
    c.high = fmax(c.high, y);
    c.last = y;
  }
  put_column(&d->pen, &c, &begun);
  nd_pen_put(&d->pen, "\"/>\n");
}

/* Draws points on a grid of three pixels; the first point of a cell represents all of it. */
static void put_cloud(nd_drawing *d, const nd_series *s, size_t look) {
  enum { CELL = 3 };
  size_t across = (size_t)(d->width / CELL) + 2, down = (size_t)(d->height / CELL) + 2;
  uint32_t *seen = nd_calloc(across * down, sizeof *seen);
  if (!seen) {
    d->pen.status = nd_fail_memory(d->pen.err, across * down);
    return;
  }
  bool thin = s->n > ND_CHART_POINTS;
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < s->n; i++) {
      if (!has_place(d, s, i)) continue;
      double x = nd_scale_position(&d->x, s->x[i]), y = nd_scale_position(&d->y, s->y[i]);
      uint32_t *cell = seen + (size_t)(y / CELL) * across + (size_t)(x / CELL);
      if (pass == 0) {
        *cell += *cell < UINT32_MAX;
        continue;
      }
      if (*cell == 0) continue;
      nd_draw_mark(&d->pen, look, s->published, x, y);
      nd_pen_put(&d->pen, ">");
      if (thin && *cell > 1)
        nd_pen_put(&d->pen, "<title>%u points here</title>", (unsigned)*cell);
      else
        put_point_title(d, s, i);
      nd_pen_put(&d->pen, "</path>\n");
      if (thin) *cell = 0;
    }
  }
  nd_free(seen);
}

static void put_bins(nd_drawing *d, const nd_series *s, size_t look) {
  const nd_chart *c = d->chart;
  double base = d->y.from;
  double drawn_to = -1, tallest = 0;
  for (size_t i = 0; i < s->n; i++) {
    if (!nd_scale_takes(&d->x, s->x[i]) || !nd_scale_takes(&d->y, s->y[i])) continue;
    double end = c->bin > 0     ? s->x[i] + c->bin
                 : i + 1 < s->n ? s->x[i + 1]
                 : i > 0        ? s->x[i] + (s->x[i] - s->x[i - 1])
                                : s->x[i];
    double x0 = nd_scale_position(&d->x, s->x[i]);
    double x1 = nd_scale_takes(&d->x, end) ? nd_scale_position(&d->x, end) : x0;
    double y = nd_scale_position(&d->y, s->y[i]);
    if (s->y[i] == 0) continue;
    /* Of bins thinner than half a pixel, only the tallest is drawn. */
    if (s->n > ND_CHART_POINTS && x1 <= drawn_to && base - y <= tallest) continue;
    if (x1 > drawn_to) {
      drawn_to = floor(x0) + 1;
      tallest = 0;
    }
    if (base - y > tallest) tallest = base - y;
    double gap = x1 - x0 > 4 ? 1 : 0, width = fmax(x1 - x0 - gap, 0.7);
    nd_pen_put(&d->pen,
               "<rect class=\"nd-bar nd-c%u%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
               "height=\"%.2f\">",
               nd_draw_colour(look), s->published ? " nd-open" : "", x0, fmin(y, base), width,
               fmax(fabs(base - y), 0.7));
    put_point_title(d, s, i);
    nd_pen_put(&d->pen, "</rect>\n");
  }
}

static void put_bar(nd_drawing *d, size_t row, size_t series, double from, double to, double y,
                    double height) {
  const nd_series *s = &d->chart->series[series];
  double x0 = fmin(from, to), width = fabs(to - from);
  if (width < 0.7 && s->y[row] != 0) width = 0.7;
  nd_pen_put(&d->pen,
             "<rect class=\"nd-bar nd-c%u%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
             "height=\"%.2f\"><title>",
             nd_draw_colour(nd_draw_look(d->chart, series)), s->published ? " nd-open" : "", x0, y,
             width, height);
  nd_pen_str(&d->pen, d->chart->categories[row]);
  if (s->name) {
    nd_pen_put(&d->pen, ", ");
    nd_pen_text(&d->pen, s->name);
  }
  nd_pen_put(&d->pen, ": ");
  put_quantity(&d->pen, NULL, d->chart->x_unit, s->y[row]);
  nd_pen_put(&d->pen, "</title></rect>\n");
}

static void put_row(nd_drawing *d, size_t row) {
  const nd_chart *c = d->chart;
  bool stack = c->kind == ND_CHART_STACK;
  double step = (d->bottom - d->top) / (double)d->rows;
  double bars = stack ? 1 : (double)(c->series_n ? c->series_n : 1);
  double height = (step - 5) / bars, y = d->top + step * (double)row + 2.5;
  double sum = 0;
  for (size_t k = 0; k < c->series_n; k++) {
    const nd_series *s = &c->series[k];
    if (row >= s->n || !nd_scale_takes(&d->x, s->y[row])) continue;
    double v = s->y[row], from = d->x.log ? d->x.from : nd_scale_position(&d->x, 0);
    if (stack) {
      from = nd_scale_position(&d->x, sum);
      sum += v;
      v = sum;
    }
    double to = nd_scale_position(&d->x, v);
    put_bar(d, row, k, from, to, y, height);
    if (stack) continue;
    char text[40];
    nd_scale_write(text, sizeof text, v);
    nd_pen_put(&d->pen, "<text class=\"nd-value\" x=\"%.2f\" y=\"%.2f\">%s</text>\n",
               fmax(from, to) + 4, y + height / 2 + 4, text);
    y += height;
  }
}

void nd_draw_series(nd_drawing *d) {
  const nd_chart *c = d->chart;
  if (nd_chart_has_rows(c)) {
    for (size_t row = 0; row < d->rows; row++) put_row(d, row);
    return;
  }
  for (size_t k = 0; k < c->series_n; k++) {
    const nd_series *s = &c->series[k];
    if (s->n == 0) continue;
    const size_t look = nd_draw_look(c, k);
    if (c->kind == ND_CHART_HISTOGRAM) {
      put_bins(d, s, look);
    } else if (c->kind == ND_CHART_SCATTER) {
      put_cloud(d, s, look);
    } else {
      put_line(d, s, look);
      put_marks(d, s, look);
    }
  }
}
