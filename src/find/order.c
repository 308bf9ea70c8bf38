/* Ranks → positions; see order.h. */
#include "find/order.h"

#include "base/radix.h"
#include "find/find.h"

void nd_order_clear(nd_order *o) {
  nd_free(o->document);
  nd_free(o->position);
  nd_free(o->best);
  *o = (nd_order){0};
}

static void choose_best(nd_order *o, const uint64_t *rank, const uint32_t *same, uint32_t n) {
  for (uint32_t d = 0; d < n; d++) o->best[d] = d;
  for (uint32_t d = 0; d < n; d++) {
    if (same[d] == ND_NO_DOCUMENT) continue;
    uint32_t *b = &o->best[same[d]];
    if (rank[d] < rank[*b]) *b = d;
  }
}

nd_status nd_order_make(nd_order *out, const uint64_t *rank, const uint32_t *same, uint32_t n,
                        nd_error *err) {
  *out = (nd_order){0};
  nd_item *items = nd_malloc((size_t)n * sizeof *items);
  nd_item *spare = nd_malloc((size_t)n * sizeof *spare);
  out->document = nd_malloc((size_t)n * sizeof *out->document);
  out->position = nd_malloc((size_t)n * sizeof *out->position);
  out->best = nd_malloc((size_t)n * sizeof *out->best);
  nd_status status = items && spare && out->document && out->position && out->best
                         ? ND_OK
                         : nd_fail_memory(err, (size_t)n * 2 * sizeof *items);
  if (status == ND_OK) {
    for (uint32_t d = 0; d < n; d++) items[d] = (nd_item){rank[d], d};
    nd_radix_items(items, spare, n);
    for (uint32_t p = 0; p < n; p++) {
      out->document[p] = (uint32_t)items[p].value;
      out->position[items[p].value] = p;
    }
    choose_best(out, rank, same, n);
  }
  nd_free(items);
  nd_free(spare);
  return status;
}

nd_status nd_order_load(nd_order *out, const nd_store *store, const uint32_t *same, uint32_t split,
                        nd_error *err) {
  *out = (nd_order){0};
  uint64_t *rank = nd_malloc(store->documents * sizeof *rank);
  nd_status status = rank ? ND_OK : nd_fail_memory(err, store->documents * sizeof *rank);
  for (size_t i = 0; i < store->block_n && status == ND_OK; i++)
    status = nd_store_column(store, i, ND_COL_RANK, 8, rank + store->blocks[i].first, err);
  for (uint64_t d = 0; status == ND_OK && split < store->documents && d < store->documents; d++)
    rank[d] = d >= split ? 0 : rank[d] + (rank[d] < UINT64_MAX);
  if (status == ND_OK) status = nd_order_make(out, rank, same, (uint32_t)store->documents, err);
  nd_free(rank);
  return status;
}
