/* The set joins where lists are long, parts are many, or someone stops them half way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "join/block_join.h"
#include "join_cases.h"

#include "every_place.h" /* has an err, as functions of the cases do */

static nd_sets build(const cases *c) {
  nd_sets sets;
  assert_int_equal(nd_sets_build(&sets, c->raw, c->begin, c->n, 1, NULL), ND_OK);
  return sets;
}

static nd_join_stats count(const nd_sets *sets, const nd_join_options *o) {
  nd_join_stats stats;
  if (nd_join_run(sets, o, count_only, NULL, &stats, &err) != ND_OK) fail_msg("%s", err.message);
  return stats;
}

static found pairs_of(const nd_sets *sets, const nd_join_options *o) {
  found got = {0};
  assert_int_equal(nd_join_run(sets, o, found_add, &got, NULL, NULL), ND_OK);
  found_sort(&got);
  return got;
}

/* More results than a batch holds, so that the sink refuses while lists are joined. */
static void refused_half_way(const cases *c, nd_join_options o) {
  nd_sets sets = build(c);
  for (int m = 0; m < 4; m++) {
    o.method = (nd_join_method)m;
    for (o.way = 0; o.way < (m == ND_JOIN_BLOCKS ? 4 : 1); o.way++) {
      for (o.threads = 1; o.threads <= 2; o.threads++) {
        assert_true(count(&sets, &o).results > ND_JOIN_BATCH);
        assert_int_equal(nd_join_run(&sets, &o, refuse, NULL, NULL, &err), ND_ERR_CANCELLED);
        assert_string_equal(err.message, "enough");
      }
    }
  }
  nd_sets_clear(&sets);
}

static void sinks_refuse(void **state) {
  (void)state;
  cases equal = {0}, smaller = {0}, twins = {0};
  for (int r = 0; r < 200; r++) {
    for (uint64_t k = 0; k < 9; k++) cases_token(&equal, k);
    cases_end(&equal);
    for (uint64_t k = 0; k < (r < 100 ? 10 : 9); k++) cases_token(&smaller, k);
    cases_end(&smaller);
  }
  for (int r = 0; r < 12000; r++) {
    for (uint64_t k = 0; k < 4; k++) cases_token(&twins, (uint64_t)(r % 6000) * 4 + k);
    cases_end(&twins);
  }
  refused_half_way(&equal,
                   (nd_join_options){.similarity = &nd_similarity_jaccard, .num = 4, .den = 5});
  refused_half_way(
      &equal,
      (nd_join_options){.similarity = &nd_similarity_jaccard, .num = 4, .den = 5, .split = 100});
  refused_half_way(
      &smaller,
      (nd_join_options){.similarity = &nd_similarity_jaccard, .num = 4, .den = 5, .split = 100});
  refused_half_way(&twins,
                   (nd_join_options){.similarity = &nd_similarity_jaccard, .num = 4, .den = 5});
  refused_half_way(
      &twins,
      (nd_join_options){.similarity = &nd_similarity_jaccard, .num = 4, .den = 5, .split = 6000});
  cases_clear(&equal);
  cases_clear(&smaller);
  cases_clear(&twins);
}

/* Records of 3 to 40 popular tokens, and before these one of three that fewer hold: lists that
 * are cut for the threads, of which the size filter leaves one too small to be. */
static void heavy_cases(cases *c) {
  enum { POPULAR = 40 };
  static const int holders[] = {2100, 4000, 4300};
  nd_rng rng = {11};
  for (int list = 0; list < 3; list++) {
    for (int r = 0; r < holders[list]; r++) {
      cases_token(c, (uint64_t)(1000 + list));
      uint64_t size = 2 + nd_rng_below(&rng, POPULAR - 2);
      for (uint64_t k = 0; k < POPULAR && size; k++) {
        if (nd_rng_below(&rng, POPULAR - k) >= size) continue;
        cases_token(c, k);
        size--;
      }
      cases_end(c);
    }
  }
}

typedef struct heavy_run {
  const nd_sets *sets;
  const nd_join_options *options;
} heavy_run;

static nd_status join_heavy(void *context) {
  const heavy_run *r = context;
  return nd_join_run(r->sets, r->options, count_only, NULL, NULL, &err);
}

static void heavy_lists(void **state) {
  (void)state;
  cases c = {0};
  heavy_cases(&c);
  nd_sets sets = build(&c);
  for (uint32_t split = 0; split <= 4000; split += 4000) {
    nd_join_options o = {.similarity = &nd_similarity_jaccard,
                         .method = ND_JOIN_PPJOIN,
                         .num = 3,
                         .den = 4,
                         .split = split};
    found want = pairs_of(&sets, &o);
    assert_true(want.n > 1000);
    o.method = ND_JOIN_BLOCKS;
    o.way = ND_JOIN_BUCKETS;
    for (o.threads = 1; o.threads <= 3; o.threads++) {
      found got = pairs_of(&sets, &o);
      assert_int_equal(got.n, want.n);
      assert_memory_equal(got.pair, want.pair, want.n * sizeof *want.pair);
      nd_free(got.pair);
    }
    nd_free(want.pair);
  }
  /* Memory that is refused, also while lists are kept for all threads, and a sink that refuses. */
  nd_join_options o = {.similarity = &nd_similarity_jaccard,
                       .num = 3,
                       .den = 4,
                       .way = ND_JOIN_BUCKETS,
                       .threads = 2};
  heavy_run r = {&sets, &o};
  size_t failures = every_place_fails(join_heavy, &r);
  print_message("%zu failures\n", failures);
  assert_true(failures > 10);
  assert_int_equal(nd_join_run(&sets, &o, refuse, NULL, NULL, NULL), ND_ERR_CANCELLED);
  nd_sets_clear(&sets);
  cases_clear(&c);
}

