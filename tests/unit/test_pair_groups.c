/* Plans of pair groups, compared with groups found by brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "seed.h"
#include "verify/pair_groups.h"

static nd_error err;
static nd_rng rng;

static int setup(void **state) {
  (void)state;
  rng.state = test_seed();
  return 0;
}

enum { DOCUMENTS = 60 };

/* group[d] = the smallest document that hangs together with d. */
static void find_groups(uint32_t *group, const nd_item *items, size_t n) {
  for (uint32_t d = 0; d < DOCUMENTS; d++) group[d] = d;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < n; i++) {
      uint32_t *a = &group[items[i].key >> 32], *b = &group[(uint32_t)items[i].key];
      if (*a == *b) continue;
      *a = *b = *a < *b ? *a : *b;
      changed = true;
    }
  }
}

static void check_plan(const nd_pair_groups *t, const nd_item *items, size_t n) {
  uint32_t group[DOCUMENTS], pairs[DOCUMENTS] = {0}, members[DOCUMENTS] = {0}, last[DOCUMENTS];
  uint32_t name[DOCUMENTS]; /* of the plan's group */
  bool seen[1000] = {false}, touched[DOCUMENTS] = {false};
  find_groups(group, items, n);
  for (size_t i = 0; i < n; i++) {
    pairs[group[items[i].key >> 32]]++;
    touched[items[i].key >> 32] = touched[(uint32_t)items[i].key] = true;
  }
  for (uint32_t d = 0; d < DOCUMENTS; d++) {
    members[group[d]] += touched[d];
    last[d] = UINT32_MAX;
    name[d] = ND_ALONE;
  }
  assert_int_equal(t->n, n);
  for (size_t i = 0; i < n; i++) {
    uint32_t item = t->item[i], g = group[items[item].key >> 32];
    assert_true(item < n && !seen[item]);
    seen[item] = true;
    assert_int_equal(t->group[i] != ND_ALONE, pairs[g] >= 2 * members[g]);
    if (t->group[i] == ND_ALONE) continue;
    if (name[g] == ND_ALONE) name[g] = t->group[i];
    assert_int_equal(t->group[i], name[g]);
    assert_true(last[g] == UINT32_MAX || last[g] < item); /* a group keeps the order */
    last[g] = item;
    if (i && t->group[i - 1] != t->group[i]) /* … and is in one piece */
      for (size_t j = 0; j < i; j++) assert_int_not_equal(t->group[j], t->group[i]);
  }
  uint32_t at = 0;
  for (size_t j = 0; j < t->job_n; j++) { /* jobs tile the plan */
    assert_int_equal(t->jobs[j].begin, at);
    assert_true(t->jobs[j].end > at);
    at = t->jobs[j].end;
  }
  assert_int_equal(at, n);
}

static void groups_are_the_connected_pairs(void **state) {
  (void)state;
  nd_pair_groups t = {0};
  for (int round = 0; round < 3000; round++) {
    nd_item items[1000];
    uint64_t most = round % 3 ? 40 : 1000, side = 1 + nd_rng_below(&rng, 12);
    size_t n = (size_t)nd_rng_below(&rng, most + 1);
    for (size_t i = 0; i < n; i++) { /* pairs within a block of `side` documents */
      uint64_t a = nd_rng_below(&rng, DOCUMENTS - 1);
      uint64_t b = a / side * side + nd_rng_below(&rng, side);
      if (b == a || b >= DOCUMENTS) b = a + 1;
      items[i] = (nd_item){a < b ? a << 32 | b : b << 32 | a, 0};
    }
    assert_int_equal(nd_pair_groups_plan(&t, items, n, true, &err), ND_OK);
    check_plan(&t, items, n);
    assert_int_equal(nd_pair_groups_plan(&t, items, n, false, &err), ND_OK);
    for (size_t i = 0; i < n; i++) {
      assert_int_equal(t.item[i], i);
      assert_int_equal(t.group[i], ND_ALONE);
    }
  }
  nd_pair_groups_clear(&t);
}

/* A large group becomes several jobs; small ones stay in one job each. */
static void only_large_groups_are_split_into_jobs(void **state) {
  (void)state;
  nd_pair_groups t = {0};
  size_t n = 0;
  nd_item *items = malloc(ND_PAIR_GROUPS_MOST * sizeof *items);
  assert_non_null(items);
  for (uint64_t a = 0; a < 300 && n < ND_PAIR_GROUPS_MOST; a++)
    for (uint64_t b = a + 1; b < 300 && n < ND_PAIR_GROUPS_MOST; b++)
      items[n++] = (nd_item){a << 32 | b, 0};
  assert_int_equal(nd_pair_groups_plan(&t, items, n, true, &err), ND_OK);
  assert_true(t.job_n >= 5 && t.job_n <= 8);
  n = 0;
  for (uint64_t g = 0; g < 1000; g++) /* cliques of 8: 28 pairs */
    for (uint64_t a = 0; a < 8; a++)
      for (uint64_t b = a + 1; b < 8; b++)
        items[n++] = (nd_item){(8 * g + a) << 32 | (8 * g + b), 0};
  assert_int_equal(nd_pair_groups_plan(&t, items, n, true, &err), ND_OK);
  assert_true(t.job_n > 20);
  for (size_t j = 0; j < t.job_n; j++) assert_int_equal(t.jobs[j].begin % 28, 0);
  nd_pair_groups_clear(&t);
  free(items);
}

static void every_failed_allocation_is_reported(void **state) {
  (void)state;
  const nd_item items[] = {{UINT64_C(0) << 32 | 1, 0}, {UINT64_C(1) << 32 | 2, 0}};
  bool hit = true;
  for (uint64_t nth = 1; hit; nth++) {
    nd_pair_groups t = {0};
    nd_mem_fail_at(nth);
    nd_status status = nd_pair_groups_plan(&t, items, 2, true, &err);
    hit = nd_mem_count() >= nth;
    nd_mem_fail_at(0);
    assert_int_equal(status, hit ? ND_ERR_MEMORY : ND_OK);
    nd_pair_groups_clear(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_the_connected_pairs),
                                     cmocka_unit_test(only_large_groups_are_split_into_jobs),
                                     cmocka_unit_test(every_failed_allocation_is_reported)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
