/* MinHash sketches: unbiased, no more variance than k permutations, a function
 * of the set alone, mergeable, and fast on texts that say one thing over and
 * over. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "sketch/minhash.h"
#include "tools.h"

static int clear_hooks(void **state) {
  (void)state;
  nd_mem_fail_at(0);
  return 0;
}

/* How fingerprints are made: drawn, or as the shingles "1", "2" … get them. */
enum { DRAWN, NUMBERS };

static void make_fingerprints(uint64_t *fp, size_t n, int how, uint64_t seed) {
  nd_rng rng = {seed};
  nd_hash_key key = nd_hash_key_of(seed);
  for (size_t i = 0; i < n; i++) {
    char text[32] = {0};
    int length = how == NUMBERS ? snprintf(text, 16, "%zu", i + 1) : 0;
    fp[i] = how == NUMBERS ? nd_hash_bytes(text, (size_t)length, key) : nd_rng_next(&rng);
  }
}

/* Sets A and B with |A ∪ B| = joint and |A ∩ B| = common, many seeds. */
static void measure(size_t joint, size_t common, uint32_t k, int trials, int how) {
  uint64_t *fp = malloc(joint * sizeof *fp), *a = malloc(k * 8), *b = malloc(k * 8);
  double j = (double)common / (double)joint, sum = 0, squares = 0;
  size_t left = (joint - common) / 2;
  for (int t = 0; t < trials; t++) {
    uint64_t seed = (uint64_t)t * 7919 + joint * 31 + common;
    nd_minhash m;
    ok(nd_minhash_init(&m, k, seed, &err));
    make_fingerprints(fp, joint, how, seed);
    ok(nd_minhash_sketch(a, &m, fp, left + common, &err));
    ok(nd_minhash_sketch(b, &m, fp + left, joint - left, &err));
    double e = nd_minhash_estimate(a, b, k);
    sum += e;
    squares += (e - j) * (e - j);
    nd_minhash_clear(&m);
  }
  double mean = sum / trials, most = j * (1 - j) / k;
  if (fabs(mean - j) > 4 * sqrt(most / trials) + 1e-12)
    fail_msg("joint %zu common %zu k %u: mean %g is not %g (%g errors)", joint, common, k, mean, j,
             (mean - j) / sqrt(most / trials));
  if (trials >= 50 && squares / trials > most * (1 + 4 * sqrt(2.0 / trials)) + 1e-12)
    fail_msg("joint %zu common %zu k %u: variance %g is above %g", joint, common, k,
             squares / trials, most);
  free(fp);
  free(a);
  free(b);
}

static const double resemblances[] = {0.1, 0.5, 0.8, 0.95};
static const size_t sizes[] = {1, 2, 5, 20, 100, 1000, 100000, 1000000};

static void estimate_is_unbiased(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t n = sizes[i];
    int trials = n <= 1000 ? 500 : n <= 100000 ? 20 : 3;
    for (size_t j = 0; j < sizeof resemblances / sizeof *resemblances; j++) {
      size_t common = (size_t)(resemblances[j] * (double)n + 0.5);
      measure(n, common, 128, trials, DRAWN);
      if (n <= 1000) measure(n, common, 91, trials / 2, NUMBERS);
    }
  }
  for (size_t n = 1; n <= 3; n++) measure(n, n, 128, 20, DRAWN); /* equal sets: exactly one */
  measure(2, 0, 128, 20, DRAWN);                                 /* disjoint: exactly zero */
}

static void any_length_is_unbiased(void **state) {
  (void)state;
  const uint32_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 16, 63, 64, 65, 127, 200, 513};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    measure(10, 5, lengths[i], 300, DRAWN);
    measure(100, 80, lengths[i], 200, DRAWN);
  }
  measure(60, 45, 2000, 30, DRAWN);
  measure(1, 1, 2000, 2, DRAWN);
}

static void shuffle(uint64_t *x, size_t n, nd_rng *rng) {
  for (size_t i = n; i > 1; i--) {
    size_t j = (size_t)nd_rng_below(rng, i);
    uint64_t swap = x[i - 1];
    x[i - 1] = x[j];
    x[j] = swap;
  }
}

/* Any order, any repeats, the same object used before for something else. */
static void a_set_has_one_sketch(void **state) {
  (void)state;
  nd_rng rng = {21};
  for (uint32_t k = 1; k <= 2000; k += k < 10 ? 1 : k < 300 ? 59 : 425) {
    for (size_t n = 1; n <= 200; n += n < 6 ? 1 : 97) {
      nd_minhash m;
      ok(nd_minhash_init(&m, k, k + n, &err));
      uint64_t *set = malloc(n * 8), *many = malloc(n * 8 * 20);
      uint64_t *a = malloc(k * 8), *b = malloc(k * 8);
      make_fingerprints(set, n, DRAWN, n);
      if (n > 2) {
        set[0] = 0; /* values a hash table may mark its places with */
        set[1] = 1;
        set[2] = UINT64_MAX;
      }
      size_t total = 0;
      for (size_t i = 0; i < n; i++)
        for (uint64_t r = 1 + nd_rng_below(&rng, 20); r; r--) many[total++] = set[i];
      ok(nd_minhash_sketch(a, &m, set, n, &err));
      for (int round = 0; round < 3; round++) {
        shuffle(many, total, &rng);
        ok(nd_minhash_sketch(b, &m, many, total, &err));
        assert_memory_equal(a, b, k * 8);
      }
      for (uint32_t i = 0; i < k; i++) assert_true(a[i] != UINT64_MAX);
      nd_minhash_clear(&m);
      free(set);
      free(many);
      free(a);
      free(b);
    }
  }
}

