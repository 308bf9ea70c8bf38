/* Decoding of views of a page: character references, NUL, line ends, letter case. */
#include "text/html_entities.h"
#include "text/html_scan.h"

/* &#128; to &#159; are windows-1252 where that has a character. */
static const uint16_t c1[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

static size_t put_utf8(char *out, uint32_t c) {
  if (c < 0x80) return out[0] = (char)c, 1;
  if (c < 0x800) {
    out[0] = (char)(0xC0 | c >> 6);
    out[1] = (char)(0x80 | (c & 63));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 63));
    out[2] = (char)(0x80 | (c & 63));
    return 3;
  }
  out[0] = (char)(0xF0 | c >> 18);
  out[1] = (char)(0x80 | (c >> 12 & 63));
  out[2] = (char)(0x80 | (c >> 6 & 63));
  out[3] = (char)(0x80 | (c & 63));
  return 4;
}

static int digit_of(char c, bool hex) {
  if ((unsigned)(c - '0') < 10) return c - '0';
  if (hex && (unsigned)((c | 32) - 'a') < 6) return (c | 32) - 'a' + 10;
  return -1;
}

/* p is after "&#". */
static const char *numeric(const char *p, const char *end, char *value, size_t *value_n) {
  bool hex = (*p | 32) == 'x'; /* "&#" is not at the end */
  p += hex;
  const char *digits = p;
  uint32_t c = 0;
  for (int d; p < end && (d = digit_of(*p, hex)) >= 0; p++) {
    if (c < 0x110000) c = c * (hex ? 16 : 10) + (uint32_t)d;
  }
  if (p == digits) return NULL;
  if (p < end && *p == ';') p++;
  if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
  if (c >= 0x80 && c < 0xA0) c = c1[c - 0x80];
  *value_n = put_utf8(value, c);
  return p;
}

static bool is_alnum(char c) {
  return nd_html_is_alpha(c) || (unsigned)(c - '0') < 10;
}

size_t nd_html_reference(const char *p, const char *end, bool in_value, char value[8],
                         size_t *value_n) {
  if (end - p < 3) return 0;
  if (p[1] == '#') {
    const char *after = numeric(p + 2, end, value, value_n);
    return after ? (size_t)(after - p) : 0;
  }
  if (!nd_html_is_alpha(p[1]) || !is_alnum(p[2])) return 0;
  unsigned first = p[1] >= 'a' ? (unsigned)(p[1] - 'a') + 26 : (unsigned)(p[1] - 'A');
  unsigned second = p[2] >= 'a'   ? (unsigned)(p[2] - 'a') + 26
                    : p[2] >= 'A' ? (unsigned)(p[2] - 'A')
                                  : (unsigned)(p[2] - '0') + 52;
  const uint16_t *bucket = entity_start + first * ENTITY_SECONDS + second;
  const char *rest = p + 3;
  size_t left = (size_t)(end - rest);
  for (const entity *e = entity_table + bucket[1]; e-- > entity_table + bucket[0];) {
    if (e->rest_n > left || memcmp(entity_pool + e->rest, rest, e->rest_n) != 0) continue;
    const char *after = rest + e->rest_n;
    if (in_value && after[-1] != ';' && after < end && (*after == '=' || is_alnum(*after)))
      return 0;
    memcpy(value, e->value, 8);
    *value_n = e->value_n;
    return (size_t)(after - p);
  }
  return 0;
}

nd_html_as nd_html_text_as(nd_html_state state) {
  switch (state) {
    case ND_HTML_DATA: return ND_HTML_AS_DATA;
    case ND_HTML_RCDATA: return ND_HTML_AS_RCDATA;
    case ND_HTML_CDATA: return ND_HTML_AS_CDATA;
    default: return ND_HTML_AS_RAWTEXT;
  }
}

nd_status nd_html_decode(nd_buf *out, nd_str raw, nd_html_as as, nd_error *err) {
  bool references = as == ND_HTML_AS_DATA || as == ND_HTML_AS_RCDATA || as == ND_HTML_AS_VALUE;
  bool keep_nul = as == ND_HTML_AS_DATA || as == ND_HTML_AS_CDATA;
  const char *p = raw.p, *end = raw.p + raw.n;
  while (p < end) {
    ND_TRY(nd_buf_reserve(out, 8, err));
    char *o = out->p + out->n;
    size_t n = 1;
    if (*p == '&' && references) {
      size_t taken = nd_html_reference(p, end, as == ND_HTML_AS_VALUE, o, &n);
      if (taken == 0) *o = '&';
      p += taken ? taken : 1;
    } else if (*p == '\r') {
      *o = '\n';
      p += end - p > 1 && p[1] == '\n' ? 2 : 1;
    } else if (*p == 0 && !keep_nul) {
      n = put_utf8(o, 0xFFFD);
      p++;
    } else {
      *o = as == ND_HTML_AS_NAME ? nd_html_lower(*p) : *p;
      p++;
    }
    out->n += n;
  }
  return ND_OK;
}
