/* Linear-space differences; see word_diff.h. */
#include "similarity/word_diff.h"

#include <xxhash.h>

#include "base/hash.h"

enum {
  FIRST_LIMIT = 40, /* steps before documents are split at anchors */
  LIMIT = 256,
  GRAM = 4,        /* words of an anchor */
  LEAST_BOX = 512, /* least words of a part to split */
  CUTS = 4         /* levels of splitting at anchors */
};

/* Parts of both documents, still to be compared. */
typedef struct box {
  uint32_t a, a_end, b, b_end;
  unsigned cuts; /* remaining levels of splitting */
} box;

typedef struct work {
  nd_diff *d;
  const uint32_t *a, *b;
  int64_t *forward, *backward; /* furthest x per diagonal, around 0 */
  nd_error *err;
} work;

static nd_status add_run(nd_diff *d, uint32_t a, uint32_t a_n, uint32_t b, uint32_t b_n, bool same,
                         nd_error *err) {
  if (a_n + b_n == 0) return ND_OK;
  if (d->n && d->runs[d->n - 1].same == same) {
    d->runs[d->n - 1].a_n += a_n;
    d->runs[d->n - 1].b_n += b_n;
  } else {
    ND_TRY(nd_array_grow(&d->runs, &d->cap, d->n + 1, sizeof *d->runs, err));
    d->runs[d->n++] = (nd_diff_run){a, a_n, b, b_n, same};
  }
  return ND_OK;
}

/* Finds a point on a shortest path through the box, or on a good one.  Diagonal k has the points
 * with x - y = k; after c steps the diagonals -c … c within the box can be reached.  Returns false
 * if the two searches have not met within the limit. */
static bool find_middle(uint32_t *mid_a, uint32_t *mid_b, const work *w, box x, int64_t limit) {
  const uint32_t *a = w->a + x.a, *b = w->b + x.b;
  int64_t n = x.a_end - x.a, m = x.b_end - x.b, gap = n - m;
  bool odd = gap & 1;
  int64_t *f = w->forward, *r = w->backward;
  f[1] = 0;
  r[1] = 0;
  int64_t best = -1, best_x = 0, best_y = 0;
  int64_t last = (n + m + 1) / 2;
  if (last > limit) last = limit;
  for (int64_t c = 0; c <= last; c++) {
    for (int64_t k = -c; k <= c; k += 2) {
      if (k < -m || k > n) continue;
      int64_t px = k == -c || (k != c && f[k - 1] < f[k + 1]) ? f[k + 1] : f[k - 1] + 1;
      /* Clamp to the box: diagonals outside it have no points, and those of diagonal k have
       * x >= k. */
      if (px > n) px = n;
      int64_t py = px - k;
      if (py > m) {
        f[k] = k < 0 ? 0 : k;
        continue;
      }
      while (px < n && py < m && a[px] == b[py]) px++, py++;
      f[k] = px;
      if (px + py > best) best = px + py, best_x = px, best_y = py;
      int64_t other = gap - k;
      if (odd && other >= -(c - 1) && other <= c - 1 && px + r[other] >= n) {
        *mid_a = x.a + (uint32_t)px;
        *mid_b = x.b + (uint32_t)py;
        return true;
      }
    }
    for (int64_t k = -c; k <= c; k += 2) {
      if (k < -m || k > n) continue;
      int64_t px = k == -c || (k != c && r[k - 1] < r[k + 1]) ? r[k + 1] : r[k - 1] + 1;
      if (px > n) px = n;
      int64_t py = px - k;
      if (py > m) {
        r[k] = k < 0 ? 0 : k;
        continue;
      }
      while (px < n && py < m && a[n - 1 - px] == b[m - 1 - py]) px++, py++;
      r[k] = px;
      int64_t other = gap - k;
      if (!odd && other >= -c && other <= c && px + f[other] >= n) {
        *mid_a = x.a + (uint32_t)(n - px);
        *mid_b = x.b + (uint32_t)(m - py);
        return true;
      }
    }
  }
  *mid_a = x.a + (uint32_t)best_x;
  *mid_b = x.b + (uint32_t)best_y;
  return false;
}

/* --- anchors ------------------------------------------------------------------- */

/* A run of GRAM words that occurs exactly once on each side of the box. */
typedef struct nd_diff_anchor {
  uint32_t a, b;
  uint32_t before; /* its predecessor in the longest ascending sequence */
} anchor;

