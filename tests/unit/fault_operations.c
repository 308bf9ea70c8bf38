#include "fault_operations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "job_calls.h"
#include "little_memory.h"
#include "settings/option_fields.h"
#include "stage_walk.h"

char fault_dir[200];
char out_path[240], truth_path[240];
char run_path[2][240], qrels_path[240];
const char *inputs[2] = {corpus_path, second_path};
char damaged_path[2][240];
char pages_path[2][240];
char copies_path[240];
char wide_path[240];
char crowd_path[240];
char folder_path[240];
nd_summary summary;

/* --- operations ------------------------------------------------------------------- */

_Atomic uint64_t sink_calls, sink_fails, asked, asked_fails;

/* What is collected has its room, and does not fail. */
static void append(nd_buf *out, const void *bytes, size_t n) {
  assert_true(n <= out->cap - out->n);
  if (n) memcpy(out->p + out->n, bytes, n);
  out->n += n;
}

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  if (atomic_fetch_add(&sink_calls, 1) + 1 == sink_fails)
    return nd_fail(e, ND_ERR_IO, "the reader is gone");
  append(context, bytes, n);
  return ND_OK;
}

static int ask(void *context) {
  (void)context;
  return asked_fails && atomic_fetch_add(&asked, 1) + 1 == asked_fails;
}

static void note_progress(void *context, const nd_progress *progress) {
  (void)context;
  assert_true(progress->stage[0]);
}

static const nd_hooks going_on = {.context = NULL, .progress = note_progress, .cancelled = ask};

nd_options options_of(const operation *op) {
  nd_options o;
  nd_options_init(&o);
  o.threads = 2;
  o.memory = 64 << 20;
  for (size_t i = 0; op->options[i]; i += 2)
    ok(nd_options_set(&o, op->options[i], op->options[i + 1], &err));
  return o;
}

static nd_status run_dedup(nd_buf *out, const operation *self) {
  (void)out; /* gathered afterwards, when nothing fails any more */
  nd_options o = options_of(self);
  if (strstr(self->name, "apart")) snprintf(o.tmp, sizeof o.tmp, "%s", fault_dir);
  nd_status status =
      nd_dedup(&summary, &(nd_dedup_request){.inputs = inputs, .input_n = 2, .directory = out_path},
               &o, &going_on, &err);
  if (status != ND_OK || !strstr(self->name, "again")) return status;
  nd_summary other; /* of a result that is there knows little */
  return nd_dedup(&other,
                  &(nd_dedup_request){.inputs = inputs, .input_n = 2, .directory = out_path}, &o,
                  &going_on, &err);
}

static nd_status run_pages(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  const char *pages[2] = {pages_path[0], pages_path[1]};
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = pages, .input_n = 2, .sink = &sink}, &o,
                  &going_on, &err);
}

static nd_status run_copies(nd_buf *out, const operation *self) {
  (void)out;
  nd_options o = options_of(self);
  const char *copies = copies_path;
  return nd_dedup(&summary,
                  &(nd_dedup_request){.inputs = &copies, .input_n = 1, .directory = out_path}, &o,
                  &going_on, &err);
}

static nd_status run_crowd(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  const char *crowd = crowd_path;
  if (strstr(self->name, "little"))
    return little_pairs(&summary, &crowd, 1, &sink, &o, &going_on, 1 << 14, &err);
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = &crowd, .input_n = 1, .sink = &sink}, &o,
                  &going_on, &err);
}

static nd_status run_folder(nd_buf *out, const operation *self) {
  (void)out;
  nd_options o = options_of(self);
  const char *folder = folder_path;
  return nd_dedup(&summary,
                  &(nd_dedup_request){.inputs = &folder, .input_n = 1, .directory = out_path}, &o,
                  &going_on, &err);
}

