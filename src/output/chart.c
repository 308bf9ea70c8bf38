/* The frame of a chart: title, legend, axes, grid and markers; see chart.h. */
#include "output/chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "output/chart_draw.h"
#include "output/escape.h"

/* Six colours that are distinct with any kind of colour vision (after Okabe and Ito) and have a
 * contrast of at least 3 to 1 to their background. */
#define LIGHT                                                                      \
  "--nd-ink:#1f2328;--nd-soft:#57606a;--nd-grid:#e4e7eb;--nd-ground:#ffffff;"      \
  "--nd-mark:#b3261e;--nd-1:#0072b2;--nd-2:#d55e00;--nd-3:#00805d;--nd-4:#a3478a;" \
  "--nd-5:#8a6d00;--nd-6:#5b6570;"
#define DARK                                                                       \
  "--nd-ink:#e6e8eb;--nd-soft:#a3abb5;--nd-grid:#30363d;--nd-ground:#14171a;"      \
  "--nd-mark:#ff8f85;--nd-1:#56b4e9;--nd-2:#ff9147;--nd-3:#3fc79a;--nd-4:#e29bcc;" \
  "--nd-5:#e0b93a;--nd-6:#a8b1bb;"

static const char style[] =
    ":root{" LIGHT
    "}\n"
    "@media (prefers-color-scheme:dark){:root{" DARK
    "}}\n"
    "@media print{:root{" LIGHT
    "}}\n"
    ".nd-chart{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
    ".nd-chart text{fill:var(--nd-ink)}\n"
    ".nd-chart .nd-title{font-size:14px;font-weight:600}\n"
    ".nd-chart .nd-tick,.nd-chart .nd-value{fill:var(--nd-soft);font-size:11px}\n"
    ".nd-chart .nd-grid{stroke:var(--nd-grid);fill:none}\n"
    ".nd-chart .nd-axis{stroke:var(--nd-soft);fill:none}\n"
    ".nd-chart .nd-marker{stroke:var(--nd-mark);stroke-width:1.5;stroke-dasharray:2 3;fill:none}\n"
    ".nd-chart .nd-marker-label{fill:var(--nd-mark);font-size:11px}\n"
    ".nd-chart .nd-line{fill:none;stroke-width:2;stroke-linejoin:round}\n"
    ".nd-chart .nd-dash{stroke-dasharray:6 4}\n"
    ".nd-chart .nd-mark{stroke-width:1.5}\n"
    ".nd-chart .nd-quiet .nd-mark{opacity:0}\n"
    ".nd-chart .nd-quiet .nd-mark:hover{opacity:1}\n"
    ".nd-chart .nd-bar:hover,.nd-chart .nd-mark:hover{opacity:.7}\n"
    ".nd-chart .nd-c1{stroke:var(--nd-1);fill:var(--nd-1)}\n"
    ".nd-chart .nd-c2{stroke:var(--nd-2);fill:var(--nd-2)}\n"
    ".nd-chart .nd-c3{stroke:var(--nd-3);fill:var(--nd-3)}\n"
    ".nd-chart .nd-c4{stroke:var(--nd-4);fill:var(--nd-4)}\n"
    ".nd-chart .nd-c5{stroke:var(--nd-5);fill:var(--nd-5)}\n"
    ".nd-chart .nd-c6{stroke:var(--nd-6);fill:var(--nd-6)}\n"
    ".nd-chart .nd-line{fill:none}\n"
    ".nd-chart .nd-bar{stroke:none}\n"
    ".nd-chart .nd-open{fill:var(--nd-ground)}\n"
    ".nd-chart .nd-bar.nd-open{stroke-width:1.5;stroke-dasharray:4 3}\n"
    ".nd-chart .nd-bar.nd-open.nd-c1{stroke:var(--nd-1)}"
    ".nd-chart .nd-bar.nd-open.nd-c2{stroke:var(--nd-2)}"
    ".nd-chart .nd-bar.nd-open.nd-c3{stroke:var(--nd-3)}"
    ".nd-chart .nd-bar.nd-open.nd-c4{stroke:var(--nd-4)}"
    ".nd-chart .nd-bar.nd-open.nd-c5{stroke:var(--nd-5)}"
    ".nd-chart .nd-bar.nd-open.nd-c6{stroke:var(--nd-6)}\n";