/* Where a run of words was seen: + 1; 0: nowhere.  The slots of a table, which finds a run in the
 * words themselves: no list of entries as for base/hash_table.h. */
typedef struct gram {
  uint32_t a, b;
  bool twice;
} gram;

static uint64_t gram_hash(const uint32_t *p) {
  uint64_t h = 0;
  for (unsigned i = 0; i < GRAM; i++) h = nd_fold(h ^ p[i], 0x9e3779b97f4a7c15u) + 1;
  return nd_mix(h);
}

static gram *find_gram(const work *w, size_t mask, const uint32_t *p) {
  gram *table = w->d->grams;
  size_t at = (size_t)gram_hash(p) & mask;
  for (;; at = (at + 1) & mask) {
    gram *g = &table[at];
    if (!g->a && !g->b) return g;
    const uint32_t *seen = g->a ? w->a + g->a - 1 : w->b + g->b - 1;
    if (memcmp(seen, p, GRAM * sizeof *p) == 0) return g;
  }
}

/* Keeps the longest sequence of anchors that ascends in both `a` and `b`, by patience sorting; it
 * starts at d->anchors[from]. */
static nd_status keep_rising(nd_diff *d, size_t from, nd_error *err) {
  const size_t n = d->anchor_n - from;
  anchor *list = d->anchors + from;
  ND_TRY(nd_array_grow(&d->last, &d->last_cap, n + 1, sizeof *d->last, err));
  uint32_t *last = d->last; /* last[l]: the smallest end of a sequence of l + 1 */
  size_t longest = 0;
  for (size_t i = 0; i < n; i++) {
    size_t low = 0, high = longest;
    while (low < high) {
      const size_t mid = (low + high) / 2;
      if (list[last[mid]].b < list[i].b)
        low = mid + 1;
      else
        high = mid;
    }
    list[i].before = low ? last[low - 1] : UINT32_MAX;
    last[low] = (uint32_t)i;
    longest += low == longest;
  }
  /* Follow the chain from its end; `last` is free and stores it. */
  if (longest) {
    uint32_t at = last[longest - 1];
    for (size_t l = longest; l--; at = list[at].before) last[l] = at;
  }
  for (size_t l = 0; l < longest; l++) list[l] = list[last[l]];
  d->anchor_n = from + longest;
  return ND_OK;
}

static nd_status find_anchors(const work *w, box x, size_t from, nd_error *err) {
  nd_diff *d = w->d;
  const uint32_t n = x.a_end - x.a, m = x.b_end - x.b;
  d->anchor_n = from;
  if (n < GRAM || m < GRAM) return ND_OK;
  size_t size = 64;
  while (size < 2 * ((size_t)n + m)) size *= 2;
  ND_TRY(nd_array_grow(&d->grams, &d->gram_cap, size, sizeof(gram), err));
  memset(d->grams, 0, size * sizeof(gram));
  ND_TRY(nd_array_grow(&d->last, &d->last_cap, n, sizeof *d->last, err));
  for (uint32_t i = x.a; i + GRAM <= x.a_end; i++) {
    gram *g = find_gram(w, size - 1, w->a + i);
    g->twice |= g->a != 0;
    g->a = i + 1;
    d->last[i - x.a] = (uint32_t)(g - (gram *)d->grams);
  }
  for (uint32_t i = x.b; i + GRAM <= x.b_end; i++) {
    gram *g = find_gram(w, size - 1, w->b + i);
    g->twice |= g->b != 0;
    g->b = i + 1;
  }
  for (uint32_t i = x.a; i + GRAM <= x.a_end; i++) {
    const gram *g = (const gram *)d->grams + d->last[i - x.a];
    if (g->twice || !g->b) continue;
    ND_TRY(nd_array_grow(&d->anchors, &d->anchor_cap, d->anchor_n + 1, sizeof *d->anchors, err));
    d->anchors[d->anchor_n++] = (anchor){i, g->b - 1, 0};
  }
  return keep_rising(d, from, err);
}

static nd_status split(const work *w, box x);

