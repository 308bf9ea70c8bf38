/* Fields of tab-separated lines: escapes that can be undone, CSV, ratios rounded
 * as a decimal of unlimited length would be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "output/tsv.h"
#include "tools.h"

static void expect_escaped(const char *text, size_t n, const char *want) {
  nd_buf b = {0};
  ok(nd_buf_append(&b, "x", 1, &err));
  ok(nd_tsv_append(&b, (nd_str){text, n}, &err));
  assert_int_equal(b.n, 1 + strlen(want));
  assert_memory_equal(b.p + 1, want, strlen(want));
  assert_int_equal(nd_field_escape(NULL, (nd_str){text, n}), strlen(want));
  nd_buf_clear(&b);
}

static void escapes_keep_one_field_on_one_line(void **state) {
  (void)state;
  expect_escaped("plain", 5, "plain");
  expect_escaped("", 0, "");
  expect_escaped(NULL, 0, "");
  expect_escaped("a\tb\nc\rd\\e", 9, "a\\tb\\nc\\rd\\\\e");
  expect_escaped("\\t", 2, "\\\\t");
  expect_escaped("\t\t\t\t", 4, "\\t\\t\\t\\t");
  expect_escaped("\x1b[31m\a\x7f\0", 8, "\\x1b[31m\\x07\\x7f\\x00");
  expect_escaped("12345678\x7f", 9, "12345678\\x7f");
  expect_escaped("1234567\\12345678", 16, "1234567\\\\12345678");
  /* what is not UTF-8: a stray byte, a cut sequence, overlong, a surrogate, above U+10FFFF */
  expect_escaped("\xe4\xb8\xad\xff", 4, "\xe4\xb8\xad\\xff");
  expect_escaped("\xe4\xb8", 2, "\\xe4\\xb8");
  expect_escaped("\xe4\xb8z\x80", 4, "\\xe4\\xb8z\\x80");
  expect_escaped("\xc0\xaf\xe0\x80\xaf", 5, "\\xc0\\xaf\\xe0\\x80\\xaf");
  expect_escaped("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
  expect_escaped("\xf4\x90\x80\x80\xf8", 5, "\\xf4\\x90\\x80\\x80\\xf8");
  /* UTF-8 that is seen wrongly or not at all: C1, bidi, separators, invisible */
  expect_escaped("\xc2\x9b", 2, "\\xc2\\x9b");
  expect_escaped("a\xe2\x80\xaeq", 5, "a\\xe2\\x80\\xaeq");
  expect_escaped("\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8");
  expect_escaped("\xef\xbb\xbf", 3, "\\xef\\xbb\\xbf");
  expect_escaped("\xf3\xa0\x80\x81", 4, "\\xf3\\xa0\\x80\\x81");
  /* and what passes: no-break space, ZWNJ, ZWJ, U+FFFD itself, an emoji */
  expect_escaped("\xc2\xa0\xe2\x80\x8c\xe2\x80\x8d\xef\xbf\xbd\xf0\x9f\x98\x80", 15,
                 "\xc2\xa0\xe2\x80\x8c\xe2\x80\x8d\xef\xbf\xbd\xf0\x9f\x98\x80");
}

/* As UTF-8 would write it, were it also a surrogate. */
static size_t encode(char *p, uint32_t c) {
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char head[] = {0, 0, 0xc0, 0xe0, 0xf0};
  p[0] = (char)(head[n] | c >> (6 * (n - 1)));
  for (size_t i = 1; i < n; i++) p[i] = (char)(0x80 | (c >> (6 * (n - 1 - i)) & 63));
  return n;
}

