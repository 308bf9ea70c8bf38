/* Pairs of documents that share many MinHash values: for each slot of the sketch, the list (value,
 * document) is sorted (Williams and Giles 2013, section 3.2).
 *
 * The lists are sorted in memory if the values fit (shared_values.h).  Otherwise one pass
 * partitions the values by slot, and each list is sorted out of core. */
#include "base/threads.h"
#include "candidate/deal.h"
#include "candidate/shared_values.h"
#include "find/find_sketches.h"

enum { ROOM = 1 << 12 }; /* records per read */

typedef struct values {
  nd_finder *finder;
  const nd_row_part *part; /* the values of a row */
  nd_sorter *shared;       /* pairs that share a value */
  uint32_t slots;          /* slots to search */
  uint32_t needed;         /* values that must match */
  nd_sketch_rows rows;
  nd_deal *deal;
  nd_bucket_stats *stats; /* per thread */
} values;

static nd_status find_near(values *v, nd_error *err) {
  const nd_finder *f = v->finder;
  nd_rows rows = {v->rows.words, v->rows.each};
  nd_shared_request request = {.value = nd_rows_value,
                               .context = &rows,
                               .n = f->store->documents,
                               .places = v->rows.each,
                               .needed = v->needed,
                               .split = nd_finder_split(f),
                               .cap = f->settings->options->bucket_cap,
                               .threads = f->settings->threads};
  return nd_shared_pairs(v->shared, &f->out->buckets, &request, err);
}

/* --- out of core -------------------------------------------------------------- */

/* Partitions the values by slot. */
static nd_status deal_values(void *to, const uint64_t *value, const uint32_t *position, size_t n,
                             nd_error *err) {
  const values *v = to;
  const uint32_t each = v->finder->settings->permutations;
  for (size_t i = 0; i < n; i++, value += each) {
    for (uint32_t p = 0; p < v->slots; p++) {
      uint64_t record[2] = {value[p], position[i]};
      ND_TRY(nd_deal_add(v->deal, p, record, err));
    }
  }
  return ND_OK;
}

static nd_status slot_job(void *context, unsigned member, uint64_t slot, nd_error *err) {
  const values *v = context;
  const nd_finder *f = v->finder;
  const uint64_t n = nd_deal_count(v->deal, (uint32_t)slot);
  uint64_t *record = nd_malloc(ROOM * 2 * sizeof *record);
  nd_grouper *g = NULL;
  nd_status status = record ? nd_hooks_check(f->source->hooks, err)
                            : nd_fail_memory(err, ROOM * 2 * sizeof *record);
  if (status == ND_OK) status = nd_grouper_new(&g, n, f->memory_per_thread, f->tmp, err);
  if (status == ND_OK && f->out->order.position) nd_grouper_by_value(g);
  for (uint64_t done = 0; done < n && status == ND_OK;) {
    size_t m = n - done < ROOM ? (size_t)(n - done) : ROOM;
    status = nd_deal_read(record, v->deal, (uint32_t)slot, done, m, err);
    for (size_t i = 0; i < m && status == ND_OK; i++)
      status = nd_grouper_add(g, record[2 * i], record[2 * i + 1], err);
    done += m;
  }
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  if (status == ND_OK)
    status = nd_buckets_pairs(v->shared, &v->stats[member], g, f->settings->options->bucket_cap,
                              nd_finder_split(f), NULL, err);
  nd_grouper_free(g);
  nd_free(record);
  return status;
}

static nd_status find_far(values *v, nd_error *err) {
  const nd_finder *f = v->finder;
  const unsigned threads = f->settings->threads;
  nd_sketch_scan scan = {f, v->part};
  v->stats = nd_calloc(threads, sizeof *v->stats);
  if (!v->stats) return nd_fail_memory(err, threads * sizeof *v->stats);
  ND_TRY(nd_deal_new(&v->deal, v->slots, 2, f->memory, f->tmp, err));
  ND_TRY(nd_sketch_scan_rows(&scan, deal_values, v, err));
  ND_TRY(nd_deal_finish(v->deal, err));
  ND_TRY(nd_threads_run(threads, v->slots, slot_job, v, err));
  for (unsigned i = 0; i < threads; i++) nd_bucket_stats_add(&f->out->buckets, &v->stats[i]);
  return ND_OK;
}

