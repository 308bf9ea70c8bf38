/* HTTP messages: heads, chunks, content encodings, media types, bombs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "input/http.h"
#include "seed.h"

enum { MAX = 1 << 20 };
#define PAGE "<p>The quick brown fox, the quick brown fox.</p>\n"

typedef struct result {
  nd_status status;
  nd_document doc;
  nd_error err;
} result;

static nd_str str(const char *s) {
  return nd_str_of(s);
}

/* The message is read from memory of exactly its size. */
static char *held;
static result decode(nd_decoder *d, nd_str bytes, bool truncated) {
  result r = {0};
  free(held);
  held = malloc(bytes.n ? bytes.n : 1);
  memcpy(held, bytes.p, bytes.n);
  nd_http_message m = {.bytes = {held, bytes.n}, .truncated = truncated, .max_body = MAX};
  d->body.n = d->spare.n = 0;
  r.status = nd_http_decode(&r.doc, d, &m, &r.err);
  return r;
}

static void assert_body(nd_decoder *d, nd_str message, nd_kind kind, const char *charset,
                        const char *body) {
  result r = decode(d, message, false);
  if (r.status != ND_OK) print_message("%s\n", r.err.message);
  assert_int_equal(r.status, ND_OK);
  if (!nd_str_eq(r.doc.body, str(body))) {
    print_message("got [%.*s] want [%s]\n", (int)r.doc.body.n, r.doc.body.p, body);
  }
  assert_true(nd_str_eq(r.doc.body, str(body)));
  assert_int_equal(r.doc.kind, kind);
  assert_true(nd_str_eq(r.doc.charset, str(charset)));
}

static void heads_give_type_charset_and_body(void **state) {
  (void)state;
  nd_decoder d = {0};
  static const struct {
    const char *message;
    nd_kind kind;
    const char *charset, *body;
  } cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx", ND_KIND_HTML, "", "x"},
      {"HTTP/1.0 404\nContent-type:text/html;charset=\"EUC-JP\"\n\nx", ND_KIND_HTML, "EUC-JP", "x"},
      {"HTTP/1.1 200 OK\r\nCONTENT-TYPE : Text/HTML ; x=y ; Charset = utf-8 \r\n\r\nx",
       ND_KIND_HTML, "utf-8", "x"},
      {"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/plain;\r\n\tcharset=latin1\r\n\r\nx",
       ND_KIND_TEXT, "latin1", "x"},
      {"ICY 200 OK\r\nContent-Type: text/html;charset='koi8-r'\r\n\r\nx", ND_KIND_HTML, "koi8-r",
       "x"},
      {"HTTP/1.1 200 OK\r\n\r\n", ND_KIND_SNIFF, "", ""},
      {"HTTP/1.1 200 OK", ND_KIND_SNIFF, "", ""},
      {"HTTP/1.1 200 OK\r\nrubbish\r\nContent-Type: text/html\r\n<p>no blank", ND_KIND_HTML, "",
       "<p>no blank"},
      /* without a status line */
      {"Content-Type: text/html; charset=UTF-8\nServer: x\n\n<p>\n", ND_KIND_HTML, "UTF-8",
       "<p>\n"},
      {"Note: this is\nonly text\n\nwith lines", ND_KIND_SNIFF, "",
       "Note: this is\nonly text\n\nwith lines"},
      {"<html>no head", ND_KIND_SNIFF, "", "<html>no head"},
      {"", ND_KIND_SNIFF, "", ""},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx",
       ND_KIND_HTML, "", "x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_body(&d, str(cases[i].message), cases[i].kind, cases[i].charset, cases[i].body);
  }
  nd_decoder_clear(&d);
}

