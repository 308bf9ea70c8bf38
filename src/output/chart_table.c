/* The numbers of a chart as a table, for people who cannot see the chart or want to copy them. */
#include "output/chart_draw.h"

enum { ROWS = 200 };

static void put_head(nd_pen *p, const nd_chart *c) {
  bool rows = nd_chart_has_rows(c);
  nd_pen_put(p, "<table><caption>");
  nd_pen_text(p, c->title);
  nd_pen_put(p, "</caption><thead><tr>");
  if (c->series_n > 1 || !rows) nd_pen_put(p, "<th scope=\"col\">series</th>");
  nd_pen_put(p, "<th scope=\"col\">");
  nd_pen_text(p, rows ? (c->y_label ? c->y_label : "name") : (c->x_label ? c->x_label : "x"));
  nd_pen_put(p, "</th><th scope=\"col\" class=\"num\">");
  const char *value = rows ? c->x_label : c->y_label;
  nd_pen_text(p, value ? value : "value");
  nd_pen_put(p, "</th></tr></thead>\n<tbody>\n");
}

nd_status nd_chart_table(nd_buf *out, const nd_chart *chart, nd_error *err) {
  nd_pen pen = {out, ND_OK, err};
  nd_pen *p = &pen;
  bool rows = nd_chart_has_rows(chart);
  size_t all = 0;
  for (size_t k = 0; k < chart->series_n; k++) all += chart->series[k].n;
  size_t every = all / ROWS + 1;
  put_head(p, chart);
  for (size_t k = 0; k < chart->series_n; k++) {
    const nd_series *s = &chart->series[k];
    for (size_t i = 0; i < s->n; i += every) {
      if (rows && i >= chart->category_n) break;
      nd_pen_put(p, "<tr>");
      if (chart->series_n > 1 || !rows) {
        nd_pen_put(p, "<td>");
        nd_pen_text(p, s->name);
        nd_pen_put(p, "</td>");
      }
      nd_pen_put(p, "<td><bdi>");
      if (rows)
        nd_pen_str(p, chart->categories[i]);
      else
        nd_pen_number(p, s->x[i]);
      nd_pen_put(p, "</bdi></td><td class=\"num\">");
      nd_pen_number(p, s->y[i]);
      nd_pen_put(p, "</td></tr>\n");
    }
  }
  nd_pen_put(p, "</tbody></table>\n");
  if (every > 1) nd_pen_put(p, "<p>One value in every %zu is listed.</p>\n", every);
  return p->status;
}
