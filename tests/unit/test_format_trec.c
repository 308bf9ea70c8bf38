/* TREC records: hand-made ones, random ones against a naive splitter, and real
 * collections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "every_place.h"
#include "input/format.h"

static uint64_t seed = 4711;

static uint32_t any(uint32_t below) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (uint32_t)(seed >> 32) % below;
}

static void list(nd_buf *out, nd_stream *s, uint64_t max, bool raw) {
  nd_input_options o = {.max_document = max};
  uint64_t at = 0;
  out->n = 0;
  bool other = false; /* runs of OTHER may be cut anywhere: count them as one */
  for (;;) {
    nd_frame f;
    assert_int_equal(nd_format_trec.frame(&f, s, &o, &err), ND_OK);
    assert_int_equal(f.offset, at);
    at += f.length;
    assert_int_equal(nd_stream_offset(s), at);
    if (f.kind == ND_FRAME_END) break;
    assert_true(f.length > 0);
    if (f.kind != ND_FRAME_OTHER || !other)
      assert_int_equal(
          nd_buf_printf(out, NULL, "%c%llu ", "EDOR"[f.kind], (unsigned long long)f.offset), ND_OK);
    other = f.kind == ND_FRAME_OTHER;
    if (f.kind == ND_FRAME_REJECT)
      assert_int_equal(nd_buf_printf(out, NULL, "%.6s ", err.message), ND_OK);
    if (f.kind == ND_FRAME_DOCUMENT && raw)
      assert_int_equal(nd_buf_append(out, f.raw.p, f.raw.n, NULL), ND_OK);
  }
  assert_int_equal(nd_buf_printf(out, NULL, "E%llu", (unsigned long long)at), ND_OK);
}

static void list_bytes(nd_buf *out, nd_str text, uint64_t max, bool raw) {
  nd_stream *s = NULL;
  assert_int_equal(nd_stream_open_memory(&s, text, "bytes", NULL), ND_OK);
  list(out, s, max, raw);
  nd_stream_close(s);
}

static void expect(const char *text, uint64_t max, const char *frames) {
  nd_buf got = {0};
  list_bytes(&got, nd_str_of(text), max, false);
  if (!nd_str_eq(nd_buf_str(&got), nd_str_of(frames)))
    fail_msg("got %.*s, not %s", (int)got.n, got.p, frames);
  nd_buf_clear(&got);
}

static void frames_start_at_their_tags(void **state) {
  (void)state;
  expect("", 99, "E0");
  expect("nothing here", 99, "O0 E12");
  expect("<DOC>a</DOC>\n", 99, "D0 E13");
  expect("<doc>a</Doc>\r\n\r\n<DOC>b</DOC>", 99, "D0 O14 D16 E28");
  expect("<DOC>a</DOC><DOC>b</DOC> x", 99, "D0 D12 O24 E26");
  expect("</DOC>\n<DOC>\na <DOC> b\n</DOC>\n</DOC>\n", 99, "O0 D7 O30 E37");
  expect("<DOC>\na\n<DOC>\nb\n</DOC>\n", 99, "R0 the re D8 E23");
  expect("<DOC>\na\n", 99, "R0 the re E8");
  expect("<DOC>\ra\r<DOC>\rb\r</DOC>\n", 99, "R0 the re D8 E23");
  expect("<DOC>\na\n</DO", 99, "R0 the re E12");
  expect("<DOC>123</DOC>\n<DOC>1234</DOC>\n<DOC>1</DOC>", 14, "D0 R15 longer D31 E43");
  expect("<DOC id=\"3\" url='u'>x</DOC><DOCX></DOC><DOC\n>", 99, "D0 O27 E45");
  expect("<DOC>a</DOC><do", 99, "D0 O12 E15");
  /* A tag without an end is none. */
  char endless[3000];
  int n = snprintf(endless, sizeof endless, "<DOC %*s>a</DOC>\n", 2500, "");
  char frames[40];
  snprintf(frames, sizeof frames, "O0 E%d", n);
  expect(endless, 9999, frames);
}

/* --- a naive splitter ------------------------------------------------------ */

static bool at_word(nd_str t, size_t i, const char *word) {
  size_t n = strlen(word);
  return i + n <= t.n && strncasecmp(t.p + i, word, n) == 0;
}

