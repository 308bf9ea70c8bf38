/* The set joins against a naive join of all pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "join/block_join.h"
#include "join_cases.h"

static const char *const method_names[] = {"join", "allpairs", "ppjoin", "ppjoin+"};

static void assert_same(const found *got, const found *want, const nd_join_options *o,
                        uint64_t seed) {
  bool same = got->n == want->n &&
              (got->n == 0 || memcmp(got->pair, want->pair, got->n * sizeof *got->pair) == 0);
  if (!same) {
    fail_msg(
        "seed %llu, %s, way %d, similarity %s, threshold %llu/%llu, split %u, threads %u, "
        "level %d, memory %llu: %zu pairs, not %zu",
        (unsigned long long)seed, method_names[o->method], o->way, o->similarity->name,
        (unsigned long long)o->num, (unsigned long long)o->den, o->split, o->threads, o->level,
        (unsigned long long)o->memory, got->n, want->n);
  }
}

static nd_join_stats check(const nd_sets *sets, const nd_join_options *o, const found *want,
                           uint64_t seed) {
  found got = {0};
  nd_error err = {0};
  nd_join_stats stats;
  nd_status status = nd_join_run(sets, o, found_add, &got, &stats, &err);
  if (status != ND_OK) fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
  found_sort(&got);
  assert_same(&got, want, o, seed);
  assert_int_equal(stats.results, want->n);
  assert_true(stats.verified <= stats.after_suffix && stats.after_suffix <= stats.after_positional);
  assert_true(stats.after_positional <= stats.after_size);
  nd_free(got.pair);
  return stats;
}

/* Every method and way on one input; the rest of the options turn with the seed. */
static void check_all(const cases *c, const nd_sets *sets, nd_join_options o, uint64_t seed) {
  found want = {0};
  naive_join(&want, c, &o);
  uint64_t verified[4] = {0};
  for (int m = 0; m < 4; m++) {
    o.method = (nd_join_method)m;
    for (o.way = 0; o.way < (m == ND_JOIN_BLOCKS ? 4 : 1); o.way++) {
      verified[m] = check(sets, &o, &want, seed).verified;
    }
  }
  assert_true(verified[ND_JOIN_PPJOIN] <= verified[ND_JOIN_ALLPAIRS]);
  assert_true(verified[ND_JOIN_PPJOIN_PLUS] <= verified[ND_JOIN_PPJOIN]);
  nd_free(want.pair);
}

static const uint64_t thresholds[][2] = {{1, 2},    {11, 20}, {3, 5},   {13, 20},         {7, 10},
                                         {3, 4},    {4, 5},   {17, 20}, {9, 10},          {19, 20},
                                         {99, 100}, {1, 1},   {1, 3},   {800000, 1000000}};
enum { THRESHOLDS = sizeof thresholds / sizeof *thresholds, SEEDS = 3000 };

static void random_sets_agree_with_the_naive_join(void **state) {
  (void)state;
  print_message("seeds 1 to %d\n", SEEDS);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    nd_rng rng = {seed};
    const uint64_t *t = thresholds[seed % THRESHOLDS];
    cases c;
    cases_random(&c, &rng, t[0], t[1]);
    nd_sets sets;
    assert_int_equal(nd_sets_build(&sets, c.raw, c.begin, c.n, 1, NULL), ND_OK);
    nd_join_options o = {.num = t[0], .den = t[1]};
    o.similarity = set_similarities[nd_rng_below(&rng, 4)];
    if (o.similarity == &nd_similarity_overlap) {
      o.num = 1 + nd_rng_below(&rng, 10);
      o.den = 1;
    }
    if (nd_rng_below(&rng, 3) == 0) o.split = 1 + (uint32_t)nd_rng_below(&rng, c.n + 1);
    o.threads = seed % 16 == 0 ? 8 : seed % 4 == 0 ? 2 : (unsigned)(seed & 1);
    if (nd_rng_below(&rng, 3) == 0) o.memory = 1 + nd_rng_below(&rng, 3000);
    o.maxdepth = (uint32_t)nd_rng_below(&rng, 5);
    o.level = (int)nd_rng_below(&rng, (uint64_t)nd_cpu() + 2);
    check_all(&c, &sets, o, seed);
    nd_sets_clear(&sets);
    cases_clear(&c);
  }
}

