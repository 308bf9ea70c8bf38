/* Verifying in parallel, in rounds.
 *
 * Candidates come as positions in the wanted order, sorted by the first one, so
 * a thread builds that document's table once for the pairs that follow.
 *
 * Meanwhile the star clustering is followed: when a pair's first document has
 * been claimed by nobody, it claims the second.  A star edge (a, b) of a hot
 * bucket is spared when a and b have been claimed by one and the same document
 * in an earlier round: neither stars (a is not kept) nor components (both hang
 * together) depend on it.  Rounds are cut by the sorted candidates alone, so
 * this depends on no thread. */
#include "pipeline/confirm.h"

#include "base/threads.h"

enum { ROUND = 1 << 16, JOB = 1 << 10 };

typedef struct checker {
  const nd_text_source *source;
  const nd_settings *settings;
  nd_item *items;
  size_t n;
  struct hand {
    nd_comparer *comparer;
    nd_texts *texts;
    nd_buf left, right;
    uint64_t *sketch; /* two of them */
    bool have_left;
    uint32_t left_document;
  } *hands; /* one per thread */
  const nd_order *order;
  uint32_t *claimed; /* per position: by which other one; UINT32_MAX: nobody */
} checker;

static void clear_hands(checker *c) {
  for (unsigned i = 0; c->hands && i < c->settings->threads; i++) {
    nd_comparer_free(c->hands[i].comparer);
    nd_texts_free(c->hands[i].texts);
    nd_buf_clear(&c->hands[i].left);
    nd_buf_clear(&c->hands[i].right);
    nd_free(c->hands[i].sketch);
  }
  nd_free(c->hands);
  c->hands = NULL;
}

static nd_status make_hands(checker *c, nd_verify verify, nd_error *err) {
  const nd_settings *s = c->settings;
  c->hands = nd_calloc(s->threads, sizeof *c->hands);
  if (!c->hands) return nd_fail_memory(err, s->threads * sizeof *c->hands);
  for (unsigned i = 0; i < s->threads; i++) {
    ND_TRY(nd_comparer_new(&c->hands[i].comparer, s->shingle, s->options->seed, err));
    ND_TRY(nd_texts_new(&c->hands[i].texts, c->source, err));
    if (verify == ND_VERIFY_EXACT) continue;
    c->hands[i].sketch = nd_malloc(2 * s->permutations * sizeof(uint64_t));
    if (!c->hands[i].sketch) return nd_fail_memory(err, 2 * s->permutations * sizeof(uint64_t));
  }
  return ND_OK;
}

static nd_status compare_texts(nd_overlap *out, struct hand *h, uint32_t a, uint32_t b,
                               nd_error *err) {
  if (!h->have_left || h->left_document != a) {
    h->have_left = false;
    ND_TRY(nd_texts_get(&h->left, h->texts, a, err));
    ND_TRY(nd_comparer_left(h->comparer, nd_buf_str(&h->left), err));
    h->left_document = a;
    h->have_left = true;
  }
  ND_TRY(nd_texts_get(&h->right, h->texts, b, err));
  return nd_comparer_right(out, h->comparer, nd_buf_str(&h->right), err);
}

static nd_status compare_sketches(nd_overlap *out, struct hand *h, const checker *c, uint32_t a,
                                  uint32_t b, nd_error *err) {
  uint32_t k = c->settings->permutations;
  ND_TRY(nd_store_sketch(h->sketch, c->source->store, a, err));
  ND_TRY(nd_store_sketch(h->sketch + k, c->source->store, b, err));
  *out = (nd_overlap){0, k};
  for (uint32_t i = 0; i < k; i++) out->common += h->sketch[i] == h->sketch[k + i];
  return ND_OK;
}

static nd_status check_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  checker *c = context;
  struct hand *h = &c->hands[member];
  size_t end = (size_t)(job + 1) * JOB;
  if (end > c->n) end = c->n;
  for (size_t i = (size_t)job * JOB; i < end; i++) {
    uint32_t a = nd_order_document(c->order, (uint32_t)(c->items[i].key >> 32));
    uint32_t b = nd_order_document(c->order, (uint32_t)c->items[i].key);
    nd_overlap overlap;
    if (h->sketch) ND_TRY(compare_sketches(&overlap, h, c, a, b, err));
    else ND_TRY(compare_texts(&overlap, h, a, b, err));
    c->items[i].value = nd_overlap_pack(overlap);
  }
  return ND_OK;
}

