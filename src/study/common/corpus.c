/* Iteration over the documents of a corpus; see corpus.h. */
#include "study/common/corpus.h"

#include <stdlib.h>

#include "job/job.h"
#include "output/tsv.h"
#include "read/sign.h"
#include "store/workdir.h"

typedef struct walker {
  nd_run job;
  nd_batch batch;
  nd_signer *signer;
  nd_buf id;
  uint64_t line_base; /* lines before the range being read */
  uint32_t range_file;
  nd_corpus_each_fn each;
  void *context;
} walker;

/* Names a document as in lists of pairs; see ids.h. */
static nd_status name_document(walker *w, const nd_raw *raw, nd_str own, nd_error *err) {
  w->id.n = 0;
  if (own.n) return nd_tsv_append(&w->id, own, err);
  return nd_ids_append_location(&w->id, w->job.walk.files[raw->file].path,
                                raw->line ? w->line_base + raw->line : 0, raw->offset, err);
}

static nd_status take_record(walker *w, const nd_raw *raw, nd_error *err) {
  nd_summary *s = w->job.summary;
  nd_read read;
  nd_error local;
  nd_status status = ND_ERR_DATA;
  if (!raw->rejected) {
    nd_str bytes = {w->batch.bytes.p + raw->at, raw->n};
    status = nd_signer_read(&read, w->signer, raw->format, bytes, &local);
  }
  if (status == ND_ERR_DATA || status == ND_ERR_LIMIT) {
    s->rejected++;
    s->documents++;
    return ND_OK;
  }
  if (status != ND_OK) {
    nd_error_pass(err, &local);
    return status;
  }
  if (read.document.kind == ND_KIND_OTHER) {
    s->others++;
    return ND_OK;
  }
  s->documents++;
  s->kept++;
  s->tokens += read.tokens->count;
  s->empty += read.tokens->count == 0;
  ND_TRY(name_document(w, raw, read.document.id, err));
  nd_corpus_document d = {nd_buf_str(&w->id), read.document.url, read.tokens};
  return w->each(w->context, &d, err);
}

static nd_status walk_all(walker *w, const char *const *inputs, size_t n, const char *work,
                          const char *spool, nd_error *err) {
  nd_summary *s = w->job.summary;
  ND_TRY(nd_job_input(&w->job, inputs, n, NULL, spool, err));
  ND_TRY(nd_job_count(&w->job, work, err));
  ND_TRY(nd_signer_new(&w->signer, &w->job.settings, err));
  w->range_file = UINT32_MAX;
  for (;;) {
    bool more;
    ND_TRY(nd_feed_next(&more, &w->batch, w->job.feed, err));
    if (!more) break;
    uint32_t range = w->batch.lines_relative ? w->batch.range_file : UINT32_MAX;
    if (range != w->range_file || range == UINT32_MAX) w->line_base = 0;
    w->range_file = range;
    for (size_t i = 0; i < w->batch.n; i++) ND_TRY(take_record(w, &w->batch.raws[i], err));
    s->others += w->batch.others;
    s->raw_bytes += w->batch.raw_bytes;
    w->line_base += w->batch.lines;
    ND_TRY(
        nd_run_report(&w->job, "read", nd_feed_done(w->job.feed), nd_feed_bytes(w->job.feed), err));
  }
  s->rejected += w->job.walk.problem_n;
  s->documents += w->job.walk.problem_n;
  return ND_OK;
}

nd_status nd_corpus_each(nd_summary *summary, const char *const *inputs, size_t n,
                         const nd_options *options, const nd_hooks *hooks, nd_corpus_each_fn each,
                         void *context, nd_error *err) {
  walker w = {.each = each, .context = context};
  char *work = NULL, *spool = NULL;
  /* The files of the prepass and of standard input need a private directory: in a shared one,
   * their names may be taken. */
  bool apart = options->sample[0] || options->ignore_boilerplate;
  for (size_t i = 0; i < n; i++) apart |= strcmp(inputs[i], "-") == 0;
  nd_status status = nd_job_open(&w.job, summary, options, hooks, err);
  if (status == ND_OK && apart) status = nd_workdir_private(&work, options->tmp, err);
  if (status == ND_OK && apart) status = nd_path_join(&spool, work, "stdin", err);
  if (status == ND_OK) status = walk_all(&w, inputs, n, work, spool, err);
  nd_job_finish(&w.job);
  nd_signer_free(w.signer);
  nd_batch_clear(&w.batch);
  nd_buf_clear(&w.id);
  nd_job_close(&w.job);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(spool);
  nd_free(work);
  return status;
}
