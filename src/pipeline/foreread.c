/* Threads over the batches of a feed of its own; see foreread.h. */
#include "pipeline/foreread.h"

#include "base/threads.h"

typedef struct foreread {
  nd_job_run *job;
  nd_feed *feed;
  nd_foreread_each each;
  void *context;
  _Atomic uint64_t documents, rejects;
} foreread;

static nd_status read_record(foreread *f, unsigned member, nd_signer *signer, const nd_batch *batch,
                             const nd_raw *raw, nd_error *err) {
  nd_read read;
  nd_error local;
  nd_str bytes = {batch->bytes.p + raw->at, raw->n};
  nd_status status =
      raw->rejected ? ND_ERR_DATA : nd_signer_read(&read, signer, raw->format, bytes, &local);
  if (status == ND_ERR_DATA || status == ND_ERR_LIMIT) {
    f->rejects++;
    return ND_OK;
  }
  if (status != ND_OK) {
    nd_error_pass(err, &local);
    return status;
  }
  if (read.document.kind == ND_KIND_OTHER) return ND_OK;
  f->documents++;
  return f->each(f->context, member, &read, err);
}

static nd_status read_batches(foreread *f, unsigned member, nd_signer *signer, nd_batch *batch,
                              nd_error *err) {
  for (;;) {
    bool more;
    ND_TRY(nd_feed_next(&more, batch, f->feed, err));
    if (!more) return ND_OK;
    ND_TRY(nd_hooks_check(f->job->hooks, err));
    for (size_t i = 0; i < batch->n; i++)
      ND_TRY(read_record(f, member, signer, batch, &batch->raws[i], err));
  }
}

static nd_status read_member(void *context, unsigned member, uint64_t number, nd_error *err) {
  foreread *f = context;
  (void)number;
  nd_signer *signer = NULL;
  nd_batch batch = {0};
  nd_status status = nd_signer_new(&signer, &f->job->settings, err);
  if (status == ND_OK) status = read_batches(f, member, signer, &batch, err);
  if (status != ND_OK) nd_feed_stop(f->feed);
  nd_signer_free(signer);
  nd_batch_clear(&batch);
  return status;
}

nd_status nd_foreread(nd_job_run *j, nd_foreread_each each, void *context, nd_error *err) {
  const nd_settings *s = &j->settings;
  foreread f = {.job = j, .each = each, .context = context};
  unsigned threads = nd_job_reading_threads(s);
  nd_status status = nd_feed_new(&f.feed, &j->walk, s->format, &s->input, err);
  if (status == ND_OK) {
    nd_feed_skip_done(f.feed, NULL, NULL, threads);
    status = nd_threads_run(threads, threads, read_member, &f, err);
  }
  nd_feed_free(f.feed);
  return status == ND_OK ? nd_job_counted(j, f.documents, f.rejects, err) : status;
}
