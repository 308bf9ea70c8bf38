/* Pairing documents with equal keys: bands of min values, mega-shingles. */
#include <stdatomic.h>

#include "base/hash.h"
#include "base/threads.h"
#include "find/finder.h"

typedef struct keyer {
  nd_finder *finder;
  uint32_t jobs;
  nd_find_keys keys;
  _Atomic uint32_t *last_centre;
  nd_bucket_stats *stats; /* per member */
} keyer;

static nd_status add_keys(nd_grouper *g, const keyer *k, uint64_t *keys, uint64_t *scratch,
                          uint32_t job, nd_error *err) {
  const nd_store *s = k->finder->store;
  const uint32_t *same = k->finder->out->same;
  const nd_order *order = &k->finder->out->order;
  for (size_t i = 0; i < s->block_n; i++) {
    ND_TRY(k->keys(keys, k->finder, i, job, scratch, err));
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
  nd_progress p = {"find", done, k->jobs, k->finder->store->documents, 0};
  h->progress(h->context, &p);
}

static nd_status find_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  keyer *k = context;
  const nd_finder *f = k->finder;
  ND_TRY(nd_hooks_check(f->source->hooks, err));
  if (member == 0) show_jobs(k, job);
  size_t most = nd_store_most_docs(f->store);
  uint64_t *keys = nd_malloc(most * sizeof *keys);
  uint64_t *scratch = nd_malloc(most * f->settings->row.total * sizeof *scratch + 1);
  nd_grouper *g = NULL;
  nd_status status = keys && scratch ? ND_OK : nd_fail_memory(err, most * sizeof *keys);
  if (status == ND_OK)
    status = nd_grouper_new(&g, f->store->documents - f->out->copies, f->share, f->tmp, err);
  if (status == ND_OK && f->out->order.position) nd_grouper_by_value(g);
  if (status == ND_OK) status = add_keys(g, k, keys, scratch, (uint32_t)job, err);
  nd_free(keys);
  nd_free(scratch);
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  if (status == ND_OK) {
    status = nd_buckets_pairs(f->out->pairs, &k->stats[member], g, f->settings->options->bucket_cap,
                              nd_finder_split(f), k->last_centre, err);
  }
  nd_grouper_free(g);
  return status;
}

nd_status nd_find_equal_keys(nd_finder *f, uint32_t jobs, nd_find_keys keys, nd_error *err) {
  uint64_t n = f->store->documents;
  unsigned threads = f->settings->threads;
  keyer k = {.finder = f, .jobs = jobs, .keys = keys};
  void *centres = nd_malloc(n * sizeof *k.last_centre);
  k.last_centre = centres;
  k.stats = nd_calloc(threads, sizeof *k.stats);
  nd_status status = k.last_centre && k.stats ? ND_OK : nd_fail_memory(err, n * 4);
  if (status == ND_OK) {
    for (uint64_t d = 0; d < n; d++) atomic_init(&k.last_centre[d], ND_NO_DOCUMENT);
    status = nd_threads_run(threads, jobs, find_job, &k, err);
  }
  for (unsigned i = 0; k.stats && i < threads; i++)
    nd_bucket_stats_add(&f->out->buckets, &k.stats[i]);
  nd_free(centres);
  nd_free(k.stats);
  return status;
}

static nd_status band_keys(uint64_t *keys, const nd_finder *f, size_t block, uint32_t job,
                           uint64_t *scratch, nd_error *err) {
  (void)scratch;
  return nd_store_band(f->store, block, job, keys, err);
}

nd_status nd_find_bands(nd_finder *f, nd_error *err) {
  return nd_find_equal_keys(f, f->settings->bands, band_keys, err);
}

/* --- mega-shingles ------------------------------------------------------------
 * Documents that agree in t of n super-shingles share one of the C(n, t) sets of
 * t super-shingles: a mega-shingle each (Henzinger 2006, section 2, on Algorithm
 * B).  Where there would be too many, smaller sets do, and propose more. */
enum { MOST_MEGA = 64, MOST_SIZE = 7 }; /* 7 out of 7; of 8 and more, 4 are too many sets */

static uint64_t choose(uint64_t n, uint64_t k) {
  uint64_t c = 1;
  for (uint64_t i = 1; i <= k; i++) c = c * (n - k + i) / i;
  return c;
}

static uint32_t mega_size(const nd_settings *s) {
  uint32_t size = 1;
  while (size < s->agree && choose(s->supershingles, size + 1) <= MOST_MEGA) size++;
  return size;
}

/* The `number`-th set of `size` out of n, in rising order. */
static void mega_members(uint32_t *member, uint32_t n, uint32_t size, uint64_t number) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < size; i++) {
    for (;; at++) {
      uint64_t with = choose(n - at - 1, size - i - 1);
      if (number < with) break;
      number -= with;
    }
    member[i] = at++;
  }
}

uint32_t nd_mega_jobs(const nd_settings *s) {
  return (uint32_t)choose(s->supershingles, mega_size(s));
}

void nd_mega_keys(uint64_t *keys, const nd_settings *s, const uint64_t *rows, uint32_t docs,
                  uint32_t job) {
  uint32_t member[MOST_SIZE], size = mega_size(s);
  mega_members(member, s->supershingles, size, job);
  const uint64_t *row = rows + s->row.at[ND_PART_SUPERSHINGLE];
  for (uint32_t i = 0; i < docs; i++, row += s->row.total) {
    uint64_t h = job;
    for (uint32_t k = 0; k < size; k++) h = nd_fold(h ^ row[member[k]], 0xa0761d6478bd642fu) + k;
    keys[i] = nd_mix(h);
  }
}

static nd_status mega_keys(uint64_t *keys, const nd_finder *f, size_t block, uint32_t job,
                           uint64_t *scratch, nd_error *err) {
  ND_TRY(nd_store_rows(scratch, f->store, block, err));
  nd_mega_keys(keys, f->settings, scratch, f->store->blocks[block].head.docs, job);
  return ND_OK;
}

nd_status nd_find_supershingles(nd_finder *f, nd_error *err) {
  return nd_find_equal_keys(f, nd_mega_jobs(f->settings), mega_keys, err);
}