/* Of packed files that are damaged in the middle and at their begin. */
static nd_status run_damaged(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  const char *damaged[2] = {damaged_path[0], damaged_path[1]};
  if (strstr(self->name, "dedup"))
    return nd_dedup(&summary,
                    &(nd_dedup_request){.inputs = damaged, .input_n = 2, .directory = out_path}, &o,
                    &going_on, &err);
  if (strstr(self->name, "inspect"))
    return nd_inspect(
        &summary, &(nd_inspect_request){.inputs = damaged, .input_n = 2, .whole = 1, .sink = &sink},
        &o, &going_on, &err);
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = damaged, .input_n = 2, .sink = &sink}, &o,
                  &going_on, &err);
}

nd_status run_wide(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  const char *wide = wide_path;
  if (strstr(self->name, "stages")) return stage_walk(&summary, &wide, 1, out_path, &o, &err);
  if (strstr(self->name, "inspect"))
    return nd_inspect(
        &summary, &(nd_inspect_request){.inputs = &wide, .input_n = 1, .whole = 1, .sink = &sink},
        &o, &going_on, &err);
  if (strstr(self->name, "dedup"))
    return nd_dedup(&summary,
                    &(nd_dedup_request){.inputs = &wide, .input_n = 1, .directory = out_path}, &o,
                    &going_on, &err);
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = &wide, .input_n = 1, .sink = &sink}, &o,
                  &going_on, &err);
}

/* Two shards, then the run that puts them together. */
static nd_status run_shards(nd_buf *out, const operation *self) {
  (void)out;
  nd_options o = options_of(self);
  nd_status status = ND_OK;
  const char *const shards[] = {"1/2", "2/2", ""};
  for (int i = 0; i < 3 && status == ND_OK; i++) {
    snprintf(o.shard, sizeof o.shard, "%s", shards[i]);
    status = nd_dedup(&summary,
                      &(nd_dedup_request){.inputs = inputs, .input_n = 2, .directory = out_path},
                      &o, &going_on, &err);
  }
  return status;
}

/* The first file's documents, without what is in the second. */
static nd_status run_against(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  snprintf(o.against, sizeof o.against, "%s", second_path);
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = inputs, .input_n = 1, .sink = &sink}, &o,
                  &going_on, &err);
}

/* Lists, which are read whole or not at all. */
static nd_status run_lists(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  static nd_eval_result result; /* large */
  nd_eval_request request = {.truth = truth_path, .result = truth_path};
  nd_status status = nd_cluster(&summary, &(nd_cluster_request){.pairs = truth_path, .sink = &sink},
                                &o, &going_on, &err);
  if (status == ND_OK) status = nd_eval(&result, &request, &o, &going_on, &err);
  return status == ND_OK ? nd_eval_write(&result, 1, &sink, &err) : status;
}

/* The first id is that of two documents. */
static nd_status run_explain(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_explain_request request = {
      .a = "d0", .b = "d0", .inputs = inputs, .input_n = 2, .form = ND_EXPLAIN_HTML};
  return job_explain(&summary, &request, &sink, &o, &going_on, &err);
}

/* "study NAME", against a truth list. */
static nd_status run_study(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_study_request request = {
      .name = self->name + strlen("study "), .inputs = inputs, .input_n = 2, .truth = truth_path};
  return job_study(&summary, &request, &sink, &o, &going_on, &err);
}

nd_status run_pairs(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  return nd_pairs(&summary, &(nd_pairs_request){.inputs = inputs, .input_n = 2, .sink = &sink}, &o,
                  &going_on, &err);
}

/* With 16 KiB, which is less than is needed for anything. */
static nd_status run_little(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  size_t n = 2;
  if (strstr(self->name, "against")) snprintf(o.against, sizeof o.against, "%s", inputs[--n]);
  return little_pairs(&summary, inputs, n, &sink, &o, &going_on, 1 << 14, &err);
}

static nd_status run_inspect(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  return nd_inspect(
      &summary, &(nd_inspect_request){.inputs = inputs, .input_n = 2, .whole = 1, .sink = &sink},
      &o, &going_on, &err);
}

