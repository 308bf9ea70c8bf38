/* The stages that dedup and pairs share; see job.h. */
#include "pipeline/job.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/threads.h"
#include "pipeline/census.h"
#include "pipeline/describe.h"
#include "pipeline/late.h"
#include "pipeline/sign.h"
#include "pipeline/sketch_load.h"

static double cpu_seconds(void) {
  struct rusage u;
  if (getrusage(RUSAGE_SELF, &u) != 0) return 0;
  return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static double since(const struct timespec *t) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) * 1e-9;
}

/* Of this program alone: getrusage also counts what a large parent had before
 * it started us. */
static uint64_t peak_memory(void) {
  unsigned long kib = 0;
  FILE *f = fopen("/proc/self/status", "re");
  char line[256];
  while (f && !kib && fgets(line, sizeof line, f)) (void)sscanf(line, "VmHWM: %lu", &kib);
  if (f) fclose(f);
  struct rusage u;
  if (!kib && getrusage(RUSAGE_SELF, &u) == 0) kib = (unsigned long)u.ru_maxrss;
  return (uint64_t)kib * 1024;
}

double nd_job_lap(nd_job_run *j) {
  double seconds = since(&j->stage_began);
  j->stage_peak[j->stage++] = peak_memory(); /* reading, finding, verifying, writing */
  clock_gettime(CLOCK_MONOTONIC, &j->stage_began);
  return seconds;
}

static void note_settings(nd_summary *summary, const nd_settings *s) {
  summary->permutations = s->permutations;
  summary->bands = s->bands;
  summary->rows = s->rows;
  summary->predicted_recall = s->bands ? s->predicted_recall : 1;
  summary->verify = s->verify;
  nd_describe(summary, s);
  summary->sampled = s->sample.on;
  summary->max_document = s->input.max_document;
  summary->threads = s->threads;
  summary->memory = s->memory;
}

nd_status nd_job_open(nd_job_run *j, nd_summary *summary, const nd_options *options,
                      const nd_hooks *hooks, nd_error *err) {
  *j = (nd_job_run){.options = options, .hooks = hooks, .summary = summary};
  *summary = (nd_summary){0};
  clock_gettime(CLOCK_MONOTONIC, &j->began);
  j->stage_began = j->began;
  j->cpu_began = cpu_seconds();
  ND_TRY(nd_settings_check(&j->settings, options, err));
  const nd_settings *s = &j->settings;
  note_settings(summary, s);
  return ND_OK;
}

void nd_job_close(nd_job_run *j) {
  nd_ids_free(j->ids);
  nd_confirmed_clear(&j->confirmed);
  nd_found_clear(&j->found);
  if (j->store_open) nd_store_close(&j->store);
  nd_feed_free(j->feed);
  nd_walk_clear(&j->walk);
  nd_shingle_set_free(j->common);
  nd_shingle_set_free(j->passages);
}

void nd_job_finish(nd_job_run *j) {
  j->summary->seconds = since(&j->began);
  j->summary->cpu_seconds = cpu_seconds() - j->cpu_began;
  j->summary->peak_memory = peak_memory();
}

nd_status nd_job_report(nd_job_run *j, const char *stage, uint64_t done, uint64_t total,
                        nd_error *err) {
  const nd_hooks *h = j->hooks;
  if (!h) return ND_OK;
  if (h->progress) {
    nd_progress p = {stage, done, total, j->summary->documents, since(&j->began)};
    h->progress(h->context, &p);
  }
  return nd_hooks_check(h, err);
}

nd_status nd_job_plan(nd_job_run *j, const char *const *inputs, size_t n, const char *avoid,
                      const char *spool, nd_error *err) {
  nd_spool stored = {spool, j->options->max_stdin, j->hooks};
  ND_TRY(nd_walk_inputs(&j->walk, inputs, n, avoid, spool ? &stored : NULL, err));
  if (j->options->against[0]) ND_TRY(nd_walk_against(&j->walk, j->options->against, err));
  j->summary->files = j->walk.n;
  j->sketched = nd_sketch_inputs(&j->walk);
  if (j->sketched && j->writes_documents)
    return nd_fail(err, ND_ERR_USAGE,
                   "%s holds sketches, and dedup writes documents: use `neardup pairs`, and "
                   "`neardup cluster` for clusters",
                   j->walk.files[0].path);
  if (j->sketched) {
    for (size_t i = 0; i < j->walk.n; i++) j->summary->bytes += j->walk.files[i].size;
    ND_TRY(nd_sketch_settings(&j->settings, &j->adopted, &j->walk, err));
    note_settings(j->summary, &j->settings);
    return ND_OK;
  }
  ND_TRY(nd_feed_new(&j->feed, &j->walk, j->settings.format, &j->settings.input, err));
  j->summary->bytes = nd_feed_bytes(j->feed);
  nd_feed_shard(j->feed, j->settings.shard, j->settings.shards);
  return ND_OK;
}

