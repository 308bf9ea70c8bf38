/* Bands × rows: the formula, the choices against a search over all of them,
 * and the recall that planted pairs really get. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "candidate/bands.h"
#include "sketch/minhash.h"
#include "tools.h"

/* The probability, multiplied out. */
static double naive_recall(uint32_t bands, uint32_t rows, double s) {
  double band = 1, none = 1;
  for (uint32_t i = 0; i < rows; i++) band *= s;
  for (uint32_t i = 0; i < bands; i++) none *= 1 - band;
  return 1 - none;
}

static void recall_follows_the_formula(void **state) {
  (void)state;
  for (uint32_t b = 1; b < 60; b += 7) {
    for (uint32_t r = 1; r < 30; r += 3) {
      for (double s = 0; s <= 1; s += 0.0625) {
        double x = nd_bands_recall((nd_bands){b, r}, s);
        assert_true(fabs(x - naive_recall(b, r, s)) < 1e-12);
      }
    }
  }
  /* 9 bands of 13 rows find 40 % at 0.8: the well-known trap */
  assert_true(fabs(nd_bands_recall((nd_bands){9, 13}, 0.8) - 0.40) < 0.01);
}

static const double thresholds[] = {0.05, 0.1, 0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1};
static const double recalls[] = {0, 0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999};
enum {
  THRESHOLDS = sizeof thresholds / sizeof *thresholds,
  RECALLS = sizeof recalls / sizeof *recalls
};

/* Every (bands, rows): the most rows within the limit, else the fewest positions. */
static nd_bands choose_naively(double t, double recall, uint32_t limit, uint32_t most) {
  nd_bands best = {0, 0}, least = {0, 0};
  for (uint32_t r = 1; r <= 64; r++) {
    for (uint32_t b = 1; b * r <= most; b++) {
      if (naive_recall(b, r, t) + 1e-10 < recall) continue;
      if (b * r <= limit) best = (nd_bands){b, r};
      if (!least.bands || b * r < least.bands * least.rows) least = (nd_bands){b, r};
      break;
    }
  }
  return best.bands ? best : least;
}

static void choice_is_the_best(void **state) {
  (void)state;
  for (size_t i = 0; i < THRESHOLDS; i++) {
    for (size_t j = 0; j < RECALLS; j++) {
      for (uint32_t limit = 16; limit <= 256; limit *= 4) {
        nd_bands x = nd_bands_choose(thresholds[i], recalls[j], limit, 2000);
        nd_bands y = choose_naively(thresholds[i], recalls[j], limit, 2000);
        if (x.bands != y.bands || x.rows != y.rows)
          fail_msg("t %g recall %g limit %u: %u x %u, not %u x %u", thresholds[i], recalls[j],
                   limit, x.bands, x.rows, y.bands, y.rows);
        if (x.bands == 0) continue;
        assert_true((uint64_t)x.bands * x.rows <= 2000);
        assert_true(nd_bands_recall(x, thresholds[i]) >= recalls[j] - 1e-8);
      }
    }
  }
  for (uint32_t most = 1; most < 64; most += 9) { /* fewer positions than rows are tried */
    nd_bands x = nd_bands_choose(1, 0.9, 64, most);
    assert_int_equal(x.bands, 1);
    assert_int_equal(x.rows, most);
  }
  assert_int_equal(nd_bands_choose(0.8, 1, 128, 2000).bands, 0); /* cannot be reached */
  assert_int_equal(nd_bands_choose(0.0001, 0.99, 128, 2000).bands, 0);
}

static void cut_is_the_best(void **state) {
  (void)state;
  for (uint32_t k = 1; k <= 300; k += k < 20 ? 1 : 37) {
    for (size_t i = 0; i < THRESHOLDS; i++) {
      for (size_t j = 0; j < RECALLS; j++) {
        nd_bands x = nd_bands_cut(thresholds[i], recalls[j], k), best = {0, 0}, high = {0, 0};
        for (uint32_t r = 1; r <= k; r++) {
          double recall = naive_recall(k / r, r, thresholds[i]);
          if (recall + 1e-10 >= recalls[j]) best = (nd_bands){k / r, r};
          if (!high.bands || recall > naive_recall(high.bands, high.rows, thresholds[i]) + 1e-12)
            high = (nd_bands){k / r, r};
        }
        if (!best.bands) best = high;
        assert_true(x.bands >= 1 && x.rows >= 1 && x.bands * x.rows <= k);
        assert_int_equal(x.bands, best.bands);
        assert_int_equal(x.rows, best.rows);
      }
    }
  }
}