/* Splits a box at its anchors and compares the parts in between separately. */
static nd_status cut(bool *done, const work *w, box x, nd_error *err) {
  nd_diff *d = w->d;
  const size_t from = d->anchor_n;
  ND_TRY(find_anchors(w, x, from, err));
  const size_t end = d->anchor_n;
  *done = end > from;
  for (size_t i = from; i < end; i++) {
    const anchor at = d->anchors[i];
    if (at.a < x.a || at.b < x.b) continue; /* inside the previous run */
    ND_TRY(split(w, (box){x.a, at.a, x.b, at.b, x.cuts}));
    uint32_t n = GRAM;
    while (at.a + n < x.a_end && at.b + n < x.b_end && w->a[at.a + n] == w->b[at.b + n]) n++;
    ND_TRY(add_run(d, at.a, n, at.b, n, true, err));
    x.a = at.a + n;
    x.b = at.b + n;
  }
  d->anchor_n = from;
  return *done ? split(w, x) : ND_OK;
}

static nd_status split(const work *w, box x) {
  /* The halves are put on a stack, the left one on top, so runs are added in order. */
  enum { DEPTH = 128 };
  box stack[DEPTH];
  size_t depth = 0;
  stack[depth++] = x;
  while (depth > 0) {
    x = stack[--depth];
    uint32_t head = 0, tail = 0;
    while (x.a + head < x.a_end && x.b + head < x.b_end && w->a[x.a + head] == w->b[x.b + head])
      head++;
    ND_TRY(add_run(w->d, x.a, head, x.b, head, true, w->err));
    x.a += head;
    x.b += head;
    while (x.a_end - tail > x.a && x.b_end - tail > x.b &&
           w->a[x.a_end - 1 - tail] == w->b[x.b_end - 1 - tail])
      tail++;
    if (tail) { /* add the common tail after the box */
      stack[depth++] = (box){x.a_end - tail, x.a_end, x.b_end - tail, x.b_end, 0};
      x.a_end -= tail;
      x.b_end -= tail;
    }
    /* untaken: the stack is never full */
    if (x.a == x.a_end || x.b == x.b_end || depth + 2 > DEPTH) {
      ND_TRY(add_run(w->d, x.a, x.a_end - x.a, x.b, x.b_end - x.b, false, w->err));
      continue;
    }
    uint32_t a, b;
    if (!find_middle(&a, &b, w, x, FIRST_LIMIT)) {
      bool done = false;
      if (x.cuts && x.a_end - x.a + x.b_end - x.b >= LEAST_BOX) {
        x.cuts--;
        ND_TRY(cut(&done, w, x, w->err));
      }
      if (done) continue;
      find_middle(&a, &b, w, x, LIMIT);
    }
    /* Both ends differ, so the path has at least two steps and the middle is not a corner. */
    stack[depth++] = (box){a, x.a_end, b, x.b_end, x.cuts};
    stack[depth++] = (box){x.a, a, x.b, b, x.cuts};
  }
  return ND_OK;
}

static void count(nd_diff *d) {
  d->same = d->only_a = d->only_b = 0;
  for (size_t i = 0; i < d->n; i++) {
    const nd_diff_run *r = &d->runs[i];
    if (r->same)
      d->same += r->a_n;
    else
      d->only_a += r->a_n, d->only_b += r->b_n;
  }
}

nd_status nd_symbol_diff(nd_diff *d, const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                         nd_error *err) {
  enum { ROOM = 2 * LIMIT + 8 };
  d->n = 0;
  if (n > INT32_MAX || m > INT32_MAX) /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "a document of more than 2^31 words cannot be compared");
  ND_TRY(nd_array_grow(&d->reach, &d->reach_cap, (size_t)2 * ROOM, sizeof *d->reach, err));
  memset(d->reach, 0, (size_t)2 * ROOM * sizeof *d->reach);
  work w = {d, a, b, d->reach + ROOM / 2, d->reach + ROOM + ROOM / 2, err};
  d->anchor_n = 0;
  ND_TRY(split(&w, (box){0, (uint32_t)n, 0, (uint32_t)m, CUTS}));
  count(d);
  return ND_OK;
}

void nd_diff_join_islands(nd_diff *d, uint32_t island) {
  size_t to = 0;
  for (size_t i = 0; i < d->n; i++) {
    nd_diff_run r = d->runs[i];
    /* Runs alternate: equal words follow different ones. */
    bool joins = to > 0 && !d->runs[to - 1].same && i + 1 < d->n && r.a_n < island;
    if (joins) {
      const nd_diff_run *before = &d->runs[to - 1], *after = &d->runs[i + 1];
      joins = r.a_n < before->a_n + before->b_n && r.a_n < after->a_n + after->b_n;
    }
    if (joins) {
      d->runs[to - 1].a_n += r.a_n + d->runs[i + 1].a_n;
      d->runs[to - 1].b_n += r.b_n + d->runs[i + 1].b_n;
      i++;
    } else {
      d->runs[to++] = r;
    }
  }
  d->n = to;
  count(d);
}