static void test_levels_and_threads(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    nd_rng rng = {seed};
    cases c = {0};
    /* Longer and longer records, so that every width of sketch has its turn. */
    const uint64_t length = seed % 3 == 0 ? 10 : seed % 3 == 1 ? 60 : 400;
    for (int r = 0; r < 200; r++) {
      uint64_t kind = nd_rng_below(&rng, 12), n = length / 2 + nd_rng_below(&rng, length);
      for (uint64_t i = 0; i < n; i++) {
        uint64_t own = nd_rng_below(&rng, 100) < 12 ? nd_rng_below(&rng, 4000) : 0;
        cases_token(&c, own ? own : 5000 + kind * 1000 + i);
      }
      cases_end(&c);
    }
    cases_finish(&c);
    nd_sets sets;
    assert_int_equal(nd_sets_build(&sets, c.raw, c.begin, c.n, 1, NULL), ND_OK);
    assert_int_equal(sets.words, length == 10 ? 1 : length == 60 ? 2 : 4);
    nd_join_options o = {.num = 6, .den = 10, .similarity = set_similarities[seed % 2]};
    found want = {0};
    naive_join(&want, &c, &o);
    assert_true(want.n > 100);
    for (int level = 0; level <= (int)nd_cpu(); level++) {
      for (unsigned threads = 1; threads <= 8; threads = threads * 3 - 1) {
        for (o.way = 0; o.way < 4; o.way++) {
          o.level = level + 1;
          o.threads = threads;
          check(&sets, &o, &want, seed);
        }
      }
    }
    nd_free(want.pair);
    nd_sets_clear(&sets);
    cases_clear(&c);
  }
}

/* A token in most prefixes: the list is longer than a tile and cut into slices. */
static void test_long_list(void **state) {
  (void)state;
  enum { RECORDS = 2500 };
  nd_rng rng = {7};
  cases c = {0};
  for (int r = 0; r < RECORDS; r++) {
    cases_token(&c, 77);
    for (uint64_t k = 1; k < 12; k++) cases_token(&c, 100 * k + nd_rng_below(&rng, 16));
    cases_end(&c);
  }
  cases_finish(&c);
  nd_sets sets;
  assert_int_equal(nd_sets_build(&sets, c.raw, c.begin, c.n, 1, NULL), ND_OK);
  nd_join_options o = {
      .num = 4, .den = 1, .way = ND_JOIN_BUCKETS, .similarity = &nd_similarity_overlap};
  for (o.split = 0; o.split + 1 < RECORDS; o.split += RECORDS / 3) {
    found want = {0};
    o.num = 4;
    naive_join(&want, &c, &o);
    assert_true(want.n > 1000);
    for (o.threads = 1; o.threads <= 4; o.threads += 3) check(&sets, &o, &want, o.split);
    nd_free(want.pair);
    /* One common token is enough: the list of the token that all hold is compared whole. */
    want = (found){0};
    o.num = 1;
    o.similarity = &nd_similarity_overlap;
    const uint64_t all =
        o.split ? (uint64_t)o.split * (RECORDS - o.split) : (uint64_t)RECORDS * (RECORDS - 1) / 2;
    for (o.threads = 1; o.threads <= 4; o.threads += 3) {
      nd_join_stats stats;
      assert_int_equal(nd_join_run(&sets, &o, count_only, NULL, &stats, NULL), ND_OK);
      assert_int_equal(stats.results, all);
    }
  }
  nd_sets_clear(&sets);
  cases_clear(&c);
}

/* Every kernel, a level and a width of sketch each, with lists of all lengths: up to a few,
 * below a tile, and above.  Tokens have one of two values at most places, so that prefixes hold
 * frequent ones. */