typedef struct reading {
  nd_job_run *job;
  _Atomic uint64_t documents;
  _Atomic int last_tick; /* tenths of a second: the bar moves at most so often */
} reading;

static bool is_done(void *context, uint32_t task, uint32_t part) {
  return nd_store_has(context, task, part);
}

static nd_status tick(reading *r, unsigned member, nd_error *err) {
  nd_job_run *j = r->job;
  ND_TRY(nd_hooks_check(j->hooks, err));
  if (member != 0) return ND_OK;
  int tenth = (int)(since(&j->began) * 10);
  if (tenth == r->last_tick) return ND_OK;
  r->last_tick = tenth;
  j->summary->documents = r->documents;
  return nd_job_report(j, "read", nd_feed_done(j->feed), nd_feed_bytes(j->feed), err);
}

/* One thread: batches until none is left. */
static nd_status read_batches(reading *r, unsigned member, nd_signer *signer, nd_batch *batch,
                              nd_block *block, nd_log *log, nd_error *err) {
  for (;;) {
    bool more;
    ND_TRY(nd_feed_next(&more, batch, r->job->feed, err));
    if (!more) return ND_OK;
    ND_TRY(nd_signer_batch(block, signer, batch, err));
    ND_TRY(nd_log_append(log, block, err));
    r->documents += block->head.docs;
    ND_TRY(tick(r, member, err));
  }
}

static nd_status read_member(void *context, unsigned member, uint64_t number, nd_error *err) {
  reading *r = context;
  (void)number;
  nd_signer *signer = NULL;
  nd_batch batch = {0};
  nd_block block = {0};
  nd_log log = {0};
  nd_status status = nd_signer_new(&signer, &r->job->settings, err);
  if (status == ND_OK) status = nd_log_open(&log, &r->job->store, err);
  if (status == ND_OK) status = read_batches(r, member, signer, &batch, &block, &log, err);
  if (status == ND_OK) status = nd_log_close(&log, err);
  if (status != ND_OK) {
    nd_log_abandon(&log);
    nd_feed_stop(r->job->feed);
  }
  nd_signer_free(signer);
  nd_batch_clear(&batch);
  nd_block_clear(&block);
  return status;
}

static void count_blocks(nd_job_run *j) {
  nd_summary *s = j->summary;
  s->documents = 0;
  for (size_t i = 0; i < j->store.block_n; i++) {
    const nd_block_header *h = &j->store.blocks[i].head;
    s->documents += h->docs + h->rejects;
    s->rejected += h->rejects;
    s->raw_bytes += h->raw_bytes;
    s->others += h->others;
    s->empty += h->empties;
    s->tokens += h->tokens;
    s->boilerplate_tokens += h->boilerplate_tokens;
    s->boilerplate_documents += h->boilerplate_documents;
    s->boilerplate_whole += h->boilerplate_whole;
    s->no_site += h->no_site;
    s->sample_seen += h->sample_seen;
    s->sample_kept += h->sample_kept;
    s->sample_emptied += h->sample_emptied;
  }
  s->documents += j->walk.problem_n;
  s->rejected += j->walk.problem_n;
  s->temporary_bytes = nd_store_bytes(&j->store);
}

/* The number of the first document of the other collection; all documents when
 * there is none. */
static nd_status find_split(uint32_t *out, const nd_job_run *j, nd_error *err) {
  const nd_store *s = &j->store;
  *out = (uint32_t)s->documents;
  if (!j->options->against[0]) return ND_OK;
  for (size_t i = 0; i < s->block_n; i++) {
    const nd_block_ref *b = &s->blocks[i];
    const nd_task *task = j->sketched ? NULL : nd_feed_task(j->feed, b->head.task);
    if (task && task->file + task->files <= j->walk.inputs) continue;
    uint32_t *file = nd_malloc(b->head.docs * sizeof *file);
    if (!file) return nd_fail_memory(err, b->head.docs * sizeof *file);
    nd_status status = nd_store_column(s, i, ND_COL_FILE, sizeof *file, file, err);
    uint32_t k = 0;
    while (status == ND_OK && k < b->head.docs && file[k] < j->walk.inputs) k++;
    nd_free(file);
    ND_TRY(status);
    if (k == b->head.docs) continue;
    *out = b->first + k;
    return ND_OK;
  }
  return ND_OK;
}

