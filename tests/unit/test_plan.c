/* A plan's promise, checked on documents that it has not seen: precision of
 * adaptive sampling and recall of min-hash. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup.h>

#include "base/rng.h"
#include "feature/sample.h"
#include "feature/shingle.h"
#include "job_calls.h"
#include "settings/option_fields.h"
#include "tools.h"

enum { FAMILIES = 1600, MOST_WORDS = 900 };
static char dir[] = "/tmp/neardup-plan-XXXXXX";
static char seen[64], unseen[64], plan_file[64];

/* Families of two: a text and the same with a passage rewritten, so that about 65
 * to 100 % of the shingles stay.  Sizes from 30 to 900 words, small ones more often. */
static void make_corpus(const char *path, uint64_t seed) {
  nd_rng r = {seed};
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  for (unsigned i = 0; i < FAMILIES; i++) {
    unsigned word[MOST_WORDS];
    unsigned n = (unsigned)(30 * pow(30, nd_rng_unit(&r)));
    if (n > MOST_WORDS) n = MOST_WORDS;
    for (unsigned k = 0; k < n; k++) word[k] = (unsigned)nd_rng_below(&r, 100000);
    for (unsigned copy = 0; copy < 2; copy++) {
      for (unsigned k = 0; k < n; k++) fprintf(f, "w%u%c", word[k], k + 1 < n ? ' ' : '\n');
      double keep = 0.65 + 0.35 * nd_rng_unit(&r);
      unsigned changed = (unsigned)(n * (1 - keep) / (1 + keep)), from = 0;
      if (changed < n) from = (unsigned)nd_rng_below(&r, n - changed);
      for (unsigned k = 0; k < changed; k++) word[from + k] = (unsigned)nd_rng_below(&r, 100000);
    }
  }
  assert_int_equal(fclose(f), 0);
}

/* Pairs of lines: family, or none.  Line numbers stand in the ids. */
typedef struct list {
  uint8_t found[FAMILIES]; /* both texts of the family */
  unsigned n, strange;     /* pairs; pairs across families */
  char rest[256];
  size_t rest_n;
} list;

static nd_status take(void *context, const char *bytes, size_t n, nd_error *e) {
  list *l = context;
  (void)e;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] != '\n') {
      assert_true(l->rest_n + 1 < sizeof l->rest);
      l->rest[l->rest_n++] = bytes[i];
      continue;
    }
    l->rest[l->rest_n] = '\0';
    l->rest_n = 0;
    unsigned a = 0, b = 0;
    char *tab = strchr(l->rest, '\t');
    assert_non_null(tab);
    *tab = '\0';
    char *end = strchr(tab + 1, '\t');
    *end = '\0';
    a = (unsigned)atoi(strrchr(l->rest, ':') + 1) - 1;
    b = (unsigned)atoi(strrchr(tab + 1, ':') + 1) - 1;
    l->n++;
    if (a / 2 == b / 2)
      l->found[a / 2] = 1;
    else
      l->strange++;
  }
  return ND_OK;
}

static void find(list *out, const char *path, const nd_options *o) {
  nd_summary s;
  *out = (list){0};
  nd_sink sink = {out, take};
  ok(nd_pairs(&s, &(nd_pairs_request){.inputs = &path, .input_n = 1, .sink = &sink}, o, NULL,
              &err));
}

static nd_status save(void *context, const char *bytes, size_t n, nd_error *e) {
  (void)e;
  return fwrite(bytes, 1, n, context) == n ? ND_OK : ND_ERR_IO;
}

static void options(nd_options *o, const char *method) {
  nd_options_init(o);
  ok(nd_options_set(o, "format", "lines", &err));
  ok(nd_options_set(o, "method", method, &err));
  ok(nd_options_set(o, "threshold", "0.85", &err));
  ok(nd_options_set(o, "threads", "2", &err));
}

static void make_plan(nd_plan_result *r, const char *path, const char *goal, const nd_options *o) {
  nd_summary s;
  nd_plan_request q = {.inputs = &path, .input_n = 1, .precision = goal};
  FILE *f = fopen(plan_file, "w");
  assert_non_null(f);
  nd_sink sink = {f, save};
  ok(job_plan(r, &s, &q, &sink, o, NULL, &err));
  assert_int_equal(fclose(f), 0);
}

