/* Files of sketches in place of documents: the same pairs, whichever halves of methods find and
 * decide; files without documents; files that do not fit the run, or one another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "neardup.h"
#include "settings/option_fields.h"
#include "sketchfile/sketch_file.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_sketch_runs_XXXXXX";
static char corpus[80], bad[80], empty[80], file[3][80];
static nd_summary summary;

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(dir)) return -1;
  snprintf(corpus, sizeof corpus, "%s/a.jsonl", dir);
  snprintf(bad, sizeof bad, "%s/b.jsonl", dir);
  snprintf(empty, sizeof empty, "%s/empty", dir);
  for (int i = 0; i < 3; i++) snprintf(file[i], sizeof file[i], "%s/%d.nds", dir, i);
  FILE *f = fopen(corpus, "w");
  for (int i = 0; i < 60; i++) { /* pairs, the second with some other words at its end */
    fprintf(f, "{\"id\": \"d\\t%d\", \"url\": \"http://%d.example.org/\", \"text\": \"", i, i % 7);
    for (int k = 0; k < 60; k++) fprintf(f, "w%d ", i / 2 * 100 + k + (k >= 58 && i % 2 ? 50 : 0));
    fprintf(f, "\"}\n");
  }
  fclose(f);
  f = fopen(bad, "w");
  fputs("{\"no record\n{\"nor this\n", f);
  fclose(f);
  f = fopen(empty, "w");
  fclose(f);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  const char *all[] = {corpus, bad, empty, file[0], file[1], file[2]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) unlink(all[i]);
  return rmdir(dir);
}

typedef const char *row[8]; /* name, value, … */

static nd_options options_of(const char *const *set) {
  nd_options o;
  nd_options_init(&o);
  strcpy(o.resume, "never"); /* files are written again and again */
  for (size_t i = 0; i < 8 && set[i]; i += 2) ok(nd_options_set(&o, set[i], set[i + 1], &err));
  return o;
}

static nd_status pairs(nd_buf *out, const char *const *inputs, size_t n, const nd_options *o) {
  nd_sink sink = {out, collect};
  out->n = 0;
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = inputs, .input_n = n, .sink = &sink}, o,
                  NULL, &err);
}

static void same_pairs(void **state) {
  (void)state;
  static const row rows[] = {
      {"candidates", "minhash", "confirm", "simhash", "hamming", "9"},
      {"candidates", "simhash", "confirm", "minhash", "hamming", "12"},
      {"method", "simhash", "weights", "tfidf", "features", "shingles", "hamming", "14"},
      {"method", "simhash", "features", "shingles", "hamming", "14"},
      {"method", "projection", "agree-bits", "330"},
      {"method", "supershingle", "shingle", "words:3"},
      {"verify", "none"},
      {"verify", "sketch"},
  };
  nd_buf from_documents = {0}, from_file = {0};
  const char *documents = corpus, *sketches = file[0];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd_options o = options_of(rows[i]);
    if (strcmp(o.method, "minhash") == 0 && !o.verify[0]) strcpy(o.verify, "sketch");
    if (o.candidates[0] && strcmp(o.confirm, "simhash") == 0) o.verify[0] = '\0';
    ok(pairs(&from_documents, &documents, 1, &o));
    ok(nd_sketch_documents(
        &summary, &(nd_sketch_request){.inputs = &documents, .input_n = 1, .file = file[0]}, &o,
        NULL, &err));
    assert_int_equal(summary.documents, 60);
    ok(pairs(&from_file, &sketches, 1, &o));
    if (!nd_str_eq(nd_buf_str(&from_documents), nd_buf_str(&from_file)))
      fail_msg("row %zu: other pairs: %.*s but %.*s", i, (int)from_documents.n, from_documents.p,
               (int)from_file.n, from_file.p);
    if (from_file.n < 100) fail_msg("row %zu: few pairs", i);
  }
  nd_buf_clear(&from_documents);
  nd_buf_clear(&from_file);
}

/* Rejected records fill no chunk; no documents make a file of none. */
static void no_documents(void **state) {
  (void)state;
  nd_options o = options_of((row){"format", "jsonl"});
  nd_buf out = {0};
  nd_sink sink = {&out, collect};
  const char *inputs[] = {bad, empty}, *sketches = file[0];
  for (size_t n = 0; n < 2; n++) {
    ok(nd_sketch_documents(
        &summary, &(nd_sketch_request){.inputs = inputs + n, .input_n = 1, .file = file[0]}, &o,
        NULL, &err));
    assert_int_equal(summary.rejected, n ? 0 : 2);
    out.n = 0;
    ok(nd_sketch_info(file[0], &sink, NULL, &err));
    ok(nd_buf_append(&out, "", 1, &err));
    assert_non_null(strstr(out.p, "documents\t0\n"));
    ok(pairs(&out, &sketches, 1, &o));
    assert_int_equal(out.n, 0);
    assert_int_equal(summary.documents, 0);
  }
  nd_buf_clear(&out);
}

