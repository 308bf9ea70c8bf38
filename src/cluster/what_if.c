/* Thresholds side by side; see what_if.h. */
#include "cluster/what_if.h"

enum { ROOM = 1 << 12, WORD = 64 };

/* The highest threshold that a value reaches. */
static unsigned percent_of(const nd_what_if *w, uint64_t value) {
  const nd_fraction f = nd_fraction_of(value);
  uint64_t percent = f.den ? (uint64_t)f.num * 100 / f.den : 0;
  if (percent >= ND_WHAT_IF_STEPS) percent = ND_WHAT_IF_STEPS - 1;
  return percent < w->low && w->every ? w->low : (unsigned)percent;
}

/* Bits for the thresholds from the word-th 64 on that are reached. */
static uint64_t bits_up_to(unsigned percent, unsigned first) {
  if (percent < first) return 0;
  const unsigned bits = percent - first + 1;
  return bits >= WORD ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

static nd_status mark_dropped(uint64_t *mask, const nd_what_if *w, unsigned words, nd_item *items,
                              nd_error *err) {
  ND_TRY(nd_sorter_rewind(w->pairs, err));
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, ROOM, w->pairs, err));
    if (n == 0) return ND_OK;
    for (size_t i = 0; i < n; i++) {
      const nd_pair p = nd_pair_of(items[i].key);
      const uint64_t *a = mask + (size_t)p.a * words;
      uint64_t *b = mask + (size_t)p.b * words;
      const unsigned percent = percent_of(w, items[i].value);
      for (unsigned k = 0; k < words; k++) b[k] |= bits_up_to(percent, w->low + k * WORD) & ~a[k];
    }
  }
}

nd_status nd_what_if_star(uint64_t dropped[ND_WHAT_IF_STEPS], const nd_what_if *w, nd_error *err) {
  const unsigned words = w->low + WORD < ND_WHAT_IF_STEPS ? 2 : 1;
  for (unsigned t = 0; t < ND_WHAT_IF_STEPS; t++) dropped[t] = 0;
  const size_t all = (size_t)w->n * words;
  uint64_t *mask = nd_calloc(all + 1, sizeof *mask);
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  nd_status status = mask && items ? ND_OK : nd_fail_memory(err, all * sizeof *mask);
  if (status == ND_OK) status = mark_dropped(mask, w, words, items, err);
  for (size_t i = 0; status == ND_OK && i < all; i++)
    for (uint64_t m = mask[i]; m; m &= m - 1) {
      dropped[w->low + (unsigned)(i % words) * WORD + (unsigned)__builtin_ctzll(m)]++;
    }
  nd_free(mask);
  nd_free(items);
  return status;
}

/* Pairs again, the most similar ones first. */
static nd_status sort_by_value(nd_sorter *out, const nd_what_if *w, nd_item *items, nd_error *err) {
  ND_TRY(nd_sorter_rewind(w->pairs, err));
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, ROOM, w->pairs, err));
    if (n == 0) return nd_sorter_finish(out, err);
    for (size_t i = 0; i < n; i++)
      items[i] = (nd_item){ND_WHAT_IF_STEPS - 1 - percent_of(w, items[i].value), items[i].key};
    ND_TRY(nd_sorter_add(out, items, n, err));
  }
}

static uint32_t find_root(uint32_t *parent, uint32_t x) {
  while (parent[x] != x) {
    parent[x] = parent[parent[x]];
    x = parent[x];
  }
  return x;
}

static nd_status join_components(uint64_t dropped[ND_WHAT_IF_STEPS], uint32_t *parent,
                                 nd_sorter *sorted, nd_item *items, nd_error *err) {
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, ROOM, sorted, err));
    if (n == 0) return ND_OK;
    for (size_t i = 0; i < n; i++) {
      const uint32_t a = find_root(parent, nd_pair_of(items[i].value).a);
      const uint32_t b = find_root(parent, nd_pair_of(items[i].value).b);
      if (a == b) continue;
      parent[a > b ? a : b] = a > b ? b : a;
      dropped[ND_WHAT_IF_STEPS - 1 - items[i].key]++;
    }
  }
}

nd_status nd_what_if_components(uint64_t dropped[ND_WHAT_IF_STEPS], const nd_what_if *w,
                                uint64_t memory, const char *tmp, nd_error *err) {
  nd_sorter *sorted = NULL;
  for (unsigned t = 0; t < ND_WHAT_IF_STEPS; t++) dropped[t] = 0;
  uint32_t *parent = nd_malloc(((size_t)w->n + 1) * sizeof *parent);
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  nd_status status = parent && items ? ND_OK : nd_fail_memory(err, (size_t)w->n * sizeof *parent);
  for (uint32_t i = 0; status == ND_OK && i < w->n; i++) parent[i] = i;
  if (status == ND_OK) status = nd_sorter_new(&sorted, memory, tmp, false, err);
  if (status == ND_OK) status = sort_by_value(sorted, w, items, err);
  if (status == ND_OK) status = join_components(dropped, parent, sorted, items, err);
  /* What a threshold drops, all lower ones drop as well. */
  for (unsigned t = ND_WHAT_IF_STEPS - 1; t-- > w->low;) dropped[t] += dropped[t + 1];
  for (unsigned t = 0; t < w->low; t++) dropped[t] = 0;
  nd_sorter_free(sorted);
  nd_free(parent);
  nd_free(items);
  return status;
}
