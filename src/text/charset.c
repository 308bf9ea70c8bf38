/* Bytes in any charset → UTF-8.
 *
 * Valid UTF-8 is checked once and not copied.  Single-byte charsets use a table of 128
 * characters (built in for windows-1252, from iconv for others), UTF-16 is decoded here,
 * and iconv converts the rest.  Opening iconv costs 0.3 µs once its module is loaded. */
#include "text/charset.h"

#include <errno.h>
#include <iconv.h>

#include "base/cpu.h"
#include "text/text.h"

/* --- UTF-8 -------------------------------------------------------------------- */
static const char replacement[] = "\xEF\xBF\xBD";

static nd_status from_utf8(nd_str *out, nd_buf *scratch, nd_str bytes, nd_error *err) {
  size_t good = nd_utf8_valid_prefix(bytes), bad;
  if (good == bytes.n) {
    *out = bytes;
    return ND_OK;
  }
  for (;;) {
    ND_TRY(nd_buf_append(scratch, bytes.p, good, err));
    bytes.p += good;
    bytes.n -= good;
    if (bytes.n == 0) break;
    nd_utf8_sequence((const unsigned char *)bytes.p, bytes.n, &bad);
    ND_TRY(nd_buf_append(scratch, replacement, 3, err));
    bytes.p += bad;
    bytes.n -= bad;
    good = nd_utf8_valid_prefix(bytes);
  }
  *out = nd_buf_str(scratch);
  return ND_OK;
}

/* Appends a code point that is not ASCII. */
static size_t put_utf8(char *o, uint32_t c) {
  if (c < 0x800) return o[0] = (char)(0xC0 | c >> 6), o[1] = (char)(0x80 | (c & 63)), 2;
  size_t n = c < 0x10000 ? 3 : 4;
  for (size_t i = n; i-- > 1; c >>= 6) o[i] = (char)(0x80 | (c & 63));
  o[0] = (char)((n == 3 ? 0xE0 : 0xF0) | c);
  return n;
}

/* --- UTF-16 --------------------------------------------------------------------- */
static nd_status from_utf16(nd_str *out, nd_buf *scratch, nd_str bytes, bool big, nd_error *err) {
  const unsigned char *p = (const unsigned char *)bytes.p;
  size_t units = bytes.n / 2;
  ND_TRY(nd_buf_reserve(scratch, units * 3 + 3, err));
  char *o = scratch->p;
  for (size_t i = 0; i < units; i++) {
    uint32_t c = (uint32_t)p[2 * i + !big] << 8 | p[2 * i + big];
    if (c < 0x80) {
      *o++ = (char)c;
      continue;
    }
    if (c >= 0xD800 && c < 0xE000) {
      uint32_t low = 0;
      if (c < 0xDC00 && i + 1 < units)
        low = (uint32_t)p[2 * i + 2 + !big] << 8 | p[2 * i + 2 + big];
      bool pair = low >= 0xDC00 && low < 0xE000;
      c = pair ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
      i += pair;
    }
    o += put_utf8(o, c);
  }
  if (bytes.n % 2) o += put_utf8(o, 0xFFFD);
  scratch->n = (size_t)(o - scratch->p);
  *out = nd_buf_str(scratch);
  return ND_OK;
}

/* --- single-byte charsets --------------------------------------------------------- */
typedef struct upper_half {
  struct {
    char utf8[4];
    uint32_t n;
  } of[128];
} upper_half;

static void set_char(upper_half *t, unsigned byte, uint32_t c) {
  t->of[byte - 128].n = (uint32_t)put_utf8(t->of[byte - 128].utf8, c);
}

