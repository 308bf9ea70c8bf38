/* Writing JSON; see json_out.h. */
#include "output/json_out.h"

#include <inttypes.h>

#include "output/escape.h"

static void put(nd_json_out *j, const char *p, size_t n) {
  if (j->status == ND_OK) j->status = nd_buf_append(&j->text, p, n, j->err);
}

static void put_unit(nd_json_out *j, uint32_t c) {
  static const char hex[] = "0123456789abcdef";
  put(j, (char[]){'\\', 'u', hex[c >> 12 & 15], hex[c >> 8 & 15], hex[c >> 4 & 15], hex[c & 15]},
      6);
}

/* Writes a string.  Escapes the characters that JSON requires and those that are invisible or
 * misleading; bytes that are not UTF-8 become U+FFFD. */
static void put_string(nd_json_out *j, nd_str s) {
  put(j, "\"", 1);
  for (size_t at = 0; at < s.n;) {
    const char *p = s.p + at;
    uint32_t c = nd_escape_point(s, &at);
    if (nd_escape_hidden(c)) {
      if (c >= 0x10000) put_unit(j, 0xd800 + ((c - 0x10000) >> 10));
      put_unit(j, c >= 0x10000 ? 0xdc00 + (c & 0x3ff) : c);
    } else if (c == 0xfffd) {
      put(j, "\xef\xbf\xbd", 3);
    } else {
      if (c == '"' || c == '\\') put(j, "\\", 1);
      put(j, p, (size_t)(s.p + at - p));
    }
  }
  put(j, "\"", 1);
}

static void put_name(nd_json_out *j, const char *name) {
  if (!j->first) put(j, j->line ? ", " : ",", j->line ? 2 : 1);
  if (j->depth && !j->line) put(j, "\n", 1);
  for (int i = 0; i < j->depth && !j->line; i++) put(j, "  ", 2);
  j->first = false;
  if (!name) return;
  put_string(j, nd_str_of(name));
  put(j, ": ", 2);
}

void nd_json_put_begin(nd_json_out *j, const char *name, char bracket) {
  if (j->depth == 0) j->first = true;
  put_name(j, name);
  put(j, &bracket, 1);
  j->depth++;
  j->first = true;
}

void nd_json_put_end(nd_json_out *j, char bracket) {
  j->depth--;
  if (!j->first && !j->line) {
    put(j, "\n", 1);
    for (int i = 0; i < j->depth; i++) put(j, "  ", 2);
  }
  put(j, &bracket, 1);
  j->first = false;
  if (j->depth == 0) put(j, "\n", 1);
}

void nd_json_put_string(nd_json_out *j, const char *name, nd_str value) {
  put_name(j, name);
  put_string(j, value);
}

void nd_json_put_count(nd_json_out *j, const char *name, uint64_t value) {
  put_name(j, name);
  if (j->status == ND_OK) j->status = nd_buf_printf(&j->text, j->err, "%" PRIu64, value);
}

void nd_json_put_number(nd_json_out *j, const char *name, double value, int decimals) {
  put_name(j, name);
  if (j->status == ND_OK) j->status = nd_buf_printf(&j->text, j->err, "%.*f", decimals, value);
}
