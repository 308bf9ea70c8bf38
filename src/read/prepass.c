/* Reading the batches of a separate feed on all threads; see prepass.h. */
#include "read/prepass.h"

#include "base/threads.h"

typedef struct prepass {
  nd_reading *reading;
  nd_feed *feed;
  nd_prepass_each each;
  void *context;
  _Atomic uint64_t documents, rejects;
} prepass;

static nd_status read_record(prepass *f, unsigned member, nd_signer *signer, const nd_batch *batch,
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

static nd_status read_batches(prepass *f, unsigned member, nd_signer *signer, nd_batch *batch,
                              nd_error *err) {
  for (;;) {
    bool more;
    ND_TRY(nd_feed_next(&more, batch, f->feed, err));
    if (!more) return ND_OK;
    ND_TRY(nd_hooks_check(f->reading->hooks, err));
    for (size_t i = 0; i < batch->n; i++)
      ND_TRY(read_record(f, member, signer, batch, &batch->raws[i], err));
  }
}

static nd_status read_member(void *context, unsigned member, uint64_t number, nd_error *err) {
  prepass *f = context;
  (void)number;
  nd_signer *signer = NULL;
  nd_batch batch = {0};
  nd_status status = nd_signer_new(&signer, f->reading->settings, err);
  if (status == ND_OK) status = read_batches(f, member, signer, &batch, err);
  if (status != ND_OK) nd_feed_stop(f->feed);
  nd_signer_free(signer);
  nd_batch_clear(&batch);
  return status;
}

nd_status nd_prepass(nd_reading *r, nd_prepass_each each, void *context, nd_error *err) {
  const nd_settings *s = r->settings;
  prepass f = {.reading = r, .each = each, .context = context};
  unsigned threads = nd_reading_threads(s);
  nd_status status = nd_feed_new(&f.feed, r->walk, s->format, &s->input, err);
  if (status == ND_OK) {
    nd_feed_skip_done(f.feed, NULL, NULL, threads);
    status = nd_threads_run(threads, threads, read_member, &f, err);
  }
  nd_feed_free(f.feed);
  return status == ND_OK ? nd_reading_counted(r, f.documents, f.rejects, err) : status;
}