const char *nd_chart_style(void) {
  return style;
}

void nd_pen_put(nd_pen *p, const char *format, ...) {
  if (p->status != ND_OK) return;
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int need = vsnprintf(NULL, 0, format, args);
  va_end(args);
  /* Formatting numbers and bytes cannot fail. */
  p->status = nd_buf_reserve(p->out, (size_t)need + 1, p->err);
  if (p->status == ND_OK) {
    vsnprintf(p->out->p + p->out->n, (size_t)need + 1, format, again);
    p->out->n += (size_t)need;
  }
  va_end(again);
}

void nd_pen_str(nd_pen *p, nd_str text) {
  if (p->status == ND_OK) p->status = nd_escape_html(p->out, text, true, p->err);
}

void nd_pen_text(nd_pen *p, const char *text) {
  if (text) nd_pen_str(p, nd_str_of(text));
}

void nd_pen_number(nd_pen *p, double v) {
  if (isnan(v))
    nd_pen_put(p, "\xe2\x80\x93"); /* a dash */
  else if (isinf(v))
    nd_pen_put(p, v < 0 ? "-\xe2\x88\x9e" : "\xe2\x88\x9e"); /* infinity */
  else if (fabs(v) < 1e15 && v == floor(v))
    nd_pen_put(p, "%.0f", v + 0.0);
  else
    nd_pen_put(p, "%.6g", v);
}

/* Estimates the width of a text in the chart's 12 px font. */
static double width_of(nd_str text) {
  double width = 0;
  for (size_t at = 0; at < text.n;) width += nd_escape_point(text, &at) < 0x2e80 ? 6.7 : 12.5;
  return width;
}

/* Writes a text, cut with an ellipsis if it is wider than `most`. */
static void put_short(nd_pen *p, nd_str text, double most) {
  if (width_of(text) <= most) {
    nd_pen_str(p, text);
    return;
  }
  size_t at = 0, end = 0;
  double width = 10;
  while (at < text.n) {
    width += nd_escape_point(text, &at) < 0x2e80 ? 6.7 : 12.5;
    if (width > most) break;
    end = at;
  }
  nd_pen_str(p, (nd_str){text.p, end});
  nd_pen_put(p, "\xe2\x80\xa6");
}

/* --- ranges of the scales --------------------------------------------------- */

static void see_rows(nd_drawing *d) {
  const nd_chart *c = d->chart;
  d->x.base = true;
  nd_scale_see(&d->x, 0);
  for (size_t row = 0; row < d->rows; row++) {
    double sum = 0;
    for (size_t k = 0; k < c->series_n; k++) {
      if (row >= c->series[k].n) continue;
      double v = c->series[k].y[row];
      if (nd_scale_takes(&d->x, v))
        sum += v;
      else
        d->undrawn++;
      nd_scale_see(&d->x, c->kind == ND_CHART_STACK ? sum : v);
    }
  }
}

static void see_points(nd_drawing *d) {
  const nd_chart *c = d->chart;
  for (size_t k = 0; k < c->series_n; k++) {
    const nd_series *s = &c->series[k];
    for (size_t i = 0; i < s->n; i++) {
      bool bin = c->kind == ND_CHART_HISTOGRAM;
      if (bin && s->y[i] == 0) { /* an empty bin does not count as undrawn */
        nd_scale_see(&d->x, s->x[i]);
        nd_scale_see(&d->y, 0);
        continue;
      }
      if (!nd_scale_takes(&d->x, s->x[i]) || !nd_scale_takes(&d->y, s->y[i])) {
        d->undrawn++;
        continue;
      }
      nd_scale_see(&d->x, s->x[i]);
      if (bin && c->bin > 0) nd_scale_see(&d->x, s->x[i] + c->bin);
      nd_scale_see(&d->y, s->y[i]);
    }
  }
}

