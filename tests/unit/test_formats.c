/* The table of formats, sniffing, and jsonl as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "every_place.h"
#include "input/format.h"

static void every_format_is_found_by_name(void **state) {
  (void)state;
  static const char *const names[] = {"text", "lines", "jsonl", "warc", "arc", "trec", "sets"};
  size_t n = 0;
  while (nd_formats[n]) n++;
  assert_int_equal(n, sizeof names / sizeof *names);
  for (size_t i = 0; i < n; i++) {
    const nd_format *f = nd_format_find(names[i]);
    assert_non_null(f);
    assert_string_equal(f->name, names[i]);
    assert_true(f->frame && f->decode);
  }
  assert_null(nd_format_find("pdf"));
  assert_null(nd_format_find(NULL));
}

static void expect_format(const char *head, const char *name) {
  const char *got = nd_format_sniff(nd_str_of(head))->name;
  if (strcmp(got, name) != 0) fail_msg("%.60s is %s, not %s", head, got, name);
}

static void sniffs_each_format_from_its_first_bytes(void **state) {
  (void)state;
  expect_format("", "text");
  expect_format("\n\n", "text");
  expect_format("Hello\nworld", "text");
  expect_format("1 2 3\n4 5\n", "text");
  expect_format("<!DOCTYPE html><html>", "text");
  expect_format("{\"text\": \"a\"}\n{\"te", "jsonl");
  expect_format("\xef\xbb\xbf\n  \r\n {\"text\": \"a\"}", "jsonl");
  expect_format("{}", "jsonl");
  expect_format("{\n  \"pretty\": true\n}\n", "text");
  expect_format("{not json}", "text");
  expect_format("[1, 2]\n", "text");
  expect_format("{\"text\": \"a line that is cut off \xc3", "jsonl");
  expect_format("{\"text\": nothing", "text");
  expect_format("\n<DOC>\n<DOCNO>1</DOCNO>", "trec");
  expect_format("<DOC>\n", "trec");
  expect_format("<doc>\n<a/></doc>", "text");
  expect_format("<doc id=\"1\" url=\"u\">\nx\n</doc>", "trec");
  expect_format("<DOCUMENT>", "text");
  char *big = malloc(1 << 16);
  assert_non_null(big);
  memset(big, 'x', 1 << 16);
  memcpy(big, "{\"id\": 1, \"text\": \"", 19);
  assert_ptr_equal(nd_format_sniff((nd_str){big, 1 << 16}), &nd_format_jsonl);
  free(big);
}

static void expect_jsonl(const char *line, const nd_input_options *o, const char *id,
                         const char *url, const char *time, const char *field, const char *body) {
  nd_decoder d = {0};
  nd_document doc;
  nd_str raw = nd_str_of(line);
  if (nd_format_jsonl.decode(&doc, &d, raw, o, &err) != ND_OK)
    fail_msg("%s: %s", line, err.message);
  assert_int_equal(doc.kind, ND_KIND_TEXT);
  assert_true(nd_str_eq(doc.charset, nd_str_of("utf-8")));
  assert_true(nd_str_eq(doc.id, nd_str_of(id)));
  assert_true(nd_str_eq(doc.url, nd_str_of(url)));
  assert_true(nd_str_eq(doc.time, nd_str_of(time)));
  assert_true(nd_str_eq(doc.field, nd_str_of(field)));
  assert_true(nd_str_eq(doc.body, nd_str_of(body)));
  nd_decoder_clear(&d);
}

static void expect_error(const char *line, const nd_input_options *o, const char *message) {
  nd_decoder d = {0};
  nd_document doc;
  assert_int_equal(nd_format_jsonl.decode(&doc, &d, nd_str_of(line), o, &err), ND_ERR_DATA);
  assert_string_equal(err.message, message);
  nd_decoder_clear(&d);
}

static void jsonl_fields_become_a_document(void **state) {
  (void)state;
  nd_input_options o = {"id", "text", "url", "time", NULL, 1000};
  expect_jsonl("{\"id\":\"a\",\"text\":\"b\"}", &o, "a", "", "", "", "b");
  expect_jsonl("{\"text\":\"b\\n\\u00e9\",\"id\":12.50,\"x\":{\"id\":1}}", &o, "12.50", "", "", "",
               "b\n\xc3\xa9");
  expect_jsonl("{\"text\":\"\",\"id\":\"\\t1\",\"url\":\"http:\\/\\/a\",\"time\":\"\\u0032\"}", &o,
               "\t1", "http://a", "2", "", "");
  expect_jsonl("{\"text\":\"1\",\"t\\u0065xt\":\"2\",\"id\":null}", &o, "", "", "", "", "2");
  expect_jsonl("{\"id\":{\"$oid\":\"f\"},\"text\":\"t\"}", &o, "{\"$oid\":\"f\"}", "", "", "", "t");
  nd_input_options other = {"", "body", "link", "date", "score", 1000};
  expect_jsonl("{\"id\":1,\"body\":\"b\",\"link\":\"l\",\"date\":3,\"score\":-1e3,\"\":2}", &other,
               "", "l", "3", "-1e3", "b");
  other.text_field = ""; /* the usual one */
  expect_jsonl("{\"text\":\"b\"}", &other, "", "", "", "", "b");
  char long_name[121];
  memset(long_name, 'n', 120);
  long_name[120] = '\0';
  other.text_field = long_name;
  char message[200];
  snprintf(message, sizeof message, "field \"%.100s\" is missing (see --text-field)", long_name);
  expect_error("{\"text\":\"b\"}", &other, message);
  other.text_field = "body";
  nd_input_options none = {.max_document = 1000};
  expect_jsonl("{\"id\":1,\"text\":\"b\",\"\":2}", &none, "1", "", "", "", "b");

  expect_error("{\"id\":1}", &o, "field \"text\" is missing (see --text-field)");
  expect_error("{\"text\":null}", &o, "field \"text\" is null (see --text-field)");
  expect_error("{\"body\":[1]}", &other,
               "field \"body\" is an array, not a string (see --text-field)");
  expect_error("[1]", &o, "not a JSON object");
  expect_error("{\"text\":\"b\"", &o, "not valid JSON at byte 12: the text ends too early");
}

