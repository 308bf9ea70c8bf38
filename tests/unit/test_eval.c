/* Evaluation: worked examples of every formula, known values of the adjusted
 * Rand index, and random lists against a naive version over a matrix of pairs. */
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

#include "base/mem.h"
#include "base/rng.h"
#include "input/line_list.h"
#include "neardup/eval.h"
#include "settings/option_fields.h"
#include "study/common/compare.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_eval_XXXXXX";
static char truth_path[64], result_path[64], documents_path[64];
static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  if (!mkdtemp(dir)) return -1;
  snprintf(truth_path, sizeof truth_path, "%s/truth", dir);
  snprintf(result_path, sizeof result_path, "%s/result", dir);
  snprintf(documents_path, sizeof documents_path, "%s/documents", dir);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  unlink(truth_path);
  unlink(result_path);
  unlink(documents_path);
  return rmdir(dir);
}

static void put(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static nd_eval_result compare(const char *truth, const char *result, nd_eval_request q) {
  nd_options options;
  nd_eval_result r;
  nd_options_init(&options);
  put(truth_path, truth);
  put(result_path, result);
  q.truth = truth_path;
  q.result = result_path;
  ok(nd_eval(&r, &q, &options, NULL, &err));
  return r;
}

#define NEAR(x, y) assert_true(fabs((x) - (y)) < 1e-9)

/* --- worked examples ------------------------------------------------------- */

static void test_pairs_example(void **state) {
  (void)state;
  nd_eval_result r = compare("a\tb\t0.9\nc\td\t0.7\ne\tf\t0.5\n",
                             "b\ta\t0.7\nc\td\t0.7\na\tg\t0.6\n", (nd_eval_request){0});
  const nd_eval_group *g = &r.group[0];
  assert_int_equal(g->truth, 3);
  assert_int_equal(g->result, 3);
  assert_int_equal(g->common, 2);
  NEAR(g->precision, 2.0 / 3);
  NEAR(g->recall, 2.0 / 3);
  NEAR(g->f1, 2.0 / 3);
  /* Nikkhoo 3.6: (0.2 + 0 + 0.5 + 0.6) / 4. */
  assert_int_equal(g->compared, 4);
  NEAR(g->average_error, 1.3 / 4);
  /* 3.7 with α = 0.9 0.7 0.5 0, β = 0.7 0.7 0 0.6: nΣαβ − ΣαΣβ = 4·1.12 − 2.1·2.0;
   * nΣα² − (Σα)² = 4·1.55 − 4.41; nΣβ² − (Σβ)² = 4·1.34 − 4. */
  NEAR(g->correlation, (4 * 1.12 - 2.1 * 2.0) / (sqrt(4 * 1.55 - 4.41) * sqrt(4 * 1.34 - 4)));
  NEAR(g->common_error, 0.1);
  /* c and d have each other in both; a, b, e, f, g differ: b and a are a pair in
   * both, but a has g as well. */
  assert_int_equal(r.documents, 7);
  NEAR(g->accuracy, 3.0 / 7);
  NEAR(g->duplicates_accuracy, 3.0 / 6);
}

static void test_thresholds_and_judgements(void **state) {
  (void)state;
  /* Labels as people give them: 0 means no. */
  const char *truth = "a\tb\t2\nc\td\t0\ne\tf\t1\n", *result = "a\tb\t0.9\nc\td\t0.8\na\tc\t0.7\n";
  nd_eval_result r = compare(truth, result, (nd_eval_request){0});
  assert_int_equal(r.group[0].truth, 2);
  NEAR(r.group[0].precision, 1.0 / 3);
  r = compare(truth, result, (nd_eval_request){.judged = 1});
  assert_int_equal(r.group[0].unjudged, 1);
  NEAR(r.group[0].precision, 0.5);
  r = compare(truth, result, (nd_eval_request){.truth_threshold = "2"});
  assert_int_equal(r.group[0].truth, 1);
  r = compare(truth, result, (nd_eval_request){.threshold = "0.8"});
  assert_int_equal(r.group[0].result, 2);
  r = compare(truth, result, (nd_eval_request){.threshold = "0.8000000001"});
  assert_int_equal(r.group[0].result, 2); /* nine decimals count */
  r = compare(truth, result, (nd_eval_request){.threshold = "0.800000001"});
  assert_int_equal(r.group[0].result, 1);
}

/* Two clusterings as digits: document i is in cluster text[i]. */
static nd_eval_result digits(const char *truth, const char *result) {
  char x[400] = "", y[400] = "";
  for (size_t i = 0; truth[i]; i++) {
    sprintf(x + strlen(x), "d%zu\tc%c\n", i, truth[i]);
    sprintf(y + strlen(y), "d%zu\tc%c\n", i, result[i]);
  }
  return compare(x, y, (nd_eval_request){.truth_kind = "clusters", .result_kind = "clusters"});
}

static void test_clusters_example(void **state) {
  (void)state;
  /* The example of Amigó et al. is too large to show; this one by hand:
   * truth {0,1,2} {3,4}, result {0,1} {2,3,4}. */
  nd_eval_result r = digits("00011", "00111");
  const nd_eval_group *g = &r.group[0];
  assert_int_equal(g->truth, 4); /* 3 + 1 */
  assert_int_equal(g->result, 4);
  assert_int_equal(g->common, 2); /* 01, 34 */
  NEAR(g->precision, 0.5);
  /* precision: 1 1 1/3 2/3 2/3; recall: 2/3 2/3 1/3 1 1 */
  NEAR(g->bcubed_precision, (1 + 1 + 1.0 / 3 + 2.0 / 3 + 2.0 / 3) / 5);
  NEAR(g->bcubed_recall, (2.0 / 3 + 2.0 / 3 + 1.0 / 3 + 1 + 1) / 5);
  NEAR(g->accuracy, 0);
  assert_int_equal(r.truth_clusters, 2);
  /* E = 4·4/10 = 1.6: (2 − 1.6) / (4 − 1.6) */
  NEAR(r.ari, 0.4 / 2.4);
  /* H(T) = −.6 ln .6 − .4 ln .4; H(T|R) = .6·(ln 3 − 2/3 ln 2) */
  double h = -.6 * log(.6) - .4 * log(.4), conditional = .6 * (log(3) - 2.0 / 3 * log(2));
  NEAR(r.homogeneity, 1 - conditional / h);
}

/* Values of the adjusted Rand index that others print or that follow from its
 * definition: the examples of scikit-learn's manual, and Hubert and Arabie's own
 * property that one cluster against all single gives 0. */
static void test_adjusted_rand_known(void **state) {
  (void)state;
  NEAR(digits("0011", "0011").ari, 1);
  NEAR(digits("0011", "1100").ari, 1);
  assert_true(fabs(digits("0012", "0011").ari - 0.5714285714) < 1e-9);
  assert_true(fabs(digits("0011", "0012").ari - 0.5714285714) < 1e-9);
  NEAR(digits("0000", "0123").ari, 0);
  NEAR(digits("0011", "0101").ari, -0.5);
  assert_true(fabs(digits("000111", "001122").ari - 0.2424242424) < 1e-9);
  NEAR(digits("0123", "3210").ari, 1);
  NEAR(digits("0000", "0000").ari, 1);
  /* Homogeneity, completeness and V of the same manual. */
  nd_eval_result r = digits("000111", "001122");
  assert_true(fabs(r.homogeneity - 0.6666666667) < 1e-9);
  assert_true(fabs(r.completeness - 0.4206198357) < 1e-9);
  assert_true(fabs(r.v_measure - 0.5158037429) < 1e-9);
  NEAR(digits("0011", "0123").homogeneity, 1);
  NEAR(digits("0011", "0000").homogeneity, 0);
}

static void numbers_are_read_exactly_or_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t value; /* billionths */
  } good[] = {{"0", 0},
              {"1", 1000000000},
              {"0.8", 800000000},
              {"-2", -2000000000},
              {"+.5", 500000000},
              {"1.", 1000000000},
              {"1e-3", 1000000},
              {"2.5E2", 250000000000},
              {"00012", 12000000000},
              {"0.0000000019", 1},
              {"1e-400", 0},
              {"999999999", 999999999000000000}};
  static const char *const bad[] = {"", "-", ".", "e5", "1e", "1x", "0x10", "nan", "1e10", "1 "};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    int64_t value = -1;
    assert_true(nd_line_number(&value, nd_str_of(good[i].text)));
    if (value != good[i].value) fail_msg("%s: %lld", good[i].text, (long long)value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int64_t value;
    if (nd_line_number(&value, nd_str_of(bad[i]))) fail_msg("\"%s\" is a number", bad[i]);
  }
  /* More digits than are looked at, and powers of any size. */
  int64_t value;
  char many[1200];
  memset(many, '9', sizeof many);
  assert_false(nd_line_number(&value, (nd_str){many, 60}));
  memcpy(many, "0.", 2);
  assert_true(nd_line_number(&value, (nd_str){many, 60}));
  assert_int_equal(value, 999999999);
  memset(many + 2, '0', sizeof many - 3);
  many[sizeof many - 1] = '7';
  assert_true(nd_line_number(&value, (nd_str){many, sizeof many}));
  assert_int_equal(value, 0);
  static const char *const tiny[] = {"1e-99999999999", "5E-10", "-0e99999", "0e+5", "0.0e7"};
  for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
    assert_true(nd_line_number(&value, nd_str_of(tiny[i])));
    assert_int_equal(value, 0);
  }
  assert_true(nd_line_number(&value, nd_str_of("+2e+3")));
  assert_int_equal(value, INT64_C(2000000000000));
  assert_false(nd_line_number(&value, nd_str_of("1e99999999999")));
}