static void media_types_give_the_kind(void **state) {
  (void)state;
  static const struct {
    const char *type;
    nd_kind kind;
  } cases[] = {
      {"text/html", ND_KIND_HTML},
      {"application/xhtml+xml", ND_KIND_HTML},
      {"TEXT/HTML;a", ND_KIND_HTML},
      {"text/plain", ND_KIND_TEXT},
      {"", ND_KIND_SNIFF},
      {"unk", ND_KIND_SNIFF},
      {"unknown/unknown", ND_KIND_SNIFF},
      {"text/x-foo", ND_KIND_SNIFF},
      {"application/json", ND_KIND_SNIFF},
      {"application/rss+xml", ND_KIND_SNIFF},
      {"application/xml", ND_KIND_SNIFF},
      {"image/png", ND_KIND_OTHER},
      {"audio/mpeg", ND_KIND_OTHER},
      {"video/mp4", ND_KIND_OTHER},
      {"font/woff2", ND_KIND_OTHER},
      {"application/pdf", ND_KIND_OTHER},
      {"application/octet-stream", ND_KIND_OTHER},
      {"text/css", ND_KIND_OTHER},
      {"application/javascript", ND_KIND_OTHER},
      {"application/zip", ND_KIND_OTHER},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_document doc = {0};
    nd_http_media(&doc, str(cases[i].type));
    assert_int_equal(doc.kind, cases[i].kind);
    assert_true((doc.kind == ND_KIND_OTHER) == (doc.why != NULL));
  }
  nd_decoder d = {0};
  result r = decode(&d, (nd_str){"HTTP/1.1 200 OK\n\nab\0cd", 22}, false);
  assert_int_equal(r.doc.kind, ND_KIND_OTHER);
  assert_string_equal(r.doc.why, "binary data");
  r = decode(&d, str("HTTP/1.1 200 OK\n\n%PDF-1.4"), false);
  assert_string_equal(r.doc.why, "a PDF");
  r = decode(&d,
             (nd_str){"HTTP/1.1 200 OK\n\n\xff\xfe"
                      "a\0b\0",
                      23},
             false);
  assert_int_equal(r.doc.kind, ND_KIND_SNIFF);
  /* Zero bytes are text where the charset or a mark says so. */
  static const char *const wide[] = {"utf-16le", "UTF-32", "ucs-2", "utf16", "utf-8"};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
    char message[100];
    int n = snprintf(message, sizeof message,
                     "HTTP/1.1 200 OK\nContent-Type: text/plain; charset=%s\n\na.b.", wide[i]);
    message[n - 1] = message[n - 3] = '\0';
    r = decode(&d, (nd_str){message, (size_t)n}, false);
    assert_int_equal(r.doc.kind, i < 4 ? ND_KIND_TEXT : ND_KIND_OTHER);
  }
  r = decode(&d, (nd_str){"HTTP/1.1 200 OK\n\n\xfe\xff\0a\0b", 23}, false);
  assert_int_equal(r.doc.kind, ND_KIND_SNIFF);
  nd_decoder_clear(&d);
}

#define CHUNKED "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"

static void chunks_are_joined_even_if_damaged(void **state) {
  (void)state;
  nd_decoder d = {0};
  static const struct {
    const char *body, *want;
  } cases[] = {
      {"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "abcde"},
      {"3\nabc\n2\nde\n0\n\n", "abcde"},
      {"A  \r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", "0123456789"},
      {"0\r\n\r\n", ""},
      {"", ""},
      {"5\r\nab", "ab"},                /* cut off */
      {"3\r\nabc\r\n", "abc"},          /* without the last chunk */
      {"<p>plain</p>", "<p>plain</p>"}, /* joined already */
      {"beef stew\nis good", "beef stew\nis good"},
      {"2009\nwas a year", "2009\nwas a year"},
      {"0\nis a number", "0\nis a number"},
      {"3\r\nabcdef", "3\r\nabcdef"},
      {"3\r\nabc\r\nrest of it", "abcrest of it"},
      {"fffffffffffffffff\r\nabc", "fffffffffffffffff\r\nabc"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char message[500];
    snprintf(message, sizeof message, CHUNKED "%s", cases[i].body);
    assert_body(&d, str(message), ND_KIND_TEXT, "", cases[i].want);
  }
  nd_decoder_clear(&d);
}

static nd_buf pack_zlib(nd_str in, int window) {
  nd_buf b = {0};
  nd_error err;
  assert_int_equal(nd_buf_reserve(&b, in.n + 1000, &err), ND_OK);
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, window, 9, 0), Z_OK);
  z.next_in = (unsigned char *)(uintptr_t)in.p;
  z.avail_in = (unsigned)in.n;
  z.next_out = (unsigned char *)b.p;
  z.avail_out = (unsigned)b.cap;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  b.n = z.total_out;
  deflateEnd(&z);
  return b;
}