/* Files of other sketches are told apart, wherever they stand. */
static void other_files(void **state) {
  (void)state;
  nd_buf out = {0};
  nd_options o = options_of((row){NULL});
  const char *documents = corpus, *files[] = {file[0], file[1], file[2]};
  for (int i = 0; i < 3; i++) {
    o.seed = i == 1 ? 7 : 1;
    ok(nd_sketch_documents(
        &summary, &(nd_sketch_request){.inputs = &documents, .input_n = 1, .file = file[i]}, &o,
        NULL, &err));
  }
  o.seed = 1;
  assert_int_equal(pairs(&out, files, 3, &o), ND_ERR_DATA);
  assert_non_null(strstr(err.message, "seed is 1 in the first and 7 in the second"));
  files[1] = file[2];
  ok(pairs(&out, files, 2, &o));
  assert_int_equal(summary.documents, 120);
  nd_buf_clear(&out);
}

/* A file with these parameters and a document. */
static void forge(const char *name, const char *parameters, uint32_t words) {
  nd_sketch_writer *w = NULL;
  nd_sketch_chunk c = {.docs = 1};
  nd_output *output = NULL;
  nd_options o = options_of((row){NULL});
  const nd_output_request request = {.path = name, .kind = ND_OUTPUT_SKETCHES};
  ok(nd_output_open(&output, &request, &o, &err));
  ok(nd_sketch_create(&w, output, nd_str_of(parameters), words, &err));
  ok(nd_sketch_chunk_reserve(&c, 1, words, &err));
  memset(c.rows, 0, words * sizeof *c.rows);
  c.digest[0] = (nd_digest){1, 2};
  c.shingles[0] = 1;
  c.id_end[0] = 0;
  ok(nd_sketch_put(w, &c, &err));
  ok(nd_sketch_finish(w, &err));
  ok(nd_output_close(output, ND_OK, &err));
  nd_sketch_chunk_clear(&c);
}

static void forged_parameters(void **state) {
  (void)state;
#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"
  static const struct {
    const char *parameters;
    row set;
    const char *words;
  } cases[] = {
      {"tokens " LONG LONG "\nseed 1\nshingle words:5\nfamily fast\nminhash 128\n",
       {NULL},
       "tokens is " LONG},
      {"tokens words\nseed 1\nshingle words:5" LONG "\nfamily fast\nminhash 128\n",
       {NULL},
       "shingle"},
      {"tokens words\nseed 1\nshingle words:8\nfamily fast\nsupershingle 6\n",
       {"method", "supershingle"},
       "supershingle is 6 in the file and 6 of 84 here"},
  };
  nd_buf out = {0};
  const char *sketches = file[0];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    forge(file[0], cases[i].parameters, i == 2 ? 6 : 128);
    nd_options o = options_of(cases[i].set);
    assert_int_equal(pairs(&out, &sketches, 1, &o), ND_ERR_USAGE);
    if (!strstr(err.message, cases[i].words)) fail_msg("%zu: %s", i, err.message);
    assert_null(strstr(err.message, LONG LONG));
  }
  /* Two of them against one another: long values, and lines in another order. */
  const nd_options o = options_of((row){NULL});
  forge(file[0], "tokens " LONG LONG "\n", 1);
  forge(file[1], "tokens x" LONG LONG "\n", 1);
  const char *files[] = {file[0], file[1]};
  assert_int_equal(
      nd_sketch_merge(&summary,
                      &(nd_sketch_request){.inputs = files, .input_n = 2, .file = file[2]}, &o,
                      NULL, &err),
      ND_ERR_DATA);
  assert_non_null(strstr(err.message, "and x" LONG));
  assert_null(strstr(err.message, LONG LONG));
  forge(file[0], "tokens words\nseed 1\n", 1);
  forge(file[1], "seed 1\ntokens words\n", 1);
  assert_int_equal(
      nd_sketch_merge(&summary,
                      &(nd_sketch_request){.inputs = files, .input_n = 2, .file = file[2]}, &o,
                      NULL, &err),
      ND_ERR_DATA);
  assert_non_null(strstr(err.message, "in different order"));
  nd_buf_clear(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_pairs),
      cmocka_unit_test(no_documents),
      cmocka_unit_test(other_files),
      cmocka_unit_test(forged_parameters),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
