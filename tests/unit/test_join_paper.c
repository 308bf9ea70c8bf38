/* The worked examples of the PPJoin paper (Xiao et al. 2008), and the suffix filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "join/join.h"
#include "join/suffix_filter.h"

typedef struct results {
  nd_join_pair pair[64];
  size_t n;
} results;

static nd_status take(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  (void)err;
  results *r = context;
  for (size_t i = 0; i < n && r->n < 64; i++) r->pair[r->n++] = pair[i];
  return ND_OK;
}

/* Letters are tokens; one string is one record. */
static void build(nd_sets *sets, const char *const *record, size_t n) {
  uint64_t raw[256], begin[32] = {0};
  size_t at = 0;
  for (size_t r = 0; r < n; r++) {
    for (const char *p = record[r]; *p; p++) raw[at++] = (uint64_t)*p;
    begin[r + 1] = at;
  }
  assert_int_equal(nd_sets_build(sets, raw, begin, n, 1, NULL), ND_OK);
}

static nd_join_stats join(results *r, const nd_sets *sets, nd_join_method method,
                          const nd_similarity *similarity, uint64_t num, uint64_t den) {
  nd_join_options o = {.method = method, .similarity = similarity, .num = num, .den = den};
  nd_join_stats stats;
  r->n = 0;
  assert_int_equal(nd_join_run(sets, &o, take, r, &stats, NULL), ND_OK);
  return stats;
}

/* Example 1: "yes as soon as possible", "as soon as possible please": Jaccard 4/6 and
 * cosine 4/5; both are met exactly, and nothing above. */
static void test_example_1(void **state) {
  (void)state;
  static const char *const records[] = {"ABCDE", "BCDEF"};
  nd_sets sets;
  results r;
  build(&sets, records, 2);
  assert_int_equal(sets.distinct, 4);
  assert_int_equal(sets.size[0], 5);
  assert_int_equal(sets.begin[1], 4); /* A stands before the others, and is not stored */
  for (int m = 0; m < 4; m++) {
    join(&r, &sets, (nd_join_method)m, &nd_similarity_jaccard, 4, 6);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.pair[0].overlap, 4);
    join(&r, &sets, (nd_join_method)m, &nd_similarity_jaccard, 667, 1000);
    assert_int_equal(r.n, 0);
    join(&r, &sets, (nd_join_method)m, &nd_similarity_cosine, 8, 10);
    assert_int_equal(r.n, 1);
    join(&r, &sets, (nd_join_method)m, &nd_similarity_cosine, 80001, 100000);
    assert_int_equal(r.n, 0);
    join(&r, &sets, (nd_join_method)m, &nd_similarity_overlap, 4, 1);
    assert_int_equal(r.n, 1);
    join(&r, &sets, (nd_join_method)m, &nd_similarity_overlap, 5, 1);
    assert_int_equal(r.n, 0);
  }
  nd_sets_clear(&sets);
}

/* Examples 2 and 3: w, z, y, x at 0.8.  The prefixes that probe are underlined in the
 * paper; the size filter drops (x, w), the positional filter (x, y). */
static void test_examples_2_and_3(void **state) {
  (void)state;
  nd_set_bounds b;
  assert_int_equal(nd_set_bounds_init(&b, &nd_similarity_jaccard, 8, 10, NULL), ND_OK);
  assert_int_equal(nd_set_probe_prefix(&b, 3), 1);
  assert_int_equal(nd_set_probe_prefix(&b, 5), 2);
  assert_int_equal(nd_set_min_size(&b, 5), 4);
  assert_int_equal(nd_set_needed(&b, 5, 5), 5);
  assert_int_equal(nd_set_index_prefix(&b, 5), 1);

  /* y = [A B C D E], x = [B C D E F], with the order of letters kept by more records. */
  static const char *const records[] = {
      "ABCDE", "BCDEF", "A1", "B2", "B3", "B4", "C5", "C6", "C7", "C8", "D", "D", "D", "D", "D",
      "E",     "E",     "E",  "E",  "E",  "E",  "F",  "F",  "F",  "F",  "F", "F", "F", "F"};
  nd_sets sets;
  results r;
  build(&sets, records, sizeof records / sizeof *records);
  nd_join_stats all = join(&r, &sets, ND_JOIN_ALLPAIRS, &nd_similarity_overlap, 4, 1);
  assert_int_equal(r.n, 1); /* B C D E */
  all = join(&r, &sets, ND_JOIN_ALLPAIRS, &nd_similarity_jaccard, 8, 10);
  nd_join_stats positional = join(&r, &sets, ND_JOIN_PPJOIN, &nd_similarity_jaccard, 8, 10);
  /* All-Pairs verifies (x, y), PPJoin does not; the single letters are equal pairs. */
  assert_int_equal(all.verified, positional.verified + 1);
  assert_int_equal(all.results, 10 + 15 + 28);
  assert_int_equal(positional.results, all.results);
  nd_sets_clear(&sets);
}

static nd_join_run_of run_of(const uint32_t *token, uint32_t n) {
  return (nd_join_run_of){token, n};
}

/* Examples 4 and 5: suffixes of 6 tokens, D and F where the paper has them, and nothing
 * else in common.  The paper allows a distance of 2: one probe does not exceed it, two do. */
static void test_examples_4_and_5(void **state) {
  (void)state;
  static const uint32_t x[6] = {30, 40, 41, 42, 60, 70}; /* ? D ? ? F ? */
  static const uint32_t y[6] = {31, 32, 40, 60, 61, 62}; /* ? ? D F ? ? */
  assert_true(nd_suffix_filter(run_of(x, 6), run_of(y, 6), 2, 1, 2) > 2);
  /* The distance is 8, so no bound may be above it when 8 is allowed. */
  for (uint32_t depth = 1; depth < 6; depth++) {
    assert_true(nd_suffix_filter(run_of(x, 6), run_of(y, 6), 8, 1, depth) <= 8);
  }
  /* Depth 0: the sizes alone. */
  assert_int_equal(nd_suffix_filter(run_of(x, 6), run_of(y, 4), 8, 1, 0), 2);
}

/* The filter's bound is never above the true distance, so it never loses a pair. */
static void test_suffix_filter(void **state) {
  (void)state;
  print_message("seed 11\n");
  nd_rng rng = {11};
  for (int round = 0; round < 200000; round++) {
    uint32_t x[40], y[40], n = 0, m = 0;
    int64_t distance = 0;
    uint64_t end = nd_rng_below(&rng, 40), share = 1 + nd_rng_below(&rng, 10);
    for (uint32_t v = 0; v < end; v++) {
      uint64_t where = nd_rng_below(&rng, share + 2);
      if (where != 0) x[n++] = v;
      if (where != 1) y[m++] = v;
      distance += where < 2;
    }
    int64_t most = distance + 2 * (int64_t)nd_rng_below(&rng, 4);
    uint32_t depth = 1 + (uint32_t)nd_rng_below(&rng, 6);
    assert_true(nd_suffix_filter(run_of(x, n), run_of(y, m), most, 1, depth) <= distance);
    if (distance >= 2) { /* tighter: the right answer or "too far" */
      int64_t bound = nd_suffix_filter(run_of(x, n), run_of(y, m), distance - 2, 1, depth);
      assert_true(bound <= distance || bound > distance - 2);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_example_1),
      cmocka_unit_test(test_examples_2_and_3),
      cmocka_unit_test(test_examples_4_and_5),
      cmocka_unit_test(test_suffix_filter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
