/* The stages of a job whose components have members that were never compared with the one that
 * stays: what is missing is asked for, and every place of that may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "every_place.h"
#include "settings/option_fields.h"
#include "stage_walk.h"
#include "store/workdir.h"
#include "tiny_budget.h"

enum { DOCUMENTS = 6, STEP = 12, WORDS = 60 };

static char dir[60], path[80], out[80];

/* Windows of one text, each a bit further on: one is like the next, and not like the last. */
static void write_chain(void) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  for (int i = 0; i < DOCUMENTS; i++) {
    fprintf(f, "{\"id\": \"d%d\", \"text\": \"", i);
    for (int k = 0; k < WORDS; k++) fprintf(f, "word%d ", i * STEP + k);
    fprintf(f, "\"}\n");
  }
  assert_int_equal(fclose(f), 0);
}

/* Lines of clusters.tsv; the last one's similarity, to the first, is of the smallest. */
static void check_clusters(void) {
  char name[100], line[200];
  int n = 0;
  double similarity = 1;
  snprintf(name, sizeof name, "%s/clusters.tsv", out);
  FILE *f = fopen(name, "r");
  assert_non_null(f);
  while (fgets(line, sizeof line, f)) {
    const char *tab = strrchr(line, '\t');
    assert_non_null(tab);
    if (strstr(line, "d5")) similarity = atof(tab + 1);
    n++;
  }
  fclose(f);
  assert_int_equal(n, DOCUMENTS);
  assert_true(similarity == 0); /* no word is in both */
}

typedef struct job {
  const char *options[11]; /* name, value …, NULL */
  bool whole;              /* one cluster of all comes out */
} job;

static nd_status walk_chain(void *context) {
  const job *w = context;
  nd_options o;
  nd_summary counts;
  const char *input = path;
  nd_options_init(&o);
  o.threads = 1;
  for (const char *const *set = w->options; *set; set += 2)
    ok(nd_options_set(&o, set[0], set[1], &err));
  nd_status status = stage_walk(&counts, &input, 1, out, &o, &err);
  nd_io_fail_at(0, 0);
  nd_mem_fail_at(0);
  if (status == ND_OK && counts.rejected == 0 && w->whole) check_clusters();
  nd_error ignored;
  ok(nd_remove_tree(out, &ignored));
  return status;
}

static void missing_comparisons_are_asked_for(void **state) {
  (void)state;
  static const job jobs[] = {
      {{"format", "jsonl", "method", "exact", "threshold", "0.4", "cluster", "components"}, true},
      {{"format", "jsonl", "threshold", "0.4", "shingle", "words:2", "cluster", "components",
        "recall", "0.9999"},
       true},
      /* Without the shingles of more than two documents. */
      {{"format", "jsonl", "method", "exact", "threshold", "0.1", "sample", "sct:2"}, false}};
  write_chain();
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    job one = jobs[i];
    ok(walk_chain(&one));
    size_t n = every_place_fails(walk_chain, &one);
    print_message("%zu failures\n", n);
    assert_true(n > 100);
  }
}

static int setup(void **state) {
  (void)state;
  /* Thousands of runs that write through to the disk: in memory, where there is such a place. */
  const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(dir, sizeof dir, "%s/nd_test_settle_XXXXXX", base);
  if (!mkdtemp(dir)) return -1;
  snprintf(path, sizeof path, "%s/corpus.jsonl", dir);
  snprintf(out, sizeof out, "%s/out", dir);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  return nd_remove_tree(dir, &err);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(missing_comparisons_are_asked_for)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