static nd_status check_items(checker *c, nd_error *err) {
  return nd_threads_run(c->settings->threads, (c->n + JOB - 1) / JOB, check_job, c, err);
}

nd_status nd_confirm_list(nd_item *items, size_t n, const nd_text_source *source, nd_error *err) {
  const nd_order by_number = {0};
  checker c = {.source = source,
               .settings = source->settings,
               .items = items,
               .n = n,
               .order = &by_number};
  nd_status status = make_hands(&c, ND_VERIFY_EXACT, err);
  if (status == ND_OK) status = check_items(&c, err);
  clear_hands(&c);
  return status;
}

void nd_confirmed_clear(nd_confirmed *c) {
  nd_sorter_free(c->sorted);
  *c = (nd_confirmed){0};
}

/* One round: read, compare, keep those that reach the threshold. */
static nd_status confirm_round(bool *more, nd_confirmed *out, checker *c, const nd_found *found,
                               nd_error *err) {
  size_t got;
  ND_TRY(nd_sorter_next(&got, c->items, ROUND, found->pairs, err));
  *more = got > 0;
  c->n = 0;
  for (size_t i = 0; i < got; i++) {
    uint32_t a = (uint32_t)(c->items[i].key >> 32), b = (uint32_t)c->items[i].key;
    bool spared = c->items[i].value == ND_PAIR_STAR && c->claimed[a] != UINT32_MAX &&
                  c->claimed[a] == c->claimed[b];
    if (spared) out->spared++;
    else c->items[c->n++] = c->items[i];
  }
  ND_TRY(check_items(c, err));
  out->candidates += c->n;
  nd_decimal t = c->settings->options->threshold;
  bool all = c->settings->verify == ND_VERIFY_NONE;
  size_t kept = 0;
  for (size_t i = 0; i < c->n; i++) {
    if (!all && !nd_overlap_reaches(nd_overlap_unpack(c->items[i].value), t.num, t.den)) continue;
    uint32_t a = (uint32_t)(c->items[i].key >> 32), b = (uint32_t)c->items[i].key;
    if (c->claimed[a] == UINT32_MAX && c->claimed[b] == UINT32_MAX) c->claimed[b] = a;
    a = found->same[nd_order_document(c->order, a)];
    b = found->same[nd_order_document(c->order, b)];
    c->items[kept++] =
        (nd_item){a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a, c->items[i].value};
  }
  out->pairs += kept;
  return nd_sorter_add(out->sorted, c->items, kept, err);
}

nd_status nd_confirm(nd_confirmed *out, const nd_found *found, const nd_text_source *source,
                     const char *tmp, nd_confirm_tick tick, void *tick_context, nd_error *err) {
  *out = (nd_confirmed){0};
  const nd_settings *settings = source->settings;
  ND_TRY(nd_sorter_new(&out->sorted, settings->memory / 8, tmp, true, err));
  checker c = {.source = source, .settings = settings, .order = &found->order};
  c.items = nd_malloc(ROUND * sizeof *c.items);
  uint64_t documents = source->store->documents;
  c.claimed = nd_malloc(documents * sizeof *c.claimed);
  nd_status status = c.items && c.claimed ? ND_OK : nd_fail_memory(err, documents * 4);
  for (uint64_t d = 0; status == ND_OK && d < documents; d++) c.claimed[d] = UINT32_MAX;
  if (status == ND_OK) status = make_hands(&c, settings->verify, err);
  bool more = true;
  while (status == ND_OK && more) {
    status = confirm_round(&more, out, &c, found, err);
    if (status == ND_OK && tick && tick(tick_context, out->candidates))
      status = nd_fail(err, ND_ERR_CANCELLED, "interrupted");
  }
  clear_hands(&c);
  nd_free(c.claimed);
  nd_free(c.items);
  if (status == ND_OK) status = nd_sorter_finish(out->sorted, err);
  return status;
}
