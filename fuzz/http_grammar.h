/* A grammar of HTTP responses around pages whose visible words are known (page_grammar.h):
 * status lines, fields in any order and case, chunks, content encodings, charsets. */
#ifndef FUZZ_HTTP_GRAMMAR_H
#define FUZZ_HTTP_GRAMMAR_H

#include "page_grammar.h"

typedef struct http_page {
  nd_buf seen;    /* the words to see, UTF-8, a space behind each */
  bool text;      /* not an image */
  bool packed;    /* a wrong length would damage it, or give it other characters */
  size_t largest; /* bytes that it unpacks to at most */
  char type[160]; /* its media type; "": not stated */
} http_page;

/* A name and its value; how they are set apart is a choice. */
static void http_field(nd_buf *out, const char *name, const char *value, const char *eol,
                       fuzz_bytes *in) {
  fuzz_put_cased(out, name, in);
  switch (fuzz_pick(in, 6)) {
    case 1: fuzz_puts(out, ":"); break;
    case 2: fuzz_puts(out, ":\t  "); break;
    case 3: fuzz_puts(out, " : "); break;
    case 4: fuzz_puts(out, ":"), fuzz_puts(out, eol), fuzz_puts(out, "\t "); break;
    default: fuzz_puts(out, ": ");
  }
  fuzz_puts(out, value);
  fuzz_puts(out, fuzz_chance(in, 8) ? " " : "");
  fuzz_puts(out, eol);
}

/* --- charsets -------------------------------------------------------------------- */
typedef enum http_declared { UNDECLARED, IN_HEADER, IN_META, BY_BOM } http_declared;

typedef struct http_charset {
  const char *label;
  http_declared where;
  int wide; /* bytes of a code unit, minus 1; negative: the large end first */
  const char *utf8, *bytes;
} http_charset;

static const http_charset http_charsets[] = {
    {"", UNDECLARED, 0, "\xc3\xa9", "\xc3\xa9"},
    {"utf-8", IN_HEADER, 0, "\xe6\x97\xa5", "\xe6\x97\xa5"},
    {"UTF8", IN_META, 0, "\xd1\x8f", "\xd1\x8f"},
    {"utf-8", BY_BOM, 0, "\xc3\xa9", "\xc3\xa9"},
    {"", UNDECLARED, 0, "\xc3\xa9", "\xe9"}, /* windows-1252 when nothing else fits */
    {"ISO-8859-1", IN_HEADER, 0, "\xc3\xa9", "\xe9"},
    {"koi8-r", IN_HEADER, 0, "\xd1\x8f", "\xd1"},
    {"windows-1251", IN_META, 0, "\xd1\x8f", "\xff"},
    {"Shift_JIS", IN_HEADER, 0, "\xe6\x97\xa5", "\x93\xfa"},
    {"euc-jp", IN_META, 0, "\xe6\x97\xa5", "\xc6\xfc"},
    {"gb18030", IN_META, 0, "\xe6\x97\xa5", "\xc8\xd5"},
    {"big5", IN_HEADER, 0, "\xe6\x97\xa5", "\xa4\xe9"},
    {"euc-kr", IN_HEADER, 0, "\xea\xb0\x80", "\xb0\xa1"},
    {"utf-16le", BY_BOM, 1, "\xd1\x8f", "\x4f\x04"},
    {"utf-16be", BY_BOM, -1, "\xd1\x8f", "\x04\x4f"},
    {"utf-16le", IN_HEADER, 1, "\xd1\x8f", "\x4f\x04"},
};

static bool http_is_mark(nd_str token) {
  for (size_t i = 0; i < sizeof http_charsets / sizeof *http_charsets; i++)
    if (nd_str_eq(token, nd_str_of(http_charsets[i].utf8))) return true;
  return false;
}

