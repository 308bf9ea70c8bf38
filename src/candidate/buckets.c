/* Groups keys and generates pairs; see buckets.h. */
#include "candidate/buckets.h"

#include <stdatomic.h>

enum { BATCH = 1 << 12 }; /* items that are read or handed on at once */

struct nd_grouper {
  nd_item *items;    /* in memory */
  size_t n, cap, at; /* cap: capacity of the items or the batch */
  nd_sorter *sorter; /* out of core, or NULL */
  nd_item *batch;
  bool by_value;
};

nd_status nd_grouper_new(nd_grouper **out, uint64_t items, uint64_t memory, const char *dir,
                         nd_error *err) {
  nd_grouper *g = nd_calloc(1, sizeof *g);
  if (!g) return nd_fail_memory(err, sizeof *g);
  *out = g;
  if (items * 2 * sizeof(nd_item) <= memory) {
    g->cap = (size_t)items;
    g->items = nd_malloc(g->cap * sizeof *g->items);
    return g->items ? ND_OK : nd_fail_memory(err, g->cap * sizeof *g->items);
  }
  g->cap = BATCH;
  g->batch = nd_malloc(g->cap * sizeof *g->batch);
  if (!g->batch) return nd_fail_memory(err, g->cap * sizeof *g->batch);
  return nd_sorter_new(&g->sorter, memory, dir, false, err);
}

void nd_grouper_free(nd_grouper *g) {
  if (!g) return;
  nd_free(g->items);
  nd_free(g->batch);
  nd_sorter_free(g->sorter);
  nd_free(g);
}

void nd_grouper_by_value(nd_grouper *g) {
  g->by_value = true;
  if (g->sorter) nd_sorter_by_value(g->sorter);
}

nd_status nd_grouper_add(nd_grouper *g, uint64_t key, uint64_t value, nd_error *err) {
  nd_item item = {key, value};
  if (!g->sorter) {
    if (g->n == g->cap) return nd_fail(err, ND_ERR_LIMIT, "more keys than announced");
    g->items[g->n++] = item;
    return ND_OK;
  }
  g->batch[g->n++] = item;
  if (g->n < g->cap) return ND_OK;
  g->n = 0;
  return nd_sorter_add(g->sorter, g->batch, g->cap, err);
}

/* Sorts the members of every group by value. */
static void order_groups(nd_grouper *g, nd_item *spare) {
  for (size_t i = 0; i < g->n;) {
    size_t j = i + 1;
    while (j < g->n && g->items[j].key == g->items[i].key) j++;
    if (j - i > 1) {
      uint64_t key = g->items[i].key;
      for (size_t k = i; k < j; k++) g->items[k].key = g->items[k].value;
      nd_radix_items(g->items + i, spare, j - i);
      for (size_t k = i; k < j; k++) g->items[k].key = key;
    }
    i = j;
  }
}

nd_status nd_grouper_finish(nd_grouper *g, nd_error *err) {
  if (g->sorter) {
    ND_TRY(nd_sorter_add(g->sorter, g->batch, g->n, err));
    return nd_sorter_finish(g->sorter, err);
  }
  nd_item *spare = nd_malloc(g->n * sizeof *spare);
  if (!spare) return nd_fail_memory(err, g->n * sizeof *spare);
  nd_radix_group(g->items, spare, g->n);
  if (g->by_value) order_groups(g, spare);
  nd_free(spare);
  return ND_OK;
}

nd_status nd_grouper_next(size_t *got, nd_item *out, size_t room, nd_grouper *g, nd_error *err) {
  if (g->sorter) return nd_sorter_next(got, out, room, g->sorter, err);
  size_t n = g->n - g->at < room ? g->n - g->at : room;
  if (n) memcpy(out, g->items + g->at, n * sizeof *out);
  g->at += n;
  *got = n;
  return ND_OK;
}