static void kernels_of_all_levels_agree(void **state) {
  (void)state;
  static const struct {
    uint32_t length, words, records;
    uint64_t num;
  } widths[] = {{12, 1, 2300, 80}, {60, 2, 2300, 90}, {400, 4, 2200, 96}};
  for (int v = 0; v < 3; v++) {
    nd_rng rng = {11};
    cases c = {0};
    for (uint32_t r = 0; r < widths[v].records; r++) {
      nd_rng family = {1 + r % (widths[v].records / 5)}; /* five near-copies of each */
      const uint32_t length = widths[v].length;
      const uint32_t n = length - (uint32_t)nd_rng_below(&family, length / 6);
      for (uint32_t i = 0; i < n; i++) {
        uint64_t kind = nd_rng_below(&family, 2), rare = nd_rng_below(&rng, 150) == 0;
        cases_token(&c, 4 * i + kind + (rare ? 4000 * (1 + nd_rng_below(&rng, 300)) : 0));
      }
      cases_end(&c);
    }
    cases_finish(&c);
    nd_sets sets;
    assert_int_equal(nd_sets_build(&sets, c.raw, c.begin, c.n, 1, NULL), ND_OK);
    assert_int_equal(sets.words, widths[v].words);
    for (uint32_t split = 0; split < 2; split++) {
      nd_join_options o = {.similarity = &nd_similarity_jaccard,
                           .method = ND_JOIN_PPJOIN,
                           .num = widths[v].num,
                           .den = 100};
      o.split = split * widths[v].records / 2;
      found want = {0};
      assert_int_equal(nd_join_run(&sets, &o, found_add, &want, NULL, NULL), ND_OK);
      found_sort(&want);
      assert_true(want.n > 100);
      o.method = ND_JOIN_BLOCKS;
      o.threads = 1 + split;
      for (o.way = 1; o.way < 3; o.way++) {
        for (int level = 0; level <= (int)nd_cpu(); level++) {
          o.level = level + 1;
          check(&sets, &o, &want, (uint64_t)v);
        }
      }
      nd_free(want.pair);
    }
    nd_sets_clear(&sets);
    cases_clear(&c);
  }
}

static void refuses_impossible_thresholds(void **state) {
  (void)state;
  static const uint64_t raw[] = {1, 2, 3, 1, 2, 3}, begin[] = {0, 3, 6};
  nd_sets sets;
  assert_int_equal(nd_sets_build(&sets, raw, begin, 2, 1, NULL), ND_OK);
  static const struct {
    const nd_similarity *similarity;
    uint64_t num, den;
    nd_status status;
  } options[] = {
      {&nd_similarity_jaccard, 0, 1, ND_ERR_USAGE},
      {&nd_similarity_jaccard, 11, 10, ND_ERR_USAGE},
      {&nd_similarity_cosine, 1, 0, ND_ERR_USAGE},
      {&nd_similarity_jaccard, 1, UINT64_C(1) << 40, ND_ERR_USAGE},
      {&nd_similarity_overlap, 3, 2, ND_ERR_USAGE},
      {&nd_similarity_overlap, 3, 1, ND_OK},
      {&nd_similarity_overlap, 4000000, 1, ND_OK},
      {&nd_similarity_jaccard, 1, UINT32_MAX, ND_OK},
      {&nd_similarity_cosine, UINT32_MAX, UINT32_MAX, ND_OK},
  };
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    for (int m = 0; m < 4; m++) {
      nd_join_options o = {.method = (nd_join_method)m,
                           .similarity = options[i].similarity,
                           .num = options[i].num,
                           .den = options[i].den};
      found got = {0};
      nd_error err = {0};
      assert_int_equal(nd_join_run(&sets, &o, found_add, &got, NULL, &err), options[i].status);
      if (options[i].status == ND_OK) assert_int_equal(got.n, options[i].num != 4000000);
      nd_free(got.pair);
      if (options[i].status != ND_OK) continue;
      if (options[i].num == 4000000) continue;
      assert_int_equal(nd_join_run(&sets, &o, refuse, NULL, NULL, &err), ND_ERR_CANCELLED);
      assert_string_equal(err.message, "enough");
    }
  }
  nd_sets_clear(&sets);
}

