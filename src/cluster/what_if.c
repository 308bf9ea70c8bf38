/* Clustering at several thresholds; see what_if.h. */
#include "cluster/what_if.h"

#include "cluster/union_find.h"

enum { WORD = 64 };

/* Returns the highest threshold that a value reaches. */
static unsigned percent_of(const nd_what_if *w, uint64_t value) {
  const nd_fraction f = nd_fraction_of(value);
  uint64_t percent = f.den ? (uint64_t)f.num * 100 / f.den : 0;
  if (percent >= ND_WHAT_IF_STEPS) percent = ND_WHAT_IF_STEPS - 1;
  return percent < w->low && w->every ? w->low : (unsigned)percent;
}

/* Returns the bits of the thresholds reached, in word `word` of the mask. */
static uint64_t bits_up_to(unsigned percent, unsigned first) {
  if (percent < first) return 0;
  const unsigned bits = percent - first + 1;
  return bits >= WORD ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

typedef struct marking {
  const nd_what_if *what_if;
  uint64_t *mask; /* per document: the thresholds that drop it */
  unsigned words; /* words per mask */
} marking;

static nd_status mark_dropped(void *context, nd_item *items, size_t n, nd_error *err) {
  const marking *m = context;
  const unsigned words = m->words, low = m->what_if->low;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    const uint64_t *a = m->mask + (size_t)p.a * words;
    uint64_t *b = m->mask + (size_t)p.b * words;
    const unsigned percent = percent_of(m->what_if, items[i].value);
    for (unsigned k = 0; k < words; k++) b[k] |= bits_up_to(percent, low + k * WORD) & ~a[k];
  }
  return ND_OK;
}

nd_status nd_what_if_star(uint64_t dropped[ND_WHAT_IF_STEPS], const nd_what_if *w, nd_error *err) {
  const unsigned words = w->low + WORD < ND_WHAT_IF_STEPS ? 2 : 1;
  for (unsigned t = 0; t < ND_WHAT_IF_STEPS; t++) dropped[t] = 0;
  const size_t all = (size_t)w->n * words;
  uint64_t *mask = nd_calloc(all + 1, sizeof *mask);
  if (!mask) return nd_fail_memory(err, all * sizeof *mask);
  marking m = {w, mask, words};
  nd_status status = nd_sorter_each(w->pairs, mark_dropped, &m, err);
  for (size_t i = 0; status == ND_OK && i < all; i++)
    for (uint64_t left = mask[i]; left; left &= left - 1) {
      dropped[w->low + (unsigned)(i % words) * WORD + (unsigned)__builtin_ctzll(left)]++;
    }
  nd_free(mask);
  return status;
}

typedef struct components {
  const nd_what_if *what_if;
  nd_sorter *sorted; /* 99 - percent → pair: the most similar pairs first */
  uint32_t *parent;
  uint64_t *dropped;
} components;

static nd_status sort_by_value(void *context, nd_item *items, size_t n, nd_error *err) {
  const components *c = context;
  for (size_t i = 0; i < n; i++)
    items[i] =
        (nd_item){ND_WHAT_IF_STEPS - 1 - percent_of(c->what_if, items[i].value), items[i].key};
  return nd_sorter_add(c->sorted, items, n, err);
}

static nd_status join_components(void *context, nd_item *items, size_t n, nd_error *err) {
  const components *c = context;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].value);
    c->dropped[ND_WHAT_IF_STEPS - 1 - items[i].key] += nd_union_join(c->parent, p.a, p.b);
  }
  return ND_OK;
}

nd_status nd_what_if_components(uint64_t dropped[ND_WHAT_IF_STEPS], const nd_what_if *w,
                                uint64_t memory, const char *tmp, nd_error *err) {
  components c = {.what_if = w, .dropped = dropped};
  for (unsigned t = 0; t < ND_WHAT_IF_STEPS; t++) dropped[t] = 0;
  c.parent = nd_malloc(((size_t)w->n + 1) * sizeof *c.parent);
  if (!c.parent) return nd_fail_memory(err, (size_t)w->n * sizeof *c.parent);
  nd_union_start(c.parent, w->n);
  nd_status status = nd_sorter_new(&c.sorted, memory, tmp, false, err);
  if (status == ND_OK) status = nd_sorter_each(w->pairs, sort_by_value, &c, err);
  if (status == ND_OK) status = nd_sorter_finish(c.sorted, err);
  if (status == ND_OK) status = nd_sorter_each(c.sorted, join_components, &c, err);
  /* A document dropped at a threshold is dropped at all lower ones. */
  for (unsigned t = ND_WHAT_IF_STEPS - 1; t-- > w->low;) dropped[t] += dropped[t + 1];
  for (unsigned t = 0; t < w->low; t++) dropped[t] = 0;
  nd_sorter_free(c.sorted);
  nd_free(c.parent);
  return status;
}
