/* Studies of small corpora that are made for one thing each: copies in thousands, none at all,
 * pages of no site, texts that differ much, documents on both sides of a size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "every_place.h"
#include "job_calls.h"
#include "neardup.h"
#include "settings/option_fields.h"
#include "store/workdir.h"
#include "tiny_budget.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_studies_XXXXXX";
static nd_buf said;

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static void put_file(const char *name, const char *text) {
  FILE *f = fopen(path_in(dir, name), "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

/* --- corpora ------------------------------------------------------------------------ */

static void put_words(FILE *f, int from, int step, int n) {
  for (int i = 0; i < n; i++) fprintf(f, "word%d ", from + i * step);
}

/* A document of words from … from + n - 1, or backwards. */
static void put_document(FILE *f, int number, bool sited, int from, int step, int n) {
  fprintf(f, "{\"id\": \"d%d\", ", number);
  if (sited) fprintf(f, "\"url\": \"http://a.example.org/%d\", ", number);
  fprintf(f, "\"text\": \"");
  put_words(f, from, step, n);
  fprintf(f, "\"}\n");
}

/* Clusters of two and of four; a page and all of its words backwards, of which the bits are the
 * same. */
static void write_clusters(FILE *f, bool with_url) {
  for (int i = 0; i < 6; i++) put_document(f, i, with_url, i < 2 ? 0 : 1000, 1, 900 + i);
  put_document(f, 6, with_url, 3000, 1, 1500);
  put_document(f, 7, with_url, 4499, -1, 1500);
}
static void sited(FILE *f) {
  write_clusters(f, true);
}
static void siteless(FILE *f) {
  write_clusters(f, false);
}
/* Pages of which some words in the middle differ. */
static void some_words_apart(FILE *f) {
  for (int i = 0; i < 3; i++) {
    fprintf(f, "{\"id\": \"d%d\", \"url\": \"http://a.example.org/%d\", \"text\": \"", i, i);
    put_words(f, 0, 1, 200);
    put_words(f, 1000 + 100 * i, 1, 3);
    put_words(f, 2000, 1, 200);
    fprintf(f, "\"}\n");
  }
}
static void apart(FILE *f) {
  for (int i = 0; i < 4; i++) put_document(f, i, true, 100 * i, 1, 40);
}
static void copies(FILE *f) {
  for (int i = 0; i < 5000; i++) fprintf(f, "{\"id\": \"d%d\", \"text\": \"all of them\"}\n", i);
}
static void alike(FILE *f) {
  for (int i = 0; i < 30; i++) put_document(f, i, false, 0, 1, 40);
}
/* 490 and 510 words: two of the groups by size. */
static void two_sizes(FILE *f) {
  put_document(f, 0, false, 0, 1, 490);
  put_document(f, 1, false, 0, 1, 510);
}
static void wordless(FILE *f) {
  put_document(f, 0, false, 0, 1, 20);
  put_document(f, 1, false, 0, 1, 0);
  put_document(f, 2, false, 0, 1, 21);
}
static void sets(FILE *f) {
  fprintf(f, "1 2 3 4 5 6 7 8 9 10\n1 2 3 4 5 6 7 8 9 10 11\n20 21\n");
}

/* --- studies ------------------------------------------------------------------------ */

typedef struct study {
  const char *name;
  void (*write)(FILE *f);
  const char *options[4]; /* name, value … */
  const char *truth;      /* the lines of a list, or NULL */
  bool pages;             /* into a folder */
  const char *there[4], *not_there[2];
} study;

static const study studies[] = {
    {"web",
     siteless,
     {"tokens", "web"},
     "d0\td1\t1\n",
     false,
     {"\nB\t7\t", "\n1\t2\t4\n3\t4\t4\n", "# Correct, incorrect"},
     {"# Pairs on the same site"}},
    {"web",
     sited,
     {"ignore-boilerplate", "yes"},
     "d0\td1\t1\n",
     false,
     {"# Pairs on the same site"},
     {0}},
    {"web",
     apart,
     {0},
     "d0\td1\t1\n",
     true,
     {"# The combined algorithm", "threshold\tpairs\tcorrect\tincorrect\tundecided\tR\trecall\n\n"},
     {0}},
    {"library", alike, {0}, "d0\td1\t0\n", false, {"\n0\t435\t"}, {0}},
    {"sources",
     copies,
     {0},
     NULL,
     false,
     {"of 4999 of 4999 pairs", "\nexact\t4999\t1.0000\t"},
     {0}},
    {"sources", apart, {0}, NULL, false, {"of 0 of 0 pairs", "\nexact\t0\t0.0000\t"}, {0}},
    {"sources", alike, {"against", "other"}, NULL, false, {"of 0 of 0 pairs"}, {0}},
    {"join", wordless, {0}, NULL, false, {"\nwords\t2\t"}, {0}},
    {"join", sets, {"format", "sets"}, NULL, true, {"\nwords\t3\t"}, {"4-grams"}},
    {"sampling",
     two_sizes,
     {0},
     NULL,
     false,
     {"\nall\t0.50\t1/2\t1.0000\t1.0000\t1\t"},
     {"\n0\t0.50\t"}},
};

