/* What studies are made of, each against a naive version: term differences,
 * cosines, power laws, samples, verdicts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "every_place.h"
#include "settings/option_fields.h"
#include "study/common/judge.h"
#include "study/common/pages.h"
#include "study/common/power_law.h"
#include "study/common/study_report.h"
#include "study/common/token_diff.h"
#include "tiny_budget.h"
#include "tools.h"

static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return 0;
}

enum { LONGEST = 60 };

/* n + m − 2 × the longest common subsequence, by the table. */
static uint32_t slow_difference(const uint32_t *a, size_t n, const uint32_t *b, size_t m) {
  static uint32_t common[LONGEST + 1][LONGEST + 1];
  memset(common, 0, sizeof common);
  for (size_t i = 1; i <= n; i++) {
    for (size_t k = 1; k <= m; k++) {
      uint32_t best = common[i - 1][k] > common[i][k - 1] ? common[i - 1][k] : common[i][k - 1];
      common[i][k] = a[i - 1] == b[k - 1] ? common[i - 1][k - 1] + 1 : best;
    }
  }
  return (uint32_t)(n + m) - 2 * common[n][m];
}

static double slow_cosine(const uint32_t *a, size_t n, const uint32_t *b, size_t m) {
  double x[LONGEST] = {0}, y[LONGEST] = {0}, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < n; i++) x[a[i]]++;
  for (size_t i = 0; i < m; i++) y[b[i]]++;
  for (int k = 0; k < LONGEST; k++) {
    xx += x[k] * x[k];
    yy += y[k] * y[k];
    xy += x[k] * y[k];
  }
  return n && m ? xy / sqrt(xx * yy) : 0;
}

static void differences_and_cosines_agree_with_slow_ones(void **state) {
  (void)state;
  nd_token_diff t = {0};
  for (int round = 0; round < 20000; round++) {
    uint32_t a[LONGEST], b[LONGEST], got, letters = 1 + (uint32_t)nd_rng_below(&rng, 12);
    size_t n = nd_rng_below(&rng, LONGEST), m = nd_rng_below(&rng, LONGEST);
    for (size_t i = 0; i < n; i++) a[i] = (uint32_t)nd_rng_below(&rng, letters);
    for (size_t i = 0; i < m; i++) b[i] = (uint32_t)nd_rng_below(&rng, letters);
    if (nd_rng_below(&rng, 2)) { /* a changed copy */
      m = n;
      memcpy(b, a, sizeof a);
      for (size_t i = nd_rng_below(&rng, 6); i && m; i--) b[nd_rng_below(&rng, m)] = 0;
    }
    uint32_t most = (uint32_t)nd_rng_below(&rng, 130), want = slow_difference(a, n, b, m);
    ok(nd_token_difference(&got, &t, a, n, b, m, most, &err));
    if (got != (want <= most ? want : most + 1))
      fail_msg("%u, not %u of at most %u (%zu and %zu tokens)", got, want, most, n, m);
    double cosine;
    ok(nd_token_cosine(&cosine, &t, a, n, b, m, &err));
    assert_true(fabs(cosine - slow_cosine(a, n, b, m)) < 1e-12);
  }
  nd_token_diff_clear(&t);
}

static void test_difference_example(void **state) {
  (void)state;
  /* "a b c d" and "a x c d e": b goes, x and e come. */
  uint32_t a[] = {1, 2, 3, 4}, b[] = {1, 9, 3, 4, 5}, got;
  nd_token_diff t = {0};
  ok(nd_token_difference(&got, &t, a, 4, b, 5, 100, &err));
  assert_int_equal(got, 3);
  /* cosine: 3 / (√4 √5) */
  double cosine;
  ok(nd_token_cosine(&cosine, &t, a, 4, b, 5, &err));
  assert_true(fabs(cosine - 3 / sqrt(20)) < 1e-12);
  nd_token_diff_clear(&t);
}

static void test_power_law(void **state) {
  (void)state;
  /* 3600 d^-2 exactly: the slope is -2. */
  uint64_t count[7] = {99, 3600, 900, 400, 225, 144, 100};
  assert_true(fabs(nd_power_law_slope(count, 6) + 2) < 1e-12);
  uint64_t none[3] = {5, 0, 0}, one[3] = {0, 7, 0};
  assert_true(isnan(nd_power_law_slope(none, 2)) && isnan(nd_power_law_likely(none, 2)));
  assert_true(isnan(nd_power_law_slope(one, 2)));
  /* All of degree 1: 1 + 1 / ln 2; and of 1, 1, 2: 1 + 3 / (2 ln 2 + ln 4). */
  assert_true(fabs(nd_power_law_likely(one, 2) - (1 + 1 / log(2))) < 1e-12);
  uint64_t few[3] = {0, 2, 1};
  assert_true(fabs(nd_power_law_likely(few, 2) - (1 + 3 / (4 * log(2)))) < 1e-12);
}