static void naive(nd_buf *out, nd_str t, uint64_t max) {
  out->n = 0;
  bool other = false;
  size_t i = 0;
  while (i < t.n) {
    if (!at_word(t, i, "<doc>")) {
      if (!other) assert_int_equal(nd_buf_printf(out, NULL, "O%zu ", i), ND_OK);
      other = true;
      i++;
      continue;
    }
    other = false;
    size_t e = i + 5;
    bool closed = false, reopened = false;
    while (e < t.n && !(closed = at_word(t, e, "</doc>")) &&
           !(reopened = at_word(t, e, "<doc>") && (t.p[e - 1] == '\n' || t.p[e - 1] == '\r')))
      e++;
    size_t end = closed ? e + 6 : e;
    bool document = closed && end - i <= max;
    size_t next = end;
    if (closed && at_word(t, end, "\r\n")) {
      next += 2;
    } else if (closed && at_word(t, end, "\n")) {
      next += 1;
    }
    assert_int_equal(nd_buf_printf(out, NULL, "%c%zu ", document ? 'D' : 'R', i), ND_OK);
    if (!document)
      assert_int_equal(nd_buf_printf(out, NULL, "%s ", next - i > max ? "longer" : "the re"),
                       ND_OK);
    if (document) assert_int_equal(nd_buf_append(out, t.p + i, end - i, NULL), ND_OK);
    i = next;
  }
  assert_int_equal(nd_buf_printf(out, NULL, "E%zu", t.n), ND_OK);
}

static void random_records_agree_with_a_naive_splitter(void **state) {
  (void)state;
  print_message("seed %llu\n", (unsigned long long)seed);
  static const char *const bits[] = {"<DOC>", "</DOC>", "<doc>", "\n",    "\n<DOC>", "\r\n",
                                     "<",     "</do",   "<P>",   "text ", "\n",      "</dOC>\n"};
  nd_buf text = {0}, got = {0}, want = {0};
  for (int round = 0; round < 3000; round++) {
    text.n = 0;
    uint64_t max = any(3) ? any(100) : any(20000);
    for (uint32_t i = any(40); i; i--) {
      const char *bit = bits[any(12)];
      assert_int_equal(nd_buf_append(&text, bit, strlen(bit), NULL), ND_OK);
      if (any(30) == 0) { /* more than a window */
        size_t n = any(10000);
        assert_int_equal(nd_buf_reserve(&text, n, NULL), ND_OK);
        memset(text.p + text.n, "x<\n"[any(3)], n);
        text.n += n;
      }
    }
    list_bytes(&got, nd_buf_str(&text), max, true);
    naive(&want, nd_buf_str(&text), max);
    if (!nd_str_eq(nd_buf_str(&got), nd_buf_str(&want)))
      fail_msg("round %d, max %llu:\n%.*s\n%.*s\n%.*s", round, (unsigned long long)max, (int)text.n,
               text.p, (int)got.n, got.p, (int)want.n, want.p);
  }
  nd_buf_clear(&text);
  nd_buf_clear(&got);
  nd_buf_clear(&want);
}

/* --- decoding -------------------------------------------------------------- */

static void expect_document(const char *raw, nd_kind kind, const char *id, const char *url,
                            const char *time, const char *charset, const char *body) {
  nd_decoder d = {0};
  nd_input_options o = {.max_document = 1000};
  nd_document doc;
  if (nd_format_trec.decode(&doc, &d, nd_str_of(raw), &o, &err) != ND_OK)
    fail_msg("%s: %s", raw, err.message);
  assert_int_equal(doc.kind, kind);
  assert_true(nd_str_eq(doc.id, nd_str_of(id)));
  assert_true(nd_str_eq(doc.url, nd_str_of(url)));
  assert_true(nd_str_eq(doc.time, nd_str_of(time)));
  assert_true(nd_str_eq(doc.charset, nd_str_of(charset)));
  if (!nd_str_eq(doc.body, nd_str_of(body)))
    fail_msg("body \"%.*s\", not \"%s\"", (int)doc.body.n, doc.body.p, body);
  nd_decoder_clear(&d);
}

static void expect_error(const char *raw, const char *message) {
  nd_decoder d = {0};
  nd_input_options o = {.max_document = 1000};
  nd_document doc;
  assert_int_equal(nd_format_trec.decode(&doc, &d, nd_str_of(raw), &o, &err), ND_ERR_DATA);
  assert_string_equal(err.message, message);
  nd_decoder_clear(&d);
}