static nd_status seal(nd_job_run *j, nd_error *err) {
  uint32_t tasks = j->sketched ? (uint32_t)j->walk.n : nd_feed_tasks(j->feed);
  uint64_t *begin = nd_calloc(tasks, sizeof *begin);
  if (!begin) return nd_fail_memory(err, tasks * sizeof *begin);
  for (uint32_t i = 0; i < tasks && !j->sketched; i++) begin[i] = nd_feed_task(j->feed, i)->begin;
  j->store.without_texts = j->sketched;
  j->store.few_texts = !nd_settings_use_texts(&j->settings);
  nd_status status = nd_store_seal(&j->store, tasks, begin, err);
  nd_free(begin);
  if (status == ND_OK) status = find_split(&j->split, j, err);
  j->source = (nd_text_source){.store = &j->store,
                               .walk = &j->walk,
                               .feed = j->feed,
                               .settings = &j->settings,
                               .hooks = j->hooks,
                               .split = j->split};
  if (status == ND_OK && !j->sketched) status = nd_late_weights(&j->store, &j->source, err);
  return status;
}

/* A reading thread holds a range, its records and its block: as many as fit. */
unsigned nd_job_reading_threads(const nd_settings *s) {
  const uint64_t each = UINT64_C(16) << 20, spare = UINT64_C(32) << 20;
  uint64_t fit = (s->memory + spare) / each;
  return fit < s->threads ? (unsigned)fit : s->threads;
}

static nd_status read_documents(nd_job_run *j, const char *work, nd_error *err) {
  unsigned threads = nd_job_reading_threads(&j->settings);
  ND_TRY(nd_census(j, work, err));
  nd_feed_skip_done(j->feed, is_done, &j->store, threads);
  reading r = {.job = j, .documents = j->summary->resumed_documents, .last_tick = -1};
  return nd_threads_run(threads, threads, read_member, &r, err);
}

static nd_status read_otherwise(const nd_job_run *j, uint64_t documents, uint64_t rejects,
                                nd_error *err) {
  return nd_fail(
      err, ND_ERR_IO,
      "the input could not be read alike twice: %llu documents and %llu rejected records "
      "while counting, then %llu and %llu; run again, and look for a failing disk if "
      "that repeats",
      (unsigned long long)j->count_documents, (unsigned long long)j->count_rejects,
      (unsigned long long)documents, (unsigned long long)rejects);
}

nd_status nd_job_counted(nd_job_run *j, uint64_t documents, uint64_t rejects, nd_error *err) {
  if (j->counted && (j->count_documents != documents || j->count_rejects != rejects))
    return read_otherwise(j, documents, rejects, err);
  j->counted = true;
  j->count_documents = documents;
  j->count_rejects = rejects;
  return ND_OK;
}

/* Blocks that were made with wrong counts must not be gone on with. */
static nd_status check_counted(nd_job_run *j, nd_error *err) {
  uint64_t documents = 0, rejects = 0;
  for (size_t i = 0; i < j->store.block_n; i++) {
    documents += j->store.blocks[i].head.docs;
    rejects += j->store.blocks[i].head.rejects;
  }
  if (!j->counted || (documents == j->count_documents && rejects == j->count_rejects)) return ND_OK;
  nd_status status = read_otherwise(j, documents, rejects, err);
  for (size_t i = 0; i < j->store.log_n; i++) {
    nd_status gone = nd_io_unlink(j->store.logs[i].path, err); /* one that stays is told instead */
    (void)gone;
  }
  return status;
}

nd_status nd_job_read(nd_job_run *j, const char *work, nd_error *err) {
  j->store_open = true;
  ND_TRY(nd_store_open(&j->store, work, err));
  for (size_t i = 0; i < j->store.block_n; i++)
    j->summary->resumed_documents += j->store.blocks[i].head.docs;
  ND_TRY(j->sketched ? nd_sketch_load(&j->store, &j->settings, &j->walk, err)
                     : read_documents(j, work, err));
  j->summary->read_seconds = nd_job_lap(j);
  if (j->settings.shards > 1) {
    count_blocks(j);
    j->summary->shard_only = 1;
    return ND_OK;
  }
  ND_TRY(seal(j, err));
  ND_TRY(check_counted(j, err));
  count_blocks(j);
  /* A run that holds little more than sketches does not hold all ids either. */
  const uint64_t little = j->store.documents * 8, least = 8 << 20;
  uint64_t memory = j->settings.memory / 16;
  if (j->store.few_texts && memory > little) memory = little > least ? little : least;
  if (memory > j->settings.memory / 16) memory = j->settings.memory / 16;
  return nd_ids_new(&j->ids, &j->store, &j->walk, memory, err);
}

