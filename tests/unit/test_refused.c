/* What cannot be done is refused at every door, with a message that says why: options that were set
 * wrongly, without the parser; inputs that are not there; combinations that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "job_calls.h"
#include "neardup.h"
#include "neardup/stage.h"
#include "settings/option_fields.h"
#include "settings/settings.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_refused_XXXXXX";
static char corpus_path[100], list_path[100], out_path[100];
static nd_summary summary;

static const nd_sink sink = {NULL, forget};

/* --- doors: each does its work with n of the inputs ------------------------------------ */

typedef nd_status (*door)(const char *const *inputs, size_t n, const nd_options *o);

static nd_status dedup(const char *const *inputs, size_t n, const nd_options *o) {
  return nd_dedup(&summary,
                  &(nd_dedup_request){.inputs = inputs, .input_n = n, .directory = out_path}, o,
                  NULL, &err);
}
static nd_status pairs(const char *const *inputs, size_t n, const nd_options *o) {
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = inputs, .input_n = n, .sink = &sink}, o,
                  NULL, &err);
}
static nd_status inspect(const char *const *inputs, size_t n, const nd_options *o) {
  return nd_inspect(
      &summary, &(nd_inspect_request){.inputs = inputs, .input_n = n, .whole = 0, .sink = &sink}, o,
      NULL, &err);
}
static nd_status sketch(const char *const *inputs, size_t n, const nd_options *o) {
  return nd_sketch_documents(&summary,
                             &(nd_sketch_request){.inputs = inputs, .input_n = n, .file = out_path},
                             o, NULL, &err);
}
static nd_status plan(const char *const *inputs, size_t n, const nd_options *o) {
  nd_plan_result result;
  nd_plan_request request = {.inputs = inputs, .input_n = n, .precision = "0.9"};
  return job_plan(&result, &summary, &request, &sink, o, NULL, &err);
}
static nd_status explain(const char *const *inputs, size_t n, const nd_options *o) {
  nd_explain_request request = {.a = "a", .b = "b", .inputs = inputs, .input_n = n};
  return job_explain(&summary, &request, &sink, o, NULL, &err);
}
static nd_status study(const char *name, const char *const *inputs, size_t n, const nd_options *o) {
  nd_study_request request = {.name = name, .inputs = inputs, .input_n = n};
  return job_study(&summary, &request, &sink, o, NULL, &err);
}
static nd_status study_web(const char *const *inputs, size_t n, const nd_options *o) {
  return study("web", inputs, n, o);
}
static nd_status study_library(const char *const *inputs, size_t n, const nd_options *o) {
  return study("library", inputs, n, o);
}
static nd_status study_sampling(const char *const *inputs, size_t n, const nd_options *o) {
  return study("sampling", inputs, n, o);
}
static nd_status study_join(const char *const *inputs, size_t n, const nd_options *o) {
  return study("join", inputs, n, o);
}
static nd_status study_sources(const char *const *inputs, size_t n, const nd_options *o) {
  return study("sources", inputs, n, o);
}
static nd_status eval(const char *const *inputs, size_t n, const nd_options *o) {
  static nd_eval_result result; /* large */
  nd_eval_request request = {
      .truth = list_path, .result = list_path, .by = "size", .corpus = inputs, .corpus_n = n};
  return nd_eval(&result, &request, o, NULL, &err);
}
static nd_status in_memory(const char *const *inputs, size_t n, const nd_options *o) {
  nd_result r = {0};
  nd_corpus corpus = {.files = inputs, .file_n = n};
  nd_status status = job_dedup_memory(&r, &summary, &corpus, o, NULL, &err);
  nd_result_clear(&r);
  return status;
}
static nd_status stage(const char *const *inputs, size_t n, const nd_options *o) {
  (void)inputs;
  (void)n;
  static const char secret[ND_STAGE_SECRET] = "the same everywhere";
  nd_stage *s = NULL;
  nd_status status = nd_stage_new(&s, o, 1, secret, &err);
  nd_stage_free(s);
  return status;
}
static nd_status sketcher(const char *const *inputs, size_t n, const nd_options *o) {
  (void)inputs;
  (void)n;
  nd_sketcher *s = NULL;
  nd_status status = nd_sketcher_new(&s, o, &err);
  nd_sketcher_free(s);
  return status;
}

