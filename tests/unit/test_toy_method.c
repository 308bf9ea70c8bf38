/* A method that the library does not have, in one file: its sketch, its functions, its row, its
 * test.
 *
 * least: documents are near-duplicates if their shingles with the smallest fingerprint are equal.
 */
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
#include "find/finder.h"
#include "neardup.h"
#include "neardup/stage.h"
#include "settings/method.h"
#include "tools.h"

/* --- the sketch: one word -------------------------------------------------------------------- */

static uint32_t one_word(const nd_settings *s) {
  (void)s;
  return 1;
}

static nd_status make_least(uint64_t *out, void *state, const nd_settings *s,
                            const nd_sketch_input *in, nd_error *e) {
  (void)state;
  (void)s;
  (void)e;
  *out = UINT64_MAX;
  for (size_t i = 0; i < in->features->n; i++)
    if (in->features->fingerprint[i] < *out) *out = in->features->fingerprint[i];
  return ND_OK;
}

static nd_status show_equal(nd_buf *out, const nd_settings *s, const uint64_t *a, const uint64_t *b,
                            nd_error *e) {
  (void)s;
  return nd_buf_printf(out, e, *a == *b ? "equal" : "different");
}

static nd_status put_parameter(nd_buf *out, const nd_settings *s, nd_error *e) {
  (void)s;
  return nd_buf_printf(out, e, "1");
}

static uint32_t words_in(const uint32_t number[2]) {
  return number[0];
}

static const nd_sketch least = {.name = "least",
                                .from = ND_FROM_SHINGLES,
                                .shingle_words = 4,
                                .words = one_word,
                                .make = make_least,
                                .show = show_equal,
                                .parameter = put_parameter,
                                .words_in = words_in};

/* --- the method ------------------------------------------------------------------------------ */

static void make_keys(uint64_t *keys, const nd_settings *s, const uint64_t *rows, uint32_t docs,
                      uint32_t kind) {
  (void)kind;
  const uint64_t *word = nd_row_words(&s->row, &least, rows);
  for (uint32_t i = 0; i < docs; i++, word += s->row.total) keys[i] = *word;
}

static void least_keys(nd_keys *out, const nd_settings *s) {
  (void)s;
  *out = (nd_keys){.buckets = 1, .make = make_keys};
}

static bool judge(uint64_t *value, const nd_settings *s, const uint64_t *a, const uint64_t *b) {
  const bool equal = *nd_row_words(&s->row, &least, a) == *nd_row_words(&s->row, &least, b);
  *value = nd_fraction_pack(equal, 1);
  return equal;
}

static void describe_rule(char *out, size_t room, const nd_settings *s) {
  (void)s;
  snprintf(out, room, "the least shingles are equal");
}

static void describe_coverage(char *out, size_t room, const nd_settings *s) {
  (void)s;
  snprintf(out, room, "every pair with equal least shingles is found");
}

static const nd_method method = {.name = "least",
                                 .help = "the least shingle decides",
                                 .sketch = &least,
                                 .finds = {&least},
                                 .judges = {&least},
                                 .defined = true,
                                 .find = nd_find_by_keys,
                                 .keys = least_keys,
                                 .judge = judge,
                                 .rule = describe_rule,
                                 .coverage = describe_coverage};

const nd_method *const nd_methods[] = {ND_METHODS(ND_METHOD_ROW) & method, NULL};

/* --- the test -------------------------------------------------------------------------------- */

#define SENTENCE "the quick brown fox jumps over the lazy dog and runs away from it at once"

static char dir[] = "/tmp/nd_test_toy_method_XXXXXX";

static nd_status take(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static nd_options *options_of(const char *name, const char *value) {
  nd_options *o;
  ok(nd_options_new(&o, &err));
  ok(nd_options_set(o, "method", "least", &err));
  ok(nd_options_set(o, "sync", "no", &err));
  if (name) ok(nd_options_set(o, name, value, &err));
  return o;
}

static const char *write_corpus(void) {
  const char *path = path_in(dir, "foxes.jsonl");
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "{\"id\": \"a\", \"text\": \"%s\"}\n", SENTENCE);
  fprintf(f, "{\"id\": \"b\", \"text\": \"%s again\"}\n", SENTENCE);
  fprintf(f, "{\"id\": \"c\", \"text\": \"something else that has nothing to do with animals\"}\n");
  fprintf(f, "{\"id\": \"d\", \"text\": \"%s\"}\n", SENTENCE);
  assert_int_equal(fclose(f), 0);
  return path;
}

/* The lines of `nd_pairs`. */
static void check_pairs(const char *path, const nd_options *o, const char *wanted) {
  nd_buf lines = {0};
  nd_sink sink = {.write = take, .context = &lines};
  nd_summary summary;
  ok(nd_pairs(&summary, &(nd_pairs_request){.inputs = &path, .input_n = 1, .sink = &sink}, o, NULL,
              &err));
  ok(nd_buf_append(&lines, "", 1, &err));
  assert_string_equal(lines.p, wanted);
  nd_buf_clear(&lines);
}