typedef struct verifying {
  nd_job_run *job;
  nd_error *err;
} verifying;

static int verify_tick(void *context, uint64_t done) {
  verifying *v = context;
  return nd_job_report(v->job, "verify", done, 0, v->err) != ND_OK;
}

nd_status nd_job_match(nd_job_run *j, const char *work, nd_error *err) {
  nd_summary *s = j->summary;
  ND_TRY(nd_job_report(j, "find", 0, 0, err));
  ND_TRY(nd_find(&j->found, &j->source, work, err));
  s->copies = j->found.copies;
  s->join = j->found.join;
  s->repeated_ids = j->found.repeated_ids;
  if (j->found.repeated_id_n) {
    nd_buf id = {0};
    nd_status status = nd_ids_append(&id, j->ids, j->found.repeated_id[0], err);
    size_t n = id.n < sizeof s->repeated_id - 1 ? id.n : sizeof s->repeated_id - 1;
    if (status == ND_OK) memcpy(s->repeated_id, id.p, n);
    nd_buf_clear(&id);
    ND_TRY(status);
  }
  const nd_bucket_stats *b = &j->found.buckets;
  s->buckets = b->buckets;
  s->hot_buckets = b->hot;
  s->hot_documents = b->hot_documents;
  s->largest_bucket = b->largest;
  s->find_seconds = nd_job_lap(j);
  verifying v = {j, err};
  if (j->found.direct) { /* counted already */
    s->candidates = j->found.counted;
    j->confirmed.sorted = j->found.pairs;
    j->found.pairs = NULL;
    s->verify_seconds = nd_job_lap(j); /* nothing was left to do */
    return ND_OK;
  }
  ND_TRY(nd_confirm(&j->confirmed, &j->found, &j->source, work, verify_tick, &v, err));
  s->candidates = j->confirmed.candidates;
  s->spared = j->confirmed.spared;
  nd_sorter_free(j->found.pairs);
  j->found.pairs = NULL;
  s->verify_seconds = nd_job_lap(j);
  return ND_OK;
}

nd_status nd_job_block_rejects(const nd_job_run *j, size_t block, nd_buf *scratch,
                               nd_reject_each each, void *context, nd_error *err) {
  const nd_block_header *h = &j->store.blocks[block].head;
  if (!h->rejects) return ND_OK;
  scratch->n = 0;
  ND_TRY(nd_buf_reserve(scratch, h->reject_bytes, err));
  uint64_t at = nd_block_column(h, ND_COLUMNS) + h->id_bytes + h->text_bytes;
  ND_TRY(nd_store_read(&j->store, block, at, scratch->p, h->reject_bytes, err));
  const char *p = scratch->p;
  for (uint32_t i = 0; i < h->rejects; i++) {
    nd_reject r = {.block = block};
    uint32_t small[3];
    memcpy(&r.offset, p, 8);
    memcpy(&r.length, p + 8, 8);
    memcpy(small, p + 16, sizeof small);
    r.file = small[0];
    r.line = small[1];
    r.reason = (nd_str){p + 16 + sizeof small, small[2]};
    p += 16 + sizeof small + small[2];
    ND_TRY(each(context, &r, err));
  }
  return ND_OK;
}

nd_status nd_job_rejects(nd_job_run *j, nd_reject_each each, void *context, nd_error *err) {
  nd_buf scratch = {0};
  nd_status status = ND_OK;
  for (size_t i = 0; i < j->store.block_n && status == ND_OK; i++)
    status = nd_job_block_rejects(j, i, &scratch, each, context, err);
  nd_buf_clear(&scratch);
  ND_TRY(status);
  for (size_t i = 0; i < j->walk.problem_n; i++) {
    nd_reject r = {.block = SIZE_MAX,
                   .path = j->walk.problems[i].path,
                   .reason = nd_str_of(j->walk.problems[i].reason)};
    ND_TRY(each(context, &r, err));
  }
  return ND_OK;
}
