/* The K best neighbours of every document; see best_pairs.h.
 *
 * Two passes over the pairs: the first finds the K best neighbours of each document, in a small
 * ordered list; the second selects the pairs that are in the list of either document. */
#include "result/best_pairs.h"

typedef struct best {
  uint64_t value;
  uint32_t other;
} best;

typedef struct lists {
  best *best; /* `top` entries per document, the best first */
  uint32_t *n;
  uint32_t top;
  bool smaller; /* a smaller value is closer (edit distance) */
  nd_sorter *chosen;
} lists;

/* Returns true if x is closer than y. */
static bool closer(const lists *l, best x, best y) {
  const int c = nd_fraction_compare(nd_fraction_of(x.value), nd_fraction_of(y.value));
  if (c) return l->smaller ? c < 0 : c > 0;
  return x.other < y.other;
}

static void offer(lists *l, uint32_t document, best x) {
  best *list = l->best + (size_t)document * l->top;
  uint32_t n = l->n[document];
  if (n == l->top && !closer(l, x, list[n - 1])) return;
  uint32_t i = n < l->top ? n : n - 1;
  for (; i && closer(l, x, list[i - 1]); i--) list[i] = list[i - 1];
  list[i] = x;
  if (n < l->top) l->n[document]++;
}

static bool has(const lists *l, uint32_t document, uint32_t other) {
  const best *list = l->best + (size_t)document * l->top;
  for (uint32_t i = 0; i < l->n[document]; i++)
    if (list[i].other == other) return true;
  return false;
}

static nd_status offer_some(void *context, nd_item *items, size_t n, nd_error *err) {
  lists *l = context;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    offer(l, p.a, (best){items[i].value, p.b});
    offer(l, p.b, (best){items[i].value, p.a});
  }
  return ND_OK;
}

static nd_status pass_some(void *context, nd_item *items, size_t n, nd_error *err) {
  const lists *l = context;
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    if (has(l, p.a, p.b) || has(l, p.b, p.a)) items[kept++] = items[i];
  }
  return nd_sorter_add(l->chosen, items, kept, err);
}

nd_status nd_best_pairs(nd_run *j, uint32_t top, const char *tmp, nd_error *err) {
  uint64_t n = j->store.documents;
  lists l = {.top = top, .smaller = j->settings.similarity->distance};
  l.best = nd_malloc(n * top * sizeof *l.best);
  l.n = nd_calloc(n, sizeof *l.n);
  nd_status status = l.best && l.n ? ND_OK : nd_fail_memory(err, n * top * sizeof *l.best);
  if (status == ND_OK)
    status =
        nd_sorter_new(&l.chosen, nd_budget(j->settings.memory, ND_SHARE_PAIRS), tmp, true, err);
  if (status == ND_OK) status = nd_sorter_each(j->verified.sorted, offer_some, &l, err);
  if (status == ND_OK) status = nd_sorter_each(j->verified.sorted, pass_some, &l, err);
  if (status == ND_OK) status = nd_sorter_finish(l.chosen, err);
  if (status == ND_OK) {
    nd_sorter_free(j->verified.sorted);
    j->verified.sorted = l.chosen;
    l.chosen = NULL;
  }
  nd_sorter_free(l.chosen);
  nd_free(l.best);
  nd_free(l.n);
  return status;
}