static void fields_and_headers_are_decoded(void **state) {
  (void)state;
  expect_document("<DOC>\n<DOCNO> AP-1 </DOCNO>\n<TEXT>\nhello\n</TEXT>\n</DOC>", ND_KIND_HTML,
                  "AP-1", "", "", "", "\n<TEXT>\nhello\n</TEXT>\n");
  expect_document("<doc><HEAD>x</HEAD><docno>2</docno>y</doc>", ND_KIND_HTML, "2", "", "", "",
                  "<HEAD>x</HEAD>\ny");
  expect_document(
      "<DOC>\n<DOCNO>WTX-1</DOCNO>\n<DOCOLDNO>IA-3</DOCOLDNO>\n<DOCHDR>\n"
      "http://a.b:80/c 1.2.3.4 19970101152051 text/html 9\nHTTP/1.0 200 OK\n"
      "Content-Type: Text/HTML; charset=\"ISO-8859-1\"\n</DOCHDR>\n<p>hi\n</DOC>",
      ND_KIND_HTML, "WTX-1", "http://a.b:80/c", "19970101152051", "ISO-8859-1", "\n<p>hi");
  expect_document(
      "<DOC>\n<DOCNO>GX-1</DOCNO>\n<DOCHDR>\r\nhttp://a.b\r\nHTTP/1.1 200 OK\r\n"
      "Date: Tue, 09 Dec 2003 21:21:33 GMT\r\ncontent-type: application/pdf\r\n</DOCHDR>x</DOC>",
      ND_KIND_SNIFF, "GX-1", "http://a.b", "Tue, 09 Dec 2003 21:21:33 GMT", "", "x");
  expect_document(
      "<DOC>\n<DOCNO>GX-2</DOCNO>\n<DOCHDR>\nhttp://a.b 1.2.3.4 19970101152051 text/html 1\n"
      "HTTP/1.1 200 OK\nDate: later\nDate: latest\n</DOCHDR>x</DOC>",
      ND_KIND_HTML, "GX-2", "http://a.b", "19970101152051", "", "x");
  expect_document(
      "<DOC><DOCNO>3</DOCNO><DOCHDR>\nHTTP/1.1 200 OK\nDate: then\nDate: later\n</DOCHDR>x</DOC>",
      ND_KIND_HTML, "3", "", "then", "", "x");
  expect_document("<DOC>\n<DOCNO>1</DOCNO>\n<DOCHDR></DOCHDR></DOC>", ND_KIND_HTML, "1", "", "", "",
                  "");
  expect_document("<doc id=\"12\" url='http://x/?a=1' title=\"T\">\nText\n</doc>", ND_KIND_HTML,
                  "12", "http://x/?a=1", "", "", "\nText\n");
  expect_document("<doc id=12 url=http://x/>\nText\n</doc>", ND_KIND_HTML, "12", "http://x/", "",
                  "", "\nText\n");
  expect_document(
      "<DOC><DOCNO>1</DOCNO><DOCHDR>\nhttp://a.b\nContent-Type: application/xhtml+xml; "
      "charset='utf-8'\n</DOCHDR>x</DOC>",
      ND_KIND_HTML, "1", "http://a.b", "", "utf-8", "x");
  expect_error("<DOC >", "not a <DOC> record");
  expect_error("<DOC>\nx</DOC>", "the record has no DOCNO");
  expect_error("<DOC>\n<DOCNO>  </DOCNO>x</DOC>", "DOCNO is empty");
  expect_error("<DOC>\n<DOCNO> 1 x</DOC>", "DOCNO has no </DOCNO>");
  expect_error("<DOC><DOCNO>1</DOCNO><DOCHDR>x</DOC>", "DOCHDR has no </DOCHDR>");
  expect_error("<DOC", "not a <DOC> record");
}

static nd_status decode_two_pieces(void *context) {
  nd_decoder d = {0};
  nd_input_options o = {.max_document = 1000};
  nd_document doc;
  nd_status status = nd_format_trec.decode(&doc, &d, nd_str_of(context), &o, &err);
  if (status == ND_OK) assert_true(nd_str_eq(doc.body, nd_str_of("x\ny")));
  nd_decoder_clear(&d);
  return status;
}

static void test_no_memory(void **state) {
  (void)state;
  static char raw[] = "<doc>x<docno>2</docno>y</doc>";
  assert_int_equal(every_place_fails(decode_two_pieces, raw), 3);
}

