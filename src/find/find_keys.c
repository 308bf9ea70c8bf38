/* Pairs of documents with equal keys, stored in blocks (bands) or computed from rows. */
#include <stdatomic.h>

#include "base/threads.h"
#include "find/finder.h"

typedef struct keyer {
  nd_finder *finder;
  const nd_keys *keys;
  _Atomic uint32_t *last_centre;
  nd_bucket_stats *stats; /* per member */
} keyer;

/* Reads or computes the keys of one kind for the documents of a block. */
static nd_status read_keys(uint64_t *keys, const keyer *k, size_t block, uint32_t kind,
                           uint64_t *rows, nd_error *err) {
  const nd_finder *f = k->finder;
  if (!k->keys->make) return nd_store_band(f->store, block, kind, keys, err);
  ND_TRY(nd_store_rows(rows, f->store, block, err));
  k->keys->make(keys, f->settings, rows, f->store->blocks[block].head.docs, kind);
  return ND_OK;
}

static nd_status add_keys(nd_grouper *g, const keyer *k, uint64_t *keys, uint64_t *rows,
                          uint32_t kind, nd_error *err) {
  const nd_store *s = k->finder->store;
  const uint32_t *same = k->finder->out->same;
  const nd_order *order = &k->finder->out->order;
  for (size_t i = 0; i < s->block_n; i++) {
    ND_TRY(read_keys(keys, k, i, kind, rows, err));
    uint32_t first = s->blocks[i].first;
    for (uint32_t j = 0; j < s->blocks[i].head.docs; j++) {
      if (same[first + j] != first + j) continue;
      ND_TRY(nd_grouper_add(g, keys[j], nd_order_position(order, first + j), err));
    }
  }
  return ND_OK;
}

static void show_jobs(const keyer *k, uint64_t done) {
  const nd_hooks *h = k->finder->source->hooks;
  if (!h || !h->progress) return;
  nd_progress p = {"find", done, k->keys->buckets, k->finder->store->documents, 0};
  h->progress(h->context, &p);
}

static nd_status find_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  keyer *k = context;
  const nd_finder *f = k->finder;
  ND_TRY(nd_hooks_check(f->source->hooks, err));
  if (member == 0) show_jobs(k, job);
  size_t most = nd_store_most_docs(f->store);
  uint64_t *keys = nd_malloc(most * sizeof *keys);
  uint64_t *rows = nd_malloc(most * f->settings->row.total * sizeof *rows + 1);
  nd_grouper *g = NULL;
  nd_status status = keys && rows ? ND_OK : nd_fail_memory(err, most * sizeof *keys);
  if (status == ND_OK)
    status =
        nd_grouper_new(&g, f->store->documents - f->out->copies, f->memory_per_thread, f->tmp, err);
  if (status == ND_OK && f->out->order.position) nd_grouper_by_value(g);
  if (status == ND_OK) status = add_keys(g, k, keys, rows, (uint32_t)job, err);
  nd_free(keys);
  nd_free(rows);
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  if (status == ND_OK) {
    status = nd_buckets_pairs(f->out->pairs, &k->stats[member], g, f->settings->options->bucket_cap,
                              nd_finder_split(f), k->last_centre, err);
  }
  nd_grouper_free(g);
  return status;
}

nd_status nd_find_equal_keys(nd_finder *f, const nd_keys *keys, nd_error *err) {
  uint64_t n = f->store->documents;
  unsigned threads = f->settings->threads;
  keyer k = {.finder = f, .keys = keys};
  void *centres = nd_malloc(n * sizeof *k.last_centre);
  k.last_centre = centres;
  k.stats = nd_calloc(threads, sizeof *k.stats);
  nd_status status = k.last_centre && k.stats ? ND_OK : nd_fail_memory(err, n * 4);
  if (status == ND_OK) {
    for (uint64_t d = 0; d < n; d++) atomic_init(&k.last_centre[d], ND_NO_DOCUMENT);
    status = nd_threads_run(threads, keys->buckets, find_job, &k, err);
  }
  for (unsigned i = 0; k.stats && i < threads; i++)
    nd_bucket_stats_add(&f->out->buckets, &k.stats[i]);
  nd_free(centres);
  nd_free(k.stats);
  return status;
}

nd_status nd_find_by_keys(nd_finder *f, nd_error *err) {
  nd_keys keys = {0};
  f->settings->candidates->keys(&keys, f->settings);
  if (keys.buckets) ND_TRY(nd_find_equal_keys(f, &keys, err));
  return keys.vector ? nd_find_close(f, &keys, err) : ND_OK;
}
