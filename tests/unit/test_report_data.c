/* What a report is made of: bins, how close a pair is to the threshold, sizes, the command that
 * repeats the run; and counts that must agree when the input is read twice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "job/job.h"
#include "job_calls.h"
#include "neardup.h"
#include "report/report_data.h"
#include "settings/option_fields.h"
#include "store/workdir.h"
#include "tools.h"

static void closeness_runs_from_threshold_to_one(void **state) {
  (void)state;
  static const struct {
    const nd_similarity *kind;
    nd_decimal threshold;
    uint64_t num, den;
    double want;
  } cases[] = {
      {&nd_similarity_jaccard, {1, 2}, 3, 4, 0.5},  {&nd_similarity_jaccard, {1, 2}, 1, 2, 0},
      {&nd_similarity_jaccard, {1, 2}, 1, 4, 0}, /* listed, but below it */
      {&nd_similarity_jaccard, {1, 2}, 5, 4, 1},    {&nd_similarity_jaccard, {1, 1}, 4, 4, 1},
      {&nd_similarity_jaccard, {1, 2}, 0, 0, 1},    {&nd_similarity_edit, {4, 1}, 1, 1, 0.75},
      {&nd_similarity_edit, {0, 1}, 0, 1, 1},       {&nd_similarity_edit, {4, 1}, 5, 1, 0},
      {&nd_similarity_overlap, {5, 1}, 10, 1, 0.5}, {&nd_similarity_overlap, {5, 1}, 0, 1, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_settings s = {.similarity = cases[i].kind, .threshold = cases[i].threshold};
    const double got = nd_report_closeness(&s, cases[i].num << 32 | cases[i].den);
    if (fabs(got - cases[i].want) > 1e-12) fail_msg("case %zu: %g, not %g", i, got, cases[i].want);
  }
}

static void values_fall_into_their_bins(void **state) {
  (void)state;
  nd_settings s = {.similarity = &nd_similarity_jaccard, .threshold = {1, 2}};
  assert_int_equal(nd_run_bin(&s, UINT64_C(3) << 32 | 4), 75);
  assert_int_equal(nd_run_bin(&s, UINT64_C(4) << 32 | 4), 100);
  assert_int_equal(nd_run_bin(&s, UINT64_C(3) << 32), 0);
  assert_int_equal(nd_run_bin(&s, UINT64_C(9) << 32 | 4), ND_REPORT_BINS - 1);
  assert_int_equal(nd_report_size(0), 0);
  assert_int_equal(nd_report_size(255), 0);
  assert_int_equal(nd_report_size(256), 1);
  assert_int_equal(nd_report_size(1024), 2);
  assert_int_equal(nd_report_size(UINT64_MAX), ND_REPORT_LARGEST);
}

static void sizes_have_names(void **state) {
  (void)state;
  static const char *const want[] = {"below 256 B", "256 B to 1 KiB", "256 KiB to 1 MiB",
                                     "1 GiB and more"};
  nd_report_row sizes[ND_REPORT_LARGEST + 1];
  nd_report_group g = {0};
  memset(sizes, 0, sizeof sizes);
  sizes[0].documents = sizes[1].documents = sizes[6].documents = 2;
  sizes[ND_REPORT_LARGEST].documents = 7;
  nd_report_take_sizes(&g, sizes);
  assert_int_equal(g.n, 4);
  assert_int_equal(g.distinct, 4);
  for (size_t i = 0; i < g.n; i++) assert_string_equal(g.rows[i].name, want[i]);
  assert_int_equal(g.rows[3].documents, 7);
}

/* Reasons that differ in numbers are one; a long one is cut; those above the rows are counted. */
static void reasons_that_differ_in_numbers_are_one(void **state) {
  (void)state;
  static nd_report r;
  static const struct {
    const char *reason, *row; /* NULL: it is known */
  } cases[] = {{"line 12 of 700 is too long", "line # of # is too long"},
               {"line 9 of 1 is too long", NULL},
               {"404 Not Found", "# Not Found"},
               {"5 Not Found", NULL},
               {"line of # is too long", "line of # is too long"}};
  nd_report_reject *row;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool known = nd_report_reject_known(&row, &r, nd_str_of(cases[i].reason));
    assert_int_equal(known, cases[i].row == NULL);
    if (!known) assert_string_equal(row->reason, cases[i].row);
  }
  assert_int_equal(r.reject_n, 3);
  assert_int_equal(r.rejects[0].count, 2);
  char reason[400];
  memset(reason, 'x', sizeof reason);
  assert_false(nd_report_reject_known(&row, &r, (nd_str){reason, sizeof reason}));
  assert_int_equal(strlen(row->reason), ND_REPORT_NAME);
  for (int i = 0; i < 20; i++) {
    reason[0] = (char)('a' + i);
    bool known = nd_report_reject_known(&row, &r, (nd_str){reason, 3});
    assert_int_equal(known, i >= ND_REPORT_ROWS - 4);
  }
  assert_int_equal(r.other_rejects, 20 - (ND_REPORT_ROWS - 4));
}

