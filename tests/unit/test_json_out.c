/* Writing JSON: what every byte becomes, against a slow description; nesting; and what comes out
 * is read back by our own reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "output/escape.h"
#include "output/json_out.h"

static nd_error err;

/* Bytes of the UTF-8 character at p, 0 when there is none. */
static size_t character(const unsigned char *p, size_t n) {
  size_t length = p[0] < 0x80                    ? 1
                  : p[0] >= 0xc2 && p[0] <= 0xdf ? 2
                  : p[0] >= 0xe0 && p[0] <= 0xef ? 3
                  : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                 : 0;
  if (length > n) return 0;
  for (size_t i = 1; i < length; i++)
    if (p[i] < 0x80 || p[i] > 0xbf) return 0;
  /* Longer than need be, a surrogate, beyond the last one. */
  if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
  if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
  return length;
}

static void naive_string(nd_buf *out, const unsigned char *p, size_t n) {
  assert_int_equal(nd_buf_append(out, "\"", 1, &err), ND_OK);
  for (size_t i = 0, length; i < n; i += length ? length : 1) {
    char text[16];
    length = character(p + i, n - i);
    if (length == 0)
      strcpy(text, "\xef\xbf\xbd");
    else if (p[i] == '"' || p[i] == '\\')
      sprintf(text, "\\%c", p[i]);
    else if (p[i] < 32 || p[i] == 127)
      sprintf(text, "\\u%04x", p[i]);
    else if (length == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0) /* C1 */
      sprintf(text, "\\u%04x", p[i + 1]);
    else
      sprintf(text, "%.*s", (int)length, (const char *)p + i);
    assert_int_equal(nd_buf_append(out, text, strlen(text), &err), ND_OK);
  }
  assert_int_equal(nd_buf_append(out, "\"", 1, &err), ND_OK);
}

static void strings_are_escaped_as_described(void **state) {
  (void)state;
  nd_rng rng = {2};
  static const unsigned char interesting[] = {0,    1,    31,   ' ',  '"',  '\\', 'a',  127,  0x80,
                                              0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xef, 0xf0, 0xf4, 0xf5,
                                              0xff, 0xed, 0x8f, 0x90, 0x9f, 0xa0, '\n'};
  for (int round = 0; round < 20000; round++) {
    unsigned char text[12];
    size_t n = (size_t)nd_rng_below(&rng, 12);
    for (size_t i = 0; i < n; i++)
      text[i] = nd_rng_below(&rng, 3) ? interesting[nd_rng_below(&rng, sizeof interesting)]
                                      : (unsigned char)nd_rng_below(&rng, 256);
    nd_json_out j = {.err = &err};
    nd_buf want = {0};
    naive_string(&want, text, n);
    nd_json_put_begin(&j, NULL, '[');
    nd_json_put_string(&j, NULL, (nd_str){(const char *)text, n});
    nd_json_put_end(&j, ']');
    assert_int_equal(j.status, ND_OK);
    assert_int_equal(j.text.n, want.n + strlen("[\n  \n]\n"));
    assert_memory_equal(j.text.p + strlen("[\n  "), want.p, want.n);
    nd_buf_clear(&j.text);
    nd_buf_clear(&want);
  }
}

/* What is not seen, or turns what is, has its number; what is seen has not. */
static void invisible_characters_become_numbers(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"a\xe2\x80\xae"
                                          "b",
                                          "a\\u202eb"},
                                         {"\xd8\x9c", "\\u061c"},
                                         {"\xef\xbb\xbf", "\\ufeff"},
                                         {"\xe2\x80\xa8", "\\u2028"},
                                         {"\xf3\xa0\x81\x81", "\\udb40\\udc41"},
                                         {"\xe2\x80\x8d\xc2\xa0", "\xe2\x80\x8d\xc2\xa0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_json_out j = {.err = &err};
    char want[64];
    nd_json_put_begin(&j, NULL, '[');
    nd_json_put_string(&j, NULL, nd_str_of(cases[i][0]));
    nd_json_put_end(&j, ']');
    snprintf(want, sizeof want, "[\n  \"%s\"\n]\n", cases[i][1]);
    assert_int_equal(j.text.n, strlen(want));
    assert_memory_equal(j.text.p, want, j.text.n);
    nd_buf_clear(&j.text);
  }
}