static void fix(nd_scale *s, const double *range) {
  if (!range || !(range[0] < range[1]) || !nd_scale_takes(s, range[0]) ||
      !nd_scale_takes(s, range[1]))
    return;
  s->low = range[0];
  s->high = range[1];
  s->fixed = s->any = true;
}

static void see(nd_drawing *d) {
  const nd_chart *c = d->chart;
  d->x.log = c->x_log;
  d->y.log = c->y_log && !nd_chart_has_rows(c);
  d->y.base = c->kind == ND_CHART_HISTOGRAM;
  d->rows = c->category_n < ND_CHART_ROWS ? c->category_n : ND_CHART_ROWS;
  fix(&d->x, c->x_range);
  fix(&d->y, c->y_range);
  if (nd_chart_has_rows(c))
    see_rows(d);
  else
    see_points(d);
  for (size_t i = 0; i < c->marker_n; i++)
    nd_scale_see(c->markers[i].level ? &d->y : &d->x, c->markers[i].at);
  nd_scale_fit(&d->x);
  nd_scale_fit(&d->y);
}

/* --- the frame ---------------------------------------------------------------- */

static const char *name_of(const nd_series *s) {
  return s->name ? s->name : "";
}

static double legend_width(const nd_series *s) {
  double width = 30 + width_of(nd_str_of(name_of(s)));
  if (s->published && s->source) width += 20 + width_of(nd_str_of(s->source));
  return width;
}

static bool has_legend(const nd_chart *c) {
  return c->series_n > 1 || (c->series_n == 1 && c->series[0].published);
}

/* Draws the legend below `y`, or only measures it, and returns its lowest line. */
static double legend(nd_drawing *d, double y, bool draw) {
  const nd_chart *c = d->chart;
  if (!has_legend(c)) return y;
  const double begin = 2;
  double x = begin;
  y += 20;
  for (size_t k = 0; k < c->series_n; k++) {
    const nd_series *s = &c->series[k];
    double width = legend_width(s);
    if (x > begin && x + width > d->width - 8) {
      x = begin;
      y += 18;
    }
    if (draw) {
      const size_t look = nd_draw_look(c, k);
      if (c->kind == ND_CHART_LINES)
        nd_pen_put(&d->pen, "<path class=\"nd-line nd-c%u%s\" d=\"M%.1f,%.1fh20\"/>",
                   nd_draw_colour(look), s->published ? " nd-dash" : "", x, y - 4);
      if (c->kind == ND_CHART_LINES || c->kind == ND_CHART_SCATTER) {
        nd_draw_mark(&d->pen, look, s->published, x + 10, y - 4);
        nd_pen_put(&d->pen, "/>");
      } else {
        nd_pen_put(&d->pen,
                   "<rect class=\"nd-bar nd-c%u%s\" x=\"%.1f\" y=\"%.1f\" width=\"14\" "
                   "height=\"10\"/>",
                   nd_draw_colour(look), s->published ? " nd-open" : "", x + 3, y - 9);
      }
      nd_pen_put(&d->pen, "<text x=\"%.1f\" y=\"%.1f\">", x + 25, y);
      put_short(&d->pen, nd_str_of(name_of(s)), d->width - 60);
      if (s->published && s->source) {
        nd_pen_put(&d->pen, " (");
        nd_pen_text(&d->pen, s->source);
        nd_pen_put(&d->pen, ")");
      }
      nd_pen_put(&d->pen, "</text>\n");
    }
    x += width + 16;
  }
  return y;
}

static double widest_tick(const nd_scale *s) {
  double ticks[ND_TICKS], most = 0;
  size_t n = nd_scale_ticks(ticks, s, 5);
  for (size_t i = 0; i < n; i++) {
    char text[40];
    nd_scale_write(text, sizeof text, ticks[i]);
    most = fmax(most, width_of(nd_str_of(text)));
  }
  return most;
}

