/* Reading batches into blocks on all threads; see reading.h. */
#include "read/reading.h"

#include "base/clock.h"
#include "base/threads.h"
#include "read/corpus_weights.h"
#include "read/sign.h"

typedef struct pass {
  nd_reading *reading;
  double began;
  _Atomic uint64_t documents;
  _Atomic int last_tick; /* in tenths of a second */
} pass;

void nd_reading_clear(nd_reading *r) {
  nd_shingle_set_free(r->common);
  nd_shingle_set_free(r->boilerplate);
  r->common = r->boilerplate = NULL;
}

/* A reading thread needs memory for a range, its records and its block. */
unsigned nd_reading_threads(const nd_settings *s) {
  const uint64_t each = UINT64_C(16) << 20, overhead = UINT64_C(32) << 20;
  uint64_t fit = (s->memory + overhead) / each;
  return fit < s->threads ? (unsigned)fit : s->threads;
}

static bool is_done(void *context, uint32_t task, uint32_t part) {
  return nd_store_has(context, task, part);
}

static nd_status tick(pass *p, unsigned member, nd_error *err) {
  nd_reading *r = p->reading;
  ND_TRY(nd_hooks_check(r->hooks, err));
  if (member != 0 || !r->progress) return ND_OK;
  int tenth = (int)((nd_clock_now() - p->began) * 10);
  if (tenth == p->last_tick) return ND_OK;
  p->last_tick = tenth;
  return r->progress(r->context, p->documents, err);
}

/* Reads batches until none is left, on one thread. */
static nd_status read_batches(pass *p, unsigned member, nd_signer *signer, nd_batch *batch,
                              nd_block *block, nd_log *log, nd_error *err) {
  for (;;) {
    bool more;
    ND_TRY(nd_feed_next(&more, batch, p->reading->feed, err));
    if (!more) return ND_OK;
    ND_TRY(nd_signer_batch(block, signer, batch, err));
    ND_TRY(nd_log_append(log, block, err));
    p->documents += block->head.docs;
    ND_TRY(tick(p, member, err));
  }
}

static nd_status read_member(void *context, unsigned member, uint64_t number, nd_error *err) {
  pass *p = context;
  (void)number;
  nd_signer *signer = NULL;
  nd_batch batch = {0};
  nd_block block = {0};
  nd_log log = {0};
  nd_status status = nd_signer_new(&signer, p->reading->settings, err);
  if (status == ND_OK) status = nd_log_open(&log, p->reading->store, err);
  if (status == ND_OK) status = read_batches(p, member, signer, &batch, &block, &log, err);
  if (status == ND_OK) status = nd_log_close(&log, err);
  if (status != ND_OK) {
    nd_log_abandon(&log);
    nd_feed_stop(p->reading->feed);
  }
  nd_signer_free(signer);
  nd_batch_clear(&batch);
  nd_block_clear(&block);
  return status;
}

nd_status nd_reading_run(nd_reading *r, uint64_t documents, nd_error *err) {
  unsigned threads = nd_reading_threads(r->settings);
  nd_feed_skip_done(r->feed, is_done, r->store, threads);
  pass p = {.reading = r, .began = nd_clock_now(), .documents = documents, .last_tick = -1};
  /* Reports at once: the first thread may get no batch, and short runs end before a tick. */
  if (r->progress) ND_TRY(r->progress(r->context, documents, err));
  return nd_threads_run(threads, threads, read_member, &p, err);
}

static nd_status read_otherwise(const nd_reading *r, uint64_t documents, uint64_t rejects,
                                nd_error *err) {
  return nd_fail(err, ND_ERR_IO,
                 "the two passes read different input: %llu documents and %llu rejected records "
                 "while counting, then %llu and %llu; run again, and check for a failing disk if "
                 "it happens again",
                 (unsigned long long)r->count_documents, (unsigned long long)r->count_rejects,
                 (unsigned long long)documents, (unsigned long long)rejects);
}

nd_status nd_reading_counted(nd_reading *r, uint64_t documents, uint64_t rejects, nd_error *err) {
  if (r->counted && (r->count_documents != documents || r->count_rejects != rejects))
    return read_otherwise(r, documents, rejects, err);
  r->counted = true;
  r->count_documents = documents;
  r->count_rejects = rejects;
  return ND_OK;
}

/* Removes blocks that were made with wrong counts. */
static nd_status check_counted(nd_reading *r, nd_error *err) {
  uint64_t documents = 0, rejects = 0;
  for (size_t i = 0; i < r->store->block_n; i++) {
    documents += r->store->blocks[i].head.docs;
    rejects += r->store->blocks[i].head.rejects;
  }
  if (!r->counted || (documents == r->count_documents && rejects == r->count_rejects)) return ND_OK;
  nd_status status = read_otherwise(r, documents, rejects, err);
  for (size_t i = 0; i < r->store->log_n; i++) {
    nd_status gone = nd_io_unlink(r->store->logs[i].path, err); /* `status` is the first error */
    (void)gone;
  }
  return status;
}

/* Gets the first document of the reference collection; the number of documents if there is none. */
static nd_status find_split(uint32_t *out, const nd_reading *r, nd_error *err) {
  const nd_store *s = r->store;
  *out = (uint32_t)s->documents;
  if (!r->settings->options->against[0]) return ND_OK;
  for (size_t i = 0; i < s->block_n; i++) {
    const nd_block_ref *b = &s->blocks[i];
    const nd_task *task = r->feed ? nd_feed_task(r->feed, b->head.task) : NULL;
    if (task && task->file + task->files <= r->walk->inputs) continue;
    uint32_t *file = nd_malloc(b->head.docs * sizeof *file);
    if (!file) return nd_fail_memory(err, b->head.docs * sizeof *file);
    nd_status status = nd_store_column(s, i, ND_COL_FILE, sizeof *file, file, err);
    uint32_t k = 0;
    while (status == ND_OK && k < b->head.docs && file[k] < r->walk->inputs) k++;
    nd_free(file);
    ND_TRY(status);
    if (k == b->head.docs) continue;
    *out = b->first + k;
    return ND_OK;
  }
  return ND_OK;
}

nd_status nd_reading_seal(nd_text_source *source, nd_reading *r, nd_error *err) {
  uint32_t tasks = r->feed ? nd_feed_tasks(r->feed) : (uint32_t)r->walk->n;
  uint64_t *begin = nd_calloc(tasks, sizeof *begin);
  if (!begin) return nd_fail_memory(err, tasks * sizeof *begin);
  for (uint32_t i = 0; i < tasks && r->feed; i++) begin[i] = nd_feed_task(r->feed, i)->begin;
  r->store->without_texts = !r->feed;
  r->store->few_texts = !nd_settings_use_texts(r->settings);
  nd_status status = nd_store_seal(r->store, tasks, begin, err);
  nd_free(begin);
  *source = (nd_text_source){.store = r->store,
                             .walk = r->walk,
                             .feed = r->feed,
                             .settings = r->settings,
                             .hooks = r->hooks};
  if (status == ND_OK) status = find_split(&source->split, r, err);
  if (status == ND_OK && r->feed) status = nd_corpus_weights(r->store, source, err);
  return status == ND_OK ? check_counted(r, err) : status;
}