static void precision_holds(void **state) {
  (void)state;
  nd_options o;
  nd_plan_result r;
  static const char *const goals[] = {"0.7", "0.85"};
  options(&o, "exact");
  list truth;
  find(&truth, unseen, &o);
  assert_true(truth.n > 300 && truth.strange == 0);
  for (size_t k = 0; k < 2; k++) {
    nd_options adaptive = o;
    char how[100];
    double goal = strtod(goals[k], NULL);
    make_plan(&r, seen, goals[k], &o);
    assert_true(r.groups >= 2);
    snprintf(how, sizeof how, "adaptive:%s", plan_file);
    ok(nd_options_set(&adaptive, "sample", how, &err));
    list found;
    find(&found, unseen, &adaptive);
    unsigned right = 0;
    for (unsigned i = 0; i < FAMILIES; i++) right += found.found[i] && truth.found[i];
    double precision = (double)right / found.n;
    print_message("goal %.2f: precision %.4f on unseen documents, %u found, %.1f %% kept\n", goal,
                  precision, found.n, 100 * r.share);
    assert_true(r.share < 0.9); /* it does save something */
    assert_true(precision >= goal);
    /* The prediction of what is kept holds there too. */
    nd_summary s;
    list again = {0};
    nd_sink sink = {&again, take};
    const char *path = unseen;
    ok(nd_pairs(&s, &(nd_pairs_request){.inputs = &path, .input_n = 1, .sink = &sink}, &adaptive,
                NULL, &err));
    assert_true(fabs((double)s.sample_kept / (double)s.sample_seen - r.share) < 0.05);
    for (unsigned g = 1; g < r.groups; g++) { /* larger documents bear no less */
      assert_true(r.group[g].modulus >= r.group[g - 1].modulus);
      assert_true(r.group[g].from == r.group[g - 1].below);
    }
    for (unsigned g = 0; g < r.groups; g++)
      assert_true(r.group[g].modulus == 1 || r.group[g].low >= goal);
    /* The same in one step. */
    nd_options direct = o;
    snprintf(how, sizeof how, "adaptive:%s", k ? "0.85" : "0.7");
    ok(nd_options_set(&direct, "sample", how, &err));
    list at_once;
    find(&at_once, seen, &direct);
    find(&found, seen, &adaptive);
    assert_memory_equal(at_once.found, found.found, sizeof found.found);
  }
}

static void recall_holds(void **state) {
  (void)state;
  nd_options o;
  nd_plan_result r;
  options(&o, "exact");
  ok(nd_options_set(&o, "recall", "0.99", &err));
  list truth, found;
  find(&truth, unseen, &o);
  make_plan(&r, seen, NULL, &o);
  assert_true(r.bands && r.recall >= 0.99 && r.permutations == r.bands * r.rows);
  nd_options m;
  options(&m, "minhash");
  m.permutations = r.permutations;
  m.bands = r.bands;
  m.rows = r.rows;
  find(&found, unseen, &m);
  double recall = (double)found.n / truth.n;
  print_message("recall %.4f measured, %.4f predicted over all pairs\n", recall, r.recall_of_pairs);
  assert_true(recall >= 0.98 && fabs(recall - r.recall_of_pairs) < 0.02);
  assert_true(fabs(r.near_duplicates / truth.n - 1) < 0.25); /* another corpus of the kind */
}

static void goals_out_of_reach_give_the_best_plan(void **state) {
  (void)state;
  nd_options o;
  nd_plan_result r;
  options(&o, "exact");
  make_plan(&r, seen, "0.999", &o);
  assert_false(r.reached);
  assert_true(r.best > 0.3 && r.best < 0.999);
  unsigned kept_whole = 0;
  for (unsigned g = 0; g < r.groups; g++) kept_whole += r.group[g].modulus == 1;
  assert_true(kept_whole > 0);
  /* Recall beyond every sketch: said, with the best there is. */
  ok(nd_options_set(&o, "threshold", "0.01", &err));
  ok(nd_options_set(&o, "recall", "0.999999999", &err));
  make_plan(&r, seen, NULL, &o);
  assert_true(r.bands == 0 && r.recall > 0 && r.recall < 0.999999999);
  /* Goals that are none. */
  nd_summary s;
  const char *path = seen;
  nd_plan_request q = {.inputs = &path, .input_n = 1, .precision = "1.5"};
  assert_int_equal(job_plan(&r, &s, &q, NULL, &o, NULL, &err), ND_ERR_USAGE);
}

/* Too few documents for groups: one group, and nothing is thrown away. */
static void few_documents_make_one_group(void **state) {
  (void)state;
  char path[64];
  nd_options o;
  nd_plan_result r;
  static const char *const texts[] = {"", "one line with a few words\n",
                                      "a b c d e f g\na b c d e f h\na b c d e f g\n"};
  options(&o, "exact");
  snprintf(path, sizeof path, "%s/tiny", dir);
  for (size_t i = 0; i < 3; i++) {
    FILE *f = fopen(path, "w");
    fputs(texts[i], f);
    fclose(f);
    make_plan(&r, path, "0.9", &o);
    assert_int_equal(r.groups, 1);
    assert_int_equal(r.group[0].modulus, 1);
    assert_false(r.reached);
    nd_options adaptive = o;
    char how[100];
    snprintf(how, sizeof how, "adaptive:%s", plan_file);
    ok(nd_options_set(&adaptive, "sample", how, &err));
    list found;
    find(&found, path, &adaptive);
  }
  unlink(path);
}

