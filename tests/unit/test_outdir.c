/* Directories of results by the public functions: complete at one moment or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/dir.h"
#include "neardup/outdir.h"
#include "settings/option_fields.h"
#include "tools.h"

static char base[] = "/tmp/nd_test_outdir_XXXXXX";
static char dir[80];
static nd_options options;

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(base)) return -1;
  snprintf(dir, sizeof dir, "%s/out", base);
  return 0;
}

static int fresh(void **state) {
  (void)state;
  nd_options_init(&options);
  return nd_remove_tree(dir, NULL) == ND_OK ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return nd_remove_tree(base, NULL) == ND_OK ? 0 : -1;
}

static void refused(nd_status status, nd_status as, const char *word) {
  assert_int_equal(status, as);
  if (!strstr(err.message, word)) fail_msg("no \"%s\" in: %s", word, err.message);
}

static void put(const char *folder, const char *name, const char *text) {
  char path[400];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  if (!f) fail_msg("%s cannot be made", path);
  fputs(text, f);
  fclose(f);
}

static const char *get(const char *name) {
  static char text[2000];
  char path[400];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "r");
  if (!f) return NULL;
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  return text;
}

#define SUMMARY "{\n  \"neardup\": \"0.1.0\",\n  \"counts\": {\n    \"pairs\": 1\n  }\n}\n"

static void make(const char *text) {
  nd_output_dir *o;
  const char *folder;
  ok(nd_output_dir_open(&o, dir, &options, &err));
  ok(nd_output_dir_begin(&folder, o, &err));
  put(folder, "pairs.tsv", text);
  assert_null(get("pairs.tsv") && strcmp(get("pairs.tsv"), text) == 0 ? "there already" : NULL);
  ok(nd_output_dir_commit(o, nd_str_of(SUMMARY), &err));
  nd_output_dir_close(o);
}

static void commits_and_lists_files(void **state) {
  (void)state;
  nd_output_dir *o;
  make("a\tb\n");
  assert_string_equal(get("pairs.tsv"), "a\tb\n");
  const char *summary = get("summary.json");
  assert_int_equal(strncmp(summary, SUMMARY, strlen(SUMMARY) - 3), 0);
  assert_non_null(strstr(summary, "  },\n  \"sync\": \"yes\",\n"));
  assert_non_null(strstr(summary, "  \"files\": [\n    {\"name\": \"pairs.tsv\", \"bytes\": 4, "));
  assert_string_equal(summary + strlen(summary) - 6, "\n  ]\n}\n" + 1);
  assert_null(get(".neardup/lock"));
  ok(nd_output_dir_verify(dir, &err));
  ok(nd_output_dir_open(&o, dir, &options, &err));
  assert_true(nd_output_dir_is_complete(o));
  nd_output_dir_close(o);
  put(dir, "pairs.tsv", "a\tb");
  refused(nd_output_dir_verify(dir, &err), ND_ERR_STATE, "pairs.tsv has another size");
}

static void replaces_only_when_told(void **state) {
  (void)state;
  nd_output_dir *o, *other;
  const char *folder;
  make("old\n");
  ok(nd_output_dir_open(&o, dir, &options, &err));
  refused(nd_output_dir_open(&other, dir, &options, &err), ND_ERR_STATE, "another run");
  assert_null(other);
  refused(nd_output_dir_begin(&folder, o, &err), ND_ERR_STATE, "--resume never");
  nd_output_dir_close(o);
  ok(nd_options_set(&options, "resume", "never", &err));
  ok(nd_output_dir_open(&o, dir, &options, &err));
  ok(nd_output_dir_begin(&folder, o, &err));
  put(folder, "pairs.tsv", "never\n");
  nd_output_dir_close(o); /* not committed */
  assert_string_equal(get("pairs.tsv"), "old\n");
  ok(nd_output_dir_verify(dir, &err));
  make("new\n");
  assert_string_equal(get("pairs.tsv"), "new\n");
}

static void refuses_what_is_not_a_result(void **state) {
  (void)state;
  nd_output_dir *o;
  const char *folder;
  static const char *const bad[] = {"", " \n", "[1]", "{"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ok(nd_output_dir_open(&o, dir, &options, &err));
    assert_false(nd_output_dir_is_complete(o));
    ok(nd_output_dir_begin(&folder, o, &err));
    refused(nd_output_dir_commit(o, nd_str_of(bad[i]), &err), ND_ERR_USAGE, "not a JSON object");
    nd_output_dir_close(o);
    assert_int_not_equal(access(dir, F_OK), 0); /* no trace */
  }
  nd_output_dir_close(NULL);
  refused(nd_output_dir_verify(dir, &err), ND_ERR_IO, "out");
  assert_int_equal(mkdir(dir, 0700), 0);
  put(dir, "mine", "precious");
  refused(nd_output_dir_open(&o, dir, &options, &err), ND_ERR_STATE, "mine");
  assert_string_equal(get("mine"), "precious");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(commits_and_lists_files, fresh),
      cmocka_unit_test_setup(replaces_only_when_told, fresh),
      cmocka_unit_test_setup(refuses_what_is_not_a_result, fresh),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