static void lay_out(nd_drawing *d) {
  const nd_chart *c = d->chart;
  bool rows = nd_chart_has_rows(c);
  d->width = c->width ? c->width : 480;
  d->height = c->height ? c->height : 300;
  d->top = legend(d, 20, false) + 16;
  d->left = 18;
  if (rows) {
    double names = 30;
    for (size_t i = 0; i < d->rows; i++) names = fmax(names, width_of(c->categories[i]));
    d->left += fmin(names, d->width * 0.42);
    double bars = c->kind == ND_CHART_STACK ? 1.4 : (double)(c->series_n ? c->series_n : 1);
    double room = (double)(d->rows ? d->rows : 1) * (bars * ND_CHART_ROW_HEIGHT + 5);
    if (!c->height) d->height = d->top + room + 46;
  } else {
    d->left += widest_tick(&d->y) + (c->y_label ? 22 : 4);
  }
  d->right = d->width - (c->kind == ND_CHART_BARS ? 52 : 18);
  d->bottom = d->height - (c->x_label ? 44 : 26);
  if (d->bottom < d->top + 20) d->bottom = d->top + 20;
  if (d->right < d->left + 20) d->right = d->left + 20;
  d->x.from = d->left;
  d->x.to = d->right;
  d->y.from = d->bottom;
  d->y.to = d->top;
}

static void put_label(nd_pen *p, const char *label, const char *unit) {
  nd_pen_text(p, label);
  if (unit && unit[0]) {
    nd_pen_put(p, " (");
    nd_pen_text(p, unit);
    nd_pen_put(p, ")");
  }
}

static void put_x_axis(nd_drawing *d) {
  double ticks[ND_TICKS];
  size_t n = nd_scale_ticks(ticks, &d->x, 6);
  double free_from = -1e9;
  for (size_t i = 0; i < n; i++) {
    double x = nd_scale_position(&d->x, ticks[i]);
    char text[40];
    nd_scale_write(text, sizeof text, ticks[i]);
    nd_pen_put(&d->pen, "<path class=\"nd-grid\" d=\"M%.2f,%.2fV%.2f\"/>", x, d->top, d->bottom);
    double half = width_of(nd_str_of(text)) / 2;
    if (x - half < free_from) continue;
    free_from = x + half + 6;
    nd_pen_put(&d->pen,
               "<text class=\"nd-tick\" text-anchor=\"middle\" x=\"%.2f\" y=\"%.2f\">%s</text>\n",
               x, d->bottom + 16, text);
  }
  if (!d->chart->x_label) return;
  nd_pen_put(&d->pen, "<text text-anchor=\"middle\" x=\"%.2f\" y=\"%.2f\">",
             (d->left + d->right) / 2, d->bottom + 36);
  put_label(&d->pen, d->chart->x_label, d->chart->x_unit);
  nd_pen_put(&d->pen, "</text>\n");
}

static void put_y_axis(nd_drawing *d) {
  double ticks[ND_TICKS];
  size_t n = nd_scale_ticks(ticks, &d->y, 5);
  for (size_t i = 0; i < n; i++) {
    double y = nd_scale_position(&d->y, ticks[i]);
    char text[40];
    nd_scale_write(text, sizeof text, ticks[i]);
    nd_pen_put(&d->pen,
               "<path class=\"nd-grid\" d=\"M%.2f,%.2fH%.2f\"/>"
               "<text class=\"nd-tick\" text-anchor=\"end\" x=\"%.2f\" y=\"%.2f\">%s</text>\n",
               d->left, y, d->right, d->left - 6, y + 4, text);
  }
  if (!d->chart->y_label) return;
  double y = (d->top + d->bottom) / 2;
  nd_pen_put(&d->pen,
             "<text text-anchor=\"middle\" transform=\"rotate(-90 16 %.2f)\" x=\"16\" "
             "y=\"%.2f\">",
             y, y);
  put_label(&d->pen, d->chart->y_label, d->chart->y_unit);
  nd_pen_put(&d->pen, "</text>\n");
}