/* The limits of two postings must never say no where the distance allowed says yes. */
static void posting_limits_lose_no_pair(void **state) {
  (void)state;
  nd_rng rng = {5};
  for (int round = 0; round < 200000; round++) {
    nd_set_bounds b;
    const nd_similarity *similarity = set_similarities[nd_rng_below(&rng, 4)];
    uint64_t den = 1 + nd_rng_below(&rng, UINT64_C(1) << (1 + nd_rng_below(&rng, 31)));
    uint64_t num = 1 + nd_rng_below(&rng, den);
    uint64_t x = 1 + nd_rng_below(&rng, UINT64_C(1) << (1 + nd_rng_below(&rng, 29)));
    if (similarity == &nd_similarity_overlap) {
      den = 1;
      num = 1 + nd_rng_below(&rng, x);
    }
    assert_int_equal(nd_set_bounds_init(&b, similarity, num, den, NULL), ND_OK);
    uint64_t least = nd_set_min_size(&b, x);
    assert_true(least >= 1 && least <= x);
    uint64_t y = least + nd_rng_below(&rng, x - least + 1), needed = nd_set_needed(&b, x, y);
    if (needed > y) continue;
    /* exact bounds */
    assert_true(naive_similar(similarity, num, den, needed, x, y));
    assert_false(naive_similar(similarity, num, den, needed - 1, x, y));
    assert_true(x - needed + 1 <= nd_set_probe_prefix(&b, x));
    assert_true(y - needed + 1 <= nd_set_index_prefix(&b, y));
    assert_true(nd_set_max_size(&b, x, needed) >= y);
    uint64_t most = nd_set_max_size(&b, x, needed);
    assert_true(most == 0 || nd_set_needed(&b, x, most) <= needed);
    /* a pair that is similar, with its first common token as far back as can be */
    uint64_t i = nd_rng_below(&rng, x - needed + 1), j = nd_rng_below(&rng, y - needed + 1);
    uint64_t distance = x + y - 2 * needed - i - j, seen = nd_rng_below(&rng, 257);
    if (seen > distance) seen = distance;
    nd_posting px = {.packed = (uint32_t)i << 2}, py = {.packed = (uint32_t)j << 2};
    int64_t limit_x = (int64_t)(((__int128)b.slope_x * (int64_t)x - b.base) >> 24) + 1;
    int64_t limit_y = (int64_t)(((__int128)b.slope_y * (int64_t)y) >> 24) + 1;
    int32_t sum = nd_posting_limit(limit_x, &px) + nd_posting_limit(limit_y, &py);
    assert_true((int64_t)seen * 256 <= sum);
  }
}

/* Records of so many tokens that their shares in the distance are cut: what they have in
 * common stands far behind what each has alone. */
static void giant_records_lose_no_pair(void **state) {
  (void)state;
  enum { COMMON = 1000 };
  static const uint32_t sizes[] = {COMMON, 4100000, 4200000, 8400000, (1u << 30) - 1};
  uint64_t raw[2 * COMMON];
  const uint64_t begin[] = {0, COMMON, 2 * COMMON};
  for (int i = 0; i < 2 * COMMON; i++) raw[i] = (uint64_t)(i % COMMON);
  nd_sets sets;
  assert_int_equal(nd_sets_build(&sets, raw, begin, 2, 1, NULL), ND_OK);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    sets.size[0] = sets.size[1] = sizes[k]; /* the others stand in one record only */
    sets.tokens = 2 * (uint64_t)sizes[k];
    for (uint64_t least = COMMON; least <= COMMON + 1; least++) {
      nd_join_options o = {.similarity = &nd_similarity_overlap, .num = least, .den = 1};
      for (int m = 0; m < 4; m++) {
        o.method = (nd_join_method)m;
        for (o.way = 0; o.way < (m == ND_JOIN_BLOCKS ? 4 : 1); o.way++) {
          nd_join_stats stats;
          assert_int_equal(nd_join_run(&sets, &o, count_only, NULL, &stats, NULL), ND_OK);
          assert_int_equal(stats.results, least == COMMON);
        }
      }
    }
  }
  nd_sets_clear(&sets);
}

