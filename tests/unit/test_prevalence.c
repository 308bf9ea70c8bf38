/* Near-duplicates in runs: reading and ordering of runs, and the collections
 * against a naive version over a matrix of resemblances. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/dir.h"
#include "base/rng.h"
#include "input/line_list.h"
#include "job_calls.h"
#include "neardup/prevalence.h"
#include "settings/option_fields.h"
#include "study/common/near.h"
#include "study/nikkhoo/trec_run.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_prevalence_XXXXXX";
static char path[4][64]; /* a run, another, qrels, pairs */
static nd_rng rng;
static nd_options o;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  nd_options_init(&o);
  if (!mkdtemp(dir)) return -1;
  for (int i = 0; i < 4; i++) snprintf(path[i], sizeof path[i], "%s/%d", dir, i);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) unlink(path[i]);
  return rmdir(dir);
}

static void put(int which, const char *text) {
  FILE *f = fopen(path[which], "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static void scores_are_read_or_refused(void **state) {
  (void)state;
  static const char *const good[] = {
      "0",     "-2.28234", "1e-30", "3.5E2",  "+.5",  "12345678901234567890123",
      "1e308", "5e-324",   "100.",  "0.0001", "-0.0", "4.9406564584124654e-320",
      "7e+2"};
  static const char *const bad[] = {"",      "-",   ".",           "nan", "inf",   "1e",
                                    "1e400", "0x1", "1,5",         "1 ",  "1.2.3", "1e5x",
                                    "1e5/",  "1e",  "1e999999999", "1e-"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    double x, want = strtod(good[i], NULL);
    assert_true(nd_trec_score(&x, nd_str_of(good[i])));
    if (fabs(x - want) > 1e-12 * fabs(want) + 1e-322) fail_msg("%s: %g", good[i], x);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double x;
    if (nd_trec_score(&x, nd_str_of(bad[i]))) fail_msg("\"%s\" is a score", bad[i]);
  }
}

static void runs_are_ordered_by_score_then_rank(void **state) {
  (void)state;
  /* b and c tie: the rank decides.  d is there twice; e's rank is wrong. */
  put(0,
      "7 Q0 c 3 0.5 x\n7 Q0 b 2 0.5 x\n7 Q0 a 1 0.9 x\n7\tQ0\td 4 0.4 x\r\n7 Q0 d 5 0.3 x\n"
      "   \n8 Q0 a 1 1 x\n7 Q0 e 1 0.1 x\n");
  put(1, "8 Q0 z 0 2 y\n");
  put(2, "9 0 q 1\n7 0 a 1\n \t \n7 0 b 0\n7 0 a 1\n8 0 z 2\n8 0 z 1\n");
  const char *runs[] = {path[0], path[1]};
  nd_prevalence_request q = {.runs = runs, .run_n = 2, .qrels = path[2]};
  nd_prevalence_summary s = {0};
  nd_trec t;
  ok(nd_trec_read(&t, &s, &q, NULL, &err));
  assert_int_equal(t.run_topic_n, 3);
  const char *want[] = {"a", "b", "c", "d", "e"};
  assert_int_equal(t.run_topics[0].end, 5);
  for (int i = 0; i < 5; i++) {
    nd_str id = nd_id_map_id(&t.documents, t.runs[0].results[i].document);
    assert_memory_equal(id.p, want[i], 1);
  }
  assert_int_equal(s.topics, 3);
  assert_int_equal(s.missing, 3); /* 9 in both runs, 7 in the second */
  assert_int_equal(s.repeated, 1);
  assert_int_equal(s.ties, 1);
  assert_int_equal(s.unranked, 1);
  assert_int_equal(s.qrels_repeated, 2);
  assert_int_equal(s.qrels_disagreeing, 1);
  assert_non_null(strstr(s.first_repeated, ":5: d"));
  assert_int_equal(t.judged_n, 4);
  nd_trec_clear(&t);
  static const char *const bad[] = {"7 Q0 a\n", "7 Q0 a one 0.5 x\n", "7 Q0 a 1 high x\n", "\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    put(0, bad[i]);
    assert_int_not_equal(nd_trec_read(&t, &s, &q, NULL, &err), ND_OK);
    nd_trec_clear(&t);
  }
}

/* --- collections against a matrix ---------------------------------------------- */

enum { MOST = 30 };
static int near[MOST][MOST]; /* tenths; -1: no pair */

static void draw(nd_list *list, nd_id_map *ids, unsigned n, bool clusters, bool valued) {
  unsigned label[MOST];
  FILE *f = fopen(path[3], "w");
  assert_non_null(f);
  for (unsigned a = 0; a < n; a++) label[a] = (unsigned)nd_rng_below(&rng, n);
  for (unsigned a = 0; a < n; a++) {
    uint32_t number;
    char id[16];
    snprintf(id, sizeof id, "d%u", a);
    ok(nd_id_map_number(&number, ids, nd_str_of(id), &err));
    if (clusters && label[a]) fprintf(f, "d%u\tc%u\tkept\n", a, label[a]);
    near[a][a] = -1;
    for (unsigned b = 0; b < a; b++) {
      int value = nd_rng_below(&rng, 5) ? -1 : (int)nd_rng_below(&rng, 11);
      if (clusters) value = label[a] && label[a] == label[b] ? 10 : -1;
      near[a][b] = near[b][a] = value;
      if (!clusters && !valued && value >= 0) near[a][b] = near[b][a] = 10;
      if (clusters || value < 0) continue;
      fprintf(f, "d%u\td%u", a, b);
      fprintf(f, valued ? "\t%d.%d\n" : "\n", value / 10, value % 10);
    }
  }
  fputs(clusters ? "outside\tc1\tkept\n" : valued ? "outside\td0\t1\n" : "outside\td0\n", f);
  assert_int_equal(fclose(f), 0);
  nd_list_rule rule = {.closed = true, .kind = clusters ? ND_LIST_CLUSTERS : ND_LIST_PAIRS};
  ok(nd_list_read(list, path[3], &rule, ids, &err));
  assert_int_equal(list->notes.unknown, 1);
}

static void check_collection(nd_near *n, unsigned documents) {
  uint32_t document[MOST];
  size_t m = 1 + nd_rng_below(&rng, documents), first[MOST];
  int64_t best[MOST];
  uint8_t keep[MOST];
  for (uint32_t d = 0; d < documents; d++) document[d] = d;
  for (size_t i = 0; i < m; i++) { /* the first m of a shuffle */
    size_t k = i + nd_rng_below(&rng, documents - i);
    uint32_t d = document[i];
    document[i] = document[k];
    document[k] = d;
  }
  int level = 1 + (int)nd_rng_below(&rng, 10);
  int64_t threshold = level * (int64_t)(ND_LINE_UNIT / 10);
  nd_near_best(best, n, document, m);
  nd_near_first(first, n, document, m, threshold);
  nd_near_filter(keep, n, document, m, threshold);
  bool kept[MOST];
  for (size_t i = 0; i < m; i++) {
    int most = -1;
    size_t soonest = SIZE_MAX;
    kept[i] = true;
    for (size_t k = 0; k < m; k++) {
      int value = near[document[i]][document[k]];
      if (value > most) most = value;
      size_t both = (i > k ? i : k) + 1;
      if (value >= level && both < soonest) soonest = both;
      if (k < i && value >= level && kept[k]) kept[i] = false;
    }
    assert_int_equal(best[i], most < 0 ? -1 : most * (int64_t)(ND_LINE_UNIT / 10));
    assert_int_equal(first[i], soonest);
    assert_int_equal(keep[i], kept[i]);
  }
}

static void collections_agree_with_a_naive_version(void **state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    nd_id_map ids = {0};
    nd_list list;
    nd_near n;
    unsigned documents = 2 + (unsigned)nd_rng_below(&rng, MOST - 2);
    draw(&list, &ids, documents, round % 2, round % 4 == 0);
    ok(nd_near_init(&n, &list, documents, &err));
    for (int i = 0; i < 20; i++) check_collection(&n, documents);
    nd_near_clear(&n);
    nd_list_clear(&list);
    nd_id_map_clear(&ids);
  }
}