/* Text without escapes is not copied, and nothing is allocated for it. */
static void test_zero_copy(void **state) {
  (void)state;
  nd_input_options o = {"id", "text", "url", "time", NULL, 1000};
  nd_decoder d = {0};
  nd_document doc;
  nd_str raw = nd_str_of("{\"id\":\"1\",\"text\":\"plain \xc3\xa9\"}");
  assert_int_equal(nd_format_jsonl.decode(&doc, &d, raw, &o, NULL), ND_OK);
  assert_ptr_equal(doc.body.p, raw.p + 18);
  assert_null(d.body.p);
  assert_null(d.head.p);
  nd_decoder_clear(&d);
}

static nd_status decode_escaped(void *context) {
  nd_input_options o = {"id", "text", "url", "time", "keep", 1000};
  nd_str raw = nd_str_of(context);
  nd_decoder d = {0};
  nd_document doc;
  nd_status status = nd_format_jsonl.decode(&doc, &d, raw, &o, &err);
  if (status == ND_OK) assert_true(nd_str_eq(doc.id, nd_str_of("1\t")));
  if (status == ND_OK) assert_true(nd_str_eq(doc.field, nd_str_of("5\t")));
  nd_decoder_clear(&d);
  return status;
}

static void no_memory_fails_decoding_cleanly(void **state) {
  (void)state;
  static char all[] =
      "{\"id\":\"1\\t\",\"text\":\"2\\t\",\"url\":\"3\\t\",\"time\":\"4\\t\",\"keep\":\"5\\t\"}";
  assert_true(every_place_fails(decode_escaped, all) >= 6);
  nd_input_options o = {"id", "text", "url", "time", NULL, 1000};
  nd_str raw = nd_str_of("{\"id\":\"1\\n\",\"text\":\"a\\tb\"}");
  for (uint64_t nth = 1; nth <= 2; nth++) {
    nd_decoder d = {0};
    nd_document doc;
    nd_mem_fail_at(nth);
    assert_int_equal(nd_format_jsonl.decode(&doc, &d, raw, &o, NULL), ND_ERR_MEMORY);
    nd_mem_fail_at(0);
    nd_decoder_clear(&d);
  }
}

static void test_real_jsonl(void **state) {
  (void)state;
  const char *data = getenv("NEARDUP_DATA");
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  static const struct {
    const char *path;
    int documents;
  } files[] = {{"gold/laws-zh.jsonl.zst", 3476},
               {"gold/cora.docs.jsonl.zst", 1295},
               {"gold/dblp-titles.jsonl.zst", 18000}};
  nd_input_options o = {"id", "text", "url", "time", NULL, 100 << 20};
  nd_decoder d = {0};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", data, files[i].path);
    nd_stream *s = NULL;
    if (nd_stream_open(&s, path, &err) != ND_OK) fail_msg("%s", err.message);
    nd_str head;
    assert_int_equal(nd_stream_peek(&head, s, 1 << 16, &err), ND_OK);
    if (head.n > 1 << 16) head.n = 1 << 16;
    assert_ptr_equal(nd_format_sniff(head), &nd_format_jsonl);
    int documents = 0;
    for (;;) {
      nd_frame f;
      nd_document doc;
      if (nd_format_jsonl.frame(&f, s, &o, &err) != ND_OK) fail_msg("%s", err.message);
      if (f.kind == ND_FRAME_END) break;
      assert_int_equal(f.kind, ND_FRAME_DOCUMENT);
      if (nd_format_jsonl.decode(&doc, &d, f.raw, &o, &err) != ND_OK) fail_msg("%s", err.message);
      assert_true(doc.id.n > 0);
      documents++;
    }
    assert_int_equal(documents, files[i].documents);
    nd_stream_close(s);
  }
  nd_decoder_clear(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format_is_found_by_name),
      cmocka_unit_test(sniffs_each_format_from_its_first_bytes),
      cmocka_unit_test(jsonl_fields_become_a_document),
      cmocka_unit_test(test_zero_copy),
      cmocka_unit_test(no_memory_fails_decoding_cleanly),
      cmocka_unit_test(test_real_jsonl),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