/* Paths differ at their ends, so they are shortened at the front. */
static void put_row_name(nd_pen *p, nd_str name, double most) {
  bool path = name.n && memchr(name.p, '/', name.n);
  if (!path || width_of(name) <= most) {
    put_short(p, name, most);
    return;
  }
  size_t from = name.n;
  double width = 10;
  while (from > 0) {
    size_t at = from - 1;
    while (at > 0 && ((unsigned char)name.p[at] & 0xc0) == 0x80) at--;
    size_t next = at;
    width += nd_escape_point(name, &next) < 0x2e80 ? 6.7 : 12.5;
    if (width > most) break;
    from = at;
  }
  nd_pen_put(p, "\xe2\x80\xa6");
  nd_pen_str(p, (nd_str){name.p + from, name.n - from});
}

static void put_names(nd_drawing *d) {
  double step = (d->bottom - d->top) / (double)(d->rows ? d->rows : 1);
  for (size_t i = 0; i < d->rows; i++) {
    nd_str name = d->chart->categories[i];
    nd_pen_put(&d->pen, "<text text-anchor=\"end\" x=\"%.2f\" y=\"%.2f\"><title>", d->left - 6,
               d->top + step * ((double)i + 0.5) + 4);
    nd_pen_str(&d->pen, name);
    nd_pen_put(&d->pen, "</title>");
    put_row_name(&d->pen, name, d->left - 12);
    nd_pen_put(&d->pen, "</text>\n");
  }
}

static void put_markers(nd_drawing *d) {
  for (size_t i = 0; i < d->chart->marker_n; i++) {
    const nd_marker *m = &d->chart->markers[i];
    const nd_scale *s = m->level ? &d->y : &d->x;
    if (!nd_scale_takes(s, m->at) || m->at < s->low || m->at > s->high) continue;
    double at = nd_scale_position(s, m->at);
    if (m->level) {
      nd_pen_put(&d->pen, "<path class=\"nd-marker\" d=\"M%.2f,%.2fH%.2f\"/>", d->left, at,
                 d->right);
      nd_pen_put(&d->pen, "<text class=\"nd-marker-label\" x=\"%.2f\" y=\"%.2f\">", d->left + 6,
                 at - 5);
    } else {
      /* Curves tend to be high on the right, bars low: labels avoid both. */
      bool low = d->chart->kind == ND_CHART_LINES;
      bool late = at > (d->left + d->right) / 2;
      nd_pen_put(&d->pen, "<path class=\"nd-marker\" d=\"M%.2f,%.2fV%.2f\"/>", at, d->top,
                 d->bottom);
      nd_pen_put(&d->pen,
                 "<text class=\"nd-marker-label\" text-anchor=\"%s\" x=\"%.2f\" y=\"%.2f\">",
                 late ? "end" : "start", at + (late ? -5 : 5),
                 low ? d->bottom - 7 - 14 * (double)(i % 3) : d->top + 11 + 14 * (double)(i % 3));
    }
    nd_pen_text(&d->pen, m->label);
    nd_pen_put(&d->pen, "</text>\n");
  }
}

