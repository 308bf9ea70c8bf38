/* The steps shared by dedup, pairs and other commands; see job.h. */
#include "job/job.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "plan/plan_measure.h"
#include "read/boilerplate_pass.h"
#include "read/census.h"
#include "settings/describe.h"
#include "sketchfile/sketch_load.h"

static double cpu_seconds(void) {
  struct rusage u;
  if (getrusage(RUSAGE_SELF, &u) != 0) return 0; /* untaken: the system never refuses this */
  return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Returns this program's peak memory.  getrusage would include that of a large parent process
 * before exec. */
static uint64_t peak_memory(void) {
  unsigned long kib = 0;
  FILE *f = fopen("/proc/self/status", "re");
  char line[256];
  /* untaken: the system never refuses this */
  while (f && !kib && fgets(line, sizeof line, f)) (void)sscanf(line, "VmHWM: %lu", &kib);
  if (f) fclose(f); /* untaken: the system never refuses this */
  struct rusage u;
  /* untaken: the system never refuses this */
  if (!kib && getrusage(RUSAGE_SELF, &u) == 0) kib = (unsigned long)u.ru_maxrss;
  return (uint64_t)kib * 1024;
}

double nd_job_lap(nd_run *j) {
  double now = nd_clock_now(), seconds = now - j->stage_began;
  j->stage_peak[j->stage++] = peak_memory(); /* after reading, finding, verifying, writing */
  j->stage_began = now;
  return seconds;
}

static void note_settings(nd_summary *summary, const nd_settings *s) {
  summary->permutations = s->permutations;
  summary->bands = s->bands;
  summary->rows = s->rows;
  summary->predicted_recall = s->bands ? s->predicted_recall : 1;
  summary->verify = nd_verify_name(s->verify);
  nd_describe(summary, s);
  summary->sampled = s->sample.on;
  summary->counts = s->similarity->counts;
  summary->max_document = s->input.max_document;
  summary->threads = s->threads;
  summary->memory = s->memory;
}

nd_status nd_job_open(nd_run *j, nd_summary *summary, const nd_options *options,
                      const nd_hooks *hooks, nd_error *err) {
  *j = (nd_run){.options = options, .hooks = hooks, .summary = summary};
  *summary = (nd_summary){0};
  j->began = j->stage_began = nd_clock_now();
  j->cpu_began = cpu_seconds();
  ND_TRY(nd_settings_resolve(&j->settings, options, err));
  const nd_settings *s = &j->settings;
  note_settings(summary, s);
  return ND_OK;
}

void nd_job_close(nd_run *j) {
  nd_run_clear(j);
}

void nd_job_finish(nd_run *j) {
  j->summary->seconds = nd_clock_now() - j->began;
  j->summary->cpu_seconds = cpu_seconds() - j->cpu_began;
  j->summary->peak_memory = peak_memory();
}

nd_status nd_job_input(nd_run *j, const char *const *inputs, size_t n, const char *avoid,
                       const char *spool, nd_error *err) {
  nd_spool stored = {spool, j->options->max_stdin, j->hooks};
  ND_TRY(nd_walk_inputs(&j->walk, inputs, n, avoid, spool ? &stored : NULL, err));
  if (j->options->against[0]) ND_TRY(nd_walk_against(&j->walk, j->options->against, err));
  j->summary->files = j->walk.n;
  const bool sketched = nd_sketch_inputs(&j->walk);
  if (sketched && j->writes_documents)
    return nd_fail(err, ND_ERR_USAGE,
                   "%s holds sketches, and dedup needs documents; use `neardup pairs` and "
                   "`neardup cluster` for clusters",
                   j->walk.files[0].path);
  if (sketched) {
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

static nd_status report_reading(void *context, uint64_t documents, nd_error *err) {
  nd_run *j = context;
  j->summary->documents = documents;
  return nd_run_report(j, "read", nd_feed_done(j->feed), nd_feed_bytes(j->feed), err);
}

static void count_blocks(nd_run *j) {
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

static void begin_reading(nd_run *j) {
  if (j->reading.settings) return;
  j->reading = (nd_reading){.settings = &j->settings,
                            .walk = &j->walk,
                            .feed = j->feed,
                            .store = &j->store,
                            .hooks = j->hooks,
                            .progress = report_reading,
                            .context = j};
}

nd_status nd_job_count(nd_run *j, const char *tmp, nd_error *err) {
  nd_reading *r = &j->reading;
  begin_reading(j);
  const nd_settings *s = &j->settings;
  bool again = j->options->ignore_boilerplate || s->sample.goal.num || s->sample.sct;
  if (again && nd_feed_tasks(j->feed) && nd_feed_task(j->feed, 0)->kind == ND_TASK_MEMORY)
    return nd_fail(err, ND_ERR_USAGE,
                   "--ignore-boilerplate, --sample sct and adaptive:P read the input twice, which "
                   "texts in memory do not allow; use files");
  if (j->options->ignore_boilerplate) ND_TRY(nd_boilerplate_pass(r, tmp, err));
  if (s->sample.goal.num) ND_TRY(nd_plan_for_reading(r, tmp, err));
  if (!s->sample.sct) return ND_OK;
  ND_TRY(nd_census(r, tmp, err));
  j->summary->common_shingles = nd_shingle_set_size(r->common);
  return ND_OK;
}

static nd_status read_documents(nd_run *j, const char *work, nd_error *err) {
  ND_TRY(nd_job_count(j, work, err));
  return nd_reading_run(&j->reading, j->summary->resumed_documents, err);
}

nd_status nd_job_read(nd_run *j, const char *work, nd_error *err) {
  j->store_open = true;
  ND_TRY(nd_store_open(&j->store, work, err));
  begin_reading(j);
  for (size_t i = 0; i < j->store.block_n; i++)
    j->summary->resumed_documents += j->store.blocks[i].head.docs;
  ND_TRY(!j->feed ? nd_sketch_load(&j->store, &j->settings, &j->walk, err)
                  : read_documents(j, work, err));
  j->summary->read_seconds = nd_job_lap(j);
  if (j->settings.shards > 1) {
    count_blocks(j);
    j->summary->shard_only = 1;
    return ND_OK;
  }
  ND_TRY(nd_reading_seal(&j->source, &j->reading, err));
  count_blocks(j);
  /* A run that stores little more than sketches does not keep all ids in memory either. */
  const uint64_t little = j->store.documents * 8, least = 8 << 20;
  const uint64_t share = nd_budget(j->settings.memory, ND_SHARE_IDS);
  uint64_t memory = share;
  if (j->store.few_texts && memory > little) memory = little > least ? little : least;
  if (memory > share) memory = share;
  return nd_ids_new(&j->ids, &j->store, &j->walk, memory, err);
}

typedef struct verifying {
  nd_run *job;
  nd_error *err;
} verifying;

static int verify_tick(void *context, uint64_t done) {
  verifying *v = context;
  return nd_run_report(v->job, "verify", done, 0, v->err) != ND_OK;
}

nd_status nd_job_match(nd_run *j, const char *work, nd_error *err) {
  nd_summary *s = j->summary;
  ND_TRY(nd_run_report(j, "find", 0, 0, err));
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
  if (j->found.direct) { /* the method has counted the pairs already */
    s->candidates = j->found.counted;
    j->verified.sorted = j->found.pairs;
    j->found.pairs = NULL;
    s->verify_seconds = nd_job_lap(j); /* nothing to verify */
    return ND_OK;
  }
  ND_TRY(nd_verify_pairs(&j->verified, &j->found, &j->source, work, verify_tick, &v, err));
  s->candidates = j->verified.candidates;
  s->skipped = j->verified.skipped;
  nd_sorter_free(j->found.pairs);
  j->found.pairs = NULL;
  s->verify_seconds = nd_job_lap(j);
  return ND_OK;
}