/* Hash table slot: equal words get the same symbol, the index of the first one. */
typedef struct word_slot {
  const char *p;
  uint32_t n, symbol;
} word_slot;

static uint32_t symbol_of(word_slot *table, size_t mask, nd_str word, uint32_t *next) {
  size_t at = (size_t)XXH3_64bits(word.p, word.n) & mask;
  while (table[at].symbol && (table[at].n != word.n || memcmp(table[at].p, word.p, word.n) != 0))
    at = (at + 1) & mask;
  if (!table[at].symbol) table[at] = (word_slot){word.p, (uint32_t)word.n, ++*next};
  return table[at].symbol;
}

static nd_str word(nd_str text, const uint32_t *end, size_t i) {
  uint32_t from = i ? end[i - 1] + 1 : 0;
  return (nd_str){text.p + from, end[i] - from};
}

static void make_symbols(uint32_t *out, word_slot *table, size_t mask, nd_str text,
                         const uint32_t *end, size_t first, size_t n, uint32_t *next) {
  for (size_t i = 0; i < n; i++) out[i] = symbol_of(table, mask, word(text, end, first + i), next);
}

/* Adds the common prefix and suffix around the runs of the middle. */
static nd_status put_around(nd_diff *d, uint32_t head, uint32_t tail, size_t a_n, size_t b_n,
                            nd_error *err) {
  ND_TRY(nd_array_grow(&d->runs, &d->cap, d->n + 2, sizeof *d->runs, err));
  for (size_t i = 0; i < d->n; i++) {
    d->runs[i].a += head;
    d->runs[i].b += head;
  }
  if (head) {
    memmove(d->runs + 1, d->runs, d->n++ * sizeof *d->runs);
    d->runs[0] = (nd_diff_run){0, head, 0, head, true};
  }
  uint32_t a = (uint32_t)a_n - tail, b = (uint32_t)b_n - tail;
  /* The middle ends in a difference, so the suffix is a run of its own. */
  if (tail) d->runs[d->n++] = (nd_diff_run){a, tail, b, tail, true};
  d->same += head + tail;
  return ND_OK;
}

nd_status nd_word_diff(nd_diff *d, nd_str a, const uint32_t *a_end, size_t a_n, nd_str b,
                       const uint32_t *b_end, size_t b_n, nd_error *err) {
  /* Near-duplicates usually have a long common prefix and suffix: only the middle needs symbols. */
  size_t least = a_n < b_n ? a_n : b_n, head = 0, tail = 0;
  if (least > INT32_MAX) least = INT32_MAX; /* untaken: more than 2^31 things */
  while (head < least && nd_str_eq(word(a, a_end, head), word(b, b_end, head))) head++;
  while (tail < least - head &&
         nd_str_eq(word(a, a_end, a_n - 1 - tail), word(b, b_end, b_n - 1 - tail)))
    tail++;
  size_t n = a_n - head - tail, m = b_n - head - tail, size = 16;
  while (size < 2 * (n + m)) size *= 2;
  ND_TRY(nd_array_grow(&d->symbols, &d->symbol_cap, n + m + 1, sizeof *d->symbols, err));
  ND_TRY(nd_array_grow(&d->table, &d->table_cap, size, sizeof(word_slot), err));
  memset(d->table, 0, size * sizeof(word_slot));
  uint32_t next = 0;
  make_symbols(d->symbols, d->table, size - 1, a, a_end, head, n, &next);
  make_symbols(d->symbols + n, d->table, size - 1, b, b_end, head, m, &next);
  ND_TRY(nd_symbol_diff(d, d->symbols, n, d->symbols + n, m, err));
  return put_around(d, (uint32_t)head, (uint32_t)tail, a_n, b_n, err);
}

void nd_diff_clear(nd_diff *d) {
  nd_free(d->runs);
  nd_free(d->symbols);
  nd_free(d->reach);
  nd_free(d->table);
  nd_free(d->grams);
  nd_free(d->anchors);
  nd_free(d->last);
  *d = (nd_diff){0};
}
