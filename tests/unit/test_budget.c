/* The shares of --memory: the steps of a run fit the budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "settings/budget.h"

static const uint64_t gib = UINT64_C(1) << 30;

static void every_share_is_some_of_the_memory(void **state) {
  (void)state;
  for (nd_share s = 0; s < ND_SHARES; s++) {
    assert_true(nd_budget(gib, s) > 0 && nd_budget(gib, s) < gib);
    assert_int_equal(nd_budget(0, s), 0);
    assert_true(nd_budget(UINT64_MAX, s) < UINT64_MAX);
  }
}

static uint64_t sum_of(const nd_share *share, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += nd_budget(gib, share[i]);
  return sum;
}

static void shares_of_one_step_fit_together(void **state) {
  (void)state;
  const nd_share prepass[] = {ND_SHARE_PREPASS, ND_SHARE_PREPASS_PAGES, ND_SHARE_SHINGLE_SET};
  const nd_share find[] = {ND_SHARE_FIND_STEP, ND_SHARE_FIND_PAIRS, ND_SHARE_SHINGLE_SET};
  const nd_share exact[] = {ND_SHARE_EXACT_SLICES, ND_SHARE_EXACT_ITEMS, ND_SHARE_EXACT_COUNTS,
                            ND_SHARE_EXACT_COUNTS};
  const nd_share write[] = {ND_SHARE_PAIRS, ND_SHARE_PAIRS, ND_SHARE_IDS, ND_SHARE_REPORT,
                            ND_SHARE_REPORT};
  assert_true(sum_of(prepass, 3) <= gib);
  assert_true(sum_of(find, 3) <= gib);
  assert_true(sum_of(exact, 4) <= gib);
  assert_true(sum_of(write, 5) <= gib);
}

static void finding_keeps_a_least_share_for_any_number_of_documents(void **state) {
  (void)state;
  assert_int_equal(nd_budget_find(gib, 0), gib);
  assert_true(nd_budget_find(gib, 1 << 20) < gib);
  assert_int_equal(nd_budget_find(gib, UINT32_MAX), nd_budget(gib, ND_SHARE_FIND_LEAST));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_share_is_some_of_the_memory),
      cmocka_unit_test(shares_of_one_step_fit_together),
      cmocka_unit_test(finding_keeps_a_least_share_for_any_number_of_documents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