static const struct {
  const char *name;
  door enter;
  bool reads; /* … documents, and one at least */
} doors[] = {{"dedup", dedup, true},
             {"pairs", pairs, true},
             {"inspect", inspect, true},
             {"sketch", sketch, true},
             {"plan", plan, true},
             {"explain", explain, false},
             {"study web", study_web, true},
             {"study library", study_library, true},
             {"study sampling", study_sampling, true},
             {"study join", study_join, true},
             {"study sources", study_sources, true},
             {"eval", eval, false},
             {"in memory", in_memory, true},
             {"stage", stage, false},
             {"sketcher", sketcher, false}};
enum { DOORS = sizeof doors / sizeof *doors };

/* --- values that no single option refuses, and every job does ---------------------------- */

static void wrong_options(void **state) {
  (void)state;
  static const struct {
    const char *name, *value, *says;
  } wrong[] = {{"sample", "some:3", "some:3"},
               {"shingle", "syllables", "words:K"},
               {"threshold", "1.1", "out of range"},
               {"recall", "1", "below 1"}};
  const char *input = corpus_path;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    nd_options o;
    nd_options_init(&o);
    ok(nd_options_set(&o, wrong[i].name, wrong[i].value, &err));
    for (size_t k = 0; k < DOORS; k++) {
      err = (nd_error){0};
      nd_status status = doors[k].enter(&input, 1, &o);
      const bool said = strstr(err.message, wrong[i].says) != NULL;
      if (doors[k].enter == plan) { /* which takes what it needs alone, and says so its own way */
        assert_true(status == ND_OK || status == ND_ERR_USAGE);
        continue;
      }
      if (status != ND_ERR_USAGE || !said)
        fail_msg("%s: %s: %s, not: %s", doors[k].name, nd_status_name(status), err.message,
                 wrong[i].says);
    }
  }
}

static void no_input(void **state) {
  (void)state;
  nd_options o;
  nd_options_init(&o);
  for (size_t k = 0; k < DOORS; k++) {
    if (!doors[k].reads) continue;
    err = (nd_error){0};
    nd_status status = doors[k].enter(NULL, 0, &o);
    if (status != ND_ERR_USAGE || !strstr(err.message, "input"))
      fail_msg("%s: %s: %s", doors[k].name, nd_status_name(status), err.message);
  }
}