static void counts_agree(void **state) {
  (void)state;
  nd_reading j = {0};
  ok(nd_reading_counted(&j, 5, 1, &err));
  ok(nd_reading_counted(&j, 5, 1, &err));
  assert_int_equal(nd_reading_counted(&j, 6, 1, &err), ND_ERR_IO);
  assert_non_null(strstr(err.message, "5 documents and 1 rejected records while counting"));
  assert_int_equal(nd_reading_counted(&j, 5, 2, &err), ND_ERR_IO);
  assert_non_null(strstr(err.message, "then 5 and 2"));
}

/* Pages that are read twice, of which some are none, and one unpacks to more than is allowed: both
 * readings see the same. */
static void counted_pages(void **state) {
  (void)state;
  static const struct {
    const char *type, *body;
    bool packed;
  } pages[] = {{"text/plain", "one two three four five six seven", false},
               {"text/plain", "one two three four five six seven", true},
               {"image/png", "picture", false},
               {"text/plain", NULL, true}, /* long */
               {"text/plain", "one two three four five six nine", false}};
  enum { LONG = 5000 };
  static char large[LONG + 1];
  memset(large, 'x', LONG);
  char path[] = "/tmp/nd_test_pages_XXXXXX";
  FILE *f = fdopen(mkstemp(path), "w");
  assert_non_null(f);
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    char head[200];
    unsigned char body[LONG];
    const char *text = pages[i].body ? pages[i].body : large;
    uLongf n = sizeof body;
    if (pages[i].packed)
      assert_int_equal(compress(body, &n, (const Bytef *)text, (uLong)strlen(text)), Z_OK);
    else
      memcpy(body, text, n = (uLongf)strlen(text));
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: %s%s\r\n\r\n", pages[i].type,
             pages[i].packed ? "\r\nContent-Encoding: deflate" : "");
    fprintf(f,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:%zu>\r\n"
            "WARC-Target-URI: http://a.example.org/%zu\r\nContent-Type: application/http\r\n"
            "Content-Length: %zu\r\n\r\n%s",
            i, i, strlen(head) + n, head);
    assert_int_equal(fwrite(body, 1, n, f), n);
    fputs("\r\n\r\n", f);
  }
  fclose(f);
  const char *input = path;
  nd_sink sink = {NULL, forget};
  nd_options o;
  nd_summary s;
  nd_options_init(&o);
  ok(nd_options_set(&o, "sample", "sct:9", &err));
  ok(nd_options_set(&o, "max-document", "1000", &err));
  ok(nd_pairs(&s, &(nd_pairs_request){.inputs = &input, .input_n = 1, .sink = &sink}, &o, NULL,
              &err));
  assert_int_equal(s.documents, 4);
  assert_int_equal(s.rejected, 1);
  assert_int_equal(s.others, 1);
  assert_int_equal(s.copies, 1);
  unlink(path);
}

/* The command in the report can be given to a shell again: words with blanks and quotes are
 * quoted, and of many inputs the first ones are named. */
static void the_command(void **state) {
  (void)state;
  enum { FILES = 25 };
  static const char *const names[] = {"plain-1",   "~home", "it's",    "a b",
                                      "UPPER.txt", "a~b",   "\xc3\xa9"};
  static const char *const shown[] = {"plain-1", "'~home'",   "'it'\\''s'",
                                      "'a b'",   "UPPER.txt", "a~b"};
  char dir[] = "/tmp/nd_test_report_XXXXXX", before[500];
  const char *inputs[FILES];
  static char input[FILES][40];
  assert_non_null(mkdtemp(dir));
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(dir), 0); /* names are shown as they were given */
  for (size_t i = 0; i < FILES; i++) {
    if (i < sizeof names / sizeof *names)
      snprintf(input[i], sizeof input[i], "%s", names[i]);
    else
      snprintf(input[i], sizeof input[i], "file%zu", i);
    FILE *f = fopen(input[i], "w");
    assert_non_null(f);
    fprintf(f, "some words of file %zu, and some more of them\n", i % 7);
    fclose(f);
    inputs[i] = input[i];
  }
  nd_options o;
  nd_summary summary;
  nd_options_init(&o);
  ok(nd_dedup(&summary,
              &(nd_dedup_request){.inputs = inputs, .input_n = FILES, .directory = "the out"}, &o,
              NULL, &err));
  assert_int_equal(summary.documents, FILES);
  FILE *f = fopen("the out/report.html", "r");
  assert_non_null(f);
  static char page[1 << 20], plain[1 << 20];
  page[fread(page, 1, sizeof page - 1, f)] = '\0';
  fclose(f);
  char *to = plain;
  for (const char *p = page; *p; p++) { /* as a browser shows it */
    const bool quote = strncmp(p, "&#39;", 5) == 0;
    *to++ = quote ? '\'' : *p;
    if (quote) p += 4;
  }
  char *at = strstr(plain, "neardup dedup");
  assert_non_null(at);
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
    at = strstr(at, shown[i]);
    if (!at) fail_msg("%s is not in the command", shown[i]);
  }
  at = strstr(at, " \xe2\x80\xa6 -o 'the out'");
  assert_non_null(at);
  ok(nd_remove_tree("the out", &err));
  for (size_t i = 0; i < FILES; i++) unlink(input[i]);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(rmdir(dir), 0);
}