static nd_buf pack_zstd(nd_str in) {
  nd_buf b = {0};
  nd_error err;
  assert_int_equal(nd_buf_reserve(&b, ZSTD_compressBound(in.n), &err), ND_OK);
  b.n = ZSTD_compress(b.p, b.cap, in.p, in.n, 3);
  return b;
}

static nd_buf message_of(const char *encoding, nd_str body) {
  nd_buf b = {0};
  nd_error err;
  assert_int_equal(
      nd_buf_printf(&b, &err, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%s\r\n\r\n", encoding),
      ND_OK);
  assert_int_equal(nd_buf_append(&b, body.p, body.n, &err), ND_OK);
  return b;
}

static void check_packed(nd_decoder *d, const char *encoding, nd_buf packed) {
  nd_buf m = message_of(encoding, nd_buf_str(&packed));
  assert_body(d, nd_buf_str(&m), ND_KIND_HTML, "", PAGE);
  /* Truncated: an error, unless it is known to be. */
  m.n -= 12;
  result r = decode(d, nd_buf_str(&m), false);
  assert_int_equal(r.status, ND_ERR_DATA);
  r = decode(d, nd_buf_str(&m), true);
  assert_int_equal(r.status, ND_OK);
  assert_true(r.doc.body.n <= strlen(PAGE));
  assert_int_equal(memcmp(r.doc.body.p, PAGE, r.doc.body.n), 0);
  nd_buf_clear(&m);
  nd_buf_clear(&packed);
}

static void content_encodings_are_undone(void **state) {
  (void)state;
  nd_decoder d = {0};
  nd_str page = str(PAGE);
  check_packed(&d, "Content-Encoding: gzip", pack_zlib(page, 31));
  check_packed(&d, "content-encoding: x-gzip", pack_zlib(page, 31));
  check_packed(&d, "X: y", pack_zlib(page, 31)); /* its header was lost */
  check_packed(&d, "Content-Encoding: deflate", pack_zlib(page, 15));
  check_packed(&d, "Content-Encoding: deflate", pack_zlib(page, -15));
  check_packed(&d, "Content-Encoding: deflate", pack_zlib(page, 31));
  check_packed(&d, "Content-Encoding: zstd", pack_zstd(page));

  /* Several, in one header and in two; in a transfer encoding; chunked too. */
  nd_buf inner = pack_zlib(page, 15);
  nd_buf outer = pack_zlib(nd_buf_str(&inner), 31);
  static const char *const two[] = {
      "Content-Encoding: deflate, gzip", "Content-Encoding: deflate\r\nContent-Encoding: gzip",
      "Content-Encoding: deflate\r\nTransfer-Encoding: gzip",
      "Transfer-Encoding: gzip, chunked\r\nContent-Encoding: deflate"};
  for (size_t i = 0; i < 4; i++) {
    nd_buf m = message_of(two[i], nd_buf_str(&outer));
    assert_body(&d, nd_buf_str(&m), ND_KIND_HTML, "", PAGE);
    nd_buf_clear(&m);
  }
  nd_buf chunks = {0};
  nd_error err;
  assert_int_equal(nd_buf_printf(&chunks, &err, "%zx\r\n", outer.n), ND_OK);
  assert_int_equal(nd_buf_append(&chunks, outer.p, outer.n, &err), ND_OK);
  assert_int_equal(nd_buf_append(&chunks, "\r\n0\r\n\r\n", 7, &err), ND_OK);
  nd_buf m = message_of("Transfer-Encoding: chunked\r\nContent-Encoding: deflate, gzip",
                        nd_buf_str(&chunks));
  assert_body(&d, nd_buf_str(&m), ND_KIND_HTML, "", PAGE);
  nd_buf_clear(&m);
  nd_buf_clear(&chunks);
  nd_buf_clear(&inner);

  /* Members one after another, and rubbish behind them. */
  inner = pack_zlib(str("<p>The quick brown fox, "), 31);
  nd_buf rest = pack_zlib(str("the quick brown fox.</p>\n"), 31);
  assert_int_equal(nd_buf_append(&inner, rest.p, rest.n, &err), ND_OK);
  m = message_of("Content-Encoding: gzip", nd_buf_str(&inner));
  assert_body(&d, nd_buf_str(&m), ND_KIND_HTML, "", PAGE);
  assert_int_equal(nd_buf_append(&m, "\r\n\r\n", 4, &err), ND_OK);
  assert_body(&d, nd_buf_str(&m), ND_KIND_HTML, "", PAGE);
  nd_buf_clear(&m);
  /* Rubbish that begins as a member does, with half of its magic, and without. */
  static const char *const rubbish[] = {"\x1f\x8b\x08 this is no member at all, is it",
                                        "\x1f this is no member at all, is it",
                                        "nor is this one, really", "\x1f\x8b and too short"};
  for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
    m = message_of("Content-Encoding: gzip", nd_buf_str(&inner));
    assert_int_equal(nd_buf_append(&m, rubbish[i], strlen(rubbish[i]), &err), ND_OK);
    assert_body(&d, nd_buf_str(&m), ND_KIND_HTML, "", PAGE);
    nd_buf_clear(&m);
  }
  nd_buf_clear(&inner);
  nd_buf_clear(&rest);
  nd_buf_clear(&outer);

  /* Stored unpacked, with the header left on. */
  static const char *const names[] = {"gzip",     "deflate", "zstd",    "br",
                                      "compress", "rot13",   "gzip, br"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char line[80];
    snprintf(line, sizeof line, "Content-Encoding: %s", names[i]);
    m = message_of(line, page);
    assert_body(&d, nd_buf_str(&m), ND_KIND_HTML, "", PAGE);
    nd_buf_clear(&m);
  }
  /* What we cannot unpack. */
  m = message_of("Content-Encoding: br", (nd_str){"\x1b\x03\x00\xf8", 4});
  result r = decode(&d, nd_buf_str(&m), false);
  assert_int_equal(r.doc.kind, ND_KIND_OTHER);
  assert_string_equal(r.doc.why, "content encoding br");
  nd_buf_clear(&m);
  m = message_of("Content-Encoding: compress", (nd_str){"\x1f\x9d\x90\x61\xc4", 5});
  r = decode(&d, nd_buf_str(&m), false);
  assert_int_equal(r.doc.kind, ND_KIND_OTHER);
  assert_string_equal(r.doc.why, "content encoding compress");
  nd_buf_clear(&m);
  /* "x^2" looks like zlib's head, and is text. */
  m = message_of("Content-Encoding: deflate", str("x^2 and so on, all of it text"));
  assert_body(&d, nd_buf_str(&m), ND_KIND_HTML, "", "x^2 and so on, all of it text");
  nd_buf_clear(&m);
  static const struct {
    const char *encoding;
    nd_str body;
  } damaged[] = {{"Content-Encoding: gzip", {"\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff", 13}},
                 {"Content-Encoding: zstd", {"\x28\xb5\x2f\xfd\xff\xff\xff\xff", 8}},
                 {"Content-Encoding: deflate", {"\x78\x9c\xff\xff\xff\xff", 6}},
                 {"Content-Encoding: deflate", {"\xff\xff\xff\1\2", 5}},
                 {"Content-Encoding: gzip,gzip,gzip,gzip,gzip", {"x", 1}}};
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
    m = message_of(damaged[i].encoding, damaged[i].body);
    r = decode(&d, nd_buf_str(&m), false);
    assert_int_equal(r.status, ND_ERR_DATA);
    nd_buf_clear(&m);
  }
  nd_decoder_clear(&d);
}