static nd_status run_plan(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_plan_result result;
  nd_plan_request request = {.inputs = inputs, .input_n = 2, .precision = "0.9"};
  return job_plan(&result, &summary, &request, &sink, &o, &going_on, &err);
}

static nd_status run_sampling(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_study_request request = {.name = "sampling", .inputs = inputs, .input_n = 2};
  return job_study(&summary, &request, &sink, &o, &going_on, &err);
}

/* "study NAME …" with a folder of tables, charts and a page. */
static nd_status run_study_pages(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  strcpy(o.resume, "never"); /* also when only the end of the last run failed */
  nd_sink sink = {out, collect};
  char name[20];
  sscanf(self->name, "study %19[a-z]", name);
  const char *truth = strstr(self->name, "truth") ? truth_path : NULL;
  nd_study_request request = {
      .name = name, .inputs = inputs, .input_n = 2, .directory = out_path, .truth = truth};
  return job_study(&summary, &request, &sink, &o, &going_on, &err);
}

static nd_status run_prevalence(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  strcpy(o.resume, "never");
  nd_sink sink = {out, collect};
  char tables[300], filtered[300];
  snprintf(tables, sizeof tables, "%s/tables", out_path);
  snprintf(filtered, sizeof filtered, "%s/filtered", out_path);
  const char *runs[] = {run_path[0], run_path[1]};
  nd_prevalence_request request = {.runs = runs,
                                   .run_n = 2,
                                   .qrels = qrels_path,
                                   .pairs = truth_path,
                                   .directory = tables,
                                   .filtered = filtered};
  nd_prevalence_summary counts;
  summary = (nd_summary){0};
  return job_prevalence(&counts, &request, &sink, &o, &going_on, &err);
}

/* Clusters of a corpus by size, and pairs that are judged, by site. */
static nd_status run_eval(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  static nd_eval_result result; /* large */
  nd_eval_request by_size = {.truth = truth_path,
                             .result = truth_path,
                             .as = "clusters",
                             .by = "size",
                             .corpus = inputs,
                             .corpus_n = 2};
  nd_eval_request by_site = by_size;
  by_site.as = "pairs", by_site.by = "site", by_site.judged = 1;
  summary = (nd_summary){0};
  nd_status status = nd_eval(&result, &by_size, &o, &going_on, &err);
  if (status == ND_OK) status = nd_eval_write(&result, 0, &sink, &err);
  /* Documents that could not be read are unknown, and said to be. */
  summary.rejected = result.truth.unknown;
  if (status == ND_OK) status = nd_eval(&result, &by_site, &o, &going_on, &err);
  summary.rejected += result.truth.unknown;
  return status == ND_OK ? nd_eval_write(&result, 1, &sink, &err) : status;
}

static nd_status run_explain_text(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_explain_request request = {
      .a = "d0", .b = "d1", .inputs = inputs, .input_n = 2, .colour = 1, .width = 60};
  return job_explain(&summary, &request, &sink, &o, &going_on, &err);
}

/* Texts that lie in memory, one with each line of the first file; then the files. */
static nd_status run_memory(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  static nd_str text[2 * DOCUMENTS + 20];
  nd_chunk chunk = {.layout = ND_LAYOUT_STR, .index = text};
  const char *end = text_of[0].p + text_of[0].n;
  for (const char *p = text_of[0].p; p < end && chunk.n < sizeof text / sizeof *text;) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    text[chunk.n++] = (nd_str){p, (size_t)(stop - p)};
    p = stop + 1;
  }
  nd_text_stream stream = {.chunks = &chunk, .n = 1};
  const char *files[3] = {inputs[0], inputs[1], folder_path};
  const nd_corpus corpora[2] = {
      {.texts = &stream, .against = strstr(self->name, "against") ? &stream : NULL},
      {.files = files, .file_n = 3}};
  nd_status status = ND_OK;
  for (int i = 0; i < 2 && status == ND_OK; i++) {
    nd_result r = {0};
    bool pairs = strstr(self->name, "pairs") != NULL;
    status = (pairs ? job_pairs_memory : job_dedup_memory)(&r, &summary, &corpora[i], &o, &going_on,
                                                           &err);
    if (status == ND_OK && r.keep) append(out, r.keep, (r.n + 7) / 8);
    if (status == ND_OK) append(out, r.a, r.pair_n * 4);
    if (status == ND_OK) append(out, r.b, r.pair_n * 4);
    nd_result_clear(&r);
  }
  return status;
}