/* Options that are right alone, and wrong together; "": right together, too. */
static void wrong_together(void **state) {
  (void)state;
  static const struct {
    const char *options[8];
    const char *says;
  } wrong[] = {
      {{"similarity", "cosine", "candidates", "exact", "confirm", "minhash"}, "not minhash"},
      {{"similarity", "cosine", "method", "minhash"}, "not minhash"},
      {{"similarity", "containment", "method", "ppjoin"}, "not ppjoin"},
      {{"similarity", "containment", "method", "join"}, ""},
      {{"top", "3", "candidates", "exact", "confirm", "minhash", "threshold", "0.5"}, "--top"},
      {{"top", "3", "method", "minhash"}, "--top"},
      {{"top", "3", "method", "exact"}, ""},
      {{"columns", "similarity,a-column-with-a-name-that-is-far-too-long"}, "a-column"},
      {{"family", "linear", "rows", "4"}, "no bands"},
      {{"family", "linear", "bands", "4"}, "no bands"},
      {{"family", "linear"}, ""},
      {{"sample", "mod:2", "method", "digest"}, "--method digest"},
      {{"sample", "mod:2", "method", "join", "similarity", "edit", "threshold", "3"}, "edit"},
      {{"sample", "mod:2", "method", "simhash"}, "--features"},
      {{"sample", "mod:2", "method", "projection"}, "--features"},
      {{"sample", "mod:2", "method", "simhash", "features", "shingles"}, ""},
      {{"sample", "mod:2", "method", "projection", "features", "shingles"}, ""},
      {{"sample", "mod:2", "method", "simhash", "features", "shingles", "weights", "tfidf"},
       "tfidf"},
      {{"cluster", "components", "against", "others"}, "--against"},
      {{"cluster", "star", "against", "others"}, ""},
      {{"similarity", "edit", "method", "minhash", "threshold", "3"}, "--method join"},
      {{"similarity", "overlap", "method", "join"}, "--threshold"},
      {{"similarity", "overlap", "method", "join", "threshold", "0.5"}, "whole number"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    nd_options o;
    nd_options_init(&o);
    for (size_t k = 0; k < 8 && wrong[i].options[k]; k += 2)
      ok(nd_options_set(&o, wrong[i].options[k], wrong[i].options[k + 1], &err));
    err = (nd_error){0};
    nd_status status = nd_options_check(&o, &err);
    const bool right = !wrong[i].says[0];
    if (status != (right ? ND_OK : ND_ERR_USAGE) || !strstr(err.message, wrong[i].says))
      fail_msg("case %zu: %s: %s, not: %s", i, nd_status_name(status), err.message, wrong[i].says);
  }
}

/* A plan of a sample is for some shingles, tokens and one threshold. */
static void other_plans(void **state) {
  (void)state;
  static const struct {
    const char *planned, *shingle, *tokens, *threshold, *says; /* "": nothing */
  } cases[] = {
      {"words:5", "auto", "words", "0.5", ""},
      {"auto", "auto", "words", "0.5", ""},
      {"auto", "words:5", "words", "0.5", ""},
      {"syllables:5", "auto", "words", "0.5", "syllables:5"},
      {"words:5", "chars:5", "words", "0.5", "create another plan"},
      {"words:5", "words:4", "words", "0.5", "create another plan"},
      {"words:5", "words:5", "web", "0.5", "create another plan"},
      {"words:5", "auto", "words", "0.6", "--threshold 0.5"},
      {"words:5", "auto", "words", "0.05", "--threshold 0.5"},
  };
  char path[100], sample[120];
  snprintf(path, sizeof path, "%s/plan", dir);
  snprintf(sample, sizeof sample, "adaptive:%s", path);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "neardup-plan 1\nthreshold 0.5\nprecision 0.9\nshingle %s\ntokens words\n"
            "group 100 2\ngroup - 4\nend 2\n",
            cases[i].planned);
    fclose(f);
    nd_options o;
    nd_options_init(&o);
    ok(nd_options_set(&o, "method", "exact", &err));
    ok(nd_options_set(&o, "sample", sample, &err));
    ok(nd_options_set(&o, "shingle", cases[i].shingle, &err));
    ok(nd_options_set(&o, "tokens", cases[i].tokens, &err));
    ok(nd_options_set(&o, "threshold", cases[i].threshold, &err));
    err = (nd_error){0};
    nd_status status = nd_options_check(&o, &err);
    if (status != (cases[i].says[0] ? ND_ERR_USAGE : ND_OK) || !strstr(err.message, cases[i].says))
      fail_msg("case %zu: %s: %s", i, nd_status_name(status), err.message);
  }
  unlink(path);
}

/* Who reads documents one at a time does not know what recurs. */
static void one_at_a_time(void **state) {
  (void)state;
  nd_options o;
  const char *input = corpus_path;
  nd_options_init(&o);
  ok(nd_options_set(&o, "ignore-boilerplate", "yes", &err));
  assert_int_equal(inspect(&input, 1, &o), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "the entire corpus at once"));
}

/* Names without end, and no room for what is asked. */
static void names_and_room(void **state) {
  (void)state;
  nd_options o;
  char name[100];
  nd_options_init(&o);
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  assert_int_equal(nd_options_set(&o, name, "1", &err), ND_ERR_USAGE);
  assert_null(strstr(err.message, "did you mean"));
  assert_int_equal(nd_options_set(&o, "method", name, &err), ND_ERR_USAGE);
  for (const nd_option_row *row = nd_option_rows(); row->info.name; row++) {
    char text[1100] = "untouched", some[4];
    nd_option_text(text, 0, &o, row);
    assert_string_equal(text, "untouched");
    nd_option_text(text, sizeof text, &o, row);
    nd_option_text(some, sizeof some, &o, row);
    assert_memory_equal(some, text, strlen(some));
    assert_true(strlen(some) == (strlen(text) < 3 ? strlen(text) : 3));
  }
}