/* The page's bytes in its charset. */
static void http_encode(nd_buf *out, nd_str text, const http_charset *c) {
  static const char zero = 0;
  if (c->where == BY_BOM)
    fuzz_puts(out, c->wide == 0 ? "\xef\xbb\xbf" : c->wide > 0 ? "\xff\xfe" : "\xfe\xff");
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == PAGE_MARK[0]) {
      fuzz_put(out, c->bytes, c->wide ? 2 : strlen(c->bytes));
    } else {
      if (c->wide < 0) fuzz_put(out, &zero, 1);
      fuzz_put(out, text.p + i, 1);
      if (c->wide > 0) fuzz_put(out, &zero, 1);
    }
  }
}

/* A page in some charset into `out`, its words into m->seen, its type into m->type. */
static const http_charset *http_page_make(http_page *m, nd_buf *out, bool *nuls, unsigned id,
                                          fuzz_bytes *in) {
  static page g; /* keeps its buffers */
  static const char *const types[] = {"text/html", "Text/HTML", "application/xhtml+xml", NULL};
  static const char *const unsaid[] = {"", "text/x-unknown", "unknown/unknown", NULL};
  static const char *const params[] = {"; charset=%s", ";charset=\"%s\"", "; a=b; Charset = %s ",
                                       ";\n charset='%s'; q=1", NULL};
  static const char *const metas[] = {
      "<meta charset=%s>", "<META CharSet = \"%s\" x/>",
      "<!-- x --><meta http-equiv=content-type content='text/html; charset=%s'>", NULL};
  const http_charset *c =
      &http_charsets[fuzz_pick(in, sizeof http_charsets / sizeof *http_charsets)];
  bool sniffed = c->where == UNDECLARED && fuzz_chance(in, 2);
  g.html.n = g.seen.n = m->seen.n = 0;
  g.next = id << 12;
  g.hidden = 0;
  g.foreign = false;
  g.in = in;
  *nuls = g.nuls = !sniffed && fuzz_chance(in, 4);
  char label[96];
  snprintf(label, sizeof label, fuzz_word(in, params), c->label);
  snprintf(m->type, sizeof m->type, "%s%s", fuzz_word(in, sniffed ? unsaid : types),
           c->where == IN_HEADER ? label : "");
  if (sniffed) page_put(&g, fuzz_chance(in, 2) ? "<html>" : "\n <!DOCTYPE html>\n");
  if (c->where == IN_META) fuzz_putf(&g.html, fuzz_word(in, metas), c->label);
  if (c->where == IN_HEADER && fuzz_chance(in, 4)) page_put(&g, "<meta charset=macintosh>");
  page_make(&g);
  http_encode(out, nd_buf_str(&g.html), c);
  for (size_t i = 0; i < g.seen.n; i++) {
    if (g.seen.p[i] == PAGE_MARK[0])
      fuzz_puts(&m->seen, c->utf8);
    else
      fuzz_put(&m->seen, g.seen.p + i, 1);
  }
  m->text = true;
  m->packed = c->wide != 0;
  m->largest = 0;
  return c;
}

/* Words as plain text. */
static void http_words(nd_buf *out, nd_buf *seen, unsigned id, fuzz_bytes *in) {
  static const char *const between[] = {" ", "\n", ", ", " <b> ", "\r\n\r\n", " &amp; ", NULL};
  for (unsigned i = id << 12; fuzz_pick(in, 8); i++) {
    fuzz_putf(out, "q%04xz%s", i & 0xffff, fuzz_word(in, between));
    fuzz_putf(seen, "q%04xz ", i & 0xffff);
  }
}

/* A page by itself; its media type, or NULL. */
static const char *http_resource(http_page *m, nd_buf *out, unsigned id, fuzz_bytes *in) {
  bool nuls;
  http_page_make(m, out, &nuls, id, in);
  return m->type[0] ? m->type : NULL;
}