/* What Spark does. */
static nd_status run_stages(nd_buf *out, const operation *self) {
  (void)out;
  nd_options o = options_of(self);
  return stage_walk(&summary, inputs, 2, out_path, &o, &err);
}

static nd_status run_sketcher(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sketcher *s;
  nd_str text = nd_buf_str(&text_of[0]), half = {text.p, text.n / 2};
  uint64_t shingles, sketch[2][2000];
  int64_t sums[256] = {0};
  const uint64_t *print;
  size_t n;
  double value = 0;
  summary = (nd_summary){0};
  nd_status status = nd_sketcher_new(&s, &o, &err);
  if (status != ND_OK) return status;
  status = nd_sketcher_text(sketch[0], &shingles, s, text, &err);
  if (status == ND_OK) status = nd_sketcher_compare(&value, s, text, half, &err);
  if (status == ND_OK) status = nd_sketcher_fingerprints(&print, &n, s, half, &err);
  if (status == ND_OK)
    status =
        nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_PROJECTION, .bits = 256, .seed = 1},
                     print, n, &err);
  if (status == ND_OK)
    status = nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_SIMHASH, .bits = 64, .seed = 1},
                          print, n, &err);
  if (status == ND_OK) status = nd_sketcher_sketch(sketch[1], s, print, n, &err);
  if (status == ND_OK) {
    append(out, sketch[0], nd_sketcher_length(s) * sizeof **sketch);
    append(out, sketch[1], nd_sketcher_length(s) * sizeof **sketch);
    append(out, sums, sizeof sums);
    append(out, &value, sizeof value);
  }
  nd_sketcher_free(s);
  return status;
}

/* To a file, merged, shown, and pairs out of both. */
static nd_status run_sketches(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  char one[600], both[600];
  snprintf(one, sizeof one, "%s.one.nds", out_path);
  snprintf(both, sizeof both, "%s.both.nds", out_path);
  const char *files[] = {one, one}, *made[] = {one, both};
  nd_summary other; /* the documents are counted in the first one */
  nd_status status = nd_sketch_documents(
      &summary, &(nd_sketch_request){.inputs = inputs, .input_n = 2, .file = one}, &o, &going_on,
      &err);
  if (status == ND_OK)
    status =
        nd_sketch_merge(&other, &(nd_sketch_request){.inputs = files, .input_n = 2, .file = both},
                        &o, &going_on, &err);
  if (status == ND_OK) status = nd_sketch_info(both, &sink, &going_on, &err);
  if (status == ND_OK)
    status = nd_pairs(&other, &(nd_pairs_request){.inputs = made, .input_n = 2, .sink = &sink}, &o,
                      &going_on, &err);
  unlink(one);
  unlink(both);
  return status;
}