static void keys_follow_the_rows(void **state) {
  (void)state;
  nd_rng rng = {5};
  uint64_t a[60], b[60], x[60], y[60];
  for (uint32_t rows = 1; rows <= 12; rows++) {
    nd_bands cut = {60 / rows, rows};
    for (int i = 0; i < 60; i++) a[i] = b[i] = nd_rng_next(&rng);
    uint32_t changed = (uint32_t)nd_rng_below(&rng, (uint64_t)cut.bands * rows);
    b[changed] ^= 1;
    nd_bands_keys(x, cut, a, 1);
    nd_bands_keys(y, cut, b, 1);
    for (uint32_t i = 0; i < cut.bands; i++) assert_int_equal(x[i] == y[i], i != changed / rows);
    nd_bands_keys(y, cut, a, 2);
    for (uint32_t i = 0; i < cut.bands; i++) assert_int_not_equal(x[i], y[i]);
    /* equal rows in another band, or in another order, are another key */
    for (int i = 0; i < 60; i++) a[i] = 7 + (uint64_t)i % rows;
    nd_bands_keys(x, cut, a, 1);
    for (uint32_t i = 1; i < cut.bands; i++) assert_int_not_equal(x[i], x[0]);
    if (rows < 2) continue;
    for (int i = 0; i < 60; i++) b[i] = 7 + (uint64_t)(rows - 1 - (uint32_t)i % rows);
    nd_bands_keys(y, cut, b, 1);
    for (uint32_t i = 0; i < cut.bands; i++) assert_int_not_equal(x[i], y[i]);
  }
}

/* Pairs of sets of resemblance exactly t (or just above): the share that meets
 * in a band is the predicted one, within sampling error. */
static void measure(double t, size_t joint) {
  enum { PAIRS = 1500 };
  nd_bands cut = nd_bands_choose(t, 0.95, 128, 2000);
  uint32_t k = cut.bands * cut.rows;
  nd_minhash m;
  ok(nd_minhash_init(&m, k, 1, &err));
  size_t common = (size_t)ceil(t * (double)joint - 1e-9), own = joint - common;
  uint64_t *fp = malloc(joint * sizeof *fp), *a = malloc(k * 8), *b = malloc(k * 8);
  uint64_t *x = malloc(cut.bands * 8), *y = malloc(cut.bands * 8);
  nd_rng rng = {(uint64_t)(t * 1000) + joint};
  int met = 0;
  for (int i = 0; i < PAIRS; i++) {
    for (size_t j = 0; j < joint; j++) fp[j] = nd_rng_next(&rng);
    /* [own a | common | own b] */
    size_t left = own / 2;
    ok(nd_minhash_sketch(a, &m, fp, left + common, &err));
    ok(nd_minhash_sketch(b, &m, fp + left, joint - left, &err));
    nd_bands_keys(x, cut, a, 1);
    nd_bands_keys(y, cut, b, 1);
    bool meets = false;
    for (uint32_t j = 0; j < cut.bands; j++) meets |= x[j] == y[j];
    met += meets;
  }
  double s = (double)common / (double)joint, p = nd_bands_recall(cut, s);
  double measured = (double)met / PAIRS, error = sqrt(p * (1 - p) / PAIRS);
  print_message("t %.2f, %zu shingles: %u x %u, predicted %.4f, measured %.4f\n", t, joint,
                cut.bands, cut.rows, p, measured);
  assert_true(measured >= p - 4 * error);
  assert_true(p >= 0.95 - 1e-6);
  nd_minhash_clear(&m);
  free(fp);
  free(a);
  free(b);
  free(x);
  free(y);
}

static void planted_pairs_meet(void **state) {
  (void)state;
  const double at[] = {0.5, 0.7, 0.8, 0.9};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    measure(at[i], 10);
    measure(at[i], 40);
    measure(at[i], 200);
    measure(at[i], 2000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recall_follows_the_formula), cmocka_unit_test(choice_is_the_best),
      cmocka_unit_test(cut_is_the_best), cmocka_unit_test(keys_follow_the_rows),
      cmocka_unit_test(planted_pairs_meet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