/* --- transfer and content encodings -------------------------------------------------- */
static void http_chunks(nd_buf *out, nd_str body, fuzz_bytes *in) {
  static const char *const ends[] = {
      "0\r\n\r\n", "0\r\n", "000;x\r\n\r\n", "0\nX-Trailer: h0000z\n\n", "", NULL};
  static const char *const sizes[] = {"%zx", "%zX", "000%zx", "%zX;a=\"b;c\"", "%zx \t", NULL};
  for (size_t at = 0; at < body.n;) {
    size_t n = 1 + fuzz_pick(in, 256) * (fuzz_chance(in, 4) ? 40u : 1u);
    if (n > body.n - at || !in->n) n = body.n - at;
    const char *eol = fuzz_chance(in, 4) ? "\n" : "\r\n";
    fuzz_putf(out, fuzz_word(in, sizes), n);
    fuzz_puts(out, eol);
    fuzz_put(out, body.p + at, n);
    fuzz_puts(out, eol);
    at += n;
  }
  fuzz_puts(out, body.n ? fuzz_word(in, ends) : "0\r\n\r\n");
}

/* Packs `body` by one codec and gives its name. */
static const char *http_pack(nd_buf *body, fuzz_bytes *in) {
  static nd_buf packed;
  static const char *const gzips[] = {"gzip", "x-gzip", "GZip", "gzip;q=1", NULL};
  const char *name;
  packed.n = 0;
  switch (fuzz_pick(in, 5)) {
    default:
      name = fuzz_word(in, gzips);
      fuzz_deflate(&packed, nd_buf_str(body), 31, 1);
      break;
    case 1:
      name = "deflate";
      fuzz_deflate(&packed, nd_buf_str(body), 15, 1);
      break;
    case 2:
      name = "Deflate";
      fuzz_deflate(&packed, nd_buf_str(body), -15, 1);
      if (packed.n > 1 && (packed.p[0] & 15) == 8) { /* might be taken for the other kind */
        packed.n = 0;
        fuzz_deflate(&packed, nd_buf_str(body), 15, 1);
      }
      break;
    case 3:
      name = "zstd";
      fuzz_zstd(&packed, nd_buf_str(body), true);
      break;
    case 4: return "identity";
  }
  body->n = 0;
  fuzz_put_str(body, nd_buf_str(&packed));
  return name;
}

typedef struct http_coding {
  char content[64], transfer[64];
} http_coding;

/* What is done to the body, and what the head says of it. */
static void http_code(http_coding *how, http_page *m, nd_buf *body, bool plain_text,
                      fuzz_bytes *in) {
  static const char *const lies[] = {"gzip", "zstd", "br", "x-unknown", "compress", NULL};
  nd_buf chunked = {0};
  *how = (http_coding){{0}, {0}};
  unsigned rule = fuzz_pick(in, 8), codecs = rule == 1 ? 1 : rule == 2 ? 2 : 0;
  if (rule == 3 && plain_text) {
    snprintf(how->content, sizeof how->content, "%s", fuzz_word(in, lies));
    m->packed = true; /* with rubbish behind it, it would not pass for text */
  }
  for (unsigned i = 0; i < codecs; i++) {
    if (body->n > m->largest) m->largest = body->n;
    const char *name = http_pack(body, in);
    size_t at = strlen(how->content);
    snprintf(how->content + at, sizeof how->content - at, "%s%s", i ? ", " : "", name);
    m->packed |= name[0] != 'i';
  }
  bool lost = codecs == 0 && rule == 4;
  if (lost) { /* nothing says that it is packed */
    m->largest = body->n;
    m->packed = true;
    nd_buf whole = *body;
    *body = (nd_buf){0};
    fuzz_deflate(body, nd_buf_str(&whole), 31, 1);
    nd_buf_clear(&whole);
  }
  if (lost || !fuzz_chance(in, 3)) return;
  if (codecs && fuzz_chance(in, 4)) { /* packed for the transfer */
    snprintf(how->transfer, sizeof how->transfer, "%s, ", how->content);
    how->content[0] = '\0';
  }
  strcat(how->transfer, "chunked");
  if (codecs == 0 && fuzz_chance(in, 8)) return; /* joined already */
  http_chunks(&chunked, nd_buf_str(body), in);
  body->n = 0;
  fuzz_put_str(body, nd_buf_str(&chunked));
  nd_buf_clear(&chunked);
}