/* --- counting ------------------------------------------------------------------- */

/* Returns a row in memory, or reads it into `room`. */
static nd_status row_of(const uint64_t **out, const values *v, uint32_t position, uint64_t *room,
                        nd_error *err) {
  const nd_finder *f = v->finder;
  if (v->rows.words) {
    *out = v->rows.words + (size_t)position * f->settings->permutations;
    return ND_OK;
  }
  *out = room + v->part->at;
  return nd_store_row(room, f->store, nd_order_document(&f->out->order, position), err);
}

typedef struct agreeing {
  const values *values;
  uint64_t *room; /* for two rows */
  const uint64_t *left;
  uint32_t have; /* the position of the row `left` */
} agreeing;

/* Keeps the pairs that share enough values. */
static nd_status keep_agreeing(void *context, nd_item *items, size_t n, nd_error *err) {
  agreeing *g = context;
  const values *v = g->values;
  const nd_finder *f = v->finder;
  const uint64_t *right;
  size_t kept = 0;
  ND_TRY(nd_hooks_check(f->source->hooks, err));
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    uint32_t agree = 0;
    if (p.a != g->have) ND_TRY(row_of(&g->left, v, p.a, g->room, err));
    g->have = p.a;
    ND_TRY(row_of(&right, v, p.b, g->room + f->settings->row.total, err));
    for (uint32_t k = 0; k < f->settings->permutations; k++) agree += g->left[k] == right[k];
    if (agree >= v->needed) items[kept++] = (nd_item){items[i].key, ND_PAIR_FULL};
  }
  return nd_sorter_add(f->out->pairs, items, kept, err);
}

static nd_status count(const values *v, nd_error *err) {
  size_t bytes = 2 * (size_t)v->finder->settings->row.total * sizeof(uint64_t);
  agreeing g = {.values = v, .room = nd_malloc(bytes), .have = ND_NO_DOCUMENT};
  nd_status status =
      g.room ? nd_sorter_each(v->shared, keep_agreeing, &g, err) : nd_fail_memory(err, bytes);
  nd_free(g.room);
  return status;
}

nd_status nd_find_values(nd_finder *f, const nd_sketch *sketch, nd_error *err) {
  const nd_settings *s = f->settings;
  uint32_t k = s->permutations;
  /* The smallest number of equal values that reaches the threshold, which is above 0. */
  uint64_t least = ((uint64_t)k * s->threshold.num + s->threshold.den - 1) / s->threshold.den;
  values v = {.finder = f, .part = nd_row_get(&s->row, sketch), .needed = (uint32_t)least};
  v.slots = k - v.needed + 1;
  const nd_sketch_scan scan = {f, v.part};
  bool fits = f->store->documents * (k * sizeof(uint64_t) + 12) <= f->memory;
  nd_status status =
      nd_sorter_new(&v.shared, nd_budget(f->memory, ND_SHARE_VALUES), f->tmp, true, err);
  if (status == ND_OK) nd_sorter_sum(v.shared);
  if (status == ND_OK && fits) status = nd_sketch_rows_gather(&v.rows, &scan, err);
  if (status == ND_OK) status = fits ? find_near(&v, err) : find_far(&v, err);
  if (status == ND_OK) status = nd_sorter_finish(v.shared, err);
  if (status == ND_OK) status = count(&v, err);
  nd_sorter_free(v.shared);
  nd_deal_free(v.deal);
  nd_free(v.stats);
  nd_sketch_rows_clear(&v.rows);
  return status;
}
