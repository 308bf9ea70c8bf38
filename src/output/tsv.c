/* Escaping, CSV and numbers for tab-separated lines; see tsv.h.
 *
 * Nearly all ids are plain ASCII, so the search for bytes to escape takes eight
 * bytes at a time, and runs are copied. */
#include "output/tsv.h"

#include <stdio.h>

#include "output/escape.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns non-zero if one of the eight bytes is 0. */
static uint64_t has_zero(uint64_t x) {
  return (x - EACH(1)) & ~x & EACH(0x80);
}

static bool is_plain(unsigned char c) {
  return c >= 0x20 && c < 0x7f && c != '\\';
}

/* Returns the end of the plain ASCII that starts at `at`. */
static size_t plain_end(nd_str text, size_t at) {
  for (; text.n - at >= 8; at += 8) {
    uint64_t x;
    memcpy(&x, text.p + at, sizeof x);
    uint64_t low = (x - EACH(0x20)) & ~x & EACH(0x80);
    if ((x & EACH(0x80)) | low | has_zero(x ^ EACH('\\')) | has_zero(x ^ EACH(0x7f))) break;
  }
  while (at < text.n && is_plain((unsigned char)text.p[at])) at++;
  return at;
}

static bool continues(nd_str text, size_t at, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (at + i >= text.n || ((unsigned char)text.p[at + i] & 0xc0) != 0x80) return false;
  return true;
}

/* Returns the end of the text from `at` on that needs no escape and no decoding: plain ASCII, and
 * entire blocks of letters (U+00C0-05FF, U+0640-07FF, U+1000-1FFF, U+3000-CFFF), which their lead
 * bytes identify. */
static size_t seen_end(nd_str text, size_t at) {
  for (;;) {
    at = plain_end(text, at);
    size_t from = at;
    for (size_t n; at < text.n; at += n) {
      unsigned char c = (unsigned char)text.p[at];
      n = (c >= 0xe3 && c <= 0xec) || c == 0xe1 ? 3 : c >= 0xc3 && c <= 0xdf && c != 0xd8 ? 2 : 0;
      if (n == 0 || !continues(text, at, n)) break;
    }
    if (at == from) return at;
  }
}

/* Copies to `out`, unless it is NULL; returns the new length. */
static size_t put(char *out, size_t n, const char *p, size_t more) {
  if (out && more) memcpy(out + n, p, more);
  return n + more;
}

