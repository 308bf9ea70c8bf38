/* The lists of the block join, short ones at once and long ones on all threads, and the
 * verification of their candidates.  See block_join.h. */
#include <stdlib.h>

#include "base/threads.h"
#include "join/block_join.h"

enum {
  MARK_FROM = 3,  /* least candidates of a record whose tokens are marked */
  MARK_LONG = 32, /* least tokens of such a record */
};

typedef struct slice {
  uint32_t heavy, from, to;
  uint64_t cost;
} slice;

typedef struct slices {
  nd_block_join *block;
  slice *slice;
  size_t n, cap;
} slices;

/* Tests whether two runs that end before a common token share an earlier one.  Searches from the
 * end, where a shared token is most likely. */
static bool met_before(const nd_block_join *b, const uint32_t *x, const uint32_t *x_end,
                       const uint32_t *y, const uint32_t *y_end) {
  const ptrdiff_t n = x_end - x, m = y_end - y; /* m > 0 */
  if (n <= 0) return false;
  if (*x == *y) return true;
  if (n > 1 && x_end[-2] == y_end[-1]) return true;
  if (m > 1 && x_end[-1] == y_end[-2]) return true;
  if (n > 1 && m > 1 && x_end[-2] == y_end[-2]) return true;
  return b->common(x, x_end, y, y_end, 0) > 0;
}

/* Sets or clears the marks of a record's tokens. */
static void set_marks(uint8_t *mark, const uint32_t *token, const uint32_t *end, uint8_t value) {
  for (; token < end; token++) mark[*token] = value;
}

/* Tests whether a token is marked, from the end, where it is most likely. */
static bool any_marked(const uint8_t *mark, const uint32_t *token, const uint32_t *end) {
  for (; end - token >= 8; end -= 8) {
    unsigned found = 0;
    for (int k = 1; k <= 8; k++) found |= mark[end[-k]];
    if (found) return true;
  }
  while (end > token) {
    if (mark[*--end]) return true;
  }
  return false;
}

/* Counts marked tokens; stops early as nd_block_common does. */
static uint32_t count_marked(const uint8_t *mark, const uint32_t *token, const uint32_t *end,
                             int64_t needed) {
  uint32_t common = 0;
  for (; end - token >= 16; token += 16) {
    for (int k = 0; k < 16; k++) common += mark[token[k]];
    if ((int64_t)common + (end - token - 16) < needed) return common;
  }
  for (; token < end; token++) common += mark[*token];
  return common;
}

/* Verifies candidates of one x: the token must be their first common one, and enough must be
 * common. */
static nd_status verify_run(nd_block_worker *w, const nd_candidate *c, size_t n, nd_error *err) {
  const nd_block_join *block = w->block;
  const nd_join_task *t = block->task;
  const nd_sets *s = t->sets;
  const uint32_t *a = s->token + s->begin[c->x], *a_end = s->token + s->begin[c->x + 1];
  const uint32_t size_x = s->size[c->x];
  const uint8_t *mark = NULL;
  nd_status status = ND_OK;
  /* Most candidates of chains are pairs.  Most candidates of lists share an earlier token, so check
   * the earlier tokens first. */
  if (n >= MARK_FROM && a_end - a >= MARK_LONG && w->from != UINT32_MAX) {
    if (!w->mark) w->mark = nd_calloc(s->distinct, 1);
    if (!w->mark) return nd_fail_memory(err, s->distinct);
    set_marks(w->mark, a, a_end, 1);
    mark = w->mark;
  }
  for (const nd_candidate *end = c + n; c < end; c++) {
    const uint32_t size_y = s->size[c->y];
    const int64_t needed = (int64_t)nd_set_needed(&t->bounds, size_x, size_y);
    if (size_x - c->i < needed || size_y - c->j < needed) continue;
    const uint32_t *b = s->token + s->begin[c->y], *b_end = s->token + s->begin[c->y + 1];
    const uint32_t *at_a = a_end - (size_x - c->i), *at_b = b_end - (size_y - c->j);
    if (b < at_b && *b < w->from) {
      const uint32_t *early = at_b;
      while (early[-1] >= w->from) early--;
      if (mark ? any_marked(mark, b, early) : met_before(block, a, at_a, b, early)) continue;
    }
    w->join->after_suffix++;
    w->join->verified++;
    const int64_t common =
        1 + (int64_t)(mark ? count_marked(mark, at_b + 1, b_end, needed - 1)
                           : block->common(at_a + 1, a_end, at_b + 1, b_end, needed - 1));
    if (common < needed) continue;
    status = nd_join_emit(w->join, c->x, c->y, (uint32_t)common, err);
    if (status != ND_OK) break;
  }
  if (mark) set_marks(w->mark, a, a_end, 0);
  return status;
}