static void bombs_stop_at_the_limit(void **state) {
  (void)state;
  nd_buf zeros = {0};
  nd_error err;
  assert_int_equal(nd_buf_reserve(&zeros, 64 << 20, &err), ND_OK);
  memset(zeros.p, ' ', zeros.cap);
  zeros.n = 64 << 20;
  nd_decoder d = {0};
  for (int i = 0; i < 4; i++) {
    nd_buf packed = i < 3 ? pack_zlib(nd_buf_str(&zeros), i == 0   ? 31
                                                          : i == 1 ? 15
                                                                   : -15)
                          : pack_zstd(nd_buf_str(&zeros));
    nd_buf m = message_of(i == 0   ? "Content-Encoding: gzip"
                          : i == 3 ? "Content-Encoding: zstd"
                                   : "Content-Encoding: deflate",
                          nd_buf_str(&packed));
    result r = decode(&d, nd_buf_str(&m), false);
    assert_int_equal(r.status, ND_ERR_LIMIT);
    assert_true(d.body.cap + d.spare.cap < 4 * MAX);
    nd_buf_clear(&packed);
    nd_buf_clear(&m);
  }
  /* gzip that is called deflate. */
  nd_buf gz = pack_zlib(nd_buf_str(&zeros), 31);
  nd_buf called = message_of("Content-Encoding: deflate", nd_buf_str(&gz));
  assert_int_equal(decode(&d, nd_buf_str(&called), false).status, ND_ERR_LIMIT);
  nd_buf_clear(&called);
  nd_buf_clear(&gz);
  /* Exactly the limit is allowed, one byte more is not. */
  for (size_t more = 0; more < 2; more++) {
    nd_buf packed = pack_zlib((nd_str){zeros.p, MAX + more}, 31);
    nd_buf m = message_of("Content-Encoding: gzip", nd_buf_str(&packed));
    assert_int_equal(decode(&d, nd_buf_str(&m), false).status, more ? ND_ERR_LIMIT : ND_OK);
    nd_buf_clear(&packed);
    nd_buf_clear(&m);
  }
  nd_buf_clear(&zeros);
  nd_decoder_clear(&d);
}