/* The sketch of a union is the smaller value at every position. */
static void sketches_merge(void **state) {
  (void)state;
  nd_rng rng = {22};
  for (int round = 0; round < 300; round++) {
    uint32_t k = 1 + (uint32_t)nd_rng_below(&rng, round % 10 ? 150 : 700);
    size_t n = 2 + (size_t)nd_rng_below(&rng, round % 3 ? 12 : 900);
    size_t first = 1 + (size_t)nd_rng_below(&rng, n - 1), second = (size_t)nd_rng_below(&rng, n);
    uint64_t *fp = malloc(n * 8), *a = malloc(k * 8), *b = malloc(k * 8), *c = malloc(k * 8);
    make_fingerprints(fp, n, DRAWN, nd_rng_next(&rng));
    nd_minhash m;
    ok(nd_minhash_init(&m, k, nd_rng_next(&rng), &err));
    if (second > first) second = first;
    ok(nd_minhash_sketch(a, &m, fp, first, &err));
    ok(nd_minhash_sketch(b, &m, fp + second, n - second, &err));
    ok(nd_minhash_sketch(c, &m, fp, n, &err));
    for (uint32_t i = 0; i < k; i++) assert_int_equal(c[i], a[i] < b[i] ? a[i] : b[i]);
    nd_minhash_clear(&m);
    free(fp);
    free(a);
    free(b);
    free(c);
  }
}

/* A million shingles, three of them different. */
static void repetitive_texts_are_fast(void **state) {
  (void)state;
  enum { N = 1000000 };
  uint64_t set[3] = {5, 6, 7}, *fp = malloc(N * 8);
  for (size_t i = 0; i < N; i++) fp[i] = set[i % 3];
  const uint32_t lengths[] = {1, 5, 128, 2000};
  for (size_t i = 0; i < 4; i++) {
    uint32_t k = lengths[i];
    uint64_t *a = malloc(k * 8), *b = malloc(k * 8);
    nd_minhash m;
    ok(nd_minhash_init(&m, k, 1, &err));
    clock_t begin = clock();
    ok(nd_minhash_sketch(a, &m, fp, N, &err));
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    print_message("k %u: %.3f s for a million repeats\n", k, seconds);
    assert_true(seconds < 2); /* all k rounds over all of it would take ten times that */
    ok(nd_minhash_sketch(b, &m, set, 3, &err));
    assert_memory_equal(a, b, k * 8);
    nd_minhash_clear(&m);
    free(a);
    free(b);
  }
  free(fp);
}

static void nothing_resembles_nothing(void **state) {
  (void)state;
  nd_minhash m;
  ok(nd_minhash_init(&m, 64, 1, &err));
  uint64_t a[64], b[64], one = 12;
  ok(nd_minhash_sketch(a, &m, NULL, 0, &err));
  for (int i = 0; i < 64; i++) assert_true(a[i] == UINT64_MAX);
  assert_true(nd_minhash_estimate(a, a, 64) == 0);
  ok(nd_minhash_sketch(b, &m, &one, 1, &err));
  assert_true(nd_minhash_estimate(a, b, 64) == 0);
  assert_true(nd_minhash_estimate(b, b, 64) == 1);
  nd_minhash_clear(&m);
  ok(nd_minhash_init(&m, 64, 2, &err));
  ok(nd_minhash_sketch(a, &m, &one, 1, &err));
  assert_true(nd_minhash_estimate(a, b, 64) == 0); /* another seed */
  nd_minhash_clear(&m);
}

static void limits_and_faults(void **state) {
  (void)state;
  nd_minhash m;
  assert_int_equal(nd_minhash_init(&m, 0, 1, &err), ND_ERR_USAGE);
  nd_minhash_clear(&m);
  assert_int_equal(nd_minhash_init(&m, ND_MINHASH_MAX + 1, 1, &err), ND_ERR_USAGE);
  nd_minhash_clear(&m);
  nd_mem_fail_at(1);
  assert_int_equal(nd_minhash_init(&m, 128, 1, &err), ND_ERR_MEMORY);
  nd_mem_fail_at(0);
  nd_minhash_clear(&m);
  ok(nd_minhash_init(&m, 128, 1, &err));
  uint64_t out[128], again[128], fp[3] = {1, 2, 3};
  nd_mem_fail_at(1); /* the table of distinct shingles */
  assert_int_equal(nd_minhash_sketch(out, &m, fp, 3, &err), ND_ERR_MEMORY);
  nd_mem_fail_at(0);
  ok(nd_minhash_sketch(out, &m, fp, 3, &err));
  ok(nd_minhash_sketch(again, &m, fp, 3, &err));
  assert_memory_equal(out, again, sizeof out);
  nd_minhash_clear(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(estimate_is_unbiased),
                                     cmocka_unit_test(any_length_is_unbiased),
                                     cmocka_unit_test(a_set_has_one_sketch),
                                     cmocka_unit_test(sketches_merge),
                                     cmocka_unit_test(repetitive_texts_are_fast),
                                     cmocka_unit_test(nothing_resembles_nothing),
                                     cmocka_unit_test_teardown(limits_and_faults, clear_hooks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