/* Damaged records must neither crash nor be read past their end. */
static void damaged_records_are_read_within_bounds(void **state) {
  (void)state;
  print_message("seed %llu\n", (unsigned long long)seed);
  static const char whole[] =
      "<DOC id=\"1\">\n<DOCNO>WTX-1</DOCNO>\n<DOCOLDNO>IA-3</DOCOLDNO>\n<DOCHDR>\n"
      "http://a.b:80/c 1.2.3.4 19970101152051 text/html 9\nHTTP/1.0 200 OK\n"
      "Content-Type: Text/HTML; charset=\"ISO-8859-1\"\n</DOCHDR>\n<p>hi\n</DOC>";
  nd_decoder d = {0};
  nd_input_options o = {.max_document = 1000};
  for (int round = 0; round < 100000; round++) {
    size_t n = sizeof whole - 1;
    char *p = malloc(n);
    assert_non_null(p);
    memcpy(p, whole, n);
    for (uint32_t m = any(4); m; m--) {
      size_t at = any((uint32_t)n);
      if (any(2)) {
        p[at] = "<>/\"= \n\0x:"[any(10)];
      } else {
        n--;
        memmove(p + at, p + at + 1, n - at);
      }
    }
    p = realloc(p, n);
    nd_document doc;
    nd_status status = nd_format_trec.decode(&doc, &d, (nd_str){p, n}, &o, &err);
    assert_true(status == ND_OK ? doc.id.n > 0 : err.message[0] != 0);
    free(p);
  }
  nd_decoder_clear(&d);
}

static void reads_the_known_records_of_real_collections(void **state) {
  (void)state;
  const char *data = getenv("NEARDUP_DATA");
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  static const struct {
    const char *path, *first, *last;
    int documents;
    bool web;
  } files[] = {
      {"ap/ap890101", "AP890101-0001", "AP890101-0073", 73, false},
      {"ap/ap890102", "AP890102-0001", "AP890102-0152", 152, false},
      {"ap/ap890103", "AP890103-0001", "AP890103-0255", 255, false},
      {"ft/ft911_1", "FT911-1", NULL, 375, false},
      {"gov/gov1-G00-00.gz", "G00-00-0000000", NULL, 3, true},
      {"gov/gov2-GX000-00.gz", "GX000-00-0000000", "GX000-00-0000000", 1, true},
      {"wt10g/B01", "WTX001-B01-1", NULL, 262, true},
      {"wt10g/B02", "WTX001-B02-1", NULL, 401, true},
  };
  nd_decoder d = {0};
  nd_input_options o = {.max_document = 10 << 20};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/trec-samples/%s", data, files[i].path);
    nd_stream *s = NULL;
    if (nd_stream_open(&s, path, &err) != ND_OK) fail_msg("%s", err.message);
    nd_str head;
    assert_int_equal(nd_stream_peek(&head, s, 1 << 16, &err), ND_OK);
    if (head.n > 1 << 16) head.n = 1 << 16;
    assert_ptr_equal(nd_format_sniff(head), &nd_format_trec);
    int documents = 0;
    uint64_t at = 0;
    char last[64] = "";
    for (;;) {
      nd_frame f;
      assert_int_equal(nd_format_trec.frame(&f, s, &o, &err), ND_OK);
      assert_int_equal(f.offset, at);
      at += f.length;
      if (f.kind == ND_FRAME_END) break;
      assert_int_not_equal(f.kind, ND_FRAME_REJECT);
      if (f.kind != ND_FRAME_DOCUMENT) continue;
      nd_document doc;
      if (nd_format_trec.decode(&doc, &d, f.raw, &o, &err) != ND_OK) fail_msg("%s", err.message);
      if (documents++ == 0) assert_true(nd_str_eq(doc.id, nd_str_of(files[i].first)));
      snprintf(last, sizeof last, "%.*s", (int)doc.id.n, doc.id.p);
      assert_int_equal(doc.url.n > 0, files[i].web);
      if (files[i].web) assert_memory_equal(doc.url.p, "http://", 7);
      assert_true(doc.body.n > 0);
    }
    assert_int_equal(documents, files[i].documents);
    if (files[i].last) assert_string_equal(last, files[i].last);
    nd_stream_close(s);
  }
  nd_decoder_clear(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_start_at_their_tags),
      cmocka_unit_test(random_records_agree_with_a_naive_splitter),
      cmocka_unit_test(fields_and_headers_are_decoded),
      cmocka_unit_test(damaged_records_are_read_within_bounds),
      cmocka_unit_test(reads_the_known_records_of_real_collections),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