/* The ranges as docs/formats.md lists them. */
static bool is_listed(uint32_t c) {
  static const uint32_t ranges[][2] = {{0, 0x1f},        {'\\', '\\'},     {0x7f, 0x9f},
                                       {0x61c, 0x61c},   {0x200b, 0x200b}, {0x200e, 0x200f},
                                       {0x2028, 0x202e}, {0x2060, 0x206f}, {0xd800, 0xdfff},
                                       {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
  return false;
}

static void every_code_point(void **state) {
  (void)state;
  char text[24], out[96];
  memset(text, '7', sizeof text);
  for (uint32_t c = 0; c < 0x110000; c++) {
    size_t at = c % 17, n = at + encode(text + at, c); /* at every place of a word */
    size_t m = nd_field_escape(out, (nd_str){text, n});
    assert_true((m != n) == is_listed(c));
    assert_int_equal(nd_field_unescape(out, (nd_str){out, m}), n);
    assert_memory_equal(out, text, n);
    memset(text + at, '7', n - at);
  }
}

static void expect_text(const char *field, const char *want) {
  char out[64];
  size_t n = nd_field_unescape(out, nd_str_of(field));
  assert_int_equal(n, strlen(want));
  assert_memory_equal(out, want, n);
}

static void foreign_escapes(void **state) {
  (void)state;
  expect_text("a\\tb\\nc\\rd\\\\e\\x41\\xe2\\X", "a\tb\nc\rd\\eA\xe2\\X");
  expect_text("\\x1B\\x1b", "\x1b\x1b");
  /* none of ours: as they stand */
  expect_text("C:\\Users\\q", "C:\\Users\\q");
  expect_text("\\", "\\");
  expect_text("\\x", "\\x");
  expect_text("\\x4", "\\x4");
  expect_text("\\x4g\\xg4", "\\x4g\\xg4");
}

static void escapes_can_be_undone(void **state) {
  (void)state;
  const uint64_t seed = 8;
  print_message("seed %llu\n", (unsigned long long)seed);
  nd_rng rng = {seed};
  static const char tricky[] = "\t\n\r\\tnrx09af \0\x7f\x1b\xe2\x80\xae\xc2\x9b";
  for (int round = 0; round < 20000; round++) {
    char text[200], back[200];
    nd_buf b = {0}, room = {0};
    size_t n = (size_t)nd_rng_below(&rng, sizeof text);
    for (size_t i = 0; i < n; i++)
      text[i] =
          round & 1 ? (char)nd_rng_below(&rng, 256) : tricky[nd_rng_below(&rng, sizeof tricky - 1)];
    ok(nd_tsv_append(&b, (nd_str){text, n}, &err));
    assert_int_equal(b.n, nd_field_escape(NULL, (nd_str){text, n}));
    for (size_t i = 0; i < b.n; i++) assert_true((unsigned char)b.p[i] >= ' ' && b.p[i] != 0x7f);
    assert_int_equal(nd_field_unescape(back, nd_buf_str(&b)), n);
    assert_memory_equal(text, back, n);
    /* what was written is in its one form already … */
    nd_str again;
    ok(nd_tsv_canonical(&again, &room, nd_buf_str(&b), &err));
    assert_true(nd_str_eq(again, nd_buf_str(&b)));
    /* … and any bytes are a field that has one */
    ok(nd_tsv_canonical(&again, &room, (nd_str){text, n}, &err));
    b.n = 0;
    ok(nd_buf_append(&b, again.p, again.n, &err));
    ok(nd_tsv_canonical(&again, &room, nd_buf_str(&b), &err));
    assert_true(nd_str_eq(again, nd_buf_str(&b)));
    nd_buf_clear(&b);
    nd_buf_clear(&room);
  }
}

static void expect_csv(const char *lines, const char *want) {
  nd_buf b = {0};
  ok(nd_tsv_to_csv(&b, nd_str_of(lines), &err));
  assert_int_equal(b.n, strlen(want));
  if (b.n) assert_memory_equal(b.p, want, b.n);
  nd_buf_clear(&b);
}

static void csv_quotes_fields_and_disarms_formulas(void **state) {
  (void)state;
  expect_csv("", "");
  expect_csv("a\tb\t0.5\n", "a,b,0.5\r\n");
  expect_csv("\n\t\n", "\r\n,\r\n");
  expect_csv("a,b\tsay \"hi\"\t;\n", "\"a,b\",\"say \"\"hi\"\"\",;\r\n");
  expect_csv("=1+1\t+1\t-1\t@x\n", "'=1+1,'+1,'-1,'@x\r\n");
  expect_csv("'\t''\t-\t--\t=\n", "'',''',-,'--,'=\r\n");
  expect_csv("  =1\t  \t\\t=1\ta=1\n", "'  =1,  ,\\t=1,a=1\r\n");
  expect_csv("=HYPERLINK(\"http://x\",1)\n", "\"'=HYPERLINK(\"\"http://x\"\",1)\"\r\n");
  expect_csv("\xef\xbc\x9d\x31\t\xef\xbc\xa0\t\xef\xbc\x90\n",
             "'\xef\xbc\x9d\x31,'\xef\xbc\xa0,\xef\xbc\x90\r\n");
}

static void expect_ratio(uint32_t common, uint32_t joint) {
  nd_buf b = {0};
  ok(nd_tsv_ratio(&b, common, joint, &err));
  char want[32];
  snprintf(want, sizeof want, "%.6f", joint ? (double)common / joint : 0.0);
  assert_int_equal(b.n, strlen(want));
  assert_memory_equal(b.p, want, b.n);
  nd_buf_clear(&b);
}

static void ratios_round_as_unlimited_decimals(void **state) {
  (void)state;
  expect_ratio(0, 0);
  expect_ratio(0, 5);
  expect_ratio(5, 5);
  expect_ratio(4, 5);
  expect_ratio(1, 3);
  expect_ratio(2, 3);
  expect_ratio(1, 2000000); /* exactly half a millionth */
  expect_ratio(93, 128);    /* a tie that a double holds: to even */
  expect_ratio(95, 128);
  expect_ratio(1, 2000001);       /* just below: down */
  expect_ratio(3999999, 4000000); /* 0.99999975 */
  expect_ratio(UINT32_MAX, UINT32_MAX);
  expect_ratio(UINT32_MAX - 1, UINT32_MAX); /* rounds to one */
  expect_ratio(1, UINT32_MAX);
  nd_rng rng = {9};
  for (int i = 0; i < 100000; i++) {
    uint32_t joint = (uint32_t)(nd_rng_next(&rng) >> (32 + nd_rng_below(&rng, 31)));
    expect_ratio((uint32_t)nd_rng_below(&rng, (uint64_t)joint + 1), joint);
  }
}

static void refused_memory(void **state) {
  (void)state;
  nd_buf b = {0};
  nd_mem_fail_at(1);
  assert_int_equal(nd_tsv_append(&b, nd_str_of("abc"), &err), ND_ERR_MEMORY);
  nd_mem_fail_at(1);
  assert_int_equal(nd_tsv_append(&b, nd_str_of("a\tc"), &err), ND_ERR_MEMORY);
  nd_mem_fail_at(1);
  assert_int_equal(nd_tsv_unescape(&b, nd_str_of("a"), &err), ND_ERR_MEMORY);
  nd_mem_fail_at(1);
  assert_int_equal(nd_tsv_to_csv(&b, nd_str_of("a\n"), &err), ND_ERR_MEMORY);
  nd_str field;
  nd_mem_fail_at(1);
  assert_int_equal(nd_tsv_canonical(&field, &b, nd_str_of("\\"), &err), ND_ERR_MEMORY);
  nd_mem_fail_at(1);
  assert_int_equal(nd_tsv_ratio(&b, 1, 2, &err), ND_ERR_MEMORY);
  nd_mem_fail_at(0);
  nd_buf_clear(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(escapes_keep_one_field_on_one_line),
                                     cmocka_unit_test(every_code_point),
                                     cmocka_unit_test(foreign_escapes),
                                     cmocka_unit_test(escapes_can_be_undone),
                                     cmocka_unit_test(csv_quotes_fields_and_disarms_formulas),
                                     cmocka_unit_test(ratios_round_as_unlimited_decimals),
                                     cmocka_unit_test(refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