static void nested_values_are_well_formed(void **state) {
  (void)state;
  nd_json_out j = {.err = &err};
  nd_json_put_begin(&j, NULL, '{');
  nd_json_put_count(&j, "n", UINT64_MAX);
  nd_json_put_number(&j, "x", 0.125, 2);
  nd_json_put_begin(&j, "none", '[');
  nd_json_put_end(&j, ']');
  nd_json_put_begin(&j, "list", '[');
  nd_json_put_begin(&j, NULL, '{');
  nd_json_put_string(&j, "a\"b", nd_str_of("\t"));
  nd_json_put_end(&j, '}');
  nd_json_put_end(&j, ']');
  nd_json_put_end(&j, '}');
  static const char want[] =
      "{\n  \"n\": 18446744073709551615,\n  \"x\": 0.12,\n  \"none\": [],\n  \"list\": [\n    {\n"
      "      \"a\\\"b\": \"\\u0009\"\n    }\n  ]\n}\n";
  assert_int_equal(j.status, ND_OK);
  assert_int_equal(j.text.n, strlen(want));
  assert_memory_equal(j.text.p, want, strlen(want));
  nd_buf_clear(&j.text);
}

/* The first failure stays, and nothing is written after it. */
static void test_no_memory(void **state) {
  (void)state;
  nd_json_out j = {.err = &err};
  nd_mem_fail_at(1);
  nd_json_put_begin(&j, NULL, '{');
  nd_json_put_count(&j, "n", 1);
  nd_json_put_number(&j, "x", 1, 2);
  nd_json_put_string(&j, "s", nd_str_of("text"));
  nd_json_put_end(&j, '}');
  nd_mem_fail_at(0);
  assert_int_equal(j.status, ND_ERR_MEMORY);
  assert_int_equal(j.text.n, 0);
  nd_buf_clear(&j.text);
}

/* What pages, scripts and terminals get for what they must not. */
static void pages_scripts_and_terminals_are_safe(void **state) {
  (void)state;
  static const struct {
    const char *text, *html, *script, *plain;
  } rows[] = {
      {"a", "a", "\"a\"", "a"},
      {"<&>\"'\\", "&lt;&amp;&gt;&quot;&#39;\\", "\"\\u003c\\u0026\\u003e\\\"'\\\\\"", "<&>\"'\\"},
      {"\x1b[31m", "␛[31m", "\"␛[31m\"", "␛[31m"},
      {"\x7f", "␡", "\"␡\"", "␡"},
      {"\xc2\x9b", "\xef\xbf\xbd", "\"\xef\xbf\xbd\"", "\xef\xbf\xbd"},
      {"\xe2\x80\xae", "&lt;U+202E&gt;", "\"\\u003cU+202E\\u003e\"", "<U+202E>"},
      {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "&lt;U+061C&gt;&lt;U+200E&gt;&lt;U+200F&gt;",
       "\"\\u003cU+061C\\u003e\\u003cU+200E\\u003e\\u003cU+200F\\u003e\"",
       "<U+061C><U+200E><U+200F>"},
      {"\xe2\x81\xa6\xe2\x81\xaa", "&lt;U+2066&gt;\xe2\x81\xaa",
       "\"\\u003cU+2066\\u003e\xe2\x81\xaa\"", "<U+2066>\xe2\x81\xaa"},
      {"\xe2\x80\xa8\xe2\x80\xa9", "  ", "\"  \"", "  "},
      {"\xef\xbf\xbe", "\xef\xbf\xbd", "\"\xef\xbf\xbd\"", "\xef\xbf\xbd"},
      {"\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd", "\"\xef\xbf\xbd\xef\xbf\xbd\"",
       "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"", "\xf0\x9f\x98\x80"},
      {"a\nb\tc", "a\nb\tc", "\"a\\nb\\tc\"", "a\nb\tc"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd_buf out[3] = {{0}, {0}, {0}};
    nd_str text = nd_str_of(rows[i].text);
    assert_int_equal(nd_escape_html(&out[0], text, false, &err), ND_OK);
    assert_int_equal(nd_escape_script(&out[1], text, &err), ND_OK);
    assert_int_equal(nd_escape_plain(&out[2], text, false, &err), ND_OK);
    const char *want[3] = {rows[i].html, rows[i].script, rows[i].plain};
    for (int k = 0; k < 3; k++) {
      if (out[k].n != strlen(want[k]) || memcmp(out[k].p, want[k], out[k].n) != 0)
        fail_msg("row %zu, kind %d: %.*s", i, k, (int)out[k].n, out[k].p);
      nd_buf_clear(&out[k]);
    }
  }
  /* In a line, its end is a picture too. */
  nd_buf line = {0};
  assert_int_equal(nd_escape_html(&line, nd_str_of("a\nb\t"), true, &err), ND_OK);
  assert_int_equal(nd_escape_plain(&line, nd_str_of("\n"), true, &err), ND_OK);
  assert_int_equal(line.n, strlen("a␊b␉␊"));
  assert_memory_equal(line.p, "a␊b␉␊", line.n);
  nd_buf_clear(&line);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(strings_are_escaped_as_described),
                                     cmocka_unit_test(invisible_characters_become_numbers),
                                     cmocka_unit_test(nested_values_are_well_formed),
                                     cmocka_unit_test(test_no_memory),
                                     cmocka_unit_test(pages_scripts_and_terminals_are_safe)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
