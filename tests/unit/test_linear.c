/* Linear min values and super-shingles: the same as by whole 128-bit products, on
 * every CPU level; unbiased for sets from one shingle to a million. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sketch/minhash.h"
#include "sketch/supershingle.h"
#include "tools.h"

/* --- the functions ------------------------------------------------------------- */

static void values_are_those_of_the_formula(void **state) {
  (void)state;
  const uint64_t p = ND_LINEAR_PRIME;
  nd_rng rng = {1};
  for (int round = 0; round < 200; round++) {
    uint32_t k = 1 + (uint32_t)nd_rng_below(&rng, 100);
    size_t n = 1 + (size_t)nd_rng_below(&rng, round % 7 ? 20 : 600);
    nd_linear l;
    ok(nd_linear_init(&l, k, nd_rng_next(&rng), &err));
    /* Also the largest factors, whose products need all the bits there are. */
    if (round % 3 == 0)
      for (uint32_t j = 0; j < k; j++) l.a[j] = p - 1 - nd_rng_below(&rng, 3);
    if (round % 4 == 0)
      for (uint32_t j = 0; j < k; j++) l.b[j] = p - 1;
    uint64_t *fp = malloc(n * 8), want[100], got[100];
    for (size_t i = 0; i < n; i++) {
      fp[i] = nd_rng_next(&rng);
      if (round % 5 == 0)
        fp[i] = (uint64_t)(int64_t)(-(int64_t)nd_rng_below(&rng, 4)); /* 0, 2^64-1 … */
      if (round % 5 == 1) fp[i] = p - 2 + nd_rng_below(&rng, 4);
    }
    for (uint32_t j = 0; j < k; j++) {
      want[j] = UINT64_MAX;
      for (size_t i = 0; i < n; i++) {
        unsigned __int128 y = (unsigned __int128)l.a[j] * (fp[i] % p) + l.b[j];
        if ((uint64_t)(y % p) < want[j]) want[j] = (uint64_t)(y % p);
      }
      assert_true(l.a[j] >= 1 && l.a[j] < p && l.b[j] < p);
    }
    for (int level = 0; level <= (int)nd_cpu(); level++) {
      nd_linear_sketch_level(got, &l, fp, n, (nd_cpu_level)level);
      assert_memory_equal(got, want, k * 8);
    }
    nd_linear_sketch(got, &l, fp, n);
    assert_memory_equal(got, want, k * 8);
    nd_linear_clear(&l);
    free(fp);
  }
}

/* |A ∪ B| = joint, |A ∩ B| = common, many seeds: the mean share of agreeing places. */
static void measure(size_t joint, size_t common, uint32_t k, int trials) {
  uint64_t *fp = malloc(joint * 8), *a = malloc(k * 8), *b = malloc(k * 8);
  double j = (double)common / (double)joint, sum = 0;
  size_t left = (joint - common) / 2;
  for (int t = 0; t < trials; t++) {
    nd_rng rng = {(uint64_t)t * 7919 + joint * 31 + common};
    nd_minhash m;
    ok(nd_minhash_init_family(&m, ND_FAMILY_LINEAR, k, nd_rng_next(&rng), &err));
    for (size_t i = 0; i < joint; i++) fp[i] = nd_rng_next(&rng);
    ok(nd_minhash_sketch(a, &m, fp, left + common, &err));
    ok(nd_minhash_sketch(b, &m, fp + left, joint - left, &err));
    sum += nd_minhash_estimate(a, b, k);
    nd_minhash_clear(&m);
  }
  double mean = sum / trials, sigma = sqrt(j * (1 - j) / k / trials);
  if (fabs(mean - j) > 4.5 * sigma + 1e-12)
    fail_msg("joint %zu common %zu k %u: mean %g is not %g (%g errors)", joint, common, k, mean, j,
             (mean - j) / sigma);
  free(fp);
  free(a);
  free(b);
}

static void estimate_is_unbiased(void **state) {
  (void)state;
  static const double resemblances[] = {0.1, 0.5, 0.8, 0.95};
  static const size_t sizes[] = {1, 2, 5, 20, 100, 1000, 30000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t n = sizes[i];
    int trials = n <= 100 ? 400 : n <= 1000 ? 60 : 4;
    for (size_t j = 0; j < 4; j++)
      measure(n, (size_t)(resemblances[j] * (double)n + 0.5), 84, trials);
  }
  measure(1000000, 700000, 84, 1);
  measure(3, 3, 84, 20);
  measure(2, 0, 84, 20);
}

static void no_shingles_no_values(void **state) {
  (void)state;
  nd_minhash m;
  uint64_t out[84];
  ok(nd_minhash_init_family(&m, ND_FAMILY_LINEAR, 84, 1, &err));
  ok(nd_minhash_sketch(out, &m, NULL, 0, &err));
  for (int i = 0; i < 84; i++) assert_true(out[i] == UINT64_MAX);
  nd_minhash_clear(&m);
  assert_int_equal(nd_minhash_init_family(&m, ND_FAMILY_LINEAR, 0, 1, &err), ND_ERR_USAGE);
  nd_mem_fail_at(1);
  assert_int_equal(nd_minhash_init_family(&m, ND_FAMILY_LINEAR, 84, 1, &err), ND_ERR_MEMORY);
  nd_mem_fail_at(0);
  nd_minhash_clear(&m);
}

/* --- super-shingles ---------------------------------------------------------------- */

