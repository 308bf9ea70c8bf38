/* Choosing the kept documents; see survivors.h.
 *
 * Exact duplicates have the same neighbours.  So the preferred one represents them in the
 * clustering, and the others follow it. */
#include "result/survivors.h"

#include "cluster/what_if.h"
#include "similarity/similarity.h"

/* A similarity of 1 when similarities are added up as integers. */
static const uint64_t similarity_unit = 1 << 20;

typedef nd_chooser chooser;

void nd_chooser_clear(nd_chooser *c) {
  nd_order_clear(&c->centre_order);
  nd_sorter_free(c->pairs);
  *c = (nd_chooser){0};
}

/* --keep centre: prefers the document with the highest total similarity to its neighbours.  Sums
 * are integers, so they do not depend on the order of addition. */
typedef struct degrees {
  uint64_t *rank;
  bool distance;
} degrees;

static nd_status add_degrees(void *context, nd_item *items, size_t n, nd_error *err) {
  const degrees *to = context;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    const nd_fraction f = nd_fraction_of(items[i].value);
    uint64_t part = to->distance ? similarity_unit / (1 + (uint64_t)f.num)
                                 : f.num * similarity_unit / (f.den ? f.den : 1);
    to->rank[p.a] -= part;
    to->rank[p.b] -= part;
  }
  return ND_OK;
}

static nd_status order_by_degree(chooser *c, nd_error *err) {
  nd_run *j = c->job;
  const uint64_t n = j->store.documents;
  degrees d = {nd_malloc(n * sizeof *d.rank), j->settings.similarity->distance};
  if (!d.rank) return nd_fail_memory(err, n * sizeof *d.rank);
  for (uint64_t i = 0; i < n; i++) d.rank[i] = UINT64_MAX;
  nd_status status = nd_sorter_each(j->verified.sorted, add_degrees, &d, err);
  if (status == ND_OK)
    status = nd_order_make(&c->centre_order, d.rank, j->found.same, (uint32_t)n, err);
  nd_free(d.rank);
  return status;
}

static nd_status translate_some(void *context, nd_item *items, size_t n, nd_error *err) {
  const chooser *c = context;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    items[i].key =
        nd_pair_ascending(nd_order_position(c->order, p.a), nd_order_position(c->order, p.b));
  }
  return nd_sorter_add(c->pairs, items, n, err);
}

/* Sorts the pairs, between preferred documents, by position. */
static nd_status sort_by_position(chooser *c, const char *tmp, nd_error *err) {
  ND_TRY(
      nd_sorter_new(&c->pairs, nd_budget(c->job->settings.memory, ND_SHARE_PAIRS), tmp, true, err));
  ND_TRY(nd_sorter_each(c->job->verified.sorted, translate_some, c, err));
  return nd_sorter_finish(c->pairs, err);
}

nd_status nd_survivors_missing(nd_item **items, size_t *n, const nd_clusters *c, nd_error *err) {
  size_t cap = 0;
  *items = NULL;
  *n = 0;
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->centre[d] == d || c->value[d]) continue;
    ND_TRY(nd_array_grow(items, &cap, *n + 1, sizeof **items, err));
    (*items)[(*n)++] = (nd_item){nd_pair_key(c->centre[d], d), 0};
  }
  return ND_OK;
}

/* A member of a component need not be similar to the kept document: computes missing values. */
static nd_status fill_values(nd_clusters *out, nd_run *j, nd_error *err) {
  nd_item *items;
  size_t n;
  nd_status status = nd_survivors_missing(&items, &n, out, err);
  if (status == ND_OK && n) status = nd_verify_list(items, n, &j->source, true, err);
  for (size_t i = 0; i < n && status == ND_OK; i++)
    out->value[nd_pair_of(items[i].key).b] = items[i].value;
  nd_free(items);
  return status;
}