static void common_count_is_right_or_below_the_bound(void **state) {
  (void)state;
  nd_rng rng = {9};
  for (int round = 0; round < 20000; round++) {
    uint32_t a[80] = {0}, b[80] = {0}, n = 0, m = 0, common = 0;
    uint64_t end = 1 + nd_rng_below(&rng, 60);
    for (uint32_t v = 0; v < end; v++) {
      uint64_t where = nd_rng_below(&rng, 5);
      if (where != 0 && n < 60) a[n++] = v;
      if (where != 1 && m < 60) b[m++] = v;
      common += where > 1;
    }
    for (int level = 0; level <= (int)nd_cpu(); level++) {
      nd_block_common count = nd_block_common_kernel((nd_cpu_level)level);
      assert_int_equal(count(a, a + n, b, b + m, 0), common);
      assert_int_equal(count(a, a + n, b, b + m, common), common);
      assert_true(count(a, a + n, b, b + m, common + 1) <= common);
    }
  }
}

static void no_memory_is_an_error(void **state) {
  (void)state;
  nd_rng rng = {3};
  cases c = {0};
  for (int r = 0; r < 400; r++) {
    for (int k = 0; k < 8; k++) cases_token(&c, nd_rng_below(&rng, 12) * (uint64_t)(k + 1));
    cases_end(&c);
  }
  cases_finish(&c);
  nd_sets sets;
  for (uint64_t nth = 1;; nth++) {
    nd_mem_fail_at(nth);
    nd_status status = nd_sets_build(&sets, c.raw, c.begin, c.n, 1, NULL);
    uint64_t count = nd_mem_count();
    nd_mem_fail_at(0);
    if (status == ND_OK) nd_sets_clear(&sets);
    if (count < nth) break;
    if (status != ND_OK) assert_int_equal(status, ND_ERR_MEMORY);
  }
  assert_int_equal(nd_sets_build(&sets, c.raw, c.begin, c.n, 1, NULL), ND_OK);
  for (int run = 0; run < 12; run++) {
    nd_join_options o = {
        .similarity = &nd_similarity_jaccard, .num = 1, .den = 2, .memory = run % 2 ? 20000 : 0};
    o.method = (nd_join_method)(run / 2 < 3 ? 0 : run / 2 - 2);
    o.way = run / 2 < 3 ? (nd_join_way)(run / 2) : ND_JOIN_FASTEST;
    o.threads = run % 2 ? 2 : 1;
    for (uint64_t nth = 1;; nth++) {
      found got = {0};
      nd_mem_fail_at(nth);
      nd_status status = nd_join_run(&sets, &o, found_add, &got, NULL, NULL);
      uint64_t count = nd_mem_count();
      nd_mem_fail_at(0);
      nd_free(got.pair);
      if (count < nth) break;
      if (status != ND_OK) assert_int_equal(status, ND_ERR_MEMORY);
    }
  }
  nd_sets_clear(&sets);
  cases_clear(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_sets_agree_with_the_naive_join),
      cmocka_unit_test(test_levels_and_threads),
      cmocka_unit_test(test_long_list),
      cmocka_unit_test(refuses_impossible_thresholds),
      cmocka_unit_test(posting_limits_lose_no_pair),
      cmocka_unit_test(common_count_is_right_or_below_the_bound),
      cmocka_unit_test(no_memory_is_an_error),
      cmocka_unit_test(kernels_of_all_levels_agree),
      cmocka_unit_test(giant_records_lose_no_pair),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
