/* Explanations for people: lines that fit the terminal in any script, texts that are too long for
 * one measure or for a page, and documents that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "job_calls.h"
#include "neardup.h"
#include "settings/option_fields.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_explain_XXXXXX";
static char path[2][100];
static nd_buf said;
static const char *format = "text";

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static void write_file(int which, nd_str text) {
  FILE *f = fopen(path[which], "w");
  assert_non_null(f);
  if (text.n) assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
  assert_int_equal(fclose(f), 0);
}

static nd_status explain(nd_explain_form form, unsigned width) {
  nd_options o;
  nd_summary s;
  nd_sink sink = {&said, collect};
  nd_explain_request q = {
      .a = path[0], .b = path[1], .form = form, .width = width, .whole = width == 0};
  said.n = 0;
  err = (nd_error){0};
  nd_options_init(&o);
  ok(nd_options_set(&o, "format", format, &err));
  nd_status status = job_explain(&s, &q, &sink, &o, NULL, &err);
  ok(nd_buf_append(&said, "", 1, &err));
  return status;
}

static void put_point(nd_buf *b, uint32_t c) {
  char p[4];
  size_t n = 0;
  if (c < 0x80) {
    p[n++] = (char)c;
  } else if (c < 0x800) {
    p[n++] = (char)(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    p[n++] = (char)(0xe0 | c >> 12);
    p[n++] = (char)(0x80 | (c >> 6 & 63));
  } else {
    p[n++] = (char)(0xf0 | c >> 18);
    p[n++] = (char)(0x80 | (c >> 12 & 63));
    p[n++] = (char)(0x80 | (c >> 6 & 63));
  }
  if (c >= 0x80) p[n++] = (char)(0x80 | (c & 63));
  ok(nd_buf_append(b, p, n, &err));
}

/* Columns of a code point, by a list of its own. */
static unsigned columns(uint32_t c) {
  static const struct {
    uint32_t first, last;
    unsigned columns;
  } list[] = {{0x300, 0x36f, 0},     {0x200b, 0x200f, 0},   {0xfe00, 0xfe0f, 0},
              {0x1100, 0x115f, 2},   {0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},
              {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
              {0x1f300, 0x3ffff, 2}, {0xe0000, 0x10ffff, 0}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (c >= list[i].first && c <= list[i].last) return list[i].columns;
  return 1;
}

static unsigned widest_line(const char *p) {
  unsigned widest = 0, now = 0;
  while (*p) {
    const unsigned char lead = (unsigned char)*p;
    const unsigned n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? lead : lead & (0xffu >> (n + 1));
    for (unsigned i = 1; i < n; i++) c = c << 6 | ((unsigned char)p[i] & 63);
    p += n;
    now = c == '\n' ? 0 : now + columns(c);
    if (now > widest) widest = now;
  }
  return widest;
}

static void lines_fit(void **state) {
  (void)state;
  /* Letters and marks of every range, and their neighbours. */
  static const uint32_t points[] = {
      'a',    0xe9,   0x2ff,  0x301,  0x372,   0x10d0,  0x1105,  0x1161, 0x1e00, 0x2c00,
      0x3042, 0x4e2d, 0xa4d1, 0xa500, 0xac01,  0xd7b0,  0xf901,  0xfb01, 0xfb50, 0xfe01,
      0xfe70, 0xff21, 0xff66, 0xff71, 0x10400, 0x1f600, 0x20000, 0xfa0e, 0xe0100};
  nd_buf text[2] = {{0}, {0}};
  for (int side = 0; side < 2; side++) {
    for (unsigned i = 0; i < 400; i++) {
      for (unsigned k = 0; k <= i % 3; k++)
        put_point(&text[side],
                  points[(i * 7 + k + (side && i % 5 == 0)) % (sizeof points / sizeof *points)]);
      put_point(&text[side], ' ');
    }
    write_file(side, nd_buf_str(&text[side]));
    nd_buf_clear(&text[side]);
  }
  for (unsigned width = 0; width <= 120; width += 40) {
    ok(explain(ND_EXPLAIN_TEXT, width));
    const char *words = strstr(said.p, "[-");
    assert_non_null(words);
    while (words > said.p && words[-1] != '\n') words--;
    /* A word is never cut, and has at most 3 points and 4 marks of ours. */
    const unsigned most = (width ? width : 80) + 12;
    if (widest_line(words) > most)
      fail_msg("a line of %u columns, not %u", widest_line(words), most);
  }
}

/* Too long for edit distances, and for a page. */
static void long_texts(void **state) {
  (void)state;
  nd_buf text = {0};
  for (int i = 0; i < 210000; i++) ok(nd_buf_printf(&text, &err, "muchlongerwords%05d ", i % 5000));
  for (int changed = 0; changed < 2; changed++) {
    write_file(changed, nd_buf_str(&text));
    write_file(1 - changed, nd_str_of("w1 w2 w3 w4 w5 w6 w7"));
    ok(explain(ND_EXPLAIN_TEXT, 80));
    assert_non_null(strstr(said.p, "too long"));
  }
  write_file(0, nd_buf_str(&text));
  ok(explain(ND_EXPLAIN_HTML, 0));
  assert_non_null(strstr(said.p, "The first 200000 of 210000 words."));
  /* What is the same comes after the page's end. */
  ok(nd_buf_printf(&text, &err, "one end and then the other end"));
  write_file(0, nd_buf_str(&text));
  write_file(1, nd_str_of("w1 one end and then the other end"));
  ok(explain(ND_EXPLAIN_HTML, 0));
  assert_non_null(strstr(said.p, "The first 200000 of 210007 words."));
  nd_buf_clear(&text);
}

static void nothing_there(void **state) {
  (void)state;
  write_file(0, nd_str_of("some words of a text"));
  write_file(1, nd_str_of(""));
  ok(explain(ND_EXPLAIN_TEXT, 80)); /* a text may have no words */
  format = "jsonl";
  write_file(0, nd_str_of("{\"text\": \"some words\"}\n"));
  write_file(1, nd_str_of("\n"));
  assert_int_equal(explain(ND_EXPLAIN_TEXT, 80), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "1.txt has no document"));
  format = "text";
  write_file(0, nd_str_of(" . , ; "));
  write_file(1, nd_str_of(" ! ? "));
  for (unsigned width = 0; width <= 80; width += 80) { /* 0: as a whole */
    ok(explain(ND_EXPLAIN_TEXT, width)); /* no word in either: nothing is shown, all is the same */
    assert_null(strstr(said.p, "[-"));
    assert_string_equal(said.p + strlen(said.p) - 2, "\n\n");
  }
}

static int stop(void *context) {
  ++*(int *)context;
  return 1;
}

/* A search that the caller stops says so; one that stops as all is found does not. */
static void only_an_unfinished_search_is_cancelled(void **state) {
  (void)state;
  static const struct {
    const char *b;
    nd_status status;
  } cases[] = {{"two", ND_OK}, {"three", ND_ERR_CANCELLED}};
  write_file(0,
             nd_str_of("{\"id\": \"one\", \"text\": \"x\"}\n{\"id\": \"two\", \"text\": \"y\"}\n"));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_options o;
    nd_summary s;
    int asked = 0;
    const char *input = path[0];
    nd_sink sink = {&said, collect};
    nd_hooks hooks = {.context = &asked, .cancelled = stop};
    nd_explain_request q = {.a = "one", .b = cases[i].b, .inputs = &input, .input_n = 1};
    nd_options_init(&o);
    ok(nd_options_set(&o, "format", "jsonl", &err));
    err = (nd_error){0};
    assert_int_equal(job_explain(&s, &q, &sink, &o, &hooks, &err), cases[i].status);
    assert_int_equal(asked, cases[i].status != ND_OK);
    assert_int_equal(err.message[0] != '\0', cases[i].status != ND_OK);
  }
}

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(dir)) return -1;
  for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "%s/%d.txt", dir, i);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nd_buf_clear(&said);
  for (int i = 0; i < 2; i++) unlink(path[i]);
  return rmdir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines_fit), cmocka_unit_test(long_texts),
                                     cmocka_unit_test(nothing_there),
                                     cmocka_unit_test(only_an_unfinished_search_is_cancelled)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
