/* Token sets: layout, order, memory; and the joins on real sets with known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "join/join.h"

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Everything that sets.h promises, from the input alone. */
static void check_sets(const nd_sets *s, const uint64_t *raw, const uint64_t *begin, uint32_t n) {
  const uint64_t tokens = begin[n] - begin[0];
  uint64_t *original = malloc((s->distinct + 1) * sizeof *original), stored_all = 0, all = 0;
  uint32_t *df = calloc(s->distinct + 1, sizeof *df);
  uint32_t *together = calloc(s->distinct + 1, sizeof *together); /* with the token before */
  char *known = calloc(s->distinct + 1, 1), *seen = calloc(n + 1, 1);
  uint64_t *set = malloc((tokens + 1) * sizeof *set), *mine = malloc((tokens + 1) * sizeof *mine);
  assert_int_equal(s->n, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t r = s->record[i];
    assert_true(r < n && !seen[r]);
    seen[r] = 1;
    size_t size = 0, length = begin[r + 1] - begin[r];
    if (length) memcpy(set, raw + begin[r], length * sizeof *set);
    qsort(set, length, sizeof *set, by_value);
    for (size_t k = 0; k < length; k++) {
      if (k == 0 || set[k] != set[size - 1]) set[size++] = set[k];
    }
    assert_int_equal(s->size[i], size);
    all += size;
    assert_true(i == 0 || s->size[i - 1] < s->size[i] ||
                (s->size[i - 1] == s->size[i] && s->record[i - 1] < r));
    const uint32_t *token = s->token + s->begin[i];
    uint64_t stored = s->begin[i + 1] - s->begin[i];
    assert_true(stored <= size);
    stored_all += stored;
    uint64_t sketch[4] = {0};
    for (uint64_t k = 0; k < stored; k++) {
      assert_true(token[k] < s->distinct && (k == 0 || token[k - 1] < token[k]));
      df[token[k]]++;
      together[token[k]] += k && token[k - 1] + 1 == token[k];
      sketch[token[k] / 64 % s->words] ^= UINT64_C(1) << token[k] % 64;
    }
    for (unsigned k = 0; k < s->words; k++) {
      assert_true(s->sketch[(size_t)i * s->words + k] == sketch[k]);
    }
  }
  assert_int_equal(s->begin[n], stored_all);
  assert_int_equal(s->tokens, all);
  for (uint32_t k = 0; k < s->distinct; k++) {
    assert_true(df[k] > 1 && df[k] == s->df[k] && (k == 0 || df[k - 1] <= df[k]));
    assert_int_equal(nd_sets_is_twin(s->twin, k), together[k] == df[k]);
  }
  /* The renumbering is one to one: a number that is new goes with a token that is new. */
  for (uint32_t i = 0; i < n; i++) {
    uint32_t r = s->record[i];
    uint64_t stored = s->begin[i + 1] - s->begin[i];
    const uint32_t *token = s->token + s->begin[i];
    /* Which tokens of the input does it hold?  As many as stored must be known or new. */
    for (uint64_t k = 0; k < stored; k++) {
      if (!known[token[k]]) continue;
      bool there = false;
      for (uint64_t p = begin[r]; p < begin[r + 1]; p++) there |= raw[p] == original[token[k]];
      assert_true(there);
    }
    if (stored == 1 && s->size[i] == 1) {
      known[token[0]] = 1;
      original[token[0]] = raw[begin[r]];
    }
  }
  free(original);
  free(df);
  free(together);
  free(known);
  free(seen);
  free(set);
  free(mine);
}

static void random_sets_are_laid_out_as_by_hand(void **state) {
  (void)state;
  print_message("seeds 1 to 400\n");
  for (uint64_t seed = 1; seed <= 400; seed++) {
    nd_rng rng = {seed};
    uint32_t n = (uint32_t)nd_rng_below(&rng, 80);
    uint64_t universe = 1 + nd_rng_below(&rng, seed % 3 ? 300 : 100000), tokens = 0;
    uint64_t *raw = malloc(80 * 400 * sizeof *raw), *begin = calloc(82, sizeof *begin);
    begin[0] = tokens = nd_rng_below(&rng, 3); /* the records may start later in the array */
    raw[0] = raw[1] = raw[2] = 7;
    for (uint32_t r = 0; r < n; r++) {
      uint64_t length = nd_rng_below(&rng, seed % 5 ? 12 : 390);
      for (uint64_t k = 0; k < length; k++) {
        uint64_t token = nd_rng_below(&rng, universe);
        raw[tokens++] = seed % 2 ? nd_mix(token) : token;
      }
      begin[r + 1] = tokens;
    }
    nd_sets sets;
    assert_int_equal(nd_sets_build(&sets, raw, begin, n, 1 + (unsigned)(seed % 3), NULL), ND_OK);
    check_sets(&sets, raw, begin, n);
    nd_sets_clear(&sets);
    free(raw);
    free(begin);
  }
}

