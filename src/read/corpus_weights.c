/* Two passes over the texts, to count and to sketch; see corpus_weights.h. */
#include "read/corpus_weights.h"

#include "base/threads.h"
#include "feature/shingler.h"
#include "read/sketches.h"

enum { JOB_DOCUMENTS = 1 << 10 }; /* per job of a thread */

typedef struct weigher {
  nd_store *store;
  const nd_text_source *source;
  nd_frequencies frequencies;
  bool count; /* the first pass */
} weigher;

/* Working memory of one job. */
typedef struct scratch {
  nd_texts *texts;
  nd_buf text;
  nd_shingler shingler;
  nd_simhash simhash;
  uint64_t out[JOB_DOCUMENTS]; /* the job's sketches */
} scratch;

static nd_status weigh(weigher *w, scratch *s, uint32_t document, nd_error *err) {
  const nd_settings *set = w->source->settings;
  ND_TRY(nd_texts_get(&s->text, s->texts, document, err));
  nd_str text = nd_buf_str(&s->text);
  nd_shingler *g = &s->shingler;
  ND_TRY(nd_shingler_split(g, text, err));
  ND_TRY(nd_sketches_features(&g->shingles, set, text, g->end, g->tokens, err));
  const uint64_t *fp = g->shingles.fingerprint;
  if (w->count) return nd_simhash_count(&w->frequencies, &s->simhash, fp, g->shingles.n, err);
  return nd_simhash_sketch(&s->out[document % JOB_DOCUMENTS], &s->simhash, fp, g->shingles.n, err);
}

static nd_status weigh_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  weigher *w = context;
  (void)member;
  ND_TRY(nd_hooks_check(w->source->hooks, err));
  uint64_t end = (job + 1) * JOB_DOCUMENTS, n = w->store->documents;
  if (end > n) end = n;
  scratch s = {0};
  nd_status status = nd_texts_new(&s.texts, w->source, err);
  if (status == ND_OK)
    status = nd_simhash_init(&s.simhash, ND_WEIGHTS_TFIDF, w->source->settings->options->seed,
                             &w->frequencies, err);
  for (uint64_t d = job * JOB_DOCUMENTS; d < end && status == ND_OK; d++)
    status = weigh(w, &s, (uint32_t)d, err);
  uint64_t begin = job * JOB_DOCUMENTS;
  if (status == ND_OK && !w->count)
    status = nd_io_pwrite_full(w->store->deferred, s.out, (size_t)(end - begin) * sizeof *s.out,
                               begin * sizeof *s.out, "a temporary file for sketches", err);
  nd_texts_free(s.texts);
  nd_buf_clear(&s.text);
  nd_shingler_clear(&s.shingler);
  nd_simhash_clear(&s.simhash);
  return status;
}

nd_status nd_corpus_weights(nd_store *store, const nd_text_source *source, nd_error *err) {
  const nd_settings *set = source->settings;
  const nd_row_part *part = nd_row_deferred(set);
  if (!part) return ND_OK;
  uint64_t n = store->documents, jobs = (n + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS;
  weigher w = {.store = store, .source = source, .count = true};
  nd_status status = nd_io_open_unnamed(&store->deferred, store->dir, err);
  store->has_deferred = status == ND_OK;
  if (status == ND_OK) status = nd_frequencies_init(&w.frequencies, err);
  store->deferred_at = part->at;
  if (status == ND_OK) status = nd_threads_run(set->threads, jobs, weigh_job, &w, err);
  w.count = false;
  if (status == ND_OK) status = nd_threads_run(set->threads, jobs, weigh_job, &w, err);
  nd_frequencies_clear(&w.frequencies);
  return status;
}