const operation operations[] = {
    {"dedup", run_dedup, {"threads", "1"}, false},
    {"dedup, resumed", run_dedup, {NULL}, true},
    {"dedup again", run_dedup, {"threads", "1"}, false},
    {"dedup, resumed, apart", run_dedup, {NULL}, true},
    {"pairs of pages", run_pages, {"tokens", "web", "threshold", "0.1", "method", "exact"}, false},
    {"pairs of pages, sampled", run_pages, {"sample", "sct:2"}, false},
    {"dedup of a folder",
     run_folder,
     {"keep", "newest", "time-field", "it's late", "threads", "1"},
     false},
    {"dedup of copies", run_copies, {NULL}, false},
    {"dedup of copies, counted",
     run_copies,
     {"cluster", "components", "keep", "centre", "threads", "1"},
     false},
    {"dedup of damaged files", run_damaged, {NULL}, false},
    {"pairs of damaged files", run_damaged, {NULL}, false},
    {"inspect of damaged files", run_damaged, {NULL}, false},
    {"pairs of damaged files, not too long",
     run_damaged,
     {"max-document", "100000", "threads", "1"},
     false},
    {"dedup in shards", run_shards, {NULL}, false},
    {"dedup by join", run_dedup, {"method", "join", "keep", "longest", "threads", "1"}, false},
    {"dedup by components", run_dedup, {"cluster", "components", "threads", "1"}, false},
    {"dedup of a sample", run_dedup, {"sample", "sct:9", "sample", "mod:2"}, false},
    {"pairs of an adaptive sample",
     run_pairs,
     {"method", "exact", "threshold", "0.5", "sample", "adaptive:0.9"},
     false},
    {"pairs without boilerplate", run_pairs, {"ignore-boilerplate", "yes", "threads", "1"}, false},
    {"plan", run_plan, {"threshold", "0.5", "threads", "1"}, false},
    {"study of sampling", run_sampling, {"threads", "1"}, false},
    {"pairs, all of them", run_pairs, {"verify", "none"}, false},
    {"pairs, the best", run_pairs, {"method", "exact", "top", "2"}, false},
    {"pairs by edit distance",
     run_pairs,
     {"method", "join", "similarity", "edit", "threshold", "3"},
     false},
    {"sketches and their columns",
     run_sketches,
     {"method", "combined-site", "columns", "similarity,simhash,site", "weights", "tfidf"},
     false},
    {"pairs with columns", run_pairs, {"columns", "exact,minhash", "threads", "1"}, false},
    {"pairs against others", run_against, {NULL}, false},
    {"inspect", run_inspect, {NULL}, false},
    {"explain", run_explain, {"threads", "1"}, false},
    {"cluster and eval", run_lists, {NULL}, false},
    {"study web", run_study, {"threads", "1"}, false},
    {"study library", run_study, {"threads", "1"}, false},
    {"study web, with pages and truth", run_study_pages, {"threads", "1"}, false},
    {"study web, with pages", run_study_pages, {"threads", "1"}, false},
    {"study library, with pages", run_study_pages, {"threads", "1"}, false},
    {"study sampling, with pages", run_study_pages, {"threads", "1"}, false},
    {"study join, with pages", run_study_pages, {"threads", "1"}, false},
    {"study sources, with pages", run_study_pages, {"threshold", "0.5", "threads", "1"}, false},
    {"prevalence", run_prevalence, {NULL}, false},
    {"eval", run_eval, {NULL}, false},
    {"explain as text", run_explain_text, {NULL}, false},
    {"dedup in memory", run_memory, {NULL}, false},
    {"dedup in memory, against", run_memory, {NULL}, false},
    {"pairs in memory", run_memory, {"method", "exact"}, false},
    {"sketcher", run_sketcher, {NULL}, false},
    {"dedup without boilerplate",
     run_dedup,
     {"ignore-boilerplate", "yes", "keep", "newest"},
     false},
    {"dedup of ranges", run_wide, {NULL}, false},
    {"pairs of ranges", run_wide, {"method", "exact", "weights", "tfidf"}, false},
    {"pairs of ranges, not too long", run_wide, {"max-document", "500000"}, false},
    {"inspect of ranges", run_wide, {NULL}, false},
    {"stages of ranges", run_wide, {NULL}, false},
    {"pairs in memory, the best", run_memory, {"method", "exact", "top", "2"}, false},
    {"pairs in memory, collapsed", run_memory, {"collapse", "yes"}, false},
    {"pairs in little memory", run_little, {"collapse", "yes"}, false},
    {"pairs by values, in little",
     run_little,
     {"family", "linear", "verify", "none", "threads", "1"},
     false},
    {"pairs by values against, in little", run_little, {"family", "linear"}, false},
    {"pairs by values", run_pairs, {"family", "linear", "verify", "none"}, false},
    {"pairs by join, in little", run_little, {"method", "join"}, false},
    {"pairs by exact, in little",
     run_little,
     {"method", "exact", "threshold", "0.3", "threads", "1"},
     false},
    {"pairs by edit, in little",
     run_little,
     {"method", "join", "similarity", "edit", "threshold", "3"},
     false},
    {"pairs by simhash, in little",
     run_little,
     {"method", "simhash", "hamming", "9", "columns", "simhash,site"},
     false},
    {"pairs of a sample, in little",
     run_little,
     {"method", "exact", "sample", "sct:9", "sample", "mod:2", "verify", "exact"},
     false},
    {"pairs of what is left, in little",
     run_little,
     {"ignore-boilerplate", "yes", "verify", "exact"},
     false},
    {"pairs of a crowd", run_crowd, {"method", "exact", "threshold", "0.2"}, false},
    {"pairs of a crowd, in little", run_crowd, {"method", "exact", "threshold", "0.2"}, false},
    {"pairs of a crowd by bands, in little", run_crowd, {"threshold", "0.2"}, false},
    {"pairs of a crowd by simhash",
     run_crowd,
     {"method", "simhash", "hamming", "16", "features", "shingles"},
     false},
    {"pairs of a crowd by values, in little",
     run_crowd,
     {"family", "linear", "threshold", "0.2", "permutations", "16"},
     false},
    {"pairs by edit, all of it shown",
     run_pairs,
     {"method", "join", "similarity", "edit", "threshold", "3", "columns", "similarity,exact"},
     false},
    {"pairs with exact columns",
     run_pairs,
     {"method", "exact", "threshold", "0.5", "columns", "exact,similarity"},
     false},
    {"cluster by stars", run_lists, {"cluster", "star"}, false},
    {"dedup of copies, sampled", run_copies, {"sample", "sct:1"}, false},
    {"pairs by join of a sample",
     run_pairs,
     {"method", "join", "sample", "mod:2", "threads", "1"},
     false},
    {"sketcher of a sample", run_sketcher, {"sample", "mod:2"}, false},
    {"sketches by minhash", run_sketches, {NULL}, false},
    {"sketches of shingles", run_sketches, {"method", "combined", "features", "shingles"}, false},
    {"stages by simhash", run_stages, {"method", "simhash", "hamming", "5"}, false},
    {"stages by projection", run_stages, {"method", "projection"}, false},
    {"stages by supershingles", run_stages, {"method", "supershingle"}, false},
    {"stages", run_stages, {NULL}, false},
    {"stages, by components", run_stages, {"cluster", "components", "keep", "longest"}, false},
    {"stages, exact", run_stages, {"method", "exact", "sample", "sct:9"}, false},
};
const size_t operation_count = sizeof operations / sizeof *operations;

bool writes_folder(const operation *op) {
  return op->run == run_dedup || op->run == run_shards || op->run == run_study_pages ||
         op->run == run_prevalence || op->run == run_stages || op->run == run_copies ||
         op->run == run_folder || (op->run == run_damaged && op->name[0] == 'd') ||
         (op->run == run_wide && (op->name[0] == 'd' || op->name[0] == 's'));
}

/* The join's study measures time: only what is not a number has to be the same. */
static bool is_timed(const operation *op) {
  return strncmp(op->name, "study join", 10) == 0;
}

void gather_result(nd_buf *out, const operation *op) {
  if (!is_timed(op) && writes_folder(op)) gather(out, out_path);
  size_t n = 0;
  for (size_t i = 0; is_timed(op) && i < out->n; i++) {
    if (!strchr("0123456789.-", out->p[i])) out->p[n++] = out->p[i];
  }
  if (is_timed(op)) out->n = n;
}
