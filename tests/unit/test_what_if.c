/* Thresholds side by side against clustering at each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "cluster/clusters.h"
#include "cluster/what_if.h"
#include "every_place.h"
#include "tools.h"

enum { N = 60 };

/* The pairs whose similarity reaches t hundredths. */
static nd_sorter *pairs_from(unsigned t, uint64_t seed, unsigned low) {
  nd_sorter *s = NULL;
  nd_rng rng = {seed};
  ok(nd_sorter_new(&s, 1 << 20, ".", false, &err));
  for (uint64_t a = 0; a < N; a++) {
    for (uint64_t b = a + 1; b < N; b++) {
      const uint64_t den = 1 + nd_rng_below(&rng, 700), num = nd_rng_below(&rng, den + 1);
      if (nd_rng_below(&rng, 5) || num * 100 < low * den || num * 100 < t * den) continue;
      nd_item item = {a << 32 | b, num << 32 | den};
      ok(nd_sorter_add(s, &item, 1, &err));
    }
  }
  ok(nd_sorter_finish(s, &err));
  return s;
}

static void compare(bool components) {
  static const unsigned lows[] = {0, 1, 36, 37, 38, 50, 80, 99, 100};
  for (size_t i = 0; i < sizeof lows / sizeof *lows; i++) {
    const uint64_t seed = 11 + i;
    uint64_t dropped[ND_WHAT_IF_STEPS];
    nd_sorter *all = pairs_from(0, seed, lows[i]);
    const nd_what_if w = {all, N, lows[i], false};
    ok(components ? nd_what_if_components(dropped, &w, 1 << 16, ".", &err)
                  : nd_what_if_star(dropped, &w, &err));
    nd_sorter_free(all);
    for (unsigned t = lows[i]; t < ND_WHAT_IF_STEPS; t++) {
      nd_clusters c;
      nd_sorter *s = pairs_from(t, seed, lows[i]);
      uint64_t want = 0;
      ok(nd_clusters_init(&c, N, &err));
      ok(components ? nd_clusters_components(&c, s, NULL, &err)
                    : nd_clusters_star(&c, s, NULL, &err));
      for (uint32_t d = 0; d < N; d++) want += c.centre[d] != d;
      if (want != dropped[t])
        fail_msg("from %u, at %u: %u dropped, not %u", lows[i], t, (unsigned)dropped[t],
                 (unsigned)want);
      nd_clusters_clear(&c);
      nd_sorter_free(s);
    }
    for (unsigned t = 0; t < lows[i]; t++) assert_int_equal(dropped[t], 0);
  }
}

static void as_star(void **state) {
  (void)state;
  compare(false);
}

static void as_components(void **state) {
  (void)state;
  compare(true);
}

/* Pairs that were not verified count at the lowest threshold, whatever their value. */
static void every_pair_counts(void **state) {
  (void)state;
  uint64_t dropped[ND_WHAT_IF_STEPS];
  nd_item items[] = {{1, UINT64_C(1) << 32 | 2}, {UINT64_C(2) << 32 | 3, UINT64_C(9) << 32 | 10}};
  nd_sorter *s = NULL;
  ok(nd_sorter_new(&s, 1 << 16, ".", false, &err));
  ok(nd_sorter_add(s, items, 2, &err));
  ok(nd_sorter_finish(s, &err));
  for (int every = 0; every < 2; every++) {
    const nd_what_if w = {s, 4, 80, every};
    ok(nd_what_if_star(dropped, &w, &err));
    assert_int_equal(dropped[80], 1 + every);
    assert_int_equal(dropped[81], 1);
    assert_int_equal(dropped[91], 0);
  }
  nd_sorter_free(s);
}

/* Values that are no share count as none of it, or as all. */
static void strange_values(void **state) {
  (void)state;
  uint64_t dropped[ND_WHAT_IF_STEPS];
  nd_item items[] = {{1, UINT64_C(5) << 32}, {UINT64_C(2) << 32 | 3, UINT64_C(9) << 32 | 2}};
  nd_sorter *s = NULL;
  ok(nd_sorter_new(&s, 1 << 16, ".", false, &err));
  ok(nd_sorter_add(s, items, 2, &err));
  ok(nd_sorter_finish(s, &err));
  for (int components = 0; components < 2; components++) {
    const nd_what_if w = {s, 4, 0, false};
    ok(components ? nd_what_if_components(dropped, &w, 1 << 16, ".", &err)
                  : nd_what_if_star(dropped, &w, &err));
    assert_int_equal(dropped[0], 2);
    for (unsigned t = 1; t < ND_WHAT_IF_STEPS; t++) assert_int_equal(dropped[t], 1);
  }
  nd_sorter_free(s);
}

/* All that may fail does, in turn: pairs that lie on disk, and what is taken for them. */
static nd_status drop_all(void *context) {
  (void)context;
  nd_sorter *s = NULL;
  uint64_t dropped[ND_WHAT_IF_STEPS];
  nd_clusters c = {0};
  ND_TRY(nd_sorter_new(&s, 256, "/tmp", false, &err));
  nd_status status = ND_OK;
  for (uint64_t b = 1; b < N && status == ND_OK; b++) {
    nd_item item = {b, UINT64_C(9) << 32 | 10};
    status = nd_sorter_add(s, &item, 1, &err);
  }
  const nd_what_if w = {s, N, 50, false};
  if (status == ND_OK) status = nd_sorter_finish(s, &err);
  if (status == ND_OK) status = nd_what_if_star(dropped, &w, &err);
  if (status == ND_OK) assert_int_equal(dropped[90], N - 1);
  if (status == ND_OK) status = nd_what_if_components(dropped, &w, 256, "/tmp", &err);
  if (status == ND_OK) assert_int_equal(dropped[90], N - 1);
  if (status == ND_OK) status = nd_clusters_init(&c, N, &err);
  if (status == ND_OK) status = nd_clusters_components(&c, s, NULL, &err);
  if (status == ND_OK) assert_int_equal(c.centre[N - 1], 0);
  nd_clusters_clear(&c);
  nd_sorter_free(s);
  return status;
}

static void every_place(void **state) {
  (void)state;
  assert_true(every_place_fails(drop_all, NULL) > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_star), cmocka_unit_test(as_components),
                                     cmocka_unit_test(every_pair_counts),
                                     cmocka_unit_test(strange_values),
                                     cmocka_unit_test(every_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
