/* Texts that are read again: lines and their ends, more files than are held open, a file that
 * changes meanwhile; and sets, which have no other text. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "job/job.h"
#include "little_memory.h"
#include "store/workdir.h"

#include "every_place.h"
#include "settings/option_fields.h"
#include "tools.h"

enum { FILES = 17, LINES = 12, PAD = 400000 };
static char dir[] = "/tmp/nd_test_texts_XXXXXX";
static char path[FILES][80], sets_path[80];

static void ends_of_lines(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"", ""},       {"\n", ""},     {"\r", ""},
                                         {"\r\n", ""},   {"a", "a"},     {"a\n", "a"},
                                         {"a\r\n", "a"}, {"a\r", "a"},   {"a\n\n", "a\n"},
                                         {"\ra", "\ra"}, {"\n\r", "\n"}, {"a\rb\n", "a\rb"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(nd_str_eq(nd_line_of(nd_str_of(cases[i][0])), nd_str_of(cases[i][1])));
}

/* The first and the last file are large enough for ranges; their texts are alike in pairs. */
static void write_files(bool padded) {
  char *pad = malloc(PAD + 1);
  memset(pad, 'x', PAD);
  pad[PAD] = '\0';
  for (int k = 0; k < FILES; k++) {
    bool large = k == 0 || k == FILES - 1;
    FILE *f = fopen(path[k], "w");
    assert_non_null(f);
    for (int i = 0; i < (large ? LINES : 1); i++) {
      fprintf(f, "{\"id\": \"%d-%d\", \"text\": \"", k, i);
      for (int w = 0; w < 30; w++)
        fprintf(f, "w%d ", large ? i * 100 + w + (w == 29 ? k : 0) : 5000 + k * 40 + w);
      fprintf(f, "\", \"pad\": \"%s\"}\n", large && padded ? pad : "");
    }
    fclose(f);
  }
  free(pad);
}

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static nd_options exact(void) {
  nd_options o;
  nd_options_init(&o);
  ok(nd_options_set(&o, "method", "exact", &err));
  ok(nd_options_set(&o, "threshold", "0.5", &err));
  ok(nd_options_set(&o, "columns", "exact", &err)); /* reads the documents */
  return o;
}

static void many_files(void **state) {
  (void)state;
  const char *inputs[FILES];
  nd_options o = exact();
  nd_summary summary;
  nd_buf out[2] = {{0}, {0}};
  for (int k = 0; k < FILES; k++) inputs[k] = path[k];
  for (int padded = 0; padded < 2; padded++) {
    nd_sink sink = {&out[padded], collect};
    write_files(padded);
    ok(nd_pairs(&summary, &(nd_pairs_request){.inputs = inputs, .input_n = FILES, .sink = &sink},
                &o, NULL, &err));
    assert_int_equal(summary.pairs, LINES);
  }
  assert_true(nd_str_eq(nd_buf_str(&out[0]), nd_buf_str(&out[1])));
  nd_buf_clear(&out[0]);
  nd_buf_clear(&out[1]);
}

/* The records are no JSON any more when they are read again. */
static void a_file_that_changes(void **state) {
  (void)state;
  const char *inputs[2] = {path[0], path[FILES - 1]};
  nd_options o = exact();
  nd_summary summary;
  nd_run j;
  char *work = NULL;
  write_files(true);
  ok(nd_job_open(&j, &summary, &o, NULL, &err));
  ok(nd_workdir_private(&work, "", &err));
  ok(nd_job_input(&j, inputs, 2, NULL, NULL, &err));
  ok(nd_job_read(&j, work, &err));
  int fd = open(path[FILES - 1], O_WRONLY);
  assert_true(fd >= 0);
  for (off_t at = 0; at < LINES * PAD; at += 100) assert_int_equal(pwrite(fd, "!", 1, at), 1);
  close(fd);
  assert_int_equal(nd_job_match(&j, work, &err), ND_ERR_STATE);
  assert_non_null(strstr(err.message, "has changed while it was being read; run again"));
  assert_non_null(strstr(err.message, path[FILES - 1]));
  nd_job_finish(&j);
  nd_job_close(&j);
  ok(nd_remove_tree(work, &err));
  nd_free(work);
}

static nd_status pairs_of_sets(void *context) {
  nd_options o;
  nd_summary summary;
  nd_sink sink = {context, forget};
  const char *input = sets_path;
  nd_options_init(&o);
  o.threads = 1;
  ok(nd_options_set(&o, "format", "sets", &err));
  ok(nd_options_set(&o, "method", "join", &err));
  ok(nd_options_set(&o, "threshold", "0.5", &err));
  nd_status status = nd_pairs(
      &summary, &(nd_pairs_request){.inputs = &input, .input_n = 1, .sink = &sink}, &o, NULL, &err);
  if (status == ND_OK && summary.rejected == 0) assert_int_equal(summary.pairs, 2);
  return status;
}

static void sets_are_compared_or_fail_cleanly(void **state) {
  (void)state;
  FILE *f = fopen(sets_path, "w");
  assert_non_null(f);
  fputs("1 2 3 4 5\n1 2 3 4 6\n7 7 7 8\n7 7 7 8 9\n10\n", f);
  fclose(f);
  callers = 6;
  assert_true(every_place_fails(pairs_of_sets, NULL) > 20);
}

static int set_up(void **state) {
  (void)state;
  if (!mkdtemp(dir)) return -1;
  for (int k = 0; k < FILES; k++) snprintf(path[k], sizeof path[k], "%s/%02d.jsonl", dir, k);
  snprintf(sets_path, sizeof sets_path, "%s/sets", dir);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return nd_remove_tree(dir, NULL) == ND_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends_of_lines),
      cmocka_unit_test(many_files),
      cmocka_unit_test(a_file_that_changes),
      cmocka_unit_test(sets_are_compared_or_fail_cleanly),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