/* A whole run by each kind of similarity and choice: what was read is kept or dropped, copies meet,
 * and there is a report. */
static void every_kind(void **state) {
  (void)state;
  static const char *const sets[][10] = {
      {"method", "join", "similarity", "edit", "threshold", "6", "keep", "centre"},
      {"method", "join", "similarity", "edit", "threshold", "0"},
      {"method", "join", "similarity", "overlap", "threshold", "4", "keep", "centre"},
      {"method", "exact", "similarity", "containment", "threshold", "0.7", "keep", "centre"},
      {"method", "exact", "similarity", "cosine", "threshold", "0.7", "cluster", "components"},
      {"method", "exact", "threshold", "1"},
      {"method", "exact", "threshold", "1", "cluster", "components"},
      {"method", "minhash", "threshold", "0.3", "verify", "none", "keep", "centre"},
      {"method", "minhash", "threshold", "0.3", "verify", "sketch", "cluster", "components"},
      {"method", "simhash", "verify", "none", "keep", "longest"},
      {"method", "digest"},
      {"method", "digest", "verify", "none"},
      {"method", "supershingle", "verify", "none"},
      {"method", "projection", "verify", "sketch", "features", "shingles"},
      {"family", "linear", "verify", "none"},
      {"candidates", "exact", "confirm", "minhash", "threshold", "0.5"},
  };
  char dir[] = "/tmp/nd_test_kinds_XXXXXX", corpus[60], out[60], page[80];
  assert_non_null(mkdtemp(dir));
  snprintf(corpus, sizeof corpus, "%s/corpus.jsonl", dir);
  snprintf(out, sizeof out, "%s/out", dir);
  snprintf(page, sizeof page, "%s/report.html", out);
  FILE *f = fopen(corpus, "w");
  assert_non_null(f);
  for (int i = 0; i < 40; i++) /* copies, some that differ in a word, one without words */
    fprintf(f, "{\"id\": %d, \"url\": \"http://%d.example.org/\", \"text\": \"%s%d\"}\n", i, i % 3,
            i == 39      ? ""
            : i % 4 == 3 ? "the words of a text that is one of a few, and some more: "
                         : "the words of a text that is one of a few, and more: ",
            i / 4);
  fprintf(f, "no record\n");
  fclose(f);
  const char *input = corpus;
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    nd_options o;
    nd_summary s;
    nd_options_init(&o);
    for (size_t i = 0; i < 10 && sets[k][i]; i += 2)
      ok(nd_options_set(&o, sets[k][i], sets[k][i + 1], &err));
    const nd_hooks nothing_asked = {0};
    ok(nd_dedup(&s, &(nd_dedup_request){.inputs = &input, .input_n = 1, .directory = out}, &o,
                k % 2 ? &nothing_asked : NULL, &err));
    assert_int_equal(s.documents, 41);
    assert_int_equal(s.rejected, 1);
    assert_int_equal(s.kept + s.dropped + s.rejected, s.documents);
    if (s.dropped < 20 || s.clusters == 0) /* of each four three are copies */
      fail_msg("case %zu: %d dropped", k, (int)s.dropped);
    assert_int_equal(access(page, R_OK), 0);
    ok(nd_remove_tree(out, &err));
  }
  unlink(corpus);
  assert_int_equal(rmdir(dir), 0);
}

static nd_status add_up(void *context, const char *bytes, size_t n, nd_error *e) {
  (void)bytes;
  (void)e;
  *(size_t *)context += n;
  return ND_OK;
}

/* More documents than a thread takes at a time, with weights that wait for all of them, and in
 * buckets where not all meet. */