/* Stops as soon as pairs are compared. */
static void look_at_stage(void *context, const nd_progress *p) {
  if (strcmp(p->stage, "compare") == 0) atomic_store((_Atomic bool *)context, true);
}

static int is_comparing(void *context) {
  return atomic_load((_Atomic bool *)context);
}

/* The corpus and the lists of a study, and its options. */
static void prepare(nd_options *o, const study *s) {
  FILE *f = fopen(path_in(dir, "corpus"), "w");
  assert_non_null(f);
  s->write(f);
  assert_int_equal(fclose(f), 0);
  put_file("truth", s->truth ? s->truth : "");
  put_file("other", "{\"id\": \"other\", \"text\": \"nothing of these\"}\n");
  nd_options_init(o);
  ok(nd_options_set(o, "format", "jsonl", &err));
  for (int i = 0; i < 4 && s->options[i]; i += 2) {
    const bool other = strcmp(s->options[i], "against") == 0;
    ok(nd_options_set(o, s->options[i], other ? path_in(dir, "other") : s->options[i + 1], &err));
  }
}

static nd_study_request request_of(const study *s, const char *const *input, const char *out) {
  return (nd_study_request){.name = s->name,
                            .inputs = input,
                            .input_n = 1,
                            .directory = s->pages ? out : NULL,
                            .truth = s->truth ? path_in(dir, "truth") : NULL};
}

static nd_status run_study(const study *s, const nd_hooks *hooks) {
  nd_options o;
  nd_summary summary;
  nd_sink sink = {&said, collect};
  char out[200], input[200];
  snprintf(out, sizeof out, "%s/out", dir);
  prepare(&o, s);
  o.threads = 2;
  snprintf(input, sizeof input, "%s", path_in(dir, "corpus"));
  const char *const inputs = input;
  nd_study_request q = request_of(s, &inputs, out);
  said.n = 0;
  nd_status status = job_study(&summary, &q, &sink, &o, hooks, &err);
  ok(nd_buf_append(&said, "", 1, &err));
  ok(nd_remove_tree(out, NULL));
  return status;
}

static void tables_hold_the_expected_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof studies / sizeof *studies; i++) {
    const study *s = &studies[i];
    ok(run_study(s, NULL));
    for (int k = 0; k < 4 && s->there[k]; k++)
      if (!strstr(said.p, s->there[k])) fail_msg("study %zu: no %s in\n%s", i, s->there[k], said.p);
    for (int k = 0; k < 2 && s->not_there[k]; k++)
      if (strstr(said.p, s->not_there[k])) fail_msg("study %zu: %s", i, s->not_there[k]);
  }
}

static void cancelled_study_prints_nothing(void **state) {
  (void)state;
  _Atomic bool comparing = false; /* threads ask */
  nd_hooks hooks = {.context = &comparing, .progress = look_at_stage, .cancelled = is_comparing};
  const study s = {.name = "sources", .write = copies};
  assert_int_equal(run_study(&s, &hooks), ND_ERR_CANCELLED);
  assert_true(comparing && said.n == 1); /* nothing was said */
}

typedef struct comparison {
  const study *study;
  bool other_first; /* of two files */
} comparison;

/* The study of pages, where there are pairs of every kind for its tables, without memory and on a
 * bad disk. */
static nd_status compare_pages(void *context) {
  const comparison *c = context;
  nd_options o;
  nd_summary summary;
  const nd_sink sink = {NULL, forget};
  char input[2][200];
  nd_options_init(&o);
  ok(nd_options_set(&o, "format", "jsonl", &err));
  o.threads = 1;
  snprintf(o.tmp, sizeof o.tmp, "%s", dir);
  snprintf(input[0], sizeof input[0], "%s", path_in(dir, "corpus"));
  snprintf(input[1], sizeof input[1], "%s", path_in(dir, "other"));
  const char *const inputs[2] = {input[c->other_first], input[!c->other_first]};
  nd_study_request q = request_of(c->study, inputs, NULL);
  q.input_n = 2;
  return job_study(&summary, &q, &sink, &o, NULL, &err);
}

static void every_failure_of_a_comparison_is_reported(void **state) {
  (void)state;
  const study s = {.name = "web", .write = some_words_apart, .truth = "d0\td1\t1\n"};
  nd_options o;
  prepare(&o, &s);
  callers = MOST_CALLERS;
  for (int single = 0; single < 2; single++) { /* a file of one record that is lost counts as one */
    comparison c = {&s, single};
    size_t n = every_place_fails(compare_pages, &c);
    print_message("%zu failures\n", n);
    assert_true(n > 100);
  }
}

static int setup(void **state) {
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  nd_buf_clear(&said);
  return nd_remove_tree(dir, &err); /* a clean-up that failed has left something there */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tables_hold_the_expected_rows),
                                     cmocka_unit_test(cancelled_study_prints_nothing),
                                     cmocka_unit_test(every_failure_of_a_comparison_is_reported)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