/* Ties in frequency go by first appearance in the input. */
static void ties_in_frequency_go_by_first_appearance(void **state) {
  (void)state;
  static const uint64_t raw[] = {9, 5, 1, 9, 5, 1, 7, 9, 3, 3};
  static const uint64_t begin[] = {0, 3, 7, 10};
  nd_sets s;
  assert_int_equal(nd_sets_build(&s, raw, begin, 3, 1, NULL), ND_OK);
  /* 5 and 1 are in two records (5 first), 9 in three; 7 and 3 in one. */
  assert_int_equal(s.distinct, 3);
  assert_int_equal(s.df[0], 2);
  assert_int_equal(s.df[1], 2);
  assert_int_equal(s.df[2], 3);
  static const uint32_t record[] = {2, 0, 1}, size[] = {2, 3, 4};
  static const uint32_t token[] = {2, 0, 1, 2, 0, 1, 2};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(s.record[i], record[i]);
    assert_int_equal(s.size[i], size[i]);
  }
  assert_memory_equal(s.token, token, sizeof token);
  nd_sets_clear(&s);
}

static void empty_and_impossible_inputs_are_handled(void **state) {
  (void)state;
  nd_sets s;
  static const uint64_t none[] = {0}, empty[] = {0, 0, 0, 0};
  assert_int_equal(nd_sets_build(&s, NULL, none, 0, 1, NULL), ND_OK);
  assert_int_equal(s.n, 0);
  nd_sets_clear(&s);
  assert_int_equal(nd_sets_build(&s, NULL, empty, 3, 1, NULL), ND_OK);
  assert_int_equal(s.n, 3);
  assert_int_equal(s.tokens, 0);
  nd_sets_clear(&s);
  static const uint64_t wrong[] = {0, 5, 2};
  static const uint64_t raw[] = {1, 1, 1, 1, 1};
  nd_error err = {0};
  assert_int_equal(nd_sets_build(&s, raw, wrong, 2, 1, &err), ND_ERR_LIMIT);
  static const uint64_t huge[] = {0, UINT64_C(1) << 31};
  assert_int_equal(nd_sets_build(&s, raw, huge, 1, 1, &err), ND_ERR_LIMIT);
}

/* Every token twice: the most distinct ones that a table can have to hold. */
static void test_many_distinct(void **state) {
  (void)state;
  enum { TOKENS = 200000 };
  uint64_t *raw = malloc(2 * TOKENS * sizeof *raw);
  for (uint64_t i = 0; i < TOKENS; i++) raw[i] = raw[2 * TOKENS - 1 - i] = nd_mix(i);
  const uint64_t begin[] = {0, TOKENS, 2 * TOKENS};
  nd_sets s;
  assert_int_equal(nd_sets_build(&s, raw, begin, 2, 1, NULL), ND_OK);
  assert_int_equal(s.distinct, TOKENS);
  for (uint32_t i = 0; i < 2 * TOKENS; i++) assert_int_equal(s.token[i], i % TOKENS);
  nd_sets_clear(&s);
  free(raw);
}

static nd_status ignore(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  (void)context;
  (void)pair;
  (void)n;
  (void)err;
  return ND_OK;
}

static void test_known_answers(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint64_t pairs[4];
  } known[] = {
      {"retail", {0, 0, 780, 3675}},
      {"debdirs", {2592, 7284, 27128, 82348}},
      {"debdesc", {14638, 61109, 142247, 247095}},
  };
  const char *data = getenv("NEARDUP_DATA");
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  for (size_t f = 0; f < sizeof known / sizeof *known; f++) {
    char command[4096];
    snprintf(command, sizeof command, "zstd -dcq --long=27 '%s/sets/%s.sets.zst'", data,
             known[f].name);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    uint64_t *raw = NULL, *begin = NULL, token = 0;
    size_t raw_cap = 0, begin_cap = 0, tokens = 0, n = 0;
    bool digits = false;
    for (int c; (c = getc_unlocked(in)) != EOF;) {
      if (c >= '0' && c <= '9') {
        token = token * 10 + (uint64_t)(c - '0');
        digits = true;
        continue;
      }
      assert_int_equal(nd_array_grow(&raw, &raw_cap, tokens + 1, sizeof *raw, NULL), ND_OK);
      assert_int_equal(nd_array_grow(&begin, &begin_cap, n + 2, sizeof *begin, NULL), ND_OK);
      if (digits) raw[tokens++] = token;
      begin[0] = 0;
      token = 0;
      digits = false;
      if (c == '\n') begin[++n] = tokens;
    }
    pclose(in);
    if (n == 0) {
      print_message("skipped, no data\n");
      skip();
    }
    nd_sets sets;
    assert_int_equal(nd_sets_build(&sets, raw, begin, n, 1, NULL), ND_OK);
    static const uint64_t percent[] = {95, 90, 80, 70};
    for (int t = 0; t < 4; t++) {
      uint64_t verified[4];
      for (int m = 0; m < 4; m++) {
        nd_join_options o = {.similarity = &nd_similarity_jaccard,
                             .method = (nd_join_method)m,
                             .num = percent[t],
                             .den = 100};
        o.threads = 2;
        nd_join_stats stats;
        assert_int_equal(nd_join_run(&sets, &o, ignore, NULL, &stats, NULL), ND_OK);
        assert_int_equal(stats.results, known[f].pairs[t]);
        verified[m] = stats.verified;
        if (t == 3) break; /* the others take their time */
      }
      if (t == 3) continue;
      assert_true(verified[ND_JOIN_PPJOIN] < verified[ND_JOIN_ALLPAIRS]);
      assert_true(verified[ND_JOIN_PPJOIN_PLUS] < verified[ND_JOIN_PPJOIN]);
    }
    nd_sets_clear(&sets);
    nd_free(raw);
    nd_free(begin);
  }
}