static void mutated_messages_never_crash(void **state) {
  (void)state;
  uint64_t seed = test_seed();
  nd_decoder d = {0};
  nd_buf gz = pack_zlib(str(PAGE), 31), zs = pack_zstd(str(PAGE)), zl = pack_zlib(str(PAGE), 15);
  nd_buf m[4] = {
      message_of("Content-Encoding: gzip", nd_buf_str(&gz)),
      message_of("Content-Encoding: zstd", nd_buf_str(&zs)),
      message_of("Content-Encoding: deflate, br", nd_buf_str(&zl)),
      message_of("Transfer-Encoding: chunked", str("3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n"))};
  clock_t start = clock();
  int runs = 0;
  for (; runs < 40000 && clock() - start < CLOCKS_PER_SEC; runs++) {
    char copy[1000];
    const nd_buf *from = &m[runs % 4];
    memcpy(copy, from->p, from->n);
    size_t n = from->n;
    for (int k = 0; k < 3; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      copy[(seed >> 20) % n] = (char)(seed >> 50);
      if ((seed >> 60) == 0) n = 1 + (seed >> 30) % n;
    }
    result r = decode(&d, (nd_str){copy, n}, runs % 2);
    assert_true(r.status == ND_OK || r.status == ND_ERR_DATA || r.status == ND_ERR_LIMIT);
    if (r.status == ND_OK) assert_true((r.doc.kind == ND_KIND_OTHER) == (r.doc.why != NULL));
    unsigned sum = 0; /* every byte can be read */
    for (size_t i = 0; r.status == ND_OK && i < r.doc.body.n; i++) sum += (r.doc.body.p[i] == 'x');
    assert_true(sum <= r.doc.body.n);
  }
  print_message("%d mutations\n", runs);
  for (int i = 0; i < 4; i++) nd_buf_clear(&m[i]);
  nd_buf_clear(&gz);
  nd_buf_clear(&zs);
  nd_buf_clear(&zl);
  nd_decoder_clear(&d);
}