/* Assigns exact duplicates to the kept document of the preferred one. */
void nd_survivors_copies(nd_clusters *out, const nd_chooser *c) {
  const uint32_t *same = c->job->found.same;
  const uint64_t whole = nd_similarity_of_copies(c->job->settings.similarity);
  for (uint32_t d = 0; d < out->n; d++) {
    if (same[d] == ND_NO_DOCUMENT) continue;
    uint32_t best = c->order->best ? c->order->best[same[d]] : same[d];
    if (best == d) continue;
    /* With a reference collection, only documents found in it are dropped. */
    if (nd_source_has_other(&c->job->source) && out->centre[best] == best) continue;
    out->centre[d] = out->centre[best];
    out->value[d] = out->centre[best] == best ? whole : out->value[best];
  }
}

/* Computes the documents kept at higher thresholds, for the report; skipped if memory is short. */
static nd_status count_higher(nd_run *j, nd_sorter *pairs, const char *tmp, nd_error *err) {
  const nd_settings *s = &j->settings;
  const uint64_t n = j->store.documents;
  uint64_t dropped[ND_WHAT_IF_STEPS];
  const uint64_t share = nd_budget(s->memory, ND_SHARE_PAIRS);
  if (s->similarity->counts || n > share / ND_WHAT_IF_BYTES) return ND_OK;
  const uint64_t low = (s->threshold.num * 100 + s->threshold.den - 1) / s->threshold.den;
  const nd_what_if w = {pairs, (uint32_t)n, (unsigned)low, s->verify == ND_VERIFY_NONE};
  if (s->cluster == ND_CLUSTER_COMPONENTS)
    ND_TRY(nd_what_if_components(dropped, &w, share, tmp, err));
  else
    ND_TRY(nd_what_if_star(dropped, &w, err));
  for (uint64_t t = low; t < ND_WHAT_IF_STEPS; t++) j->stays[t] = n - j->found.copies - dropped[t];
  return ND_OK;
}

nd_status nd_survivors_group(nd_clusters *out, nd_chooser *c, nd_run *j, const char *tmp,
                             nd_error *err) {
  c->job = j;
  nd_sorter *pairs = j->verified.sorted;
  c->order = &j->found.order;
  if (j->settings.keep == ND_KEEP_CENTRE) {
    ND_TRY(order_by_degree(c, err));
    c->order = &c->centre_order;
  }
  if (c->order->position) {
    ND_TRY(sort_by_position(c, tmp, err));
    pairs = c->pairs;
  }
  ND_TRY(nd_clusters_init(out, (uint32_t)j->store.documents, err));
  if (j->settings.cluster == ND_CLUSTER_COMPONENTS && c->roots) {
    if (out->n) memcpy(out->centre, c->roots, out->n * sizeof *out->centre);
    ND_TRY(nd_clusters_label(out, pairs, c->order->document, err));
    return count_higher(j, pairs, tmp, err);
  }
  if (j->settings.cluster == ND_CLUSTER_COMPONENTS) {
    ND_TRY(nd_clusters_components(out, pairs, c->order->document, err));
    return count_higher(j, pairs, tmp, err); /* no reference collection: settings.c */
  }
  if (nd_source_has_other(&j->source))
    return nd_clusters_nearest(out, pairs, c->order->document, j->settings.similarity->distance,
                               err);
  ND_TRY(nd_clusters_star(out, pairs, c->order->document, err));
  return count_higher(j, pairs, tmp, err);
}

nd_status nd_survivors(nd_clusters *out, nd_run *j, const char *tmp, nd_error *err) {
  nd_chooser c = {0};
  nd_status status = nd_survivors_group(out, &c, j, tmp, err);
  if (status == ND_OK && j->settings.cluster == ND_CLUSTER_COMPONENTS)
    status = fill_values(out, j, err);
  if (status == ND_OK) nd_survivors_copies(out, &c);
  nd_chooser_clear(&c);
  return status;
}

nd_status nd_survivors_count(uint32_t **size, nd_summary *s, const nd_clusters *c, nd_error *err) {
  uint32_t *of = nd_calloc(c->n, sizeof *of);
  *size = of;
  if (!of) return nd_fail_memory(err, c->n * sizeof *of);
  for (uint32_t d = 0; d < c->n; d++) {
    of[c->centre[d]]++;
    s->dropped += c->centre[d] != d;
  }
  for (uint32_t d = 0; d < c->n; d++) {
    if (of[d] < 2) continue;
    s->clusters++;
    if (of[d] > s->largest_cluster) s->largest_cluster = of[d];
  }
  return ND_OK;
}