static void supers_agree_where_groups_do(void **state) {
  (void)state;
  nd_rng rng = {2};
  for (int round = 0; round < 2000; round++) {
    uint32_t supers = 1 + (uint32_t)nd_rng_below(&rng, 8);
    uint32_t each = 1 + (uint32_t)nd_rng_below(&rng, 14), values = supers * each;
    uint64_t a[112], b[112], sa[8], sb[8];
    bool same[8];
    uint32_t agree = 0;
    for (uint32_t i = 0; i < values; i++) a[i] = b[i] = nd_rng_below(&rng, 3);
    for (uint32_t s = 0; s < supers; s++) {
      same[s] = nd_rng_below(&rng, 2);
      if (!same[s]) b[s * each + nd_rng_below(&rng, each)] ^= 4;
      agree += same[s];
    }
    nd_super_make(sa, a, values, supers, 7);
    nd_super_make(sb, b, values, supers, 7);
    for (uint32_t s = 0; s < supers; s++) assert_int_equal(sa[s] == sb[s], same[s]);
    assert_int_equal(nd_super_agree(sa, sb, supers), agree);
    /* Mega-shingles: equal for exactly the pairs of equal super-shingles. */
    uint32_t index = 0, shared = 0;
    for (uint32_t i = 0; i < supers; i++) {
      for (uint32_t j = i + 1; j < supers; j++, index++) {
        bool equal = nd_mega(sa, supers, index) == nd_mega(sb, supers, index);
        assert_int_equal(equal, same[i] && same[j]);
        shared += equal;
      }
    }
    assert_int_equal(index, nd_mega_count(supers));
    assert_int_equal(shared > 0, agree >= 2);
  }
}

static void nothing_agrees_with_nothing(void **state) {
  (void)state;
  uint64_t none[84], super[6];
  memset(none, 0xff, sizeof none);
  nd_super_make(super, none, 84, 6, 1);
  assert_int_equal(nd_super_agree(super, super, 6), 0);
  for (uint32_t i = 0; i < nd_mega_count(6); i++) assert_true(nd_mega(super, 6, i) == UINT64_MAX);
}

/* Documents of a known resemblance meet as often as the formula says. */
static void recall_is_the_predicted_one(void **state) {
  (void)state;
  enum { N = 200, COMMON = 190, TRIALS = 1500 };
  const nd_family families[] = {ND_FAMILY_FAST, ND_FAMILY_LINEAR};
  for (int f = 0; f < 2; f++) {
    uint64_t fp[N], a[84], b[84], sa[6], sb[6];
    int met = 0;
    for (int t = 0; t < TRIALS; t++) {
      nd_rng rng = {(uint64_t)t + 1};
      nd_minhash m;
      for (int i = 0; i < N; i++) fp[i] = nd_rng_next(&rng);
      ok(nd_minhash_init_family(&m, families[f], 84, nd_rng_next(&rng), &err));
      ok(nd_minhash_sketch(a, &m, fp, N - 5, &err));
      ok(nd_minhash_sketch(b, &m, fp + 5, N - 5, &err));
      nd_super_make(sa, a, 84, 6, 1);
      nd_super_make(sb, b, 84, 6, 1);
      met += nd_super_agree(sa, sb, 6) >= 2;
      nd_minhash_clear(&m);
    }
    double p = nd_super_recall((double)COMMON / N, 84, 6, 2);
    double got = (double)met / TRIALS, sigma = sqrt(p * (1 - p) / TRIALS);
    print_message("family %d: %.4f, predicted %.4f\n", f, got, p);
    assert_true(got > p - 4.5 * sigma);
    /* Fast sketches vary less than independent ones: they may only be better. */
    if (f == 1) assert_true(got < p + 4.5 * sigma);
  }
  assert_true(fabs(nd_super_recall(1, 84, 6, 2) - 1) < 1e-12);
  assert_true(nd_super_recall(0, 84, 6, 1) == 0);
  assert_true(fabs(nd_super_recall(0.8, 84, 6, 2) - 0.0258) < 1e-4); /* docs/methods.md */
  assert_true(fabs(nd_super_recall(0.9, 84, 6, 2) - 0.4151) < 1e-4);
  assert_true(fabs(nd_super_recall(0.95, 84, 6, 2) - 0.8786) < 1e-4);
}

static void wrong_numbers_are_refused(void **state) {
  (void)state;
  ok(nd_super_check(84, 6, 2, &err));
  ok(nd_super_check(6, 6, 6, &err));
  assert_int_equal(nd_super_check(84, 0, 1, &err), ND_ERR_USAGE);
  assert_int_equal(nd_super_check(84, 65, 1, &err), ND_ERR_USAGE);
  assert_int_equal(nd_super_check(5, 6, 2, &err), ND_ERR_USAGE);
  assert_int_equal(nd_super_check(84, 5, 2, &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "85"));
  assert_int_equal(nd_super_check(84, 6, 0, &err), ND_ERR_USAGE);
  assert_int_equal(nd_super_check(84, 6, 7, &err), ND_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_those_of_the_formula),
                                     cmocka_unit_test(estimate_is_unbiased),
                                     cmocka_unit_test(no_shingles_no_values),
                                     cmocka_unit_test(supers_agree_where_groups_do),
                                     cmocka_unit_test(nothing_agrees_with_nothing),
                                     cmocka_unit_test(recall_is_the_predicted_one),
                                     cmocka_unit_test(wrong_numbers_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
