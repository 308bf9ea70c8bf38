/* Stars and components in one pass over sorted pairs; see clusters.h. */
#include "cluster/clusters.h"

#include "cluster/union_find.h"

nd_status nd_clusters_init(nd_clusters *c, uint32_t n, nd_error *err) {
  *c = (nd_clusters){.n = n};
  c->centre = nd_malloc((size_t)n * sizeof *c->centre);
  c->value = nd_calloc(n, sizeof *c->value);
  if (!c->centre || !c->value) return nd_fail_memory(err, (size_t)n * 12);
  nd_union_start(c->centre, n);
  return ND_OK;
}

void nd_clusters_clear(nd_clusters *c) {
  nd_free(c->centre);
  nd_free(c->value);
  *c = (nd_clusters){0};
}

/* Calls `take` for every pair, as documents. */
typedef void (*taker)(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value);

typedef struct passing {
  nd_clusters *clusters;
  const uint32_t *document;
  taker take;
} passing;

static nd_status pass_some(void *context, nd_item *items, size_t n, nd_error *err) {
  const passing *p = context;
  const uint32_t *document = p->document;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    const nd_pair at = nd_pair_of(items[i].key);
    p->take(p->clusters, document ? document[at.a] : at.a, document ? document[at.b] : at.b,
            items[i].value);
  }
  return ND_OK;
}

static nd_status each_pair(nd_clusters *c, nd_sorter *pairs, const uint32_t *document, taker take,
                           nd_error *err) {
  passing p = {c, document, take};
  return nd_sorter_each(pairs, pass_some, &p, err);
}

/* All pairs of `a` with preferred documents are processed: if `a` is not assigned, it is kept,
 * and `b` is assigned to it. */
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

static void take_union(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value) {
  (void)value;
  nd_union_join(c->centre, a, b);
}

/* The centre has the lowest position. */
static void take_value(nd_clusters *c, uint32_t a, uint32_t b, uint64_t value) {
  if (c->centre[b] == a) c->value[b] = value;
}

nd_status nd_clusters_components(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                                 nd_error *err) {
  ND_TRY(each_pair(c, pairs, document, take_union, err));
  nd_union_flatten(c->centre, c->n);
  return nd_clusters_label(c, pairs, document, err);
}

nd_status nd_clusters_label(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                            nd_error *err) {
  /* The member with the lowest position becomes the centre, whatever the root is. */
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