/* What is asked for wrongly: files that would be written over or to one place, lists of no kind. */
static void refuses_outputs_that_would_collide(void **state) {
  (void)state;
  char twin[100], other[100], filtered[100];
  snprintf(twin, sizeof twin, "%s/./0", dir);
  snprintf(other, sizeof other, "%s/1", dir);
  snprintf(filtered, sizeof filtered, "%s/filtered", dir);
  put(0, "7 Q0 a 1 0.5 x\n7 Q0 b 2 0.5 x\n");
  put(1, "7 Q0 a 1 0.5 y\n");
  put(3, "a\tb\n");
  const char *runs[] = {path[0], other, twin}; /* the third has the name of the first */
  nd_sink sink = {NULL, forget};
  static const struct {
    const char *filtered, *kind, *says;
    size_t runs;
  } cases[] = {{"filtered", NULL, "the same file", 3},
               {"", NULL, "overwritten", 1},
               {NULL, "heaps", "--pairs-kind", 1},
               {NULL, NULL, NULL, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char to[100];
    snprintf(to, sizeof to, "%s/%s", dir, cases[i].filtered ? cases[i].filtered : "");
    nd_prevalence_request q = {.runs = runs,
                               .run_n = cases[i].runs,
                               .pairs = path[3],
                               .pairs_kind = cases[i].kind,
                               .filtered = cases[i].filtered ? to : NULL};
    nd_prevalence_summary s;
    err = (nd_error){0};
    nd_status status = job_prevalence(&s, &q, &sink, &o, NULL, &err);
    if (status != (cases[i].says ? ND_ERR_USAGE : ND_OK) ||
        (cases[i].says && !strstr(err.message, cases[i].says)))
      fail_msg("case %zu: %s: %s", i, nd_status_name(status), err.message);
  }
  rmdir(filtered);
}

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

/* Judgements of which none is relevant: rows without numbers.  A run is filtered, twice; what is
 * repeated at its end goes, too. */
static void test_nothing_relevant(void **state) {
  (void)state;
  char filtered[100], to[120], line[100] = "";
  snprintf(filtered, sizeof filtered, "%s/filtered", dir);
  snprintf(to, sizeof to, "%s/0", filtered);
  put(0, "7 Q0 a 0 0.5 x\n7 Q0 b 1 0.4 x\n7 Q0 c 2 0.3 x\n7 Q0 a 3 0.2 x\n");
  put(2, "7 0 a 0\n7 0 b 0\n");
  put(3, "a\tx\nb\tx\nc\ty\n");
  const char *runs[] = {path[0]};
  nd_buf text = {0};
  nd_sink sink = {&text, collect};
  nd_prevalence_request q = {
      .runs = runs, .run_n = 1, .qrels = path[2], .pairs = path[3], .filtered = filtered};
  nd_prevalence_summary s;
  ok(job_prevalence(&s, &q, &sink, &o, NULL, &err));
  assert_int_equal(job_prevalence(&s, &q, &sink, &o, NULL, &err), ND_ERR_STATE);
  assert_non_null(strstr(err.message, "--resume never"));
  strcpy(o.resume, "never");
  text.n = 0;
  ok(job_prevalence(&s, &q, &sink, &o, NULL, &err));
  nd_options_init(&o);
  ok(nd_buf_append(&text, "", 1, &err));
  assert_non_null(strstr(text.p, "\nmean\t-\t-"));
  assert_non_null(strstr(text.p, "\nall\t0\t-"));
  assert_int_equal(s.pairs, 0);
  assert_int_equal(s.removed, 2); /* b, and a the second time */
  FILE *f = fopen(to, "r");
  assert_non_null(f);
  line[fread(line, 1, sizeof line - 1, f)] = '\0';
  fclose(f);
  assert_string_equal(line, "7 Q0 a 0 0.5 x\n7 Q0 c 1 0.3 x\n");
  nd_buf_clear(&text);
  ok(nd_remove_tree(filtered, &err));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_read_or_refused),
      cmocka_unit_test(runs_are_ordered_by_score_then_rank),
      cmocka_unit_test(collections_agree_with_a_naive_version),
      cmocka_unit_test(refuses_outputs_that_would_collide),
      cmocka_unit_test(test_nothing_relevant),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