nd_status nd_block_verify(nd_block_worker *w, nd_error *err) {
  const nd_sets *s = w->block->task->sets;
  const size_t n = w->candidates;
  w->candidates = 0;
  /* Prefetch all records before using any, as they are far apart in memory. */
  for (size_t k = 0; k < n; k++) {
    __builtin_prefetch(&s->begin[w->candidate[k].y]);
    __builtin_prefetch(&s->size[w->candidate[k].y]);
    __builtin_prefetch(&s->record[w->candidate[k].y]);
  }
  for (size_t k = 0; k < n; k++) {
    const nd_candidate *c = &w->candidate[k];
    __builtin_prefetch(&s->token[s->begin[c->y]]);
    __builtin_prefetch(&s->token[s->begin[c->x]]);
  }
  for (size_t k = 0, end; k < n; k = end) {
    const uint32_t x = w->candidate[k].x;
    for (end = k + 1; end < n && w->candidate[end].x == x;) end++;
    ND_TRY(verify_run(w, &w->candidate[k], end - k, err));
  }
  return ND_OK;
}

nd_status nd_block_reserve_side(nd_block_worker *w, uint32_t n, nd_error *err) {
  if (n <= w->side_cap) return ND_OK;
  const unsigned words = w->block->words;
  const size_t cap = (size_t)n + n / 2 + 64, one = cap * 4 + ND_SLACK, wide = cap * 8 + ND_SLACK;
  const size_t bytes = 2 * one + (words + 1) * wide;
  nd_free(w->side_memory);
  w->side_cap = 0;
  w->side_memory = nd_calloc(1, bytes);
  if (!w->side_memory) return nd_fail_memory(err, bytes);
  w->side_cap = cap;
  char *at = w->side_memory;
  for (unsigned k = 0; k < words; k++) w->column[k] = (uint64_t *)(void *)(at + k * wide);
  at += words * wide;
  w->posting = (const nd_posting **)(void *)at;
  at += wide;
  w->record = (uint32_t *)(void *)at;
  w->limit = (int32_t *)(void *)(at + one);
  return ND_OK;
}

/* Joins a list of two postings without sketches; their preceding tokens differ (met_in_whole). */
static nd_status join_two(nd_block_worker *w, const nd_block_list *list, nd_error *err) {
  const nd_join_task *t = w->block->task;
  const nd_posting *y = nd_list_at(list, 0, w->block->words);
  const nd_posting *x = nd_list_at(list, 1, w->block->words);
  const nd_join_class *c = &t->class_[x->class_];
  const bool apart = !t->options.split || nd_posting_side(x) != nd_posting_side(y);
  if (y->record < c->lowest || !nd_posting_indexed(y) || !apart) return ND_OK;
  w->join->after_size++;
  const int32_t limit = nd_posting_limit(t->class_[y->class_].limit_y, y);
  if (nd_posting_limit(c->limit_x, x) + limit < 0) return ND_OK;
  w->join->after_positional++;
  w->candidate[w->candidates++] =
      (nd_candidate){x->record, y->record, nd_posting_position(x), nd_posting_position(y)};
  return w->candidates == ND_BLOCK_CANDIDATES ? nd_block_verify(w, err) : ND_OK;
}

static nd_status join_range(nd_block_worker *w, const nd_block_list *list, uint32_t from,
                            uint32_t to, nd_error *err) {
  const nd_block_join *b = w->block;
  if (list->n == 2) return join_two(w, list, err);
  if (!b->task->options.split) return b->sides(w, list, from, to, 0, 0, err);
  ND_TRY(b->sides(w, list, from, to, 0, 1, err));
  return b->sides(w, list, from, to, 1, 0, err);
}

/* Returns the number of comparisons of a list, without the position filter: every x with the
 * indexed postings between its lowest record and itself. */