size_t nd_field_escape(char *out, nd_str text) {
  static const char hex[] = "0123456789abcdef";
  size_t n = 0, from = 0, at = 0; /* [from, at) is copied unchanged */
  while ((at = seen_end(text, at)) < text.n) {
    size_t here = at;
    uint32_t c = nd_escape_point(text, &at);
    bool broken = c == 0xfffd && at == here + 1; /* U+FFFD itself has three bytes */
    if (c != '\\' && !broken && !nd_escape_hidden(c)) continue;
    n = put(out, n, text.p + from, here - from);
    from = at;
    char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\\' ? '\\' : 0;
    if (letter) {
      n = put(out, n, (char[]){'\\', letter}, 2);
      continue;
    }
    for (; here < at; here++) {
      unsigned char byte = (unsigned char)text.p[here];
      n = put(out, n, (char[]){'\\', 'x', hex[byte >> 4], hex[byte & 15]}, 4);
    }
  }
  return put(out, n, text.p + from, text.n - from);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t nd_field_unescape(char *out, nd_str f) {
  size_t n = 0;
  for (size_t i = 0; i < f.n; i++) {
    char c = f.p[i], next = i + 1 < f.n ? f.p[i + 1] : 0;
    if (c == '\\' && next) {
      char meant = next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : next;
      int high = next == 'x' && f.n - i > 3 ? hex_digit(f.p[i + 2]) : -1;
      int low = high >= 0 ? hex_digit(f.p[i + 3]) : -1;
      if (low >= 0) {
        c = (char)(high << 4 | low);
        i += 3;
      } else if (meant != next || next == '\\') {
        c = meant;
        i++;
      }
    }
    out[n++] = c;
  }
  return n;
}

nd_status nd_tsv_append(nd_buf *out, nd_str text, nd_error *err) {
  if (seen_end(text, 0) == text.n) return nd_buf_append(out, text.p, text.n, err);
  ND_TRY(nd_buf_reserve(out, nd_field_escape(NULL, text), err));
  out->n += nd_field_escape(out->p + out->n, text);
  return ND_OK;
}

nd_status nd_tsv_unescape(nd_buf *out, nd_str field, nd_error *err) {
  ND_TRY(nd_buf_reserve(out, field.n, err));
  out->n += nd_field_unescape(out->p + out->n, field);
  return ND_OK;
}

nd_status nd_tsv_canonical(nd_str *out, nd_buf *room, nd_str field, nd_error *err) {
  *out = field;
  if (seen_end(field, 0) == field.n) return ND_OK;
  room->n = 0;
  ND_TRY(nd_tsv_unescape(room, field, err));
  size_t text = room->n;
  ND_TRY(nd_buf_reserve(room, nd_field_escape(NULL, nd_buf_str(room)), err));
  room->n += nd_field_escape(room->p + text, (nd_str){room->p, text});
  *out = (nd_str){room->p + text, room->n - text};
  return ND_OK;
}

/* Returns true if a spreadsheet would take the field for a formula, or a reader its ' for ours. */
static bool needs_guard(nd_str f) {
  size_t i = 0;
  while (i < f.n && f.p[i] == ' ') i++;
  if (i == f.n || (f.n == 1 && f.p[0] == '-')) return false;
  if (memchr("=+-@'", f.p[i], 5)) return true;
  /* full-width: U+FF1D, U+FF0B, U+FF0D, U+FF20, U+FF07 */
  return f.n - i >= 3 && f.p[i] == '\xef' && f.p[i + 1] == '\xbc' &&
         memchr("\x9d\x8b\x8d\xa0\x87", f.p[i + 2], 5);
}

static nd_status put_csv_field(nd_buf *out, nd_str f, nd_error *err) {
  bool quoted = f.n && (memchr(f.p, ',', f.n) || memchr(f.p, '"', f.n));
  ND_TRY(nd_buf_reserve(out, 2 * f.n + 3, err));
  char *p = out->p + out->n;
  if (quoted) *p++ = '"';
  if (needs_guard(f)) *p++ = '\'';
  for (size_t i = 0; i < f.n; i++) {
    if (f.p[i] == '"') *p++ = '"';
    *p++ = f.p[i];
  }
  if (quoted) *p++ = '"';
  out->n = (size_t)(p - out->p);
  return ND_OK;
}

nd_status nd_tsv_to_csv(nd_buf *out, nd_str lines, nd_error *err) {
  for (size_t from = 0, at = 0; at < lines.n; at++) {
    char c = lines.p[at];
    if (c != '\t' && c != '\n') continue;
    ND_TRY(put_csv_field(out, (nd_str){lines.p + from, at - from}, err));
    ND_TRY(nd_buf_append(out, c == '\t' ? "," : "\r\n", c == '\t' ? 1 : 2, err));
    from = at + 1;
  }
  return ND_OK;
}

nd_status nd_tsv_ratio(nd_buf *out, uint32_t common, uint32_t joint, nd_error *err) {
  const uint64_t million = 1000000;
  uint64_t scaled = (uint64_t)common * million;
  uint64_t x = joint ? scaled / joint : 0, left = joint ? scaled % joint : 0;
  if (2 * left > joint) x++;
  if (joint && 2 * left == joint) { /* a tie is rounded like the nearest double */
    char tie[32];
    snprintf(tie, sizeof tie, "%.6f", (double)common / joint);
    tie[1] = '.'; /* in any locale */
    return nd_buf_append(out, tie, 8, err);
  }
  char text[16] = {(char)('0' + x / million), '.'};
  uint64_t rest = x % million;
  for (int i = 7; i >= 2; i--, rest /= 10) text[i] = (char)('0' + rest % 10);
  return nd_buf_append(out, text, 8, err);
}