/* --- lists that are not as they should be ------------------------------------ */

static void guesses_pairs_or_clusters(void **state) {
  (void)state;
  static const struct {
    const char *text, *kind;
  } cases[] = {
      {"a\tb\t0.5\n", "pairs"},     {"a\ta\tkept\t1.000000\nb\ta\tdropped\t0.9\n", "clusters"},
      {"a\tb\nb\tc\n", "pairs"},    {"a\tx\nb\tx\nc\ty\n", "clusters"},
      {"a\ta\nb\ta\n", "clusters"}, {"a\tb\na\tc\n", "pairs"},
      {"a\tb\nc\td\n", "pairs"},    {"", "pairs"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_eval_result r = compare(cases[i].text, cases[i].text, (nd_eval_request){0});
    if (strcmp(r.truth.kind, cases[i].kind) != 0) fail_msg("case %zu: %s", i, r.truth.kind);
  }
}

static void test_bad_lines(void **state) {
  (void)state;
  nd_eval_result r = compare("a\tb\t1\nb\ta\t0\na\ta\t1\nc\td\t1\nc\td\t1\n",
                             "a\tb\t0.9\nc\td\t0.9\n", (nd_eval_request){0});
  assert_int_equal(r.truth.contradicting, 1);
  assert_non_null(strstr(r.truth.first_contradicting, "lines 1 and 2"));
  assert_int_equal(r.truth.selves, 1);
  assert_int_equal(r.truth.repeated, 2);
  assert_int_equal(r.group[0].truth, 1); /* a-b is out, on both sides */
  assert_int_equal(r.group[0].result, 1);
  NEAR(r.group[0].f1, 1);
  /* The same pair inside a cluster of the result. */
  r = compare("a\tb\t1\nb\ta\t0\n", "a\tx\nb\tx\nc\tx\n", (nd_eval_request){0});
  assert_int_equal(r.group[0].result, 2);
  /* A document in two clusters. */
  r = compare("a\tx\nb\tx\nc\ty\nd\ty\na\ty\n", "a\tb\t1\nc\td\t1\n",
              (nd_eval_request){.truth_kind = "clusters"});
  assert_int_equal(r.truth.contradicting, 1);
  assert_int_equal(r.documents, 3);
  assert_int_equal(r.group[0].result, 1);
  assert_int_equal(r.group[0].common, 1);
  /* Unknown documents. */
  put(documents_path, "a\t10\nb\t20\nc\n");
  r = compare("a\tb\t1\nb\tz\t1\n", "a\tb\t1\ny\tz\t1\n",
              (nd_eval_request){.documents = documents_path});
  assert_int_equal(r.truth.unknown, 1);
  assert_non_null(strstr(r.truth.first_unknown, "line 2"));
  assert_int_equal(r.result.unknown, 1);
  assert_int_equal(r.documents, 3);
  NEAR(r.group[0].accuracy, 1);
  /* Nothing at all: no measure, and no failure. */
  r = compare("", "", (nd_eval_request){0});
  assert_true(isnan(r.group[0].precision) && isnan(r.group[0].f1));
  r = compare("", "", (nd_eval_request){.as = "clusters"});
  assert_true(isnan(r.ari));
  /* An empty result finds nothing. */
  r = compare("a\tb\t1\n", "", (nd_eval_request){0});
  NEAR(r.group[0].recall, 0);
  NEAR(r.group[0].average_error, 1);
}

/* What lines disagree about is left out, wherever it stands, and of its group, too. */
static void contradicting_lines_are_left_out(void **state) {
  (void)state;
  put(documents_path, "a\t10\nb\t20\nc\t30\nd\t40\ne\t5\nf\t6\n");
  const nd_eval_request by_size = {.documents = documents_path, .by = "size"};
  /* Pairs of both kinds: in one cluster of the other list, and in two. */
  nd_eval_result r = compare("a\tb\t1\na\tb\t0\nc\td\t1\nc\td\t0\ne\tf\t1\n",
                             "a\tx\nb\tx\nc\ty\nd\tz\ne\tv\nf\tv\n", by_size);
  assert_int_equal(r.truth.contradicting, 2);
  assert_int_equal(r.group[0].truth, 1);
  assert_int_equal(r.group[0].result, 1);
  assert_int_equal(r.group[0].common, 1);
  NEAR(r.group[0].f1, 1);
  r = compare("a\tx\nb\tx\nc\ty\nd\tz\ne\tv\nf\tv\n",
              "a\tb\t1\na\tb\t0\nc\td\t1\nc\td\t0\ne\tf\t1\nb\te\t1\na\tf\t0\n",
              (nd_eval_request){.documents = documents_path, .by = "size", .threshold = "0.5"});
  assert_int_equal(r.group[0].truth, 1);
  assert_int_equal(r.group[0].result, 2);
  assert_int_equal(r.group[0].common, 1);
  /* Pairs against pairs, with a document that is in two clusters nowhere. */
  r = compare("a\tb\t1\na\tb\t0\ne\tf\t1\n", "a\tb\t1\ne\tf\t1\nc\td\t1\nc\td\t0\n",
              (nd_eval_request){.threshold = "0.5"});
  assert_int_equal(r.group[0].truth, 1);
  assert_int_equal(r.group[0].result, 1);
  /* The second document of a pair is the one that is in two clusters; one comes three times. */
  r = compare("b\tx\na\tx\na\ty\na\tz\nc\ty\nd\ty\n", "b\ta\t1\nc\td\t1\n",
              (nd_eval_request){.truth_kind = "clusters"});
  assert_int_equal(r.truth.contradicting, 1);
  assert_int_equal(r.group[0].result, 1);
  assert_int_equal(r.group[0].common, 1);
  /* Clusters of pairs: those of a document that is left out make none. */
  r = compare("b\tx\na\tx\na\ty\nc\ty\nd\ty\n", "b\ta\t1\nc\td\t1\n",
              (nd_eval_request){.truth_kind = "clusters", .as = "clusters"});
  assert_int_equal(r.documents, 3);
  assert_int_equal(r.result_clusters, 1);
  NEAR(r.ari, 1);
  /* … as the first of a pair, too; a line that is there twice is no contradiction. */
  r = compare("a\tx\na\ty\nb\tx\nc\ty\nc\ty\nd\ty\n", "a\tb\t1\nb\ta\t1\nc\td\t1\n",
              (nd_eval_request){.truth_kind = "clusters", .as = "clusters"});
  assert_int_equal(r.truth.repeated, 2);
  assert_int_equal(r.truth.contradicting, 1);
  assert_int_equal(r.documents, 3);
  NEAR(r.ari, 1);
  /* Two clusterings as pairs: b with c, d and e in both, a nowhere. */
  r = compare("a\tx\tkept\na\ty\tkept\nb\tx\tkept\nc\tx\tkept\nd\ty\tkept\ne\ty\tkept\n",
              "a\tv\tkept\nb\tv\tkept\nc\tv\tkept\nd\tw\tkept\ne\tw\tkept\nf\tw\tkept\n",
              (nd_eval_request){.as = "pairs"});
  assert_int_equal(r.group[0].documents, 5);
  assert_int_equal(r.group[0].truth, 2);
  assert_int_equal(r.group[0].result, 4);
  assert_int_equal(r.group[0].common, 2);
  NEAR(r.group[0].accuracy, 0.4);
  /* One document alone agrees with itself. */
  r = compare(
      "a\tx\n", "a\ty\n",
      (nd_eval_request){.truth_kind = "clusters", .result_kind = "clusters", .as = "clusters"});
  NEAR(r.ari, 1);
}

static void refuses_invalid_lists_and_requests(void **state) {
  (void)state;
  nd_options options;
  nd_eval_result r;
  nd_options_init(&options);
  put(truth_path, "a\tb\t1\n");
  static const struct {
    const char *text;
    nd_eval_request q;
  } cases[] = {{"a b\n", {0}},
               {"\tb\n", {0}},
               {"a\tb\tmuch\n", {.result_kind = "pairs"}},
               {"a\tb\tkept\n", {.result_kind = "pairs"}},
               {"a\tb\t1\n", {.by = "size"}},
               {"a\tb\t1\n", {.by = "colour", .documents = "x"}},
               {"a\tb\t1\n", {.as = "sets"}},
               {"a\tb\t1\n", {.threshold = "high"}},
               {"a\tb\t1\n", {.as = "clusters", .judged = 1}},
               {"a\tb\t1\n", {.documents = "/nowhere/at/all"}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_eval_request q = cases[i].q;
    put(result_path, cases[i].text);
    q.truth = truth_path;
    q.result = result_path;
    if (nd_eval(&r, &q, &options, NULL, &err) == ND_OK) fail_msg("case %zu was accepted", i);
    assert_true(err.message[0]);
  }
}

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

/* Of no documents nothing is said that divides by them. */
static void test_nothing_written(void **state) {
  (void)state;
  nd_buf text = {0};
  nd_sink sink = {&text, collect};
  nd_eval_result r = compare("", "", (nd_eval_request){.as = "clusters"});
  ok(nd_eval_write(&r, 1, &sink, &err));
  ok(nd_buf_append(&text, "", 1, &err));
  assert_non_null(strstr(text.p, "\"truth_clusters\""));
  assert_null(strstr(text.p, "adjusted_rand"));
  assert_null(strstr(text.p, "nan"));
  nd_buf_clear(&text);
}

/* --- random lists against a naive version ------------------------------------ */

enum { MOST = 40 };

typedef struct naive {
  unsigned n;
  unsigned tokens[MOST], site[MOST]; /* site 0: none */
  bool clusters;                     /* else pairs */
  unsigned label[MOST];              /* 0: not listed */
  int value[MOST][MOST];             /* thousandths; -1: not listed */
} naive;

static void draw(naive *l, unsigned n, bool clusters, double density) {
  l->n = n;
  l->clusters = clusters;
  for (unsigned a = 0; a < n; a++) {
    l->label[a] = nd_rng_below(&rng, 4) ? 1 + (unsigned)nd_rng_below(&rng, n / 3 + 1) : 0;
    for (unsigned b = 0; b < n; b++)
      l->value[a][b] = a < b && nd_rng_unit(&rng) < density ? (int)nd_rng_below(&rng, 1001) : -1;
  }
}

static void save(const char *path, const naive *l) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  for (unsigned a = 0; a < l->n; a++) {
    if (l->clusters && l->label[a]) fprintf(f, "d%u\tc%u\tkept\n", a, l->label[a]);
    for (unsigned b = a + 1; !l->clusters && b < l->n; b++) {
      if (l->value[a][b] < 0) continue;
      unsigned swap = (unsigned)nd_rng_below(&rng, 2);
      fprintf(f, "d%u\td%u\t%d.%03d\n", swap ? b : a, swap ? a : b, l->value[a][b] / 1000,
              l->value[a][b] % 1000);
    }
  }
  assert_int_equal(fclose(f), 0);
}

static bool listed(const naive *l, unsigned a, unsigned b) {
  return l->value[a < b ? a : b][a < b ? b : a] >= 0;
}

static bool yes(const naive *l, unsigned a, unsigned b, int above) {
  if (l->clusters) return l->label[a] && l->label[a] == l->label[b];
  return l->value[a < b ? a : b][a < b ? b : a] > above;
}

/* Pairs → the matrix of their components. */
static void close_over(bool m[MOST][MOST], unsigned n) {
  for (unsigned k = 0; k < n; k++) {
    for (unsigned a = 0; a < n; a++) {
      for (unsigned b = 0; b < n; b++) m[a][b] |= m[a][k] && m[k][b];
    }
  }
}

static unsigned size_group(unsigned tokens) {
  if (tokens < 500) return 1;
  if (tokens < 1000) return 2;
  return tokens >= 9000 ? 11 : 2 + tokens / 1000;
}

static unsigned group_of(const naive *l, const char *by, unsigned a, unsigned b) {
  if (strcmp(by, "size") == 0) {
    unsigned x = size_group(l->tokens[a]), y = size_group(l->tokens[b]);
    return x < y ? x : y;
  }
  if (!l->site[a] || !l->site[b]) return 3;
  return l->site[a] == l->site[b] ? 1 : 2;
}

static void same(double got, double want, const char *what, unsigned group) {
  if (isnan(got) && isnan(want)) return;
  if (!(fabs(got - want) < 1e-9)) fail_msg("%s of group %u: %f, not %f", what, group, got, want);
}

static double ratio(double a, double b) {
  return b > 0 ? a / b : NAN;
}

/* Everything from the matrices x (truth) and y (result) of one group. */
static void check_group(const nd_eval_result *r, unsigned g, const naive *l, const char *by,
                        bool x[MOST][MOST], bool y[MOST][MOST], bool seen[MOST][MOST]) {
  double truth = 0, result = 0, common = 0, n = 0, right = 0, bp = 0, br = 0;
  for (unsigned a = 0; a < l->n; a++) {
    double of_x = 1, of_y = 1, of_both = 1, equal = 1;
    for (unsigned b = 0; b < l->n; b++) {
      if (a == b) continue;
      of_x += x[a][b];
      of_y += y[a][b];
      of_both += x[a][b] && y[a][b];
      equal = equal && x[a][b] == (y[a][b] && seen[a][b]);
      if (b < a || (g && group_of(l, by, a, b) != g)) continue;
      truth += x[a][b];
      result += y[a][b] && seen[a][b];
      common += x[a][b] && y[a][b];
    }
    if (g && (strcmp(by, "size") != 0 || size_group(l->tokens[a]) != g)) continue;
    n++;
    right += equal;
    bp += of_both / of_y;
    br += of_both / of_x;
  }
  const nd_eval_group *got = &r->group[g];
  assert_int_equal(got->truth, truth);
  assert_int_equal(got->result, result);
  assert_int_equal(got->common, common);
  same(got->precision, ratio(common, result), "precision", g);
  same(got->recall, ratio(common, truth), "recall", g);
  same(got->accuracy, ratio(right, n), "accuracy", g);
  if (r->clusters) {
    same(got->bcubed_precision, ratio(bp, n), "B-cubed precision", g);
    same(got->bcubed_recall, ratio(br, n), "B-cubed recall", g);
  }
}

static void check_values(const nd_eval_group *g, const naive *x, const naive *y, bool judged) {
  double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, error = 0;
  for (unsigned a = 0; a < x->n; a++) {
    for (unsigned b = a + 1; b < x->n; b++) {
      if (!listed(x, a, b) && (judged || !listed(y, a, b))) continue;
      double u = listed(x, a, b) ? x->value[a][b] / 1000.0 : 0;
      double v = listed(y, a, b) ? y->value[a][b] / 1000.0 : 0;
      n++;
      sx += u;
      sy += v;
      sxx += u * u;
      syy += v * v;
      sxy += u * v;
      error += fabs(u - v);
    }
  }
  assert_int_equal(g->compared, n);
  same(g->average_error, ratio(error, n), "average error", 0);
  double vx = n * sxx - sx * sx, vy = n * syy - sy * sy;
  if (vx > 1e-6 && vy > 1e-6) /* the paper's formula as it stands */
    same(g->correlation, (n * sxy - sx * sy) / (sqrt(vx) * sqrt(vy)), "correlation", 0);
}

static void random_lists_agree_with_a_matrix_of_pairs(void **state) {
  (void)state;
  static naive x, y;
  static bool mx[MOST][MOST], my[MOST][MOST], seen[MOST][MOST];
  for (int round = 0; round < 600; round++) {
    unsigned n = 2 + (unsigned)nd_rng_below(&rng, MOST - 2);
    double density = nd_rng_unit(&rng) * (nd_rng_below(&rng, 2) ? 0.1 : 1);
    draw(&x, n, nd_rng_below(&rng, 2), density);
    draw(&y, n, nd_rng_below(&rng, 2), density);
    bool as_clusters = nd_rng_below(&rng, 2);
    bool judged = !x.clusters && !as_clusters && nd_rng_below(&rng, 2);
    const char *by = nd_rng_below(&rng, 2) ? "size" : "site";
    FILE *f = fopen(documents_path, "w");
    assert_non_null(f);
    for (unsigned d = 0; d < n; d++) {
      x.tokens[d] = (unsigned)nd_rng_below(&rng, 11000);
      x.site[d] = (unsigned)nd_rng_below(&rng, 4);
      fprintf(f, "d%u\t%u", d, x.tokens[d]);
      if (x.site[d]) fprintf(f, "\thttp://www.s%u.org/%u", x.site[d], d);
      fputc('\n', f);
    }
    assert_int_equal(fclose(f), 0);
    save(truth_path, &x);
    save(result_path, &y);
    for (unsigned a = 0; a < n; a++) {
      for (unsigned b = 0; b < n; b++) {
        mx[a][b] = a == b || yes(&x, a, b, 0);
        my[a][b] = a == b || yes(&y, a, b, -1);
        seen[a][b] = !judged || listed(&x, a, b);
      }
    }
    if (as_clusters) close_over(mx, n);
    if (as_clusters) close_over(my, n);
    nd_options options;
    nd_options_init(&options);
    nd_eval_request q = {.truth = truth_path,
                         .result = result_path,
                         .truth_kind = x.clusters ? "clusters" : "pairs",
                         .result_kind = y.clusters ? "clusters" : "pairs",
                         .as = as_clusters ? "clusters" : "pairs",
                         .by = by,
                         .documents = documents_path,
                         .judged = judged};
    nd_eval_result r;
    ok(nd_eval(&r, &q, &options, NULL, &err));
    for (unsigned g = 0; g < r.group_n; g++) check_group(&r, g, &x, by, mx, my, seen);
    if (!x.clusters && !y.clusters && !as_clusters) check_values(&r.group[0], &x, &y, judged);
    if (as_clusters) { /* the index from the four kinds of pairs */
      double both = 0, only_x = 0, only_y = 0, none = 0;
      for (unsigned a = 0; a < n; a++) {
        for (unsigned b = a + 1; b < n; b++) {
          both += mx[a][b] && my[a][b];
          only_x += mx[a][b] && !my[a][b];
          only_y += !mx[a][b] && my[a][b];
          none += !mx[a][b] && !my[a][b];
        }
      }
      double below = (both + only_x) * (only_x + none) + (both + only_y) * (only_y + none);
      same(r.ari, below > 0 ? 2 * (both * none - only_x * only_y) / below : 1, "adjusted Rand", 0);
    }
  }
}

static void test_out_of_memory(void **state) {
  (void)state;
  nd_options options;
  nd_options_init(&options);
  static const struct {
    const char *truth, *result;
    bool documents;
  } cases[] = {{"a\tb\t1\nc\td\t1\n", "a\tx\tkept\nb\tx\tdropped\n", true},
               /* Clusters on both sides, of which the second names more documents. */
               {"a\tx\nb\tx\n", "c\tx\nd\tx\na\tx\n", false}};
  put(documents_path, "a\t1\thttp://x.org\nb\t2\thttp://y.org\nc\t3\nd\t4\n");
  for (int i = 0; i < 4; i++) {
    put(truth_path, cases[i / 2].truth);
    put(result_path, cases[i / 2].result);
    nd_eval_request q = {.truth = truth_path,
                         .result = result_path,
                         .documents = cases[i / 2].documents ? documents_path : NULL,
                         .as = i % 2 ? "clusters" : "pairs",
                         .by = cases[i / 2].documents ? "site" : NULL};
    nd_status status = ND_ERR_MEMORY;
    for (uint64_t nth = 1; status != ND_OK && nth < 1000; nth++) {
      nd_eval_result r;
      nd_mem_fail_at(nth);
      status = nd_eval(&r, &q, &options, NULL, &err);
      nd_mem_fail_at(0);
      if (status != ND_OK) assert_int_equal(status, ND_ERR_MEMORY);
    }
    assert_int_equal(status, ND_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs_example),
      cmocka_unit_test(test_thresholds_and_judgements),
      cmocka_unit_test(test_clusters_example),
      cmocka_unit_test(test_adjusted_rand_known),
      cmocka_unit_test(numbers_are_read_exactly_or_refused),
      cmocka_unit_test(guesses_pairs_or_clusters),
      cmocka_unit_test(test_bad_lines),
      cmocka_unit_test(contradicting_lines_are_left_out),
      cmocka_unit_test(refuses_invalid_lists_and_requests),
      cmocka_unit_test(random_lists_agree_with_a_matrix_of_pairs),
      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_nothing_written),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