/* Tokens that most records hold, equally often: ranked in the order in which they came. */
static void frequent_tokens_keep_their_order(void **state) {
  (void)state;
  enum { RECORDS = 5000, EACH = 40 };
  uint64_t *raw = malloc(RECORDS * EACH * sizeof *raw), *begin = malloc((RECORDS + 1) * 8);
  for (uint64_t r = 0; r <= RECORDS; r++) begin[r] = r * EACH;
  for (uint64_t i = 0; i < RECORDS * EACH; i++) raw[i] = nd_mix(i % EACH);
  nd_sets s;
  for (uint64_t nth = 1, more = 1; more; nth++) {
    nd_mem_fail_at(nth);
    nd_status status = nd_sets_build(&s, raw, begin, RECORDS, 1 + nth % 2, NULL);
    more = nd_mem_count() >= nth;
    nd_mem_fail_at(0);
    if (status != ND_OK) assert_int_equal(status, ND_ERR_MEMORY);
    if (status == ND_OK) {
      assert_int_equal(s.distinct, EACH);
      for (uint32_t i = 0; i < RECORDS * EACH; i++) assert_int_equal(s.token[i], i % EACH);
      nd_sets_clear(&s);
    }
  }
  free(raw);
  free(begin);
}

/* The largest partner of a record of which few tokens are left. */
static void test_largest_partner(void **state) {
  (void)state;
  static const struct {
    const nd_similarity *similarity;
    uint64_t num, den, x, rest, want;
  } cases[] = {{&nd_similarity_jaccard, 4, 5, 100, 90, 100},
               {&nd_similarity_jaccard, 4, 5, 100, 80, 80},
               {&nd_similarity_overlap, 5, 1, 100, 5, 100},
               {&nd_similarity_cosine, 1, 2, 100, 100, 100},
               {&nd_similarity_cosine, 1, 2, 100, 25, 25},
               {&nd_similarity_containment, 1, 2, 100, 20, 40}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_set_bounds b;
    assert_int_equal(nd_set_bounds_init(&b, cases[i].similarity, cases[i].num, cases[i].den, NULL),
                     ND_OK);
    assert_int_equal(nd_set_max_size(&b, cases[i].x, cases[i].rest), cases[i].want);
  }
}

static nd_status refuse(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  (void)context;
  (void)pair;
  assert_true(n > 0);
  return nd_fail(err, ND_ERR_CANCELLED, "enough");
}

/* 300 equal records: more pairs than are handed over at once. */
static void failing_sink_ends_the_join(void **state) {
  (void)state;
  enum { RECORDS = 300, EACH = 5 };
  uint64_t raw[RECORDS * EACH], begin[RECORDS + 1];
  for (uint64_t r = 0; r <= RECORDS; r++) begin[r] = r * EACH;
  for (uint64_t i = 0; i < RECORDS * EACH; i++) raw[i] = nd_mix(i % EACH);
  nd_sets s;
  assert_int_equal(nd_sets_build(&s, raw, begin, RECORDS, 1, NULL), ND_OK);
  for (int method = 0; method < 4; method++) {
    for (unsigned threads = 1; threads < 3; threads++) {
      nd_error err = {0};
      nd_join_options o = {.method = (nd_join_method)method,
                           .similarity = &nd_similarity_jaccard,
                           .num = 4,
                           .den = 5,
                           .threads = threads};
      assert_int_equal(nd_join_run(&s, &o, refuse, NULL, NULL, &err), ND_ERR_CANCELLED);
      assert_string_equal(err.message, "enough");
    }
  }
  nd_sets_clear(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_sets_are_laid_out_as_by_hand),
      cmocka_unit_test(ties_in_frequency_go_by_first_appearance),
      cmocka_unit_test(empty_and_impossible_inputs_are_handled),
      cmocka_unit_test(test_many_distinct),
      cmocka_unit_test(test_known_answers),
      cmocka_unit_test(frequent_tokens_keep_their_order),
      cmocka_unit_test(test_largest_partner),
      cmocka_unit_test(failing_sink_ends_the_join),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