static void many_documents(void **state) {
  (void)state;
  enum { MANY = 2100 };
  char path[] = "/tmp/nd_test_many_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *f = fdopen(fd, "w");
  for (int i = 0; i < MANY; i++)
    fprintf(f, "{\"id\": %d, \"text\": \"the same words in all of them, and then w%d w%d\"}\n", i,
            i / 2, i / 60);
  fclose(f);
  const char *input = path;
  size_t bytes = 0;
  nd_sink sink = {&bytes, add_up};
  nd_options o;
  nd_summary s;
  nd_options_init(&o);
  ok(nd_options_set(&o, "format", "jsonl", &err));
  ok(nd_options_set(&o, "method", "simhash", &err));
  ok(nd_options_set(&o, "weights", "tfidf", &err));
  ok(nd_pairs(&s, &(nd_pairs_request){.inputs = &input, .input_n = 1, .sink = &sink}, &o, NULL,
              &err));
  assert_int_equal(s.documents, MANY);
  assert_int_equal(s.copies, MANY / 2);
  assert_true(bytes > MANY / 2 * 4);
  nd_plan_result plan;
  nd_plan_request request = {.inputs = &input, .input_n = 1, .precision = "0.9"};
  nd_options_init(&o);
  ok(nd_options_set(&o, "format", "jsonl", &err));
  ok(nd_options_set(&o, "threshold", "0.5", &err));
  ok(job_plan(&plan, &s, &request, NULL, &o, NULL, &err));
  assert_int_equal(plan.documents, MANY);
  assert_true(plan.near_duplicates > MANY / 2);
  unlink(path);
}

/* The same of texts in memory: against others, by whole numbers, in a format, with what is no text
 * among them. */
static void in_memory(void **state) {
  (void)state;
  static const char *const texts[] = {"one two three four five six seven", "something else at all",
                                      "one two three four five six seven", NULL,
                                      "one two three four five six eight"};
  static const char *const records[] = {
      "{\"text\": \"one two three four five six\"}", "{\"text\": \"seven eight nine\"}",
      "{\"text\": \"one two three four five six\"}", "no record", "{\"text\": \"\"}"};
  static const struct {
    const char *options[6];
    nd_status status;
    size_t dropped;
    double similarity; /* of text 2 to the one kept */
  } cases[] = {{{NULL}, ND_OK, 1, 1},
               {{"method", "exact"}, ND_OK, 1, 1}, /* no threshold: the usual one */
               {{"method", "exact", "threshold", "0"}, ND_ERR_USAGE, 0, 0},
               {{"method", "join", "similarity", "overlap", "threshold", "2"}, ND_OK, 2, 3},
               {{"format", "jsonl"}, ND_OK, 1, 1}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const bool jsonl = cases[k].options[0] && strcmp(cases[k].options[0], "format") == 0;
    nd_str text[5];
    for (size_t i = 0; i < 5; i++) {
      const char *p = jsonl ? records[i] : texts[i];
      text[i] = p ? nd_str_of(p) : (nd_str){NULL, 0};
    }
    const nd_chunk chunk = {.layout = ND_LAYOUT_STR, .index = text, .n = 5};
    const nd_text_stream stream = {.chunks = &chunk, .n = 1};
    for (int against = 0; against < 2; against++) {
      nd_options o;
      nd_summary s;
      nd_result r = {0};
      const nd_corpus corpus = {.texts = &stream, .against = against ? &stream : NULL};
      nd_options_init(&o);
      for (size_t i = 0; i < 6 && cases[k].options[i]; i += 2)
        ok(nd_options_set(&o, cases[k].options[i], cases[k].options[i + 1], &err));
      nd_status status = job_dedup_memory(&r, &s, &corpus, &o, NULL, &err);
      if (status != cases[k].status)
        fail_msg("case %zu: %s: %s", k, nd_status_name(status), err.message);
      if (status == ND_OK) {
        assert_int_equal(r.n, 5);
        assert_int_equal(s.kept + s.dropped + s.rejected, s.documents);
        if (!against) assert_int_equal(s.dropped, cases[k].dropped);
        if (!against && !(r.keep[0] >> 2 & 1))
          assert_true(fabs(r.similarity[2] - cases[k].similarity) < 1e-9);
        /* All of them are in the other collection: only what is no text is not dropped. */
        if (against) assert_true(s.dropped >= 3);
        for (size_t i = 0; i < r.rejection_n; i++)
          assert_int_equal(r.rejections[i].text % 5, 3); /* of this collection, then the other */
      }
      nd_result_clear(&r);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_have_names),
                                     cmocka_unit_test(counted_pages),
                                     cmocka_unit_test(reasons_that_differ_in_numbers_are_one),
                                     cmocka_unit_test(closeness_runs_from_threshold_to_one),
                                     cmocka_unit_test(values_fall_into_their_bins),
                                     cmocka_unit_test(counts_agree),
                                     cmocka_unit_test(the_command),
                                     cmocka_unit_test(every_kind),
                                     cmocka_unit_test(many_documents),
                                     cmocka_unit_test(in_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
