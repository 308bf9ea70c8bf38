/* Every operation with every kind of failure, at every call in turn.
 *
 * An operation is a row: it runs a job of the public API on a small corpus and
 * leaves what came out in a buffer.  A fault is a row: it makes one call of
 * memory, files or threads fail, or all of them short.  Expected each time: the
 * right status and a message, or the right bytes; no descriptor left open; and a
 * rerun without faults that gives the right bytes.  (Leaks are the address
 * sanitizer's to find.)
 *
 * NEARDUP_FAULTS=all tries every call, =places one call of every place in the code
 * (told by who called whom), any other word every call of the operations that it
 * occurs in; otherwise as many calls as a few seconds allow, chosen at random. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/threads.h"
#include "fault_tools.h"
#include "pipeline/workdir.h"
#include "stage_walk.h"

enum { DOCUMENTS = 40 };
static const double SECONDS = 4; /* of all operations together */

static char dir[200];
static char out_path[240], truth_path[240];
static char run_path[2][240], qrels_path[240]; /* of a search system */
static const char *inputs[2] = {corpus_path, second_path};
static nd_summary summary, right; /* of this run; of one without failures */

/* --- operations ------------------------------------------------------------------- */

typedef struct operation {
  const char *name;
  nd_status (*run)(nd_buf *out, const struct operation *self);
  const char *options[8]; /* name, value, … */
  bool resumed;           /* an interrupted run comes first */
} operation;

/* What calls of ours fail: those of the sink, and the question whether to go on. */
static _Atomic uint64_t sink_calls, sink_fails, asked, asked_fails;

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

static const nd_hooks going_on = {NULL, note_progress, ask};

static nd_options options_of(const operation *op) {
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
  return nd_dedup(&summary, inputs, 2, out_path, &o, &going_on, &err);
}

/* Two shards, then the run that puts them together. */
static nd_status run_shards(nd_buf *out, const operation *self) {
  (void)out;
  nd_options o = options_of(self);
  nd_status status = ND_OK;
  const char *const shards[] = {"1/2", "2/2", ""};
  for (int i = 0; i < 3 && status == ND_OK; i++) {
    snprintf(o.shard, sizeof o.shard, "%s", shards[i]);
    status = nd_dedup(&summary, inputs, 2, out_path, &o, &going_on, &err);
  }
  return status;
}

/* The first file's documents, without what is in the second. */
static nd_status run_against(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  snprintf(o.against, sizeof o.against, "%s", second_path);
  return nd_pairs(&summary, inputs, 1, &sink, &o, &going_on, &err);
}

/* Lists, which are read whole or not at all. */
static nd_status run_lists(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  static nd_eval_result result; /* large */
  nd_eval_request request = {.truth = truth_path, .result = truth_path};
  nd_status status = nd_cluster(&summary, truth_path, &sink, &o, &going_on, &err);
  if (status == ND_OK) status = nd_eval(&result, &request, &o, &going_on, &err);
  return status == ND_OK ? nd_eval_write(&result, 1, &sink, &err) : status;
}

/* The first id is that of two documents. */
static nd_status run_explain(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_explain_request request = {
      .a = "d0", .b = "d0", .inputs = inputs, .input_n = 2, .form = ND_EXPLAIN_HTML};
  return nd_explain(&summary, &request, &sink, &o, &going_on, &err);
}

/* "study NAME", against a truth list. */
static nd_status run_study(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_study_request request = {self->name + strlen("study "), inputs, 2, NULL, truth_path};
  return nd_study(&summary, &request, &sink, &o, &going_on, &err);
}

static nd_status run_pairs(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  return nd_pairs(&summary, inputs, 2, &sink, &o, &going_on, &err);
}

static nd_status run_inspect(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  return nd_inspect(&summary, inputs, 2, 1, &sink, &o, &going_on, &err);
}

static nd_status run_plan(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_plan_result result;
  nd_plan_request request = {inputs, 2, {9, 10}, 0};
  return nd_plan(&result, &summary, &request, &sink, &o, &going_on, &err);
}

static nd_status run_sampling(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  nd_study_request request = {"sampling", inputs, 2, NULL, NULL};
  return nd_study(&summary, &request, &sink, &o, &going_on, &err);
}

