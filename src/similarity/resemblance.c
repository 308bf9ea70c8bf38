/* Exact resemblance by one small hash table per document; see resemblance.h.
 *
 * The left document's distinct shingles are in a table.  Each shingle of the right
 * document is looked up there.  If it is found and not yet marked, it is common;
 * if it is not found, a second table counts it as a distinct shingle of the right
 * document.  Near-duplicates match in long runs: after a match the texts are
 * compared up to the first difference, and the shingles in between need no look-up.
 *
 * If two documents have a common prefix and suffix (words:K), only the shingles
 * that touch the part in between are compared; see compare_middle. */
#include "similarity/resemblance.h"

#include "base/hash.h"
#include "base/hash_table.h"
#include "similarity/same_bytes.h"
#include "text/words.h"

struct nd_comparer {
  nd_shingle_spec spec;
  uint64_t seed;
  uint64_t salt; /* of the hash tables; does not change results */
  nd_prepared *left;
  nd_prepared own_left, own_right; /* for the calls with texts */
  nd_shingles range;               /* the middle of a right document */
  nd_slots table, rest;            /* of the left document; of shingles only in the right one */
  uint32_t *first;                 /* left: the first shingle equal to this one */
  size_t first_cap;
  uint32_t *mark; /* left: number of the comparison that found it */
  size_t mark_cap;
  uint32_t *times; /* left: occurrences of a shingle, at its first one */
  size_t times_cap;
  uint32_t *middle; /* left: its occurrences in the middle */
  size_t middle_cap;
  uint32_t *middle_mark; /* left: number of the comparison that `middle` belongs to */
  size_t middle_mark_cap;
  uint32_t comparison;
  uint32_t distinct_left;
};

nd_status nd_comparer_new(nd_comparer **out, nd_shingle_spec spec, uint64_t seed, nd_error *err) {
  nd_comparer *c = nd_calloc(1, sizeof *c);
  if (!c) return nd_fail_memory(err, sizeof *c);
  c->spec = spec;
  c->seed = seed;
  c->salt = nd_mix(seed ^ (uint64_t)(uintptr_t)c);
  *out = c;
  return ND_OK;
}

nd_status nd_prepared_set(nd_prepared *p, nd_error *err) {
  p->shingled = false;
  p->uses = 0;
  p->shingles.n = 0;
  ND_TRY(nd_buf_reserve(&p->text, 0, err));
  return nd_token_ends(&p->token_end, &p->token_count, &p->token_cap, nd_buf_str(&p->text), err);
}

void nd_prepared_clear(nd_prepared *p) {
  nd_buf_clear(&p->text);
  nd_free(p->token_end);
  nd_shingles_clear(&p->shingles);
  *p = (nd_prepared){0};
}

size_t nd_prepared_bytes(const nd_prepared *p) {
  return p->text.cap + p->token_cap * 4 + p->shingles.cap * 8 + p->shingles.place_cap * 8;
}

void nd_comparer_free(nd_comparer *c) {
  if (!c) return;
  nd_prepared_clear(&c->own_left);
  nd_prepared_clear(&c->own_right);
  nd_shingles_clear(&c->range);
  nd_slots_clear(&c->table);
  nd_slots_clear(&c->rest);
  nd_free(c->first);
  nd_free(c->mark);
  nd_free(c->times);
  nd_free(c->middle);
  nd_free(c->middle_mark);
  nd_free(c);
}

/* Computes the shingles of a document, once. */
static nd_status shingle(nd_prepared *p, const nd_comparer *c, nd_error *err) {
  if (p->shingled) return ND_OK;
  ND_TRY(nd_shingle_make(&p->shingles, nd_buf_str(&p->text), p->token_end, p->token_count, c->spec,
                         c->seed, true, err));
  p->shingled = true;
  return ND_OK;
}

/* Shingles and their text. */
typedef struct side {
  const char *text;
  size_t n;
  const nd_shingles *shingles;
} side;

ND_INLINE bool same_shingle(side a, size_t i, side b, size_t j) {
  const nd_shingles *x = a.shingles, *y = b.shingles;
  size_t n = x->end[i] - x->begin[i];
  return n == y->end[j] - y->begin[j] &&
         nd_same_bytes(a.text + x->begin[i], b.text + y->begin[j], n);
}

/* Returns the number of equal successors of shingle i of the left and shingle j of the right
 * document, which are equal. */
static size_t equal_run(side a, size_t i, side b, size_t j) {
  const nd_shingles *x = a.shingles, *y = b.shingles;
  size_t a_left = a.n - x->end[i], b_left = b.n - y->end[j];
  size_t alike =
      nd_equal_front(a.text + x->end[i], b.text + y->end[j], a_left < b_left ? a_left : b_left);
  size_t most = x->n - i < y->n - j ? x->n - i : y->n - j, run = 1;
  /* Within equal text, equal ends imply equal starts. */
  while (run < most && x->end[i + run] - x->end[i] <= alike &&
         x->end[i + run] - x->end[i] == y->end[j + run] - y->end[j])
    run++;
  return run - 1;
}