/* The residue of a word's key, by which samples are drawn. */
static unsigned residue(const char *word) {
  nd_shingles s = {0};
  const uint32_t end = (uint32_t)strlen(word);
  ok(nd_shingle_make(&s, nd_str_of(word), &end, 1, (nd_shingle_spec){ND_SHINGLE_WORDS, 1}, 1, false,
                     &err));
  unsigned r = nd_sample_key(s.fingerprint[0]) % 4;
  nd_shingles_clear(&s);
  return r;
}

/* Writes words that were not there before: of residue r, `n[r]` of them. */
static void put_new(char *out, size_t room, const unsigned n[4], unsigned *next) {
  unsigned left[4] = {n[0], n[1], n[2], n[3]};
  size_t at = strlen(out);
  while (left[0] + left[1] + left[2] + left[3]) {
    char word[20];
    snprintf(word, sizeof word, "w%u", (*next)++);
    unsigned r = residue(word);
    if (!left[r]) continue;
    left[r]--;
    at += (size_t)snprintf(out + at, room - at, "%s ", word);
  }
}

/* Pairs that are right in every sample, and pairs that half of the samples of 1/2 take for right
 * but only a quarter of those of 1/4: the smaller sample is the better one. */
static void smaller_is_better(void **state) {
  (void)state;
  enum { PAIRS = 300 };
  char path[64];
  nd_options o;
  nd_plan_result r;
  unsigned next = 0;
  snprintf(path, sizeof path, "%s/chosen", dir);
  FILE *f = fopen(path, "w");
  for (unsigned i = 0; i < PAIRS; i++) {
    static const unsigned common[2][4] = {{6, 6, 6, 6}, {5, 4, 4, 4}}; /* of 7, of 9 each */
    static const unsigned own[2][4] = {{1, 1, 1, 1}, {2, 2, 3, 2}}, more[4] = {2, 3, 2, 3};
    char both[1000] = "", one[1000] = "", other[1000] = "";
    put_new(both, sizeof both, common[i % 2], &next);
    put_new(one, sizeof one, own[i % 2], &next);
    if (i % 2) put_new(other, sizeof other, more, &next);
    fprintf(f, "%s%s\n%s%s\n", both, one, both, other);
  }
  fclose(f);
  options(&o, "exact");
  ok(nd_options_set(&o, "threshold", "0.5", &err));
  ok(nd_options_set(&o, "shingle", "words:1", &err));
  make_plan(&r, path, "0.999", &o);
  assert_false(r.reached);
  unsigned better = 0;
  for (unsigned g = 0; g < r.groups; g++) better += r.group[g].best_modulus > 2;
  assert_true(better > 0);
  unlink(path);
}

/* Enough pairs in the last class of sizes: the group ends where the sizes end. */
static void large_documents(void **state) {
  (void)state;
  char path[64];
  nd_options o;
  nd_plan_result r;
  snprintf(path, sizeof path, "%s/large", dir);
  FILE *f = fopen(path, "w");
  for (unsigned i = 0; i < 80; i++) {
    for (unsigned k = 0; k < 32800 + i; k++) fprintf(f, "%c ", 'a' + (int)(k % 26));
    fprintf(f, "%u\n", i);
  }
  fclose(f);
  options(&o, "exact");
  ok(nd_options_set(&o, "shingle", "words:1", &err));
  make_plan(&r, path, "0.9", &o);
  assert_int_equal(r.groups, 1);
  assert_true(r.group[0].from == 0 && r.group[0].below == UINT64_MAX);
  assert_true(r.group[0].documents == 80 && r.group[0].modulus > 1);
  unlink(path);
}

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(dir)) return 1;
  snprintf(seen, sizeof seen, "%s/seen", dir);
  snprintf(unseen, sizeof unseen, "%s/unseen", dir);
  snprintf(plan_file, sizeof plan_file, "%s/plan", dir);
  print_message("seeds 1 and 2\n");
  make_corpus(seen, 1);
  make_corpus(unseen, 2);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  unlink(seen);
  unlink(unseen);
  unlink(plan_file);
  return rmdir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(precision_holds),
                                     cmocka_unit_test(recall_holds),
                                     cmocka_unit_test(goals_out_of_reach_give_the_best_plan),
                                     cmocka_unit_test(few_documents_make_one_group),
                                     cmocka_unit_test(smaller_is_better),
                                     cmocka_unit_test(large_documents)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