static void dedup_finds_judges_and_describes_by_the_new_method(void **state) {
  (void)state;
  const char *path = write_corpus(), *out = path_in(dir, "out");
  nd_options *o = options_of(NULL, NULL);
  nd_summary summary;
  ok(nd_dedup(&summary, &(nd_dedup_request){.inputs = &path, .input_n = 1, .directory = out}, o,
              NULL, &err));
  assert_int_equal(summary.kept, 2);
  assert_int_equal(summary.dropped, 2);
  assert_int_equal(summary.copies, 1);
  assert_int_equal(summary.candidates, 1);
  assert_int_equal(summary.pairs, 2); /* b and the exact duplicate d, each with a */
  assert_string_equal(summary.decision, "by sketches: the least shingles are equal");
  assert_string_equal(summary.coverage, "every pair with equal least shingles is found");
  char text[4000] = {0};
  FILE *f = fopen(path_in(out, "summary.json"), "r");
  assert_non_null(f);
  assert_true(fread(text, 1, sizeof text - 1, f) > 0);
  assert_int_equal(fclose(f), 0);
  assert_non_null(strstr(text, "\"candidates\": \"least\""));
  assert_non_null(strstr(text, "\"shingle\": \"words:4\""));
  assert_non_null(strstr(text, "\"decided\": \"by sketches: the least shingles are equal\""));
  nd_options_free(o);
}

static void new_sketch_is_a_column(void **state) {
  (void)state;
  nd_options *o = options_of("columns", "similarity,least,minhash");
  check_pairs(write_corpus(), o,
              "a\tb\t1.000000\tequal\t0.906250\n"
              "a\td\t1.000000\tequal\t1.000000\n"
              "b\td\t1.000000\tequal\t0.906250\n");
  nd_options_free(o);
  o = options_of(NULL, NULL);
  ok(nd_options_set(o, "columns", "luck", &err));
  assert_int_equal(nd_options_check(o, &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "site or least"));
  nd_options_free(o);
}

static void candidates_of_the_new_method_are_verified_by_documents(void **state) {
  (void)state;
  nd_options *o = options_of("confirm", "exact");
  ok(nd_options_set(o, "threshold", "0.95", &err));
  check_pairs(write_corpus(), o, "a\td\t1.000000\n");
  nd_options_free(o);
}

static void sketch_file_of_the_new_method_gives_the_same_pairs(void **state) {
  (void)state;
  const char *path = write_corpus(), *file = path_in(dir, "foxes.nds");
  nd_options *o = options_of(NULL, NULL);
  nd_summary summary;
  ok(nd_sketch_documents(
      &summary, &(nd_sketch_request){.inputs = &path, .input_n = 1, .file = file}, o, NULL, &err));
  check_pairs(path, o, "a\tb\t1.000000\na\td\t1.000000\nb\td\t1.000000\n");
  check_pairs(file, o, "a\tb\t1.000000\na\td\t1.000000\nb\td\t1.000000\n");
  nd_options_free(o);
}

static void engines_shuffle_by_the_keys_of_the_new_method(void **state) {
  (void)state;
  static const char secret[ND_STAGE_SECRET];
  nd_options *o = options_of(NULL, NULL);
  nd_stage *stage;
  nd_stage_facts facts;
  ok(nd_stage_new(&stage, o, 1, secret, &err));
  nd_stage_about(&facts, stage);
  assert_int_equal(facts.keys, 1);
  assert_int_equal(facts.key_items, 1);
  nd_stage_free(stage);
  nd_options_free(o);
}

static void options_name_and_describe_every_method(void **state) {
  (void)state;
  nd_options *o = options_of(NULL, NULL);
  assert_int_equal(nd_options_set(o, "method", "luck", &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "combined combined-site least"));
  const nd_option_info *info;
  for (size_t i = 0; (info = nd_option_at(i)); i++)
    if (strcmp(info->name, "method") == 0)
      assert_string_equal(nd_option_value_help(info, "least"), "the least shingle decides");
  nd_options_free(o);
}

static int setup(void **state) {
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return nd_remove_tree(dir, &err) == ND_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dedup_finds_judges_and_describes_by_the_new_method),
      cmocka_unit_test(new_sketch_is_a_column),
      cmocka_unit_test(candidates_of_the_new_method_are_verified_by_documents),
      cmocka_unit_test(sketch_file_of_the_new_method_gives_the_same_pairs),
      cmocka_unit_test(engines_shuffle_by_the_keys_of_the_new_method),
      cmocka_unit_test(options_name_and_describe_every_method)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
