/* Pairs and fractions in one word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pair.h"

static void a_pair_survives_its_key(void **state) {
  (void)state;
  const uint32_t edges[] = {0, 1, 7, UINT32_MAX - 1, UINT32_MAX};
  for (size_t i = 0; i < 5; i++) {
    for (size_t j = 0; j < 5; j++) {
      nd_pair p = nd_pair_of(nd_pair_key(edges[i], edges[j]));
      assert_true(p.a == edges[i] && p.b == edges[j]);
      p = nd_pair_of(nd_pair_ascending(edges[i], edges[j]));
      assert_true(p.a == edges[i < j ? i : j] && p.b == edges[i < j ? j : i]);
    }
  }
}

static void keys_ascend_by_a_then_by_b(void **state) {
  (void)state;
  assert_true(nd_pair_key(1, UINT32_MAX) < nd_pair_key(2, 0));
  assert_true(nd_pair_key(2, 3) < nd_pair_key(2, 4));
}

static int compare(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return nd_fraction_compare(nd_fraction_of(nd_fraction_pack(a, b)),
                             nd_fraction_of(nd_fraction_pack(c, d)));
}

static void fractions_compare_exactly(void **state) {
  (void)state;
  assert_true(compare(4, 5, 8, 10) == 0);
  assert_true(compare(1, 3, 33333333, 100000000) > 0);
  assert_true(compare(UINT32_MAX - 1, UINT32_MAX, 1, 1) < 0);
  assert_true(compare(UINT32_MAX, UINT32_MAX - 1, UINT32_MAX - 1, UINT32_MAX) > 0);
}

static void a_fraction_without_denominator_has_no_value(void **state) {
  (void)state;
  assert_true(nd_fraction_real((nd_fraction){3, 4}, -1) == 0.75);
  assert_true(nd_fraction_real((nd_fraction){0, 0}, -1) == -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pair_survives_its_key),
      cmocka_unit_test(keys_ascend_by_a_then_by_b),
      cmocka_unit_test(fractions_compare_exactly),
      cmocka_unit_test(a_fraction_without_denominator_has_no_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