static void wrong_lists(void **state) {
  (void)state;
  static const char *const lines[] = {"a\tb\t99999999999\n", "a\tb\t0.5x\n", "a\tb\t.\n", "a\n"};
  nd_options o;
  nd_options_init(&o);
  char path[100];
  snprintf(path, sizeof path, "%s/wrong.tsv", dir);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(lines[i], f);
    fclose(f);
    assert_int_equal(
        nd_cluster(&summary, &(nd_cluster_request){.pairs = path, .sink = &sink}, &o, NULL, &err),
        ND_ERR_DATA);
    assert_non_null(strstr(err.message, "wrong.tsv:1"));
  }
  unlink(path);
  static nd_eval_result result; /* large */
  const nd_eval_request base = {.truth = list_path, .result = list_path};
  nd_eval_request q = base;
  q.truth_kind = "heaps";
  assert_int_equal(nd_eval(&result, &q, &o, NULL, &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "--truth-kind"));
  q = base, q.result_kind = "heaps";
  assert_int_equal(nd_eval(&result, &q, &o, NULL, &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "--result-kind"));
  q = base, q.truth_threshold = "much";
  assert_int_equal(nd_eval(&result, &q, &o, NULL, &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "--truth-threshold"));
  q = base, q.threshold = "much";
  assert_int_equal(nd_eval(&result, &q, &o, NULL, &err), ND_ERR_USAGE);
  ok(nd_eval(&result, &base, &o, NULL, &err));
}

/* What is read twice must be files. */
static void not_from_memory(void **state) {
  (void)state;
  static const char *const sets[][2] = {
      {"ignore-boilerplate", "yes"}, {"sample", "sct:3"}, {"sample", "mod:2"}};
  const nd_str text[2] = {{"one two three four five six", 27}, {"one two three four five six", 27}};
  const nd_chunk chunk = {.layout = ND_LAYOUT_STR, .index = text, .n = 2};
  const nd_text_stream stream = {.chunks = &chunk, .n = 1};
  const nd_corpus corpus = {.texts = &stream};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    nd_options o;
    nd_result r = {0};
    nd_options_init(&o);
    ok(nd_options_set(&o, sets[i][0], sets[i][1], &err));
    nd_status status = job_dedup_memory(&r, &summary, &corpus, &o, NULL, &err);
    assert_int_equal(status, i < 2 ? ND_ERR_USAGE : ND_OK);
    if (i < 2) assert_non_null(strstr(err.message, "read the input twice"));
    nd_result_clear(&r);
  }
  /* Facts of fewer texts than there are. */
  const nd_chunk fact = {.layout = ND_LAYOUT_STR, .index = text, .n = 1};
  const nd_text_stream odd = {.chunks = &chunk, .n = 1, .facts = &fact};
  const nd_corpus with_facts = {.texts = &odd};
  nd_options o;
  nd_result r = {0};
  nd_options_init(&o);
  ok(nd_options_set(&o, "keep", "newest", &err));
  assert_int_equal(job_dedup_memory(&r, &summary, &with_facts, &o, NULL, &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "2 texts, but 1 values"));
  nd_result_clear(&r);
}

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(dir)) return -1;
  snprintf(corpus_path, sizeof corpus_path, "%s/corpus.jsonl", dir);
  snprintf(list_path, sizeof list_path, "%s/list.tsv", dir);
  snprintf(out_path, sizeof out_path, "%s/out", dir);
  FILE *f = fopen(corpus_path, "w");
  if (!f) return -1;
  for (int i = 0; i < 4; i++)
    fprintf(f, "{\"id\": \"%c\", \"text\": \"one two three four five six\"}\n", 'a' + i);
  fclose(f);
  f = fopen(list_path, "w");
  if (!f) return -1;
  fprintf(f, "a\tb\n");
  return fclose(f);
}

static int teardown(void **state) {
  (void)state;
  unlink(corpus_path);
  unlink(list_path);
  return rmdir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_options),  cmocka_unit_test(no_input),
      cmocka_unit_test(wrong_together), cmocka_unit_test(names_and_room),
      cmocka_unit_test(wrong_lists),    cmocka_unit_test(not_from_memory),
      cmocka_unit_test(other_plans),    cmocka_unit_test(one_at_a_time)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
