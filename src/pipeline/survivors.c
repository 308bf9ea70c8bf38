/* Choosing the survivors; see survivors.h.
 *
 * Copies of one text share all their neighbours.  So the most wanted copy
 * stands for the group, takes part in the clustering, and the others go where
 * it goes. */
#include "pipeline/survivors.h"

enum { ROOM = 1 << 12 };

typedef struct chooser {
  nd_job_run *job;
  uint64_t *rank;     /* per document; NULL: by number */
  uint32_t *best;     /* per first: the most wanted of its copies; NULL: itself */
  uint32_t *document; /* position → document; NULL: identity */
  uint32_t *position;
  nd_sorter *pairs; /* by position; NULL: the confirmed ones serve */
} chooser;

static nd_status load_ranks(chooser *c, nd_error *err) {
  const nd_store *s = &c->job->store;
  c->rank = nd_malloc(s->documents * sizeof *c->rank);
  if (!c->rank) return nd_fail_memory(err, s->documents * sizeof *c->rank);
  for (size_t i = 0; i < s->block_n; i++)
    ND_TRY(nd_store_column(s, i, ND_COL_RANK, 8, c->rank + s->blocks[i].first, err));
  return ND_OK;
}

/* --keep centre: the document most similar to all its neighbours together.
 * Integers, so that the sum does not depend on anything. */
static nd_status rank_by_degree(chooser *c, nd_item *items, nd_error *err) {
  nd_sorter *pairs = c->job->confirmed.sorted;
  for (uint64_t d = 0; d < c->job->store.documents; d++) c->rank[d] = UINT64_MAX;
  ND_TRY(nd_sorter_rewind(pairs, err));
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, ROOM, pairs, err));
    if (n == 0) return ND_OK;
    for (size_t i = 0; i < n; i++) {
      nd_overlap o = nd_overlap_unpack(items[i].value);
      uint64_t part = ((uint64_t)o.common << 20) / (o.joint ? o.joint : 1);
      c->rank[items[i].key >> 32] -= part;
      c->rank[(uint32_t)items[i].key] -= part;
    }
  }
}

static nd_status choose_best(chooser *c, nd_error *err) {
  uint64_t n = c->job->store.documents;
  const uint32_t *same = c->job->found.same;
  c->best = nd_malloc(n * sizeof *c->best);
  if (!c->best) return nd_fail_memory(err, n * sizeof *c->best);
  for (uint32_t d = 0; d < n; d++) c->best[d] = d;
  for (uint32_t d = 0; d < n; d++) {
    if (same[d] == ND_NO_DOCUMENT) continue;
    uint32_t *b = &c->best[same[d]];
    if (c->rank[d] < c->rank[*b]) *b = d;
  }
  return ND_OK;
}

static nd_status order_documents(chooser *c, nd_error *err) {
  uint64_t n = c->job->store.documents;
  nd_item *items = nd_malloc(n * sizeof *items), *spare = nd_malloc(n * sizeof *spare);
  c->document = nd_malloc(n * sizeof *c->document);
  c->position = nd_malloc(n * sizeof *c->position);
  nd_status status = items && spare && c->document && c->position
                         ? ND_OK
                         : nd_fail_memory(err, n * 2 * sizeof *items);
  if (status == ND_OK) {
    for (uint64_t d = 0; d < n; d++) items[d] = (nd_item){c->rank[d], d};
    nd_radix_items(items, spare, n);
    for (uint64_t p = 0; p < n; p++) {
      c->document[p] = (uint32_t)items[p].value;
      c->position[items[p].value] = (uint32_t)p;
    }
  }
  nd_free(items);
  nd_free(spare);
  return status;
}

/* The pairs again, between the bests, by position. */
static nd_status place_pairs(chooser *c, nd_item *items, const char *tmp, nd_error *err) {
  nd_sorter *from = c->job->confirmed.sorted;
  ND_TRY(nd_sorter_new(&c->pairs, c->job->settings.memory / 8, tmp, true, err));
  ND_TRY(nd_sorter_rewind(from, err));
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, ROOM, from, err));
    if (n == 0) return nd_sorter_finish(c->pairs, err);
    for (size_t i = 0; i < n; i++) {
      uint64_t a = c->position[c->best[items[i].key >> 32]];
      uint64_t b = c->position[c->best[(uint32_t)items[i].key]];
      items[i].key = a < b ? a << 32 | b : b << 32 | a;
    }
    ND_TRY(nd_sorter_add(c->pairs, items, n, err));
  }
}

/* In components a member need not be similar to the kept one: compute it. */
static nd_status fill_values(nd_clusters *out, nd_job_run *j, nd_error *err) {
  nd_item *items = NULL;
  size_t n = 0, cap = 0;
  nd_status status = ND_OK;
  for (uint32_t d = 0; d < out->n && status == ND_OK; d++) {
    if (out->centre[d] == d || out->value[d]) continue;
    status = nd_array_grow(&items, &cap, n + 1, sizeof *items, err);
    if (status == ND_OK) items[n++] = (nd_item){(uint64_t)out->centre[d] << 32 | d, 0};
  }
  if (status == ND_OK && n) status = nd_confirm_list(items, n, &j->source, err);
  for (size_t i = 0; i < n && status == ND_OK; i++)
    out->value[(uint32_t)items[i].key] = items[i].value;
  nd_free(items);
  return status;
}

/* Copies go where the most wanted of them goes. */
static void add_copies(nd_clusters *out, const chooser *c) {
  const uint32_t *same = c->job->found.same;
  const uint64_t whole = nd_overlap_pack((nd_overlap){1, 1});
  for (uint32_t d = 0; d < out->n; d++) {
    if (same[d] == ND_NO_DOCUMENT) continue;
    uint32_t best = c->best ? c->best[same[d]] : same[d];
    if (best == d) continue;
    out->centre[d] = out->centre[best];
    out->value[d] = out->centre[best] == best ? whole : out->value[best];
  }
}

static nd_status survive(nd_clusters *out, chooser *c, nd_item *items, const char *tmp,
                         nd_error *err) {
  nd_job_run *j = c->job;
  nd_sorter *pairs = j->confirmed.sorted;
  if (j->settings.keep != ND_KEEP_FIRST) {
    ND_TRY(load_ranks(c, err));
    if (j->settings.keep == ND_KEEP_CENTRE) ND_TRY(rank_by_degree(c, items, err));
    ND_TRY(choose_best(c, err));
    ND_TRY(order_documents(c, err));
    ND_TRY(place_pairs(c, items, tmp, err));
    pairs = c->pairs;
  }
  ND_TRY(nd_clusters_init(out, (uint32_t)j->store.documents, err));
  if (j->settings.cluster == ND_CLUSTER_COMPONENTS) {
    ND_TRY(nd_clusters_components(out, pairs, c->document, err));
    ND_TRY(fill_values(out, j, err));
  } else {
    ND_TRY(nd_clusters_star(out, pairs, c->document, err));
  }
  add_copies(out, c);
  return ND_OK;
}

nd_status nd_survivors(nd_clusters *out, nd_job_run *j, const char *tmp, nd_error *err) {
  chooser c = {.job = j};
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  nd_status status = items ? ND_OK : nd_fail_memory(err, ROOM * sizeof *items);
  if (status == ND_OK) status = survive(out, &c, items, tmp, err);
  nd_free(items);
  nd_free(c.rank);
  nd_free(c.best);
  nd_free(c.document);
  nd_free(c.position);
  nd_sorter_free(c.pairs);
  return status;
}