static void sampled_positions_are_uniform(void **state) {
  (void)state;
  enum { N = 20, K = 5, ROUNDS = 20000 };
  uint32_t hits[N] = {0};
  for (uint64_t round = 0; round < ROUNDS; round++) {
    size_t *at, n;
    ok(nd_sample_positions(&at, &n, N, K, nd_rng_next(&rng), &err));
    assert_int_equal(n, K);
    for (size_t i = 0; i < n; i++) {
      assert_true(at[i] < N && (i == 0 || at[i] > at[i - 1]));
      hits[at[i]]++;
    }
    nd_free(at);
  }
  /* Each of them a quarter of the time: five standard deviations. */
  double mean = ROUNDS * (double)K / N, deviation = sqrt(ROUNDS * 0.25 * 0.75);
  for (int i = 0; i < N; i++) assert_true(fabs(hits[i] - mean) < 5 * deviation);
  size_t *at, n;
  ok(nd_sample_positions(&at, &n, 3, 10, 1, &err));
  assert_int_equal(n, 3);
  nd_free(at);
  ok(nd_sample_positions(&at, &n, 0, 10, 1, &err));
  assert_int_equal(n, 0);
  nd_free(at);
}

static nd_verdict verdict(const nd_judge *j, uint64_t a, uint64_t b) {
  return nd_judge_pair(j, a << 32 | b);
}

typedef struct opening {
  const char *path;
  nd_id_map *ids;
} opening;

static nd_status open_judge(void *context) {
  const opening *o = context;
  nd_judge j;
  nd_status status = nd_judge_open(&j, o->path, o->ids, NULL, &err);
  nd_judge_close(&j);
  return status;
}