/* "study NAME …" with a folder of tables, charts and a page. */
static nd_status run_study_pages(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  char name[20];
  sscanf(self->name, "study %19[a-z]", name);
  const char *truth = strstr(self->name, "truth") ? truth_path : NULL;
  nd_study_request request = {name, inputs, 2, out_path, truth};
  return nd_study(&summary, &request, &sink, &o, &going_on, &err);
}

static nd_status run_prevalence(nd_buf *out, const operation *self) {
  (void)self;
  nd_sink sink = {out, collect};
  char filtered[300];
  snprintf(filtered, sizeof filtered, "%s/filtered", out_path);
  const char *runs[] = {run_path[0], run_path[1]};
  nd_prevalence_request request = {.runs = runs,
                                   .run_n = 2,
                                   .qrels = qrels_path,
                                   .pairs = truth_path,
                                   .directory = out_path,
                                   .filtered = filtered};
  nd_prevalence_summary counts;
  summary = (nd_summary){0};
  return nd_prevalence(&counts, &request, &sink, &err);
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
  return nd_explain(&summary, &request, &sink, &o, &going_on, &err);
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
  const nd_corpus corpora[2] = {
      {.texts = &stream, .against = strstr(self->name, "against") ? &stream : NULL},
      {.files = inputs, .file_n = 2}};
  nd_status status = ND_OK;
  for (int i = 0; i < 2 && status == ND_OK; i++) {
    nd_result r = {0};
    bool pairs = strstr(self->name, "pairs") != NULL;
    status =
        (pairs ? nd_pairs_memory : nd_dedup_memory)(&r, &summary, &corpora[i], &o, &going_on, &err);
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
  if (status == ND_OK) status = nd_votes_add(sums, ND_VOTES_PROJECTION, 256, 1, print, n, &err);
  if (status == ND_OK) status = nd_votes_add(sums, ND_VOTES_SIMHASH, 64, 1, print, n, &err);
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

/* To a file, merged, shown, and pairs out of it. */
static nd_status run_sketches(nd_buf *out, const operation *self) {
  nd_options o = options_of(self);
  nd_sink sink = {out, collect};
  char one[600], both[600];
  snprintf(one, sizeof one, "%s.one.nds", out_path);
  snprintf(both, sizeof both, "%s.both.nds", out_path);
  const char *files[] = {one, one}, *merged = both;
  nd_summary other; /* the documents are counted in the first one */
  nd_status status = nd_sketch_documents(&summary, inputs, 2, one, &o, &going_on, &err);
  if (status == ND_OK) status = nd_sketch_merge(&other, files, 2, both, &err);
  if (status == ND_OK) status = nd_sketch_info(both, &sink, &err);
  if (status == ND_OK) status = nd_pairs(&other, &merged, 1, &sink, &o, &going_on, &err);
  unlink(one);
  unlink(both);
  return status;
}

static const operation operations[] = {
    {"dedup", run_dedup, {NULL}, false},
    {"dedup, resumed", run_dedup, {NULL}, true},
    {"dedup in shards", run_shards, {NULL}, false},
    {"dedup by join", run_dedup, {"method", "join", "keep", "longest"}, false},
    {"dedup by components", run_dedup, {"cluster", "components"}, false},
    {"dedup of a sample", run_dedup, {"sample", "sct:9", "sample", "mod:2"}, false},
    {"pairs of an adaptive sample",
     run_pairs,
     {"method", "exact", "threshold", "0.5", "sample", "adaptive:0.9"},
     false},
    {"pairs without boilerplate", run_pairs, {"ignore-boilerplate", "yes"}, false},
    {"plan", run_plan, {"threshold", "0.5"}, false},
    {"study of sampling", run_sampling, {NULL}, false},
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
    {"pairs with columns", run_pairs, {"columns", "exact,minhash"}, false},
    {"pairs against others", run_against, {NULL}, false},
    {"inspect", run_inspect, {NULL}, false},
    {"explain", run_explain, {NULL}, false},
    {"cluster and eval", run_lists, {NULL}, false},
    {"study web", run_study, {NULL}, false},
    {"study library", run_study, {NULL}, false},
    {"study web, with pages and truth", run_study_pages, {NULL}, false},
    {"study web, with pages", run_study_pages, {NULL}, false},
    {"study library, with pages", run_study_pages, {NULL}, false},
    {"study sampling, with pages", run_study_pages, {NULL}, false},
    {"study join, with pages", run_study_pages, {NULL}, false},
    {"study sources, with pages", run_study_pages, {"threshold", "0.5"}, false},
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
    {"stages", run_stages, {NULL}, false},
    {"stages, by components", run_stages, {"cluster", "components", "keep", "longest"}, false},
    {"stages, exact", run_stages, {"method", "exact", "sample", "sct:9"}, false},
};

static bool writes_folder(const operation *op) {
  return op->run == run_dedup || op->run == run_shards || op->run == run_study_pages ||
         op->run == run_prevalence || op->run == run_stages;
}

/* The join's study measures time: only what is not a number has to be the same. */
static bool is_timed(const operation *op) {
  return strncmp(op->name, "study join", 10) == 0;
}

static void gather_result(nd_buf *out, const operation *op) {
  if (!is_timed(op) && writes_folder(op)) gather(out, out_path);
  size_t n = 0;
  for (size_t i = 0; is_timed(op) && i < out->n; i++) {
    if (!strchr("0123456789.-", out->p[i])) out->p[n++] = out->p[i];
  }
  if (is_timed(op)) out->n = n;
}

/* --- faults -------------------------------------------------------------------------- */

static void no_faults(void) {
  nd_mem_fail_at(0);
  nd_io_fail_at(0, 0);
  nd_io_short(0);
  nd_threads_fail_at(0);
  sink_fails = asked_fails = 0;
}

static void memory(uint64_t nth) {
  nd_mem_fail_at(nth);
}
static void full_disk(uint64_t nth) {
  nd_io_fail_at(nth, ENOSPC);
}
static void bad_disk(uint64_t nth) {
  nd_io_fail_at(nth, EIO);
}
static void no_descriptors(uint64_t nth) {
  nd_io_fail_at(nth, EMFILE);
}
static void read_only(uint64_t nth) {
  nd_io_fail_at(nth, EROFS);
}
static void interrupted(uint64_t nth) {
  nd_io_fail_at(nth, EINTR);
}
static void no_thread(uint64_t nth) {
  nd_threads_fail_at(nth);
}
static void short_calls(uint64_t nth) {
  nd_io_fail_at(UINT64_MAX, 0);
  nd_io_short(nth % 7 + 1);
}

static void closed_sink(uint64_t nth) {
  sink_calls = 0;
  sink_fails = nth;
}
static uint64_t count_sink(void) {
  return sink_calls;
}
static void cancelled(uint64_t nth) {
  asked = 0;
  asked_fails = nth;
}
static uint64_t count_asked(void) {
  return asked;
}

typedef struct fault {
  const char *name;
  void (*at)(uint64_t nth);
  uint64_t (*count)(void);
  void (*watch)(nd_watch watching); /* NULL: every call is a place */
  nd_status status;                 /* a failure's */
  bool harmless;                    /* nothing may come of it */
} fault;

static const fault faults[] = {
    {"no memory", memory, nd_mem_count, nd_mem_watch, ND_ERR_MEMORY, false},
    {"full disk", full_disk, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"bad disk", bad_disk, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"no descriptor", no_descriptors, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"read-only", read_only, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"interrupted", interrupted, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"no thread", no_thread, nd_threads_count, NULL, ND_OK, true},
    {"short calls", short_calls, nd_io_count, NULL, ND_OK, true},
    {"closed sink", closed_sink, count_sink, NULL, ND_ERR_IO, false},
    {"cancelled", cancelled, count_asked, NULL, ND_ERR_CANCELLED, false},
};
enum { FAULTS = sizeof faults / sizeof *faults };

/* --- one failure -------------------------------------------------------------------- */

static void remove_out(void) {
  ok(nd_remove_tree(out_path, &err));
}

static int stop_soon(void *context) { /* asked by any thread */
  return atomic_fetch_add((_Atomic int *)context, 1) >= 4;
}

/* A run that was interrupted, for the operation to go on with. */
static void interrupt_first(const operation *op) {
  _Atomic int times = 0;
  nd_hooks hooks = {&times, NULL, stop_soon};
  nd_options o = options_of(op);
  assert_int_equal(nd_dedup(&summary, inputs, 2, out_path, &o, &hooks, &err), ND_ERR_CANCELLED);
}

static nd_status run(nd_buf *out, const operation *op) {
  out->n = 0;
  err = (nd_error){0};
  return op->run(out, op);
}

/* What came out, when it has to be right. */
static void check_result(nd_buf *got, const nd_buf *want, const operation *op, const char *when) {
  gather_result(got, op);
  if (got->n != want->n || memcmp(got->p, want->p, got->n) != 0)
    fail_msg("%s: other bytes %s", op->name, when);
}

static bool only_places(void) {
  const char *wanted = getenv("NEARDUP_FAULTS");
  return wanted && strcmp(wanted, "places") == 0;
}

static void fail_once(nd_buf *got, const operation *op, const nd_buf *want, const fault *f,
                      uint64_t nth) {
  if (writes_folder(op)) remove_out();
  if (op->resumed) interrupt_first(op);
  size_t files = open_files();
  f->at(nth);
  nd_status status = run(got, op);
  uint64_t count = f->count();
  no_faults();
  if (open_files() != files)
    fail_msg("%s, %s at %lu: a descriptor is open", op->name, f->name, nth);
  if (status != ND_OK) {
    /* A document that is in a file that cannot be read is not there. */
    bool missing =
        strncmp(op->name, "explain", 7) == 0 && status == ND_ERR_DATA && f->status == ND_ERR_IO;
    if (f->harmless || (status != f->status && !missing) || !err.message[0])
      fail_msg("%s, %s at %lu: %s: %s", op->name, f->name, nth, nd_status_name(status),
               err.message);
    assert_true(count >= nth);
  } else if (summary.rejected == right.rejected && summary.documents == right.documents &&
             summary.against_documents == right.against_documents) {
    char when[80];
    snprintf(when, sizeof when, "after %s at %lu without consequence", f->name, nth);
    check_result(got, want, op, when);
  } else { /* an input that could not be read is rejected, and said to be */
    assert_int_equal(f->status, ND_ERR_IO);
    assert_true(summary.rejected > 0);
    if (writes_folder(op)) remove_out();
  }
  if (only_places() && nth % 8) return; /* reruns are tried elsewhere, mostly */
  status = run(got, op);
  if (status != ND_OK)
    fail_msg("%s again after %s at %lu: %s", op->name, f->name, nth, err.message);
  check_result(got, want, op, "in the rerun");
  ok(remove_left_behind(dir, &err));
  static const char *const known[] = {"corpus.jsonl", "second.jsonl", "truth.tsv", "out",
                                      "run1",         "run2",         "qrels",     NULL};
  const char *left = left_behind(dir, known);
  if (left[0]) fail_msg("%s, %s at %lu leaves behind:%s", op->name, f->name, nth, left);
}

/* Tries calls in random order until `end`. */
static uint64_t try_fault(nd_buf *got, const operation *op, const nd_buf *want, const fault *f,
                          double end) {
  /* A quick run tries a third of the kinds of failure with each operation. */
  if (!getenv("NEARDUP_FAULTS") && nd_rng_below(&rng, 3)) return 0;
  if (writes_folder(op)) remove_out();
  if (op->resumed) interrupt_first(op);
  bool places = only_places() && f->watch;
  place_n = 0;
  place_kind = (uint64_t)(f - faults) + 1;
  f->at(UINT64_MAX);
  if (places) f->watch(note_place);
  ok(run(got, op));
  uint64_t n = f->at == short_calls ? 7 : f->count(), tried = 0;
  no_faults();
  if (places) f->watch(NULL), n = place_n;
  uint64_t *order = shuffled(n, &rng);
  for (size_t i = 0; places && i < n; i++) order[i] = place_call[i];
  if (places && f->at != memory && f->at != bad_disk) {
    /* The same places with another error: some of them. */
    for (size_t i = 0; i < n / 4; i++) order[i] = order[4 * i];
    n /= 4;
  } else if (only_places() && !places && n > 64) {
    n = 64;
  }
  for (; tried < n && (tried == 0 || now() < end); tried++)
    fail_once(got, op, want, f, order[tried]);
  free(order);
  return tried;
}

static void try_operation(const operation *op, double seconds) {
  const char *wanted = getenv("NEARDUP_FAULTS");
  if (wanted && strcmp(wanted, "all") != 0 && !only_places() && !strstr(op->name, wanted)) return;
  nd_buf want = {0}, got = {0};
  uint64_t tried = 0;
  ok(nd_buf_reserve(&want, 1 << 20, &err)); /* the sink itself does not fail */
  ok(nd_buf_reserve(&got, 1 << 20, &err));
  if (writes_folder(op)) remove_out();
  ok(run(&want, op));
  right = summary;
  gather_result(&want, op);
  assert_true(want.n > 0);
  for (int i = 0; i < FAULTS; i++) {
    double end = now() + seconds / FAULTS;
    tried += try_fault(&got, op, &want, &faults[i], end);
  }
  print_message("%-28s %lu failures\n", op->name, tried);
  nd_buf_clear(&want);
  nd_buf_clear(&got);
}

/* --- tests --------------------------------------------------------------------------- */

static double share(size_t parts) {
  return getenv("NEARDUP_FAULTS") ? 1e9 : SECONDS / 2 / (double)parts;
}

static void operations_fail_cleanly(void **state) {
  (void)state;
  nd_mem_strict(only_places());
  make_varied_corpus(DOCUMENTS, true);
  size_t n = sizeof operations / sizeof *operations;
  for (size_t i = 0; i < n; i++) try_operation(&operations[i], share(n));
}

/* The words of --method in the table of options, so that a new one is here too. */
static void methods_fail_cleanly(void **state) {
  (void)state;
  make_varied_corpus(DOCUMENTS, true);
  const nd_option_info *info = nd_option_table();
  while (strcmp(info->name, "method") != 0) info++;
  char words[400];
  size_t methods = 1;
  snprintf(words, sizeof words, "%s", info->values);
  for (const char *p = words; *p; p++) methods += *p == ' ';
  char *rest = NULL;
  for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    char name[40];
    snprintf(name, sizeof name, "pairs by %s", word);
    operation op = {name, run_pairs, {"method", word}, false};
    try_operation(&op, share(methods));
  }
}

static int setup(void **state) {
  (void)state;
  if (!begin_folder(dir, sizeof dir, "faults")) return -1;
  snprintf(corpus_path, sizeof corpus_path, "%s/corpus.jsonl", dir);
  snprintf(second_path, sizeof second_path, "%s/second.jsonl", dir);
  snprintf(out_path, sizeof out_path, "%s/out", dir);
  snprintf(truth_path, sizeof truth_path, "%s/truth.tsv", dir);
  nd_buf truth = {0};
  for (int i = 0; i < 40; i += 2) ok(nd_buf_printf(&truth, &err, "d%d\td%d\t1\n", i, i + 1));
  write_file(truth_path, &truth);
  nd_buf_clear(&truth);
  nd_buf lines[3] = {{0}, {0}, {0}};
  for (int topic = 1; topic < 4; topic++) {
    for (int i = 0; i < 20; i++) {
      ok(nd_buf_printf(&lines[0], &err, "%d Q0 d%d %d %d.5 one\n", topic, i, i, 100 - i));
      ok(nd_buf_printf(&lines[1], &err, "%d Q0 d%d %d %d two\n", topic, 39 - i, i, 100 - i));
      ok(nd_buf_printf(&lines[2], &err, "%d 0 d%d %d\n", topic, 2 * i, i % 3));
    }
  }
  const char *const names[3] = {"run1", "run2", "qrels"};
  char *const paths[3] = {run_path[0], run_path[1], qrels_path};
  for (int i = 0; i < 3; i++) {
    snprintf(paths[i], sizeof qrels_path, "%s/%s", dir, names[i]);
    write_file(paths[i], &lines[i]);
    nd_buf_clear(&lines[i]);
  }
  setenv("TMPDIR", dir, 1); /* where pairs puts its temporary files */
  return 0;
}

static int clear_faults(void **state) {
  (void)state;
  no_faults();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  remove_out();
  unlink(corpus_path);
  unlink(second_path);
  unlink(truth_path);
  unlink(run_path[0]);
  unlink(run_path[1]);
  unlink(qrels_path);
  nd_buf_clear(&text_of[0]);
  nd_buf_clear(&text_of[1]);
  return remove_folder(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(operations_fail_cleanly, clear_faults),
      cmocka_unit_test_teardown(methods_fail_cleanly, clear_faults),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