/* Looks up shingle j of `b` in table `t` of `a`; returns the number of the equal shingle plus 1, or
 * 0 and sets *at to the free slot. */
ND_INLINE uint32_t look_up(const nd_comparer *c, const nd_slots *t, side a, side b, size_t j,
                           size_t *at) {
  uint64_t fingerprint = b.shingles->fingerprint[j];
  size_t i = nd_slots_first(t, nd_hash_salted(fingerprint, c->salt));
  for (;; i = nd_slots_next(t, i)) {
    uint32_t found = t->slot[i];
    if (!found) break;
    if (a.shingles->fingerprint[found - 1] == fingerprint && same_shingle(a, found - 1, b, j))
      return found;
  }
  *at = i;
  return 0;
}

static nd_status index_left(nd_comparer *c, nd_error *err) {
  side a = {c->left->text.p, c->left->text.n, &c->left->shingles};
  size_t n = a.shingles->n;
  ND_TRY(nd_slots_reset(&c->table, n, err));
  ND_TRY(nd_array_grow(&c->first, &c->first_cap, n, sizeof *c->first, err));
  ND_TRY(nd_array_grow(&c->mark, &c->mark_cap, n, sizeof *c->mark, err));
  ND_TRY(nd_array_grow(&c->times, &c->times_cap, n, sizeof *c->times, err));
  ND_TRY(nd_array_grow(&c->middle, &c->middle_cap, n, sizeof *c->middle, err));
  ND_TRY(nd_array_grow(&c->middle_mark, &c->middle_mark_cap, n, sizeof *c->middle_mark, err));
  if (n) {
    memset(c->mark, 0, n * sizeof *c->mark);
    memset(c->times, 0, n * sizeof *c->times);
    memset(c->middle_mark, 0, n * sizeof *c->middle_mark);
  }
  c->comparison = 0;
  c->distinct_left = 0;
  for (size_t i = 0; i < n; i++) {
    size_t at = 0;
    uint32_t found = look_up(c, &c->table, a, a, i, &at);
    if (!found) {
      c->table.slot[at] = found = (uint32_t)i + 1;
      c->distinct_left++;
    }
    c->first[i] = found - 1;
    c->times[found - 1]++;
  }
  return ND_OK;
}

nd_status nd_comparer_set(nd_comparer *c, nd_prepared *left, nd_error *err) {
  c->left = left;
  ND_TRY(shingle(left, c, err));
  return index_left(c, err);
}

/* Compares every shingle of the right document. */
static nd_status compare_whole(nd_overlap *out, nd_comparer *c, nd_prepared *right, nd_error *err) {
  ND_TRY(shingle(right, c, err));
  side a = {c->left->text.p, c->left->text.n, &c->left->shingles};
  side b = {right->text.p, right->text.n, &right->shingles};
  size_t n = b.shingles->n;
  ND_TRY(nd_slots_reset(&c->rest, n, err));
  uint32_t number = c->comparison;
  uint32_t common = 0, only_right = 0;
  for (size_t j = 0; j < n; j++) {
    size_t at = 0;
    uint32_t match = look_up(c, &c->table, a, b, j, &at);
    if (match) {
      size_t run = equal_run(a, match - 1, b, j);
      for (size_t i = match - 1; i < match + run; i++) {
        uint32_t first = c->first[i];
        common += c->mark[first] != number;
        c->mark[first] = number;
      }
      j += run;
    } else if (!look_up(c, &c->rest, b, b, j, &at)) {
      c->rest.slot[at] = (uint32_t)j + 1;
      only_right++;
    }
  }
  *out = (nd_overlap){common, c->distinct_left + only_right, c->distinct_left};
  return ND_OK;
}

/* Returns the length of the common suffix. */
static size_t equal_back(const char *p_end, const char *q_end, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t x = nd_load64(p_end - i - 8) ^ nd_load64(q_end - i - 8);
    if (x) return i + (size_t)(__builtin_clzll(x) >> 3);
  }
  while (i < n && p_end[-1 - (ptrdiff_t)i] == q_end[-1 - (ptrdiff_t)i]) i++;
  return i;
}