static void verdicts_are_read_or_refused(void **state) {
  (void)state;
  char path[] = "/tmp/nd_test_judge_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  nd_id_map ids = {0};
  for (char c = 'a'; c <= 'e'; c++) {
    uint32_t number;
    ok(nd_id_map_number(&number, &ids, (nd_str){&c, 1}, &err));
  }
  static const struct {
    const char *text;
    uint64_t pairs;
    nd_verdict ab, ac, de;
  } cases[] = {
      {"a\tb\nb\tc\t\nx\ty\n", 2, ND_CORRECT, ND_INCORRECT, ND_INCORRECT},
      {"a\tb\t1\na\tc\t0\nx\ty\t1\n", 1, ND_CORRECT, ND_INCORRECT, ND_UNDECIDED},
      {"a\tb\t1\nb\ta\t0\n", 0, ND_UNDECIDED, ND_INCORRECT, ND_INCORRECT},
      {"a\tone\tkept\nb\tone\tdropped\nc\tone\tdropped\nd\ttwo\tkept\nz\ttwo\tdropped\n", 3,
       ND_CORRECT, ND_CORRECT, ND_INCORRECT},
      /* c and d are in two clusters each */
      {"a\tone\tkept\nb\tone\tkept\nc\tone\tkept\nc\ttwo\tkept\nd\tone\tkept\nd\ttwo\tkept\n"
       "e\ttwo\tkept\n",
       1, ND_CORRECT, ND_UNDECIDED, ND_UNDECIDED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(cases[i].text, f);
    assert_int_equal(fclose(f), 0);
    nd_judge j;
    ok(nd_judge_open(&j, path, &ids, NULL, &err));
    assert_int_equal(j.pairs, cases[i].pairs);
    assert_int_equal(verdict(&j, 0, 1), cases[i].ab);
    assert_int_equal(verdict(&j, 0, 2), cases[i].ac);
    assert_int_equal(verdict(&j, 3, 4), cases[i].de);
    nd_judge_close(&j);
    opening o = {path, &ids};
    assert_true(every_place_fails(open_judge, &o) >= 4);
  }
  nd_id_map_clear(&ids);
  unlink(path);
}

static nd_status no_sketch(uint64_t *out, void *context, const nd_tokens *t, nd_error *e) {
  (void)context, (void)t, (void)e;
  *out = 1;
  return ND_OK;
}

/* Documents that are gone, or are other ones, when their words are asked for. */
static void test_changed_input(void **state) {
  (void)state;
  char path[] = "/tmp/nd_test_pages_XXXXXX", ids[2][300];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  memset(ids, 'i', sizeof ids);
  ids[0][3] = ids[1][250] = '\0';
  const char *input = path;
  nd_study_request request = {.name = "web", .inputs = &input, .input_n = 1};
  nd_options options;
  nd_options_init(&options);
  for (int i = 0; i < 2; i++) {
    nd_pages p = {.unique = true, .fewest = 1, .words = 1, .make = no_sketch};
    for (int again = 0; again < 2; again++) {
      FILE *f = fopen(path, "w");
      assert_non_null(f);
      fprintf(f, "{\"id\": \"%s\", \"text\": \"some words\"}\n", again ? "another" : ids[i]);
      assert_int_equal(fclose(f), 0);
      nd_summary summary;
      if (!again) {
        ok(nd_pages_read(&p, &summary, &request, &options, NULL, &err));
        ok(nd_pages_want(&p, &err));
        p.wanted[0] = 1;
        continue;
      }
      assert_int_equal(nd_pages_fetch(&p, &request, &options, NULL, &err), ND_ERR_IO);
      char start[240];
      snprintf(start, sizeof start, "%.200s was not found", ids[i]);
      assert_memory_equal(err.message, start, strlen(start));
    }
    nd_pages_clear(&p);
  }
  unlink(path);
}

/* A page shows the first rows of a long table, and says so; numbers stay as they were rounded. */
static void test_long_tables(void **state) {
  (void)state;
  char dir[] = "/tmp/nd_test_parts_XXXXXX", path[100];
  assert_non_null(mkdtemp(dir));
  const nd_sink sink = {NULL, forget};
  nd_study_request request = {.name = "web", .directory = dir};
  nd_summary summary = {0};
  nd_study_run run = {&request, NULL, NULL, &sink, &summary};
  nd_study_report r;
  nd_study_report_start(&r, &run, "A study", "of tables", &err);
  for (int rows = 0; rows <= 250; rows += 125) {
    nd_table t = {0};
    char name[20];
    snprintf(name, sizeof name, "rows%d", rows);
    ok(nd_table_start(&t, name, "Rows", "word\tcount\treal\tnothing", &err));
    for (int i = 0; i < rows; i++) {
      ok(nd_table_text(&t, i == 7 ? "a word" : "w", &err));
      ok(nd_table_count(&t, (uint64_t)i, &err));
      ok(nd_table_real(&t, i == 9 ? -1.25 : 0.5, 2, &err));
      ok(nd_table_real(&t, NAN, 2, &err));
    }
    ok(nd_study_report_table(&r, &t, ND_OK, &err));
  }
  ok(nd_study_report_end(&r, ND_OK));
  snprintf(path, sizeof path, "%s/index.html", dir);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  static char page[1 << 20];
  page[fread(page, 1, sizeof page - 1, f)] = '\0';
  fclose(f);
  unlink(path);
  const char *rest = strstr(page, "The rest of the table is in its file.");
  assert_non_null(rest);
  assert_null(strstr(rest + 1, "The rest of the table")); /* one of the three is too long */
  assert_non_null(strstr(page, "a word"));
  assert_true(strstr(page, ">-1.25<") || strstr(page,
                                                ">\xe2\x88\x92"
                                                "1.25<"));
  assert_non_null(strstr(page, ">199<"));
  assert_null(strstr(page, ">200<"));
  for (int rows = 0; rows <= 250; rows += 125) {
    snprintf(path, sizeof path, "%s/rows%d.tsv", dir, rows);
    unlink(path);
  }
  assert_int_equal(rmdir(dir), 0);
}

/* The words are those of the document that was compared: not of an earlier one of its id, which was
 * a copy. */
static void test_words_of_the_row(void **state) {
  (void)state;
  char path[] = "/tmp/nd_test_pages_XXXXXX";
  int fd = mkstemp(path);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  assert_non_null(f);
  fputs(
      "{\"id\": \"x\", \"text\": \"two words\"}\n{\"id\": \"y\", \"text\": \"two words\"}\n"
      "{\"id\": \"y\", \"text\": \"now there are five words\"}\n",
      f);
  assert_int_equal(fclose(f), 0);
  const char *input = path;
  nd_study_request request = {.name = "web", .inputs = &input, .input_n = 1};
  nd_options options;
  nd_options_init(&options);
  nd_summary summary;
  nd_pages p = {.unique = true, .fewest = 1, .words = 1, .make = no_sketch};
  ok(nd_pages_read(&p, &summary, &request, &options, NULL, &err));
  assert_int_equal(p.ids.n, 2);
  assert_int_equal(p.copies, 1);
  ok(nd_pages_want(&p, &err));
  p.wanted[0] = p.wanted[1] = 1;
  ok(nd_pages_fetch(&p, &request, &options, NULL, &err));
  assert_int_equal(p.length[0], 2);
  assert_int_equal(p.length[1], 5);
  nd_pages_clear(&p);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_tables),
      cmocka_unit_test(differences_and_cosines_agree_with_slow_ones),
      cmocka_unit_test(test_difference_example),
      cmocka_unit_test(test_power_law),
      cmocka_unit_test(sampled_positions_are_uniform),
      cmocka_unit_test(verdicts_are_read_or_refused),
      cmocka_unit_test(test_changed_input),
      cmocka_unit_test(test_words_of_the_row),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
