/* A page with two documents side by side: differing words are marked, long common
 * passages are folded and can be opened.  No script. */
#include <inttypes.h>

#include "output/chart_draw.h"
#include "output/page.h"
#include "output/page_assets.h"
#include "study/explain/explain_run.h"

enum { EDGE = 25, MOST = 200000 /* words of a side */ };

/* Requires n > 0. */
static void put_words(nd_pen *p, const nd_tokens *t, size_t first, size_t n) {
  size_t from = first ? t->end[first - 1] + 1 : 0;
  nd_pen_str(p, (nd_str){t->text.p + from, t->end[first + n - 1] - from});
}

static void put_same(nd_pen *p, const nd_tokens *t, size_t first, size_t n) {
  if (n <= 3 * EDGE) {
    put_words(p, t, first, n);
    return;
  }
  put_words(p, t, first, EDGE);
  nd_pen_put(p, " <details class=\"fold\"><summary>%zu words the same</summary>", n - 2 * EDGE);
  put_words(p, t, first + EDGE, n - 2 * EDGE);
  nd_pen_put(p, "</details> ");
  put_words(p, t, first + n - EDGE, EDGE);
}

static void put_side(nd_pen *p, const nd_explained *e, int i) {
  const nd_explained_side *s = &e->side[i];
  nd_pen_put(p, "<section class=\"side %s\" tabindex=\"0\" aria-label=\"Document %s\">\n<h3><bdi>",
             i ? "right" : "left", i ? "B" : "A");
  nd_pen_str(p, nd_buf_str(&s->id));
  nd_pen_put(p, "</bdi></h3>\n");
  if (s->url.n) {
    nd_pen_put(p, "<p class=\"quiet\"><bdi>");
    nd_pen_str(p, nd_buf_str(&s->url));
    nd_pen_put(p, "</bdi></p>\n");
  }
  nd_pen_put(p, "<div class=\"words\" dir=\"auto\">");
  size_t shown = 0;
  for (size_t k = 0; k < e->diff.n && shown < MOST; k++) {
    const nd_diff_run *r = &e->diff.runs[k];
    size_t first = i ? r->b : r->a, n = i ? r->b_n : r->a_n;
    if (n > MOST - shown) n = MOST - shown;
    shown += n;
    if (n == 0) continue;
    if (r->same) {
      put_same(p, &s->words, first, n);
    } else {
      nd_pen_put(p, "<mark>");
      put_words(p, &s->words, first, n);
      nd_pen_put(p, "</mark>");
    }
    nd_pen_put(p, "\n");
  }
  if (s->words.count == 0) nd_pen_put(p, "<em>no words</em>");
  nd_pen_put(p, "</div>\n");
  if (shown < s->words.count)
    nd_pen_put(p, "<p class=\"quiet\">The first %zu of %zu words.</p>\n", shown, s->words.count);
  nd_pen_put(p, "</section>\n");
}

static void put_measures(nd_pen *p, const nd_explained *e) {
  nd_pen_put(p,
             "<h2>How similar</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" "
             "aria-label=\"Measures\"><table id=\"measures\"><thead><tr><th scope=\"col\">measure"
             "</th><th scope=\"col\" class=\"num\">value</th><th scope=\"col\">what it is</th></tr>"
             "</thead><tbody>\n");
  for (size_t i = 0; i < e->measure_n; i++) {
    nd_pen_put(p, "<tr><td>");
    nd_pen_text(p, e->measures[i].name);
    nd_pen_put(p, "</td><td class=\"num\">");
    nd_pen_text(p, e->measures[i].value);
    nd_pen_put(p, "</td><td>");
    nd_pen_text(p, e->measures[i].what);
    nd_pen_put(p, "</td></tr>\n");
  }
  nd_pen_put(p, "</tbody></table></div>\n");
}

nd_status nd_explained_html(nd_buf *out, const nd_explained *e, nd_error *err) {
  nd_pen pen = {out, ND_OK, err};
  nd_pen *p = &pen;
  p->status = nd_page_head(out, "neardup explain", nd_asset_report_css, NULL, err);
  nd_pen_put(p,
             "<main class=\"explain\">\n<h1>Two documents side by side</h1>\n"
             "<p class=\"lead\"><b id=\"kind\">%s</b>: %s. ",
             nd_difference_name(e->kind), nd_difference_text(e->kind));
  if (e->url != ND_URL_SAME)
    nd_pen_put(p, "The URLs differ in the %s. ", nd_url_difference_name(e->url));
  nd_pen_put(p,
             "%" PRIu64 " words are the same, %" PRIu64 " are only on the left, %" PRIu64
             " only on the right.</p>\n<div class=\"sides\">\n",
             e->diff.same, e->diff.only_a, e->diff.only_b);
  put_side(p, e, 0);
  put_side(p, e, 1);
  nd_pen_put(p,
             "</div>\n<p class=\"quiet\">Words as they are compared: without markup, case and "
             "punctuation. Marked ones differ.</p>\n");
  put_measures(p, e);
  nd_pen_put(p, "</main>\n");
  if (p->status == ND_OK) p->status = nd_page_foot(out, NULL, err);
  return p->status;
}
