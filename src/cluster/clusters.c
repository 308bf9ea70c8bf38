/* Stars and components in one pass over sorted pairs; see clusters.h. */
#include "cluster/clusters.h"

enum { ROOM = 1 << 12 };

nd_status nd_clusters_init(nd_clusters *c, uint32_t n, nd_error *err) {
  *c = (nd_clusters){.n = n};
  c->centre = nd_malloc((size_t)n * sizeof *c->centre);
  c->value = nd_calloc(n, sizeof *c->value);
  if (!c->centre || !c->value) return nd_fail_memory(err, (size_t)n * 12);
  for (uint32_t i = 0; i < n; i++) c->centre[i] = i;
  return ND_OK;
}

void nd_clusters_clear(nd_clusters *c) {
  nd_free(c->centre);
  nd_free(c->value);
  *c = (nd_clusters){0};
}

/* Calls `take` for every pair, as documents. */
typedef void (*taker)(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value);

static nd_status each_pair(nd_clusters *c, nd_sorter *pairs, const uint32_t *document, taker take,
                           nd_error *err) {
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  if (!items) return nd_fail_memory(err, ROOM * sizeof *items);
  nd_status status = nd_sorter_rewind(pairs, err);
  while (status == ND_OK) {
    size_t n;
    status = nd_sorter_next(&n, items, ROOM, pairs, err);
    if (status != ND_OK || n == 0) break;
    for (size_t i = 0; i < n; i++) {
      const nd_pair p = nd_pair_of(items[i].key);
      take(c, document ? document[p.a] : p.a, document ? document[p.b] : p.b, items[i].value);
    }
  }
  nd_free(items);
  return status;
}

/* All pairs of better documents with `a` have been seen: if nobody claimed it,
 * it is kept and claims `b`. */
static void take_star(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value) {
  if (c->centre[a] != a || c->centre[b] != b) return;
  c->centre[b] = a;
  c->value[b] = value;
}

nd_status nd_clusters_star(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                           nd_error *err) {
  return each_pair(c, pairs, document, take_star, err);
}

static bool less(uint64_t x, uint64_t y) {
  return nd_fraction_compare(nd_fraction_of(x), nd_fraction_of(y)) < 0;
}

static void take_largest(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value) {
  if (c->centre[b] != b && !less(c->value[b], value)) return;
  c->centre[b] = a;
  c->value[b] = value;
}

static void take_smallest(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value) {
  if (c->centre[b] != b && !less(value, c->value[b])) return;
  c->centre[b] = a;
  c->value[b] = value;
}

nd_status nd_clusters_nearest(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                              bool smaller, nd_error *err) {
  return each_pair(c, pairs, document, smaller ? take_smallest : take_largest, err);
}

static uint32_t find_root(nd_clusters *c, uint32_t x) {
  while (c->centre[x] != x) {
    c->centre[x] = c->centre[c->centre[x]]; /* path halving */
    x = c->centre[x];
  }
  return x;
}

/* Pairs rise by position, so `a` is never behind `b`; the root of a component
 * is settled at the end. */
static void take_union(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value) {
  (void)value;
  uint32_t x = find_root(c, a), y = find_root(c, b);
  if (x != y) c->centre[y] = x;
}

/* The centre has the best position of all. */
static void take_value(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value) {
  if (c->centre[b] == a) c->value[b] = value;
}

nd_status nd_clusters_components(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                                 nd_error *err) {
  ND_TRY(each_pair(c, pairs, document, take_union, err));
  for (uint32_t i = 0; i < c->n; i++) c->centre[i] = find_root(c, i);
  return nd_clusters_label(c, pairs, document, err);
}

nd_status nd_clusters_label(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                            nd_error *err) {
  /* The root that unions left is arbitrary: the best position becomes the centre. */
  uint32_t *best = nd_malloc((size_t)c->n * sizeof *best);
  if (!best) return nd_fail_memory(err, (size_t)c->n * sizeof *best);
  for (uint32_t i = 0; i < c->n; i++) best[i] = UINT32_MAX;
  for (uint32_t p = 0; p < c->n; p++) {
    uint32_t d = document ? document[p] : p, root = c->centre[d];
    if (best[root] == UINT32_MAX) best[root] = d;
  }
  for (uint32_t i = 0; i < c->n; i++) c->centre[i] = best[c->centre[i]];
  nd_free(best);
  return each_pair(c, pairs, document, take_value, err);
}
