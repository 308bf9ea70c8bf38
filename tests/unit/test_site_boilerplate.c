/* --ignore-boilerplate on pages with a common frame, and with a failure of each system call and
 * allocation. */
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
#include "neardup.h"
#include "settings/option_fields.h"
#include "tiny_budget.h"

enum { PAGES = 6, FRAME = 300, STORY = 8 };
static char path[] = "/tmp/nd_test_passages_XXXXXX";

/* The last page has the story of the one before it, and a word more. */
static int setup(void **state) {
  (void)state;
  int fd = mkstemp(path);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  if (!f) return -1;
  for (int i = 0; i < PAGES; i++) {
    const int story = i + 1 < PAGES ? i : i - 1;
    fprintf(f, "{\"id\": \"p%d\", \"url\": \"http://a.example.org/%d\", \"text\": \"", i, i);
    for (int k = 0; k < FRAME; k++) fprintf(f, "frame%d ", k);
    for (int k = 0; k < STORY; k++) fprintf(f, "story%d ", story * 100 + k);
    fprintf(f, "%s\"}\n", i + 1 < PAGES ? "" : "more");
  }
  return fclose(f);
}

static int teardown(void **state) {
  (void)state;
  return unlink(path);
}

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  (void)e;
  char *out = context;
  assert_true(strlen(out) + n < 1000);
  strncat(out, bytes, n);
  return ND_OK;
}

static char found[1000];
static nd_summary summary;

static nd_status run(void *context) {
  (void)context;
  const char *input = path;
  nd_sink sink = {found, collect};
  nd_options o;
  nd_options_init(&o);
  o.threads = 1;
  ok(nd_options_set(&o, "format", "jsonl", &err));
  ok(nd_options_set(&o, "method", "exact", &err));
  ok(nd_options_set(&o, "threshold", "0.6", &err));
  ok(nd_options_set(&o, "ignore-boilerplate", "yes", &err));
  found[0] = '\0';
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = &input, .input_n = 1, .sink = &sink}, &o,
                  NULL, &err);
}

static void recurring_frames_are_not_compared(void **state) {
  (void)state;
  ok(run(NULL));
  assert_memory_equal(found, "p4\tp5\t", 6);
  assert_ptr_equal(strchr(found, '\n'), found + strlen(found) - 1); /* and no other */
  assert_int_equal(summary.boilerplate_documents, PAGES);
  assert_int_equal(summary.boilerplate_tokens, PAGES * FRAME);
}

static void every_failure_is_reported(void **state) {
  (void)state;
  assert_true(every_place_fails(run, NULL) > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(recurring_frames_are_not_compared),
                                     cmocka_unit_test(every_failure_is_reported)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