static void put_description(nd_drawing *d) {
  const nd_chart *c = d->chart;
  nd_pen *p = &d->pen;
  static const char *const kinds[] = {"Line chart", "Scatter chart", "Histogram", "Bar chart",
                                      "Stacked bar chart"};
  nd_pen_put(p, "%s", kinds[c->kind]);
  if (c->y_label) {
    nd_pen_put(p, " of ");
    put_label(p, c->y_label, c->y_unit);
  }
  if (c->x_label) {
    nd_pen_put(p, c->y_label ? " over " : " of ");
    put_label(p, c->x_label, c->x_unit);
  }
  nd_pen_put(p, ".");
  for (size_t k = 0; k < c->series_n && k < 12; k++) {
    const nd_series *s = &c->series[k];
    nd_pen_put(p, " ");
    nd_pen_text(p, s->name ? s->name : "Data");
    if (s->published) {
      nd_pen_put(p, " (published");
      if (s->source) {
        nd_pen_put(p, ": ");
        nd_pen_text(p, s->source);
      }
      nd_pen_put(p, ")");
    }
    nd_pen_put(p, ": %zu value%s", s->n, s->n == 1 ? "" : "s");
    for (size_t i = 0; i < s->n && s->n <= 16; i++) {
      nd_pen_put(p, i ? "; " : ", ");
      if (nd_chart_has_rows(c) && i < c->category_n)
        nd_pen_str(p, c->categories[i]);
      else if (!nd_chart_has_rows(c))
        nd_pen_number(p, s->x[i]);
      nd_pen_put(p, " ");
      nd_pen_number(p, s->y[i]);
    }
    nd_pen_put(p, ".");
  }
  if (d->undrawn)
    nd_pen_put(p, " %llu value%s no place on these axes and %s not drawn.",
               (unsigned long long)d->undrawn, d->undrawn == 1 ? " has" : "s have",
               d->undrawn == 1 ? "is" : "are");
  if (nd_chart_has_rows(c) && c->category_n > d->rows)
    nd_pen_put(p, " The first %zu of %zu rows are drawn.", d->rows, c->category_n);
  if (c->description) {
    nd_pen_put(p, " ");
    nd_pen_text(p, c->description);
  }
}

nd_status nd_chart_svg(nd_buf *out, const nd_chart *chart, bool alone, nd_error *err) {
  nd_drawing d = {.pen = {out, ND_OK, err}, .chart = chart};
  nd_pen *p = &d.pen;
  const char *name = chart->name ? chart->name : "chart";
  see(&d);
  lay_out(&d);
  nd_pen_put(p,
             "<svg%s class=\"nd-chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"",
             alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", d.width, d.height);
  nd_pen_text(p, name);
  nd_pen_put(p, "-t ");
  nd_pen_text(p, name);
  nd_pen_put(p, "-d\"");
  if (alone) nd_pen_put(p, " width=\"%.0f\" height=\"%.0f\"", d.width, d.height);
  nd_pen_put(p, ">\n<title id=\"");
  nd_pen_text(p, name);
  nd_pen_put(p, "-t\">");
  nd_pen_text(p, chart->title);
  nd_pen_put(p, "</title>\n<desc id=\"");
  nd_pen_text(p, name);
  nd_pen_put(p, "-d\">");
  put_description(&d);
  nd_pen_put(p, "</desc>\n");
  if (alone)
    nd_pen_put(p,
               "<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" "
               "style=\"fill:var(--nd-ground)\"/>\n",
               style);
  nd_pen_put(p, "<text class=\"nd-title\" x=\"2\" y=\"20\">");
  put_short(p, nd_str_of(chart->title ? chart->title : ""), (d.width - 16) * 0.88);
  nd_pen_put(p, "</text>\n");
  legend(&d, 20, true);
  put_x_axis(&d);
  if (nd_chart_has_rows(chart))
    put_names(&d);
  else
    put_y_axis(&d);
  nd_pen_put(p, "<path class=\"nd-axis\" d=\"M%.2f,%.2fV%.2fH%.2f\"/>\n", d.left, d.top, d.bottom,
             d.right);
  nd_draw_series(&d);
  put_markers(&d);
  bool any = nd_chart_has_rows(chart) ? d.rows > 0 : d.x.any && d.y.any && chart->series_n > 0;
  if (!any)
    nd_pen_put(p, "<text text-anchor=\"middle\" x=\"%.2f\" y=\"%.2f\">no data</text>\n",
               (d.left + d.right) / 2, (d.top + d.bottom) / 2);
  nd_pen_put(p, "</svg>\n");
  return p->status;
}
