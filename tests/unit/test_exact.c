/* The exact method when not all lists of documents fit at once: the counts of several rounds are
 * added up, and every place of that may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "every_place.h"
#include "little_memory.h"
#include "settings/option_fields.h"
#include "store/workdir.h"
#include "tiny_budget.h"

enum { DOCUMENTS = 12 };

static char dir[] = "/tmp/nd_test_exact_XXXXXX", path[60];

typedef struct work {
  int asked, stop_at; /* when it is asked for the so many-th time; 0: never */
} work;

static int stop(void *context) {
  work *w = context;
  return ++w->asked == w->stop_at;
}

/* Every two documents share one shingle that no other has: lists of two. */
static void write_corpus(void) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  for (int i = 0; i < DOCUMENTS; i++) {
    fprintf(f, "{\"id\": %d, \"text\": \"", i);
    for (int k = 0; k < DOCUMENTS; k++) {
      const int a = i < k ? i : k, b = i < k ? k : i;
      for (int word = 0; word < 5; word++) fprintf(f, "%c%dx%d ", 'a' + word, a, b);
      fprintf(f, "own%d of%d ", i, k);
    }
    fprintf(f, "\"}\n");
  }
  fclose(f);
}

static nd_status run(void *context) {
  work *w = context;
  const char *input = path;
  const nd_sink sink = {NULL, forget};
  const nd_hooks hooks = {.context = w, .cancelled = stop};
  nd_options o;
  nd_summary summary;
  nd_options_init(&o);
  o.threads = 1;
  snprintf(o.tmp, sizeof o.tmp, "%s", dir);
  o.threshold_given = 1;
  o.threshold = (nd_decimal){1, 1000};
  ok(nd_options_set(&o, "format", "jsonl", &err));
  ok(nd_options_set(&o, "method", "exact", &err));
  w->asked = 0;
  nd_status status = little_pairs(&summary, &input, 1, &sink, &o, &hooks, 1 << 14, &err);
  if (status == ND_OK && summary.rejected == 0)
    assert_int_equal(summary.pairs, DOCUMENTS * (DOCUMENTS - 1) / 2);
  return status;
}

static void several_rounds_fail_and_stop_cleanly(void **state) {
  (void)state;
  work w = {0};
  write_corpus();
  size_t failures = every_place_fails(run, &w);
  print_message("%zu failures\n", failures);
  assert_true(failures > 100);
  nd_mem_strict(true); /* few lists at a time */
  ok(run(&w));
  const int all = w.asked;
  for (w.stop_at = 1; w.stop_at <= all; w.stop_at++) assert_int_equal(run(&w), ND_ERR_CANCELLED);
  nd_mem_strict(false);
}

static nd_status keep(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

/* Documents of more shingles than are sorted in the cache: half of them are the same. */
static void long_documents(void **state) {
  (void)state;
  enum { WORDS = 12007, SHARED = 8007 }; /* shingles of eight words */
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  for (int i = 0; i < 2; i++) {
    fprintf(f, "{\"id\": %d, \"text\": \"", i);
    for (int k = 0; k < WORDS; k++) fprintf(f, "%c%d ", k < SHARED ? 'c' : 'x' + i, k);
    fprintf(f, "\"}\n");
  }
  fclose(f);
  nd_buf said = {0};
  const char *input = path;
  const nd_sink sink = {&said, keep};
  nd_options o;
  nd_summary summary;
  nd_options_init(&o);
  ok(nd_options_set(&o, "method", "exact", &err));
  ok(nd_options_set(&o, "shingle", "words:8", &err));
  ok(nd_options_set(&o, "format", "jsonl", &err));
  ok(nd_options_set(&o, "threshold", "0.5", &err));
  ok(nd_pairs(&summary, &(nd_pairs_request){.inputs = &input, .input_n = 1, .sink = &sink}, &o,
              NULL, &err));
  ok(nd_buf_append(&said, "", 1, &err));
  assert_int_equal(summary.pairs, 1);
  assert_string_equal(said.p, "0\t1\t0.500000\n"); /* 8000 of 16000 */
  nd_buf_clear(&said);
}

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(dir)) return -1;
  snprintf(path, sizeof path, "%s/corpus.jsonl", dir);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  return nd_remove_tree(dir, &err); /* a clean-up that failed has left something there */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(several_rounds_fail_and_stop_cleanly),
                                     cmocka_unit_test(long_documents)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