static uint64_t cost_of(const nd_block_join *b, const nd_block_list *list) {
  const nd_join_class *class_ = b->task->class_;
  const unsigned words = b->words;
  uint64_t cost = 0, indexed = 0, skipped = 0;
  uint32_t low = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    const nd_posting *x = nd_list_at(list, i, words), *y;
    uint32_t lowest = class_[x->class_].lowest;
    for (; (y = nd_list_at(list, low, words))->record < lowest; low++) {
      skipped += nd_posting_indexed(y);
    }
    cost += indexed - skipped;
    indexed += nd_posting_indexed(x);
  }
  return cost;
}

/* Defers a list for all threads. */
static nd_status put_off(nd_block_join *b, const nd_block_list *list, uint64_t cost,
                         nd_error *err) {
  const size_t row = nd_posting_bytes(b->words), rows = list->n * row;
  nd_block_heavy h = {.list.n = list->n, .cost = cost};
  h.list.rows = nd_malloc(rows + list->n * sizeof *h.list.order);
  if (!h.list.rows) return nd_fail_memory(err, rows + list->n * sizeof *h.list.order);
  uint32_t *order = (uint32_t *)(void *)((char *)h.list.rows + rows);
  for (uint32_t i = 0; i < list->n; i++) {
    memcpy(nd_posting_at(h.list.rows, i, b->words), nd_list_at(list, i, b->words), row);
    order[i] = i;
  }
  h.list.order = order;
  pthread_mutex_lock(&b->task->lock);
  nd_status status = nd_array_grow(&b->heavy, &b->heavy_cap, b->heavies + 1, sizeof h, err);
  if (status == ND_OK) b->heavy[b->heavies++] = h;
  pthread_mutex_unlock(&b->task->lock);
  if (status != ND_OK) nd_free(h.list.rows);
  return status;
}

/* Tests whether all records of a list have the same preceding token; then all their pairs were
 * examined there. */
static bool met_in_whole(const nd_block_join *b, const nd_block_list *list) {
  const uint32_t before = nd_list_at(list, 0, b->words)->before;
  if (before == UINT32_MAX) return false;
  for (uint32_t i = 1; i < list->n; i++) {
    if (nd_list_at(list, i, b->words)->before != before) return false;
  }
  return true;
}

nd_status nd_block_list_join(nd_block_worker *w, const nd_block_list *list, nd_error *err) {
  if (met_in_whole(w->block, list)) return ND_OK;
  if (w->block->task->threads > 1 && nd_block_is_heavy(list->n)) {
    uint64_t cost = cost_of(w->block, list);
    if (cost > ND_BLOCK_HEAVY) return put_off(w->block, list, cost, err);
  }
  return join_range(w, list, 0, list->n, err);
}

static nd_status join_slice(void *context, unsigned member, uint64_t job, nd_error *err) {
  slices *all = context;
  const slice *s = &all->slice[job];
  nd_block_worker *w = &all->block->worker[member];
  ND_TRY(join_range(w, &all->block->heavy[s->heavy].list, s->from, s->to, err));
  return nd_block_verify(w, err);
}

static int costlier(const void *a, const void *b) {
  const slice *x = a, *y = b;
  return (x->cost < y->cost) - (x->cost > y->cost);
}

nd_status nd_block_join_heavies(nd_block_join *b, nd_error *err) {
  nd_status status = ND_OK;
  slices all = {.block = b};
  for (uint32_t h = 0; h < b->heavies; h++) {
    const nd_block_heavy *one = &b->heavy[h];
    uint64_t pieces = one->cost / ND_BLOCK_HEAVY + 1;
    if (pieces > 32 * (uint64_t)b->task->threads) pieces = 32 * (uint64_t)b->task->threads;
    for (uint64_t p = 0; p < pieces; p++) {
      ND_TRY_GOTO(nd_array_grow(&all.slice, &all.cap, all.n + 1, sizeof *all.slice, err), out);
      slice piece = {h, (uint32_t)(one->list.n * p / pieces),
                     (uint32_t)(one->list.n * (p + 1) / pieces), one->cost / pieces};
      all.slice[all.n++] = piece; /* never empty: a heavy list has more postings than pieces */
    }
  }
  if (all.n == 0) goto out;
  qsort(all.slice, all.n, sizeof *all.slice, costlier);
  status = nd_threads_run(b->task->threads, all.n, join_slice, &all, err);
out:
  nd_free(all.slice);
  return status;
}

void nd_block_free_heavies(nd_block_join *b) {
  for (size_t h = 0; h < b->heavies; h++) nd_free(b->heavy[h].list.rows);
  b->heavies = 0;
}