/* A token that all records hold: a list of more pieces than threads have use for.  All but one of
 * them are of one collection, so few pairs are compared. */
static void heaviest_list(void **state) {
  (void)state;
  enum { RECORDS = 17000 };
  cases c = {0};
  for (uint64_t r = 0; r < RECORDS; r++) {
    cases_token(&c, 0);
    cases_token(&c, r + 1);
    cases_end(&c);
  }
  cases_token(&c, 0);
  cases_end(&c);
  nd_sets sets = build(&c);
  nd_join_options o = {.similarity = &nd_similarity_jaccard,
                       .num = 1,
                       .den = 3,
                       .way = ND_JOIN_BUCKETS,
                       .threads = 2,
                       .split = RECORDS};
  assert_int_equal(count(&sets, &o).results, RECORDS);
  nd_sets_clear(&sets);
  cases_clear(&c);
}

/* Copies of records that share nothing with others: few of their tokens are in prefixes, so a
 * bucket would have more tokens than a posting can tell. */
static void thin_buckets(void **state) {
  (void)state;
  enum { PAIRS = 2500, LENGTH = 64 };
  cases c = {0};
  for (uint64_t r = 0; r < 2 * PAIRS; r++) {
    for (uint64_t k = 0; k < LENGTH; k++) cases_token(&c, r / 2 * LENGTH + k);
    cases_end(&c);
  }
  nd_sets sets = build(&c);
  for (int way = 0; way < 4; way++) {
    nd_join_options o = {
        .similarity = &nd_similarity_jaccard, .num = 99, .den = 100, .way = (nd_join_way)way};
    nd_join_stats stats = count(&sets, &o);
    assert_int_equal(stats.results, PAIRS);
    assert_int_equal(stats.after_positional, PAIRS);
  }
  nd_sets_clear(&sets);
  cases_clear(&c);
}

/* Some long records: chains in as many parts as there may be, and in two for two threads. */
static void parts_of_chains(void **state) {
  (void)state;
  enum { RECORDS = 8 };
  static const struct {
    uint64_t length, memory;
    unsigned threads;
    uint64_t blocks;
  } runs[] = {{5000, 1, 1, 65536}, {150000, 1 << 30, 2, 1}, {150000, 1 << 30, 1, 1}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    cases c = {0};
    for (int r = 0; r < RECORDS; r++) {
      for (uint64_t k = 0; k < runs[i].length; k++) cases_token(&c, k);
      cases_end(&c);
    }
    nd_sets sets = build(&c);
    nd_join_options o = {.similarity = &nd_similarity_jaccard,
                         .num = 1,
                         .den = 10,
                         .way = ND_JOIN_CHAINS,
                         .threads = runs[i].threads,
                         .memory = runs[i].memory};
    nd_join_stats stats = count(&sets, &o);
    assert_int_equal(stats.results, RECORDS * (RECORDS - 1) / 2);
    assert_int_equal(stats.blocks, runs[i].blocks);
    nd_sets_clear(&sets);
    cases_clear(&c);
  }
}

/* Tokens of more records than are counted by class, and memory that is refused meanwhile. */
static void frequent_tokens(void **state) {
  (void)state;
  enum { RECORDS = 4200, TOKENS = 40 };
  cases c = {0};
  for (uint64_t r = 0; r < RECORDS; r++) {
    for (uint64_t k = 0; k < TOKENS; k++) cases_token(&c, TOKENS - k);
    cases_end(&c);
  }
  nd_sets sets;
  nd_status status = ND_ERR_MEMORY;
  for (uint64_t nth = 1; status == ND_ERR_MEMORY; nth++) {
    nd_mem_fail_at(nth);
    status = nd_sets_build(&sets, c.raw, c.begin, c.n, 2, NULL);
    nd_mem_fail_at(0);
  }
  assert_int_equal(status, ND_OK);
  assert_int_equal(sets.distinct, TOKENS);
  for (uint32_t k = 0; k < TOKENS; k++) assert_int_equal(sets.df[k], RECORDS);
  for (uint32_t k = 0; k < TOKENS; k++) assert_int_equal(sets.token[k], k);
  nd_sets_clear(&sets);
  cases_clear(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sinks_refuse),    cmocka_unit_test(heavy_lists),
      cmocka_unit_test(heaviest_list),   cmocka_unit_test(thin_buckets),
      cmocka_unit_test(parts_of_chains), cmocka_unit_test(frequent_tokens),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
