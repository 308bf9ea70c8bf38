/* Fields of tab-separated lines: escapes that can be undone, ratios rounded
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
  nd_buf_clear(&b);
}

static void escapes(void **state) {
  (void)state;
  expect_escaped("plain", 5, "plain");
  expect_escaped("", 0, "");
  expect_escaped(NULL, 0, "");
  expect_escaped("a\tb\nc\rd\\e", 9, "a\\tb\\nc\\rd\\\\e");
  expect_escaped("\\t", 2, "\\\\t");
  expect_escaped("\t\t\t\t", 4, "\\t\\t\\t\\t");
  expect_escaped("\xe4\xb8\xad\xff", 4, "\xe4\xb8\xad\xff");
}

static void escapes_can_be_undone(void **state) {
  (void)state;
  nd_rng rng = {8};
  for (int round = 0; round < 2000; round++) {
    char text[200], back[200];
    size_t n = (size_t)nd_rng_below(&rng, sizeof text), m = 0;
    for (size_t i = 0; i < n; i++) text[i] = "\t\n\r\\tnr a\0\xff"[nd_rng_below(&rng, 11)];
    nd_buf b = {0};
    ok(nd_tsv_append(&b, (nd_str){text, n}, &err));
    for (size_t i = 0; i < b.n; i++) {
      char c = b.p[i];
      assert_true(c != '\t' && c != '\n' && c != '\r');
      if (c == '\\') {
        c = b.p[++i];
        c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
      }
      back[m++] = c;
    }
    assert_int_equal(m, n);
    assert_memory_equal(text, back, n);
    nd_buf_clear(&b);
  }
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

static void ratios(void **state) {
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
  assert_int_equal(nd_tsv_ratio(&b, 1, 2, &err), ND_ERR_MEMORY);
  nd_mem_fail_at(0);
  nd_buf_clear(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(escapes),
                                     cmocka_unit_test(escapes_can_be_undone),
                                     cmocka_unit_test(ratios), cmocka_unit_test(refused_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