/* --- the message ----------------------------------------------------------------------- */
static void http_head(nd_buf *out, http_page *m, const http_coding *how, fuzz_bytes *in) {
  static const char *const status[] = {"HTTP/1.1 200 OK",
                                       "HTTP/1.0 200",
                                       "http/1.1 404 Not Found",
                                       "ICY 200 OK",
                                       "HTTP/1.1  206 x",
                                       "HTTP/2 200 ",
                                       NULL};
  static const char *const others[] = {"Server: <b>x</b>",  "X-A: h0000z",
                                       "Content-Length: 1", "Set-Cookie: a=\"b\"; c",
                                       "Content-Type:",     NULL};
  const char *eol = fuzz_chance(in, 4) ? "\n" : "\r\n";
  bool bare = fuzz_chance(in, 8);
  m->packed |= bare; /* its blank line may not be lost */
  unsigned order = fuzz_pick(in, 6);
  if (!bare) {
    if (fuzz_chance(in, 8)) fuzz_puts(out, "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n");
    fuzz_puts(out, fuzz_word(in, status));
    fuzz_puts(out, eol);
  } else {
    fuzz_puts(out, "Server: x"), fuzz_puts(out, eol);
  }
  for (unsigned i = 0; i < 3; i++) {
    unsigned field = order > 2 ? (order - i) % 3 : (order + i) % 3;
    if (fuzz_chance(in, 3)) fuzz_puts(out, fuzz_word(in, others)), fuzz_puts(out, eol);
    if (!bare && fuzz_chance(in, 8)) fuzz_puts(out, "no colon"), fuzz_puts(out, eol);
    if (field == 0 && m->type[0]) {
      if (fuzz_chance(in, 8)) http_field(out, "Content-Type", "image/gif", eol, in);
      http_field(out, "Content-Type", m->type, eol, in);
    }
    if (field == 1 && how->content[0]) http_field(out, "Content-Encoding", how->content, eol, in);
    if (field == 2 && how->transfer[0])
      http_field(out, "Transfer-Encoding", how->transfer, eol, in);
  }
  fuzz_puts(out, eol);
}

/* A response into `out`, and what comes of it into `m`. */
static void http_make(http_page *m, nd_buf *out, unsigned id, fuzz_bytes *in) {
  static nd_buf body;
  static const char *const images[] = {"image/png", "application/octet-stream", "video/mp4;x",
                                       NULL};
  http_coding how = {{0}, {0}};
  body.n = 0;
  unsigned rule = fuzz_pick(in, 8);
  if (rule == 7) {
    *m = (http_page){.seen = m->seen};
    m->seen.n = 0;
    snprintf(m->type, sizeof m->type, "%s", fuzz_word(in, images));
    fuzz_puts(&body, "\x89PNG <p>h0000z</p>");
  } else if (rule == 6) {
    *m = (http_page){.seen = m->seen, .text = true, .type = "text/plain; charset=utf-8"};
    m->seen.n = 0;
    http_words(&body, &m->seen, id, in);
  } else {
    bool nuls;
    const http_charset *c = http_page_make(m, &body, &nuls, id, in);
    bool html = m->type[0] && (m->type[0] | 32) != 'u' && !strstr(m->type, "unknown");
    if (html || fuzz_chance(in, 2)) http_code(&how, m, &body, !nuls && !c->wide, in);
    if (!html && m->packed && !c->wide && !how.content[0] &&
        !how.transfer[0]) { /* only HTML is unpacked then */
      m->text = false;
    }
  }
  http_head(out, m, &how, in);
  fuzz_put_str(out, nd_buf_str(&body));
}

#endif