/* Returns the number of tokens that end at or before byte `at`. */
static size_t tokens_before(const nd_prepared *s, size_t at) {
  size_t low = 0, high = s->token_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (s->token_end[middle] <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool at_end_of_token(const nd_buf *text, size_t at) {
  return at == text->n || text->p[at] == ' ';
}

/* Counts the tokens of the common prefix (*front) and suffix (*back), without overlap. */
static void common_ends(const nd_prepared *a, const nd_prepared *b, size_t *front, size_t *back) {
  size_t shorter = a->text.n < b->text.n ? a->text.n : b->text.n;
  size_t n = nd_equal_front(a->text.p, b->text.p, shorter);
  *front = tokens_before(b, n);
  /* The last token must be equal to its end. */
  if (*front && b->token_end[*front - 1] == n && !at_end_of_token(&a->text, n)) --*front;
  size_t used = *front ? b->token_end[*front - 1] : 0;
  size_t m = equal_back(a->text.p + a->text.n, b->text.p + b->text.n, shorter - used);
  size_t begin = b->text.n - m; /* in b: start of the common suffix */
  *back = 0;
  if (m == 0) return;
  /* The first token that starts at or after it in both documents. */
  size_t first = tokens_before(b, begin);
  uint32_t start = first ? b->token_end[first - 1] + 1 : 0;
  if (start < begin)
    first++;
  else if (start == begin && a->text.n > m && a->text.p[a->text.n - m - 1] != ' ')
    first++;
  /* The suffix excludes the prefix in the shorter document, and so in both. */
  *back = b->token_count - first;
}

/* Compares documents with a common prefix of `front` and suffix of `back` tokens.  Shingles inside
 * these are common, so the number of common shingles is
 *     the distinct shingles of the left document, minus those only in its middle,
 *     plus those of the latter that are also in the right document's middle.
 * A shingle is in the middle if it has a token outside prefix and suffix. */
static nd_status compare_middle(nd_overlap *out, nd_comparer *c, nd_prepared *right, size_t front,
                                size_t back, nd_error *err) {
  const nd_prepared *left = c->left;
  size_t k = c->spec.size;
  uint32_t number = c->comparison;
  size_t from = front >= k ? front - k + 1 : 0; /* the first shingle of the middle */
  size_t a_to = left->token_count - (back >= k ? back : k - 1); /* the end of the middle */
  size_t b_to = right->token_count - (back >= k ? back : k - 1);
  uint32_t common = c->distinct_left, only_right = 0;
  for (size_t i = from; i < a_to; i++) {
    uint32_t f = c->first[i];
    if (c->middle_mark[f] != number) {
      c->middle_mark[f] = number;
      c->middle[f] = 0;
    }
    if (++c->middle[f] == c->times[f]) common--;
  }
  side a = {left->text.p, left->text.n, &left->shingles};
  side b = {right->text.p, right->text.n, &right->shingles};
  size_t begin = from, end = b_to > from ? b_to : from;
  if (!right->shingled) { /* compute only the middle */
    c->range.n = 0;
    if (end > begin)
      ND_TRY(nd_shingle_range(&c->range, nd_buf_str(&right->text), right->token_end, from,
                              end - from + k - 1, (uint32_t)k, c->seed, err));
    b.shingles = &c->range;
    begin = 0;
    end = c->range.n;
  }
  ND_TRY(nd_slots_reset(&c->rest, end - begin, err));
  for (size_t j = begin; j < end; j++) {
    size_t at = 0;
    uint32_t match = look_up(c, &c->table, a, b, j, &at);
    if (match) {
      size_t run = equal_run(a, match - 1, b, j);
      if (run >= end - j) run = end - j - 1; /* prefix and suffix are counted already */
      for (size_t i = match - 1; i < match + run; i++) {
        uint32_t f = c->first[i];
        bool only_middle = c->middle_mark[f] == number && c->middle[f] == c->times[f];
        common += only_middle && c->mark[f] != number;
        c->mark[f] = number;
      }
      j += run;
    } else if (!look_up(c, &c->rest, b, b, j, &at)) {
      c->rest.slot[at] = (uint32_t)j + 1;
      only_right++;
    }
  }
  *out = (nd_overlap){common, c->distinct_left + only_right, c->distinct_left};
  return ND_OK;
}

nd_status nd_comparer_run(nd_overlap *out, nd_comparer *c, nd_prepared *right, nd_error *err) {
  const nd_prepared *left = c->left;
  c->comparison++;
  /* Compute all shingles of a document when it is used again. */
  if (right->uses++) ND_TRY(shingle(right, c, err));
  size_t k = c->spec.size, front = 0, back = 0;
  if (c->spec.kind == ND_SHINGLE_WORDS && left->token_count >= k && right->token_count >= k)
    common_ends(left, right, &front, &back);
  if (front >= k || back >= k) return compare_middle(out, c, right, front, back, err);
  return compare_whole(out, c, right, err);
}

static nd_status fill(nd_prepared *p, nd_str text, nd_error *err) {
  p->text.n = 0;
  ND_TRY(nd_buf_append(&p->text, text.p, text.n, err));
  return nd_prepared_set(p, err);
}

nd_status nd_comparer_left(nd_comparer *c, nd_str token_text, nd_error *err) {
  ND_TRY(fill(&c->own_left, token_text, err));
  return nd_comparer_set(c, &c->own_left, err);
}

nd_status nd_comparer_right(nd_overlap *out, nd_comparer *c, nd_str token_text, nd_error *err) {
  ND_TRY(fill(&c->own_right, token_text, err));
  return nd_comparer_run(out, c, &c->own_right, err);
}