static void fill_1252(upper_half *t) {
  static const uint16_t c1[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                  0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                  0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                  0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
  for (unsigned b = 128; b < 256; b++) set_char(t, b, b < 160 ? c1[b - 128] : b);
}

/* Converts all characters by iconv at once, each followed by a space, so that charsets that
 * compose (windows-1258) convert them separately.  Where iconv has no character, the standard
 * has a control character below 0xA0 and an error above. */
static void fill_from_iconv(upper_half *t, iconv_t cd) {
  char in[256], got[2048], *ip = in, *op = got;
  size_t left = sizeof in, room = sizeof got;
  for (unsigned i = 0; i < 128; i++) {
    in[2 * i] = (char)(128 + i);
    in[2 * i + 1] = ' ';
  }
  while (iconv(cd, &ip, &left, &op, &room) == (size_t)-1) { /* never for lack of room */
    unsigned char bad = (unsigned char)*ip;
    size_t n = put_utf8(op, bad < 160 ? bad : 0xFFFD);
    op += n;
    room -= n;
    ip++;
    left--;
  }
  const char *p = got;
  for (unsigned b = 128; b < 256; b++) {
    const char *space = memchr(p, ' ', (size_t)(op - p));
    size_t n = (size_t)(space - p) & 3; /* at most three bytes in every charset */
    memcpy(t->of[b - 128].utf8, p, n);
    t->of[b - 128].n = (uint32_t)n;
    p = space + 1;
  }
}

static nd_status from_table(nd_str *out, nd_buf *scratch, nd_str bytes, const upper_half *t,
                            nd_error *err) {
  const unsigned char *p = (const unsigned char *)bytes.p;
  size_t upper = 0;
  for (size_t i = 0; i < bytes.n; i++) upper += p[i] >> 7;
  ND_TRY(nd_buf_reserve(scratch, bytes.n + 2 * upper + 8, err));
  char *o = scratch->p;
  for (size_t i = 0; i < bytes.n;) {
    if (p[i] >= 0x80) {
      memcpy(o, t->of[p[i] - 128].utf8, 4);
      o += t->of[p[i] - 128].n;
      i++;
      continue;
    }
    size_t run = nd_ascii_prefix(p + i, bytes.n - i);
    memcpy(o, p + i, run);
    o += run;
    i += run;
  }
  scratch->n = (size_t)(o - scratch->p);
  *out = nd_buf_str(scratch);
  return ND_OK;
}

/* --- iconv ------------------------------------------------------------------------ */
/* Returns the number of bytes that an undecodable sequence skips. */
static size_t bad_length(const nd_charset *c, const unsigned char *p, size_t left) {
  bool pair = c->kind == ND_CHARSET_MULTI && left > 1 && p[0] > 0x80 && p[0] < 0xFF && p[1] >= 0x80;
  return pair ? 2 : 1;
}

static nd_status from_iconv(nd_str *out, nd_buf *scratch, nd_str bytes, const nd_charset *c,
                            iconv_t cd, nd_error *err) {
  size_t skip =
      c->kind == ND_CHARSET_MULTI ? nd_ascii_prefix((const unsigned char *)bytes.p, bytes.n) : 0;
  ND_TRY(nd_buf_append(scratch, bytes.p, skip, err));
  /* iconv takes a char ** and does not write through it. */
  char *ip;
  const char *start = bytes.p + skip;
  memcpy(&ip, &start, sizeof ip);
  size_t left = bytes.n - skip;
  for (bool flushed = false; !flushed;) {
    ND_TRY(nd_buf_reserve(scratch, left + left / 2 + 64, err));
    char *op = scratch->p + scratch->n;
    size_t room = scratch->cap - scratch->n;
    flushed = left == 0;
    size_t result = flushed ? iconv(cd, NULL, NULL, &op, &room) : iconv(cd, &ip, &left, &op, &room);
    int why = errno;
    scratch->n = (size_t)(op - scratch->p);
    if (result != (size_t)-1 || why == E2BIG) continue;
    const unsigned char *u = (const unsigned char *)ip;
    if (why == EILSEQ && left && *u == 0x80 && strcmp(c->name, "GBK") == 0) {
      ND_TRY(nd_buf_append(scratch, "\xE2\x82\xAC", 3, err));
      ip++;
      left--;
      continue;
    }
    ND_TRY(nd_buf_append(scratch, replacement, 3, err));
    /* EINVAL: truncated at the end; glibc may have consumed the bytes. */
    size_t n = why == EILSEQ && left ? bad_length(c, u, left) : left;
    ip += n;
    left -= n;
  }
  *out = nd_buf_str(scratch);
  return ND_OK;
}

/* Sets *known to false if this machine cannot decode the charset. */
static nd_status decode(nd_str *out, bool *known, nd_buf *scratch, nd_str bytes,
                        const nd_charset *c, nd_error *err) {
  *known = true;
  scratch->n = 0;
  if (c->kind == ND_CHARSET_UTF8) return from_utf8(out, scratch, bytes, err);
  if (c->kind == ND_CHARSET_UTF16LE || c->kind == ND_CHARSET_UTF16BE)
    return from_utf16(out, scratch, bytes, c->kind == ND_CHARSET_UTF16BE, err);
  if (c->kind != ND_CHARSET_SHIFT &&
      nd_ascii_prefix((const unsigned char *)bytes.p, bytes.n) == bytes.n) {
    *out = bytes;
    return ND_OK;
  }
  upper_half table;
  if (c->kind == ND_CHARSET_1252) {
    fill_1252(&table);
    return from_table(out, scratch, bytes, &table, err);
  }
  if (c->kind == ND_CHARSET_USER) {
    for (unsigned b = 128; b < 256; b++) set_char(&table, b, 0xF700 + b);
    return from_table(out, scratch, bytes, &table, err);
  }
  iconv_t cd = iconv_open("UTF-8", c->iconv);
  *known = cd != (iconv_t)-1;
  if (!*known) return ND_OK;
  nd_status status;
  if (c->kind == ND_CHARSET_BYTES) {
    fill_from_iconv(&table, cd);
    status = from_table(out, scratch, bytes, &table, err);
  } else {
    status = from_iconv(out, scratch, bytes, c, cd, err);
  }
  iconv_close(cd);
  return status;
}

nd_status nd_charset_to_utf8(nd_str *out, nd_buf *scratch, nd_str bytes, nd_str declared, bool html,
                             nd_error *err) {
  const unsigned char *u = (const unsigned char *)bytes.p;
  *out = bytes;
  scratch->n = 0;
  if (bytes.n == 0) return ND_OK;
  if (bytes.n >= 3 && memcmp(u, "\xEF\xBB\xBF", 3) == 0)
    return from_utf8(out, scratch, (nd_str){bytes.p + 3, bytes.n - 3}, err);
  if (bytes.n >= 2 && ((u[0] == 0xFE && u[1] == 0xFF) || (u[0] == 0xFF && u[1] == 0xFE)))
    return from_utf16(out, scratch, (nd_str){bytes.p + 2, bytes.n - 2}, u[0] == 0xFE, err);
  /* The parameter of a header may still be quoted. */
  if (declared.n >= 2 && declared.p[0] == '"' && declared.p[declared.n - 1] == '"')
    declared = (nd_str){declared.p + 1, declared.n - 2};
  bool known = false;
  const nd_charset *c = nd_charset_find(declared);
  if (c) ND_TRY(decode(out, &known, scratch, bytes, c, err));
  if (known) return ND_OK;
  c = html ? nd_charset_prescan(bytes) : NULL;
  if (c) ND_TRY(decode(out, &known, scratch, bytes, c, err));
  if (known || nd_utf8_valid_prefix(bytes) == bytes.n) return ND_OK;
  c = html ? nd_charset_late_meta(bytes) : NULL;
  if (c) ND_TRY(decode(out, &known, scratch, bytes, c, err));
  if (known) return ND_OK;
  return decode(out, &known, scratch, bytes, nd_charset_find(nd_str_of("windows-1252")), err);
}