void nd_bucket_stats_add(nd_bucket_stats *to, const nd_bucket_stats *from) {
  to->buckets += from->buckets;
  to->hot += from->hot;
  to->hot_documents += from->hot_documents;
  to->edges += from->edges;
  if (from->largest > to->largest) to->largest = from->largest;
}

/* The current bucket, and a batch of pairs. */
typedef struct giver {
  nd_sorter *pairs;
  nd_bucket_stats *stats;
  _Atomic uint32_t *last_centre;
  uint64_t cap, split;
  uint32_t *member; /* the first `cap` documents of the bucket */
  uint64_t size;
  nd_item *out;
  size_t out_n;
} giver;

static nd_status give(giver *g, uint32_t a, uint32_t b, uint64_t kind, nd_error *err) {
  if (g->split && (a >= g->split || b < g->split)) return ND_OK;
  g->stats->edges++;
  g->out[g->out_n++] = (nd_item){nd_pair_key(a, b), kind};
  if (g->out_n < BATCH) return ND_OK;
  g->out_n = 0;
  return nd_sorter_add(g->pairs, g->out, BATCH, err);
}

static nd_status give_star(giver *g, uint32_t b, nd_error *err) {
  uint32_t centre = g->member[0];
  if (g->last_centre) {
    uint32_t last = atomic_load_explicit(&g->last_centre[b], memory_order_relaxed);
    if (last == centre) return ND_OK;
    atomic_store_explicit(&g->last_centre[b], centre, memory_order_relaxed);
  }
  return give(g, centre, b, ND_PAIR_STAR, err);
}

static nd_status take(giver *g, uint32_t document, nd_error *err) {
  uint64_t n = g->size++;
  if (n < g->cap) {
    g->member[n] = document;
    return ND_OK;
  }
  if (n == g->cap) { /* the bucket becomes oversized */
    for (uint64_t i = 1; i < n; i++) ND_TRY(give_star(g, g->member[i], err));
  }
  return give_star(g, document, err);
}

static nd_status end_bucket(giver *g, nd_error *err) {
  uint64_t n = g->size;
  g->size = 0;
  if (n < 2) return ND_OK;
  g->stats->buckets++;
  if (n > g->stats->largest) g->stats->largest = n;
  if (n > g->cap) {
    g->stats->hot++;
    g->stats->hot_documents += n;
    return ND_OK;
  }
  for (uint64_t i = 0; i < n; i++) {
    for (uint64_t j = i + 1; j < n; j++)
      ND_TRY(give(g, g->member[i], g->member[j], ND_PAIR_FULL, err));
  }
  return ND_OK;
}

static nd_status give_all(giver *g, nd_item *in, nd_grouper *from, nd_error *err) {
  uint64_t key = 0;
  for (;;) {
    size_t n;
    ND_TRY(nd_grouper_next(&n, in, BATCH, from, err));
    if (n == 0) break;
    for (size_t i = 0; i < n; i++) {
      if (in[i].key != key) {
        ND_TRY(end_bucket(g, err));
        key = in[i].key;
      }
      ND_TRY(take(g, (uint32_t)in[i].value, err));
    }
  }
  ND_TRY(end_bucket(g, err));
  return nd_sorter_add(g->pairs, g->out, g->out_n, err);
}

nd_status nd_buckets_pairs(nd_sorter *pairs, nd_bucket_stats *stats, nd_grouper *from, uint64_t cap,
                           uint64_t split, _Atomic uint32_t *last_centre, nd_error *err) {
  giver g = {
      .pairs = pairs, .stats = stats, .last_centre = last_centre, .cap = cap, .split = split};
  g.member = nd_malloc(cap * sizeof *g.member);
  g.out = nd_malloc(BATCH * sizeof *g.out);
  nd_item *in = nd_malloc(BATCH * sizeof *in);
  nd_status status = g.member && g.out && in ? ND_OK : nd_fail_memory(err, cap * sizeof *g.member);
  if (status == ND_OK) status = give_all(&g, in, from, err);
  nd_free(g.member);
  nd_free(g.out);
  nd_free(in);
  return status;
}