/* Bodies of more than one step, and one that breaks off just where a step ends. */
static void bodies_longer_than_a_step_are_complete(void **state) {
  (void)state;
  enum { N = 300000, STEP = 1 << 16 };
  char *text = malloc(N);
  for (size_t i = 0; i < N; i++) text[i] = (char)('a' + i * i % 23);
  nd_decoder d = {0};
  nd_buf m;
  result r;
  static const size_t sizes[] = {STEP - 1, STEP, STEP + 1, N};
  for (size_t i = 0; i < 3 * sizeof sizes / sizeof *sizes; i++) {
    nd_str body = {text, sizes[i / 3]};
    nd_buf packed = i % 3 == 0 ? pack_zstd(body) : pack_zlib(body, i % 3 == 1 ? 31 : -15);
    m = message_of(i % 3 == 0   ? "Content-Encoding: zstd"
                   : i % 3 == 1 ? "Content-Encoding: gzip"
                                : "Content-Encoding: deflate",
                   nd_buf_str(&packed));
    r = decode(&d, nd_buf_str(&m), false);
    if (r.status != ND_OK) fail_msg("%zu bytes: %s", body.n, r.err.message);
    assert_true(nd_str_eq(r.doc.body, body));
    nd_decoder_clear(&d);
    nd_buf_clear(&m);
    nd_buf_clear(&packed);
  }
  /* gzip without compression: a block of 65,535 bytes, and one byte of the next. */
  nd_buf b = {0};
  nd_error err;
  static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  static const unsigned char first[] = {0, 0xff, 0xff, 0, 0}, second[] = {1, 9, 0, 0xf6, 0xff};
  assert_int_equal(nd_buf_append(&b, head, sizeof head, &err), ND_OK);
  assert_int_equal(nd_buf_append(&b, first, sizeof first, &err), ND_OK);
  assert_int_equal(nd_buf_append(&b, text, STEP - 1, &err), ND_OK);
  assert_int_equal(nd_buf_append(&b, second, sizeof second, &err), ND_OK);
  assert_int_equal(nd_buf_append(&b, text, 1, &err), ND_OK);
  m = message_of("Content-Encoding: gzip", nd_buf_str(&b));
  /* zstd: a block of as much, and no end of the frame. */
  nd_buf zs = {0};
  assert_int_equal(nd_buf_reserve(&zs, ZSTD_compressBound(STEP) + 100, &err), ND_OK);
  ZSTD_CCtx *c = ZSTD_createCCtx();
  ZSTD_inBuffer in = {text, STEP, 0};
  ZSTD_outBuffer to = {zs.p, zs.cap, 0};
  assert_int_equal(ZSTD_compressStream2(c, &to, &in, ZSTD_e_flush), 0);
  zs.n = to.pos;
  ZSTD_freeCCtx(c);
  nd_buf cut = message_of("Content-Encoding: zstd", nd_buf_str(&zs));
  for (int i = 0; i < 4; i++) {
    const bool known = i % 2;
    r = decode(&d, nd_buf_str(i < 2 ? &m : &cut), known);
    assert_int_equal(r.status, known ? ND_OK : ND_ERR_DATA);
    if (!known) assert_non_null(strstr(r.err.message, "body is truncated"));
    if (known) assert_true(nd_str_eq(r.doc.body, (nd_str){i < 2 ? r.doc.body.p : text, STEP}));
    nd_decoder_clear(&d);
  }
  nd_buf_clear(&m);
  nd_buf_clear(&cut);
  nd_buf_clear(&zs);
  nd_buf_clear(&b);
  free(text);
}

/* Every allocation that can fail does, once: an error, no leak, no crash. */
static void test_no_memory(void **state) {
  (void)state;
  nd_buf packed[] = {pack_zlib(str(PAGE), 31),  pack_zlib(str(PAGE), 31), pack_zlib(str(PAGE), 15),
                     pack_zlib(str(PAGE), -15), pack_zstd(str(PAGE)),     {0}};
  static const char *const encoding[] = {"Content-Encoding: gzip",    "Content-Encoding: deflate",
                                         "Content-Encoding: deflate", "Content-Encoding: deflate",
                                         "Content-Encoding: zstd",    "Transfer-Encoding: chunked"};
  nd_error err;
  assert_int_equal(nd_buf_printf(&packed[5], &err, "3\r\nabc\r\nrest of it"), ND_OK);
  nd_mem_strict(true); /* room that is there already fails, too */
  for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
    nd_buf m = message_of(encoding[i], nd_buf_str(&packed[i]));
    for (uint64_t nth = 1;; nth++) {
      nd_decoder d = {0};
      nd_mem_fail_at(nth);
      result r = decode(&d, nd_buf_str(&m), false);
      bool reached = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      assert_int_equal(r.status, reached ? ND_ERR_MEMORY : ND_OK);
      nd_decoder_clear(&d);
      if (!reached) break;
      assert_true(nth < 100);
    }
    nd_buf_clear(&m);
    nd_buf_clear(&packed[i]);
  }
  nd_mem_strict(false);
}

static int drop_held(void **state) {
  (void)state;
  free(held);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heads_give_type_charset_and_body),
      cmocka_unit_test(media_types_give_the_kind),
      cmocka_unit_test(chunks_are_joined_even_if_damaged),
      cmocka_unit_test(content_encodings_are_undone),
      cmocka_unit_test(bombs_stop_at_the_limit),
      cmocka_unit_test(mutated_messages_never_crash),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(bodies_longer_than_a_step_are_complete),
  };
  return cmocka_run_group_tests(tests, NULL, drop_held);
}
