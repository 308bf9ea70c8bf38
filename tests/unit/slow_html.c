#include "slow_html.h"

#include <stdlib.h>
#include <strings.h>

#include "text/html_scan.h"

static void reference_put(nd_buf *out, const char *p, size_t n) {
  if (nd_buf_append(out, p, n, NULL) != ND_OK) abort();
}

static void reference_copy(nd_buf *out, nd_str raw, bool references) {
  for (const char *p = raw.p, *end = p + raw.n; p < end;) {
    char value[8] = {*p};
    size_t n = *p != 0, taken = 0;
    if (*p == '&' && references) taken = nd_html_reference(p, end, false, value, &n);
    if (*p == '&' && taken == 0) n = 1, value[0] = '&';
    reference_put(out, value, n);
    p += taken ? taken : 1;
  }
}

static bool has_shadow(nd_str rest) {
  for (nd_html_attribute a; nd_html_next_attribute(&rest, &a);) {
    if (a.name.n == 14 && strncasecmp(a.name.p, "shadowrootmode", 14) == 0) return true;
  }
  return false;
}

void slow_html_text(nd_buf *out, nd_str html) {
  nd_html_scan s;
  nd_html_token t;
  size_t foreign = 0, templates = 0, broke = 0, mark = 0, mark_broke = 0;
  bool hidden = false;
  nd_html_scan_init(&s, html);
  while (s.foreign = foreign > 0, nd_html_scan_next(&s, &t)) {
    if (t.kind == ND_HTML_TEXT) {
      if (!hidden || t.state == ND_HTML_DATA || t.state == ND_HTML_CDATA)
        reference_copy(out, t.raw, t.state == ND_HTML_DATA || t.state == ND_HTML_RCDATA);
      continue;
    }
    if (t.kind != ND_HTML_START_TAG && t.kind != ND_HTML_END_TAG) continue;
    unsigned flags = nd_html_element(t.raw);
    hidden = false;
    if ((flags & ND_HTML_EL_BREAK) && out->n != broke) reference_put(out, "\n", 1);
    if (flags & ND_HTML_EL_BREAK) broke = out->n;
    if (t.kind == ND_HTML_END_TAG) {
      if ((flags & ND_HTML_EL_FOREIGN) && foreign) foreign--;
      if ((flags & ND_HTML_EL_TEMPLATE) && templates && --templates == 0) {
        out->n = mark;
        broke = mark_broke;
      }
      continue;
    }
    if (flags & ND_HTML_EL_BREAKOUT) foreign = 0;
    if ((foreign || (flags & ND_HTML_EL_FOREIGN)) && t.self_closing) continue;
    if (flags & ND_HTML_EL_FOREIGN) foreign++;
    if ((flags & ND_HTML_EL_TEMPLATE) && (templates || !has_shadow(t.attributes))) {
      if (templates++ == 0) {
        mark = out->n;
        mark_broke = broke;
      }
    }
    if (!foreign || !(flags & ND_HTML_EL_SHOWN)) {
      s.foreign = false;
      nd_html_scan_enter(&s, &t);
      hidden = s.state != ND_HTML_DATA && !(flags & ND_HTML_EL_SHOWN);
    }
  }
  if (templates) out->n = mark;
}
