/* From a token text to distinct keys, against the steps done one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "feature/sample.h"
#include "feature/shingler.h"

static nd_error err;
static nd_shingler g;

#define ok(call)                                                 \
  do {                                                           \
    if ((call) != ND_OK) fail_msg("%s: %s", #call, err.message); \
  } while (0)

static const nd_shingle_spec pairs_of_words = {ND_SHINGLE_WORDS, 2};

static void run(const char *from) {
  static char text[200]; /* readable behind its end */
  snprintf(text, sizeof text, "%s", from);
  ok(nd_shingler_run(&g, nd_str_of(text), pairs_of_words, 7, &err));
}

static void repeated_shingles_have_one_key(void **state) {
  (void)state;
  run("a b a b a b c");
  assert_int_equal(g.tokens, 7);
  assert_int_equal(g.shingles.n, 6); /* ab ba ab ba ab bc */
  uint64_t ab = nd_sample_key(g.shingles.fingerprint[0]);
  ok(nd_shingler_keys(&g, &err));
  assert_int_equal(g.keys, 3);
  bool found = false;
  for (size_t i = 0; i < g.keys; i++) {
    assert_true(i == 0 || g.key[i - 1] < g.key[i]);
    found |= g.key[i] == ab;
  }
  assert_true(found);
  assert_int_equal(g.shingles.n, 6); /* they stay as they are */
}

static void sorting_leaves_distinct_fingerprints(void **state) {
  (void)state;
  run("x y x y x y");
  uint64_t xy = g.shingles.fingerprint[0], yx = g.shingles.fingerprint[1];
  ok(nd_shingler_sort(&g, &err));
  assert_int_equal(g.shingles.n, 2);
  assert_true(g.shingles.fingerprint[0] == (xy < yx ? xy : yx));
  assert_true(g.shingles.fingerprint[1] == (xy < yx ? yx : xy));
}

static void an_empty_text_has_no_keys(void **state) {
  (void)state;
  run("");
  assert_int_equal(g.tokens, 0);
  ok(nd_shingler_keys(&g, &err));
  assert_int_equal(g.keys, 0);
  ok(nd_shingler_sort(&g, &err));
  assert_int_equal(g.shingles.n, 0);
}

static void a_key_of_zero_is_kept(void **state) {
  (void)state;
  run("a b c d");
  g.shingles.fingerprint[1] = 0;
  ok(nd_shingler_sort(&g, &err));
  assert_int_equal(g.shingles.n, 3);
  assert_int_equal(g.shingles.fingerprint[0], 0);
}

static int clear(void **state) {
  (void)state;
  nd_shingler_clear(&g);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(repeated_shingles_have_one_key),
      cmocka_unit_test(sorting_leaves_distinct_fingerprints),
      cmocka_unit_test(an_empty_text_has_no_keys),
      cmocka_unit_test(a_key_of_zero_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, clear);
}
