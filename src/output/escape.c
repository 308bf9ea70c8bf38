/* Safe text; see escape.h.  All output formats use `picture` to decide on every byte that is not
 * known to be harmless. */
#include "output/escape.h"

#include <inttypes.h>

typedef enum medium { IN_HTML, IN_TERMINAL, IN_SCRIPT } medium;

uint32_t nd_escape_point(nd_str text, size_t *at) {
  const unsigned char *p = (const unsigned char *)text.p + *at;
  size_t left = text.n - *at;
  *at += 1;
  if (p[0] < 0x80) return p[0];
  unsigned n = p[0] >= 0xf0 && p[0] < 0xf5   ? 4
               : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                                             : 0;
  if (n == 0 || left < n) return 0xfffd;
  uint32_t point = p[0] & (0x7fu >> n);
  for (unsigned i = 1; i < n; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0xfffd;
    point = point << 6 | (p[i] & 0x3f);
  }
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < least[n] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return 0xfffd;
  *at += n - 1;
  return point;
}

/* Returns true for marks, embeddings, overrides and isolates of writing direction. */
static bool turns_text(uint32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool nd_escape_hidden(uint32_t c) {
  if (c < 0x200b) return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c;
  if (c < 0x2070) return c == 0x200b || c == 0x2028 || c == 0x2029 || c >= 0x2060 || turns_text(c);
  return c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

/* Encodes a three-byte code point, e.g. the picture of a control character (U+2400). */
static size_t utf8(char *out, uint32_t c) {
  out[0] = (char)(0xe0 | c >> 12);
  out[1] = (char)(0x80 | (c >> 6 & 0x3f));
  out[2] = (char)(0x80 | (c & 0x3f));
  return 3;
}

static const char *reference(char c, medium where) {
  if (where == IN_TERMINAL) return NULL;
  bool html = where == IN_HTML;
  switch (c) {
    case '&': return html ? "&amp;" : "\\u0026";
    case '<': return html ? "&lt;" : "\\u003c";
    case '>': return html ? "&gt;" : "\\u003e";
    case '"': return html ? "&quot;" : "\\\"";
    case '\'': return html ? "&#39;" : NULL;
    case '\\': return html ? NULL : "\\\\";
    default: return NULL;
  }
}

/* Writes the replacement of an invisible code point; returns false if it needs none. */
static bool picture(nd_buf *out, uint32_t c, medium where, nd_status *status, nd_error *err) {
  char text[4];
  if (c < 0x20 || c == 0x7f) {
    *status = nd_buf_append(out, text, utf8(text, c == 0x7f ? 0x2421 : 0x2400 + c), err);
  } else if (c < 0xa0) { /* C1 controls; the caller passes no visible ASCII */
    *status = nd_buf_printf(out, err, "\xef\xbf\xbd");
  } else if (turns_text(c)) {
    const char *form = where == IN_HTML     ? "&lt;U+%04" PRIX32 "&gt;"
                       : where == IN_SCRIPT ? "\\u003cU+%04" PRIX32 "\\u003e"
                                            : "<U+%04" PRIX32 ">";
    *status = nd_buf_printf(out, err, form, c);  // NOLINT(clang-diagnostic-format-nonliteral)
  } else if (c == 0x2028 || c == 0x2029) {
    *status = nd_buf_append(out, " ", 1, err);
  } else if (c == 0xfffd || (c & 0xfffe) == 0xfffe) {
    *status = nd_buf_append(out, "\xef\xbf\xbd", 3, err);
  } else {
    return false;
  }
  return true;
}

static nd_status escape(nd_buf *out, nd_str text, bool line, medium where, nd_error *err) {
  size_t at = 0, from = 0; /* [from, at) is copied unchanged */
  while (at < text.n) {
    size_t here = at;
    uint32_t c = nd_escape_point(text, &at);
    if (c >= 0x20 && c < 0x7f && !reference((char)c, where)) continue;
    if (!line && (c == '\n' || c == '\t') && where != IN_SCRIPT) continue;
    ND_TRY(nd_buf_append(out, text.p + from, here - from, err));
    from = at;
    nd_status status = ND_OK;
    const char *as = c < 0x80 ? reference((char)c, where) : NULL;
    if (as) {
      status = nd_buf_append(out, as, strlen(as), err);
    } else if (!line && (c == '\n' || c == '\t')) {
      status = nd_buf_append(out, c == '\n' ? "\\n" : "\\t", 2, err);
    } else if (!picture(out, c, where, &status, err)) {
      from = here;
    }
    ND_TRY(status);
  }
  return from < text.n ? nd_buf_append(out, text.p + from, text.n - from, err) : ND_OK;
}

nd_status nd_escape_html(nd_buf *out, nd_str text, bool line, nd_error *err) {
  return escape(out, text, line, IN_HTML, err);
}

nd_status nd_escape_plain(nd_buf *out, nd_str text, bool line, nd_error *err) {
  return escape(out, text, line, IN_TERMINAL, err);
}

nd_status nd_escape_script(nd_buf *out, nd_str text, nd_error *err) {
  ND_TRY(nd_buf_append(out, "\"", 1, err));
  ND_TRY(escape(out, text, false, IN_SCRIPT, err));
  return nd_buf_append(out, "\"", 1, err);
}
