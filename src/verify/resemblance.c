/* Exact resemblance by one small hash table per document; see resemblance.h.
 *
 * The left document's distinct shingles are in a table.  Each shingle of the
 * right one is looked up there: found and not yet marked → common; not found →
 * into a second table, which counts the right one's own distinct shingles.
 * Near-duplicates match in long runs, so after a match the next shingle is
 * first compared with the left one's next, by its last token only.
 *
 * Documents that begin and end alike (words:K): only the shingles that touch the
 * part between the common ends are looked at; see compare_middle. */
#include "verify/resemblance.h"

#include "base/hash.h"
#include "text/words.h"

typedef struct side {
  nd_str text;
  uint32_t *token_end;
  size_t token_count, token_cap;
  nd_shingles shingles;
  uint32_t *slot; /* shingle number + 1; 0 = free */
  size_t slot_cap;
  size_t mask;
} side;

struct nd_comparer {
  nd_shingle_spec spec;
  uint64_t seed;
  uint64_t salt; /* where an entry lies in a table; never changes a result */
  side left, right;
  uint32_t *first; /* left: the first shingle equal to this one */
  size_t first_cap;
  uint32_t *mark; /* left: number of the comparison that found it */
  size_t mark_cap;
  uint32_t *times; /* left: how often the shingle occurs (at its first) */
  size_t times_cap;
  uint32_t *middle; /* left: of them, inside the part that differs … */
  size_t middle_cap;
  uint32_t *middle_mark; /* … in the comparison of this number */
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

static void side_clear(side *s) {
  nd_free(s->token_end);
  nd_free(s->slot);
  nd_shingles_clear(&s->shingles);
}

void nd_comparer_free(nd_comparer *c) {
  if (!c) return;
  side_clear(&c->left);
  side_clear(&c->right);
  nd_free(c->first);
  nd_free(c->mark);
  nd_free(c->times);
  nd_free(c->middle);
  nd_free(c->middle_mark);
  nd_free(c);
}

static nd_status side_load(side *s, nd_str text, nd_error *err) {
  s->text = text;
  return nd_token_ends(&s->token_end, &s->token_count, &s->token_cap, text, err);
}

/* All shingles of the side. */
static nd_status side_shingles(side *s, const nd_comparer *c, nd_error *err) {
  return nd_shingle_make(&s->shingles, s->text, s->token_end, s->token_count, c->spec, c->seed,
                         true, err);
}

/* An empty table that is large enough for the shingles. */
static nd_status side_table(side *s, nd_error *err) {
  size_t slots = 16;
  while (slots < 2 * s->shingles.n) slots *= 2;
  ND_TRY(nd_array_grow(&s->slot, &s->slot_cap, slots, sizeof *s->slot, err));
  memset(s->slot, 0, slots * sizeof *s->slot);
  s->mask = slots - 1;
  return ND_OK;
}

ND_INLINE size_t home(const nd_comparer *c, uint64_t fingerprint, size_t mask) {
  return (size_t)(nd_fold(fingerprint ^ c->salt, 0x9fb21c651e98df25u)) & mask;
}

/* Bytes [p, p+n) equal [q, q+n)?  Short ones without a call. */
ND_INLINE bool same_bytes(const char *p, const char *q, size_t n) {
  while (n > 8) {
    if (nd_load64(p) != nd_load64(q)) return false;
    p += 8;
    q += 8;
    n -= 8;
  }
  return ((nd_load64(p) ^ nd_load64(q)) & nd_hash_masks[n][0]) == 0;
}

ND_INLINE bool same_shingle(const side *a, size_t i, const side *b, size_t j) {
  const nd_shingles *x = &a->shingles, *y = &b->shingles;
  size_t n = x->end[i] - x->begin[i];
  return n == y->end[j] - y->begin[j] &&
         same_bytes(a->text.p + x->begin[i], b->text.p + y->begin[j], n);
}

/* Is right shingle j equal to left shingle i, given that j-1 and i-1 are equal
 * and both continue them (same begin distance)?  Only the new bytes differ. */
ND_INLINE bool continues(const side *a, size_t i, const side *b, size_t j) {
  const nd_shingles *x = &a->shingles, *y = &b->shingles;
  if (x->fingerprint[i] != y->fingerprint[j]) return false;
  if (x->begin[i] > x->end[i - 1] || y->begin[j] > y->end[j - 1]) return same_shingle(a, i, b, j);
  uint32_t n = x->end[i] - x->end[i - 1];
  return n == y->end[j] - y->end[j - 1] &&
         x->begin[i] - x->begin[i - 1] == y->begin[j] - y->begin[j - 1] &&
         same_bytes(a->text.p + x->end[i - 1], b->text.p + y->end[j - 1], n);
}

/* The number of the shingle in table `a` equal to shingle j of `b`, plus one; 0: none,
 * and *at is the free slot. */
ND_INLINE uint32_t look_up(const nd_comparer *c, const side *a, const side *b, size_t j,
                           size_t *at) {
  uint64_t fingerprint = b->shingles.fingerprint[j];
  size_t i = home(c, fingerprint, a->mask);
  for (;; i = (i + 1) & a->mask) {
    uint32_t found = a->slot[i];
    if (!found) break;
    if (a->shingles.fingerprint[found - 1] == fingerprint && same_shingle(a, found - 1, b, j))
      return found;
  }
  *at = i;
  return 0;
}

nd_status nd_comparer_left(nd_comparer *c, nd_str token_text, nd_error *err) {
  side *s = &c->left;
  ND_TRY(side_load(s, token_text, err));
  ND_TRY(side_shingles(s, c, err));
  ND_TRY(side_table(s, err));
  size_t n = s->shingles.n;
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
    uint32_t found = look_up(c, s, s, i, &at);
    if (!found) {
      s->slot[at] = found = (uint32_t)i + 1;
      c->distinct_left++;
    }
    c->first[i] = found - 1;
    c->times[found - 1]++;
  }
  return ND_OK;
}

/* Looks at every shingle of the right document. */
static nd_status compare_whole(nd_overlap *out, nd_comparer *c, nd_error *err) {
  side *a = &c->left, *b = &c->right;
  ND_TRY(side_shingles(b, c, err));
  ND_TRY(side_table(b, err));
  size_t n = b->shingles.n, left_n = a->shingles.n;
  uint32_t number = c->comparison;
  uint32_t common = 0, only_right = 0;
  size_t expect = SIZE_MAX; /* the left shingle after the last match */
  for (size_t j = 0; j < n; j++) {
    uint32_t match;
    size_t at = 0;
    if (expect < left_n && continues(a, expect, b, j)) {
      match = (uint32_t)expect + 1;
    } else {
      match = look_up(c, a, b, j, &at);
    }
    if (match) {
      uint32_t first = c->first[match - 1];
      common += c->mark[first] != number;
      c->mark[first] = number;
      expect = match;
      continue;
    }
    expect = SIZE_MAX;
    if (!look_up(c, b, b, j, &at)) {
      b->slot[at] = (uint32_t)j + 1;
      only_right++;
    }
  }
  *out = (nd_overlap){common, c->distinct_left + only_right};
  return ND_OK;
}

/* How many bytes are equal from the front; from the back. */
static size_t equal_front(const char *p, const char *q, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t x = nd_load64(p + i) ^ nd_load64(q + i);
    if (x) return i + (size_t)(__builtin_ctzll(x) >> 3);
  }
  while (i < n && p[i] == q[i]) i++;
  return i;
}

static size_t equal_back(const char *p_end, const char *q_end, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t x = nd_load64(p_end - i - 8) ^ nd_load64(q_end - i - 8);
    if (x) return i + (size_t)(__builtin_clzll(x) >> 3);
  }
  while (i < n && p_end[-1 - (ptrdiff_t)i] == q_end[-1 - (ptrdiff_t)i]) i++;
  return i;
}

/* The number of tokens that end at or before byte `at`. */
static size_t tokens_before(const side *s, size_t at) {
  size_t low = 0, high = s->token_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (s->token_end[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool at_end_of_token(nd_str text, size_t at) { return at == text.n || text.p[at] == ' '; }

/* Tokens that both sides share at the front (*front) and at the back (*back),
 * without counting a token twice. */
static void common_ends(const nd_comparer *c, size_t *front, size_t *back) {
  const side *a = &c->left, *b = &c->right;
  size_t shorter = a->text.n < b->text.n ? a->text.n : b->text.n;
  size_t n = equal_front(a->text.p, b->text.p, shorter);
  *front = tokens_before(b, n);
  /* A last token that only begins alike does not count. */
  if (*front && b->token_end[*front - 1] == n &&
      !(at_end_of_token(a->text, n) && at_end_of_token(b->text, n)))
    --*front;
  size_t used = *front ? b->token_end[*front - 1] : 0;
  size_t m = equal_back(a->text.p + a->text.n, b->text.p + b->text.n, shorter - used);
  size_t begin = b->text.n - m; /* in b: the common end */
  *back = 0;
  if (m == 0) return;
  /* The first token that begins at or after it, and begins in both. */
  size_t first = tokens_before(b, begin);
  uint32_t start = first ? b->token_end[first - 1] + 1 : 0;
  if (start < begin) first++;
  else if (start == begin && a->text.n > m && a->text.p[a->text.n - m - 1] != ' ') first++;
  if (first < *front) first = *front;
  *back = b->token_count - first;
  size_t least = a->token_count < b->token_count ? a->token_count : b->token_count;
  if (*front + *back > least) *back = least - *front;
}

/* The documents begin with `front` and end with `back` equal tokens.  Shingles
 * inside these ends are common to both; so common =
 *     the left one's distinct shingles, less those that lie only in its middle,
 *     plus those of the latter that the right one's middle has too.
 * A shingle belongs to the middle when it holds a token between the ends. */
static nd_status compare_middle(nd_overlap *out, nd_comparer *c, size_t front, size_t back,
                                nd_error *err) {
  side *a = &c->left, *b = &c->right;
  size_t k = c->spec.size;
  uint32_t number = c->comparison;
  size_t from = front >= k ? front - k + 1 : 0; /* the first shingle of the middle */
  size_t a_to = a->token_count - (back >= k ? back : k - 1); /* after the last */
  size_t b_to = b->token_count - (back >= k ? back : k - 1);
  uint32_t common = c->distinct_left, only_right = 0;
  for (size_t i = from; i < a_to; i++) {
    uint32_t f = c->first[i];
    if (c->middle_mark[f] != number) {
      c->middle_mark[f] = number;
      c->middle[f] = 0;
    }
    if (++c->middle[f] == c->times[f]) common--;
  }
  b->shingles.n = 0;
  if (from < b_to)
    ND_TRY(nd_shingle_range(&b->shingles, b->text, b->token_end, from, b_to - from + k - 1,
                            (uint32_t)k, c->seed, err));
  ND_TRY(side_table(b, err));
  for (size_t j = 0; j < b->shingles.n; j++) {
    size_t at = 0;
    uint32_t match = look_up(c, a, b, j, &at);
    if (match) {
      uint32_t f = c->first[match - 1];
      bool only_middle = c->middle_mark[f] == number && c->middle[f] == c->times[f];
      common += only_middle && c->mark[f] != number;
      c->mark[f] = number;
    } else if (!look_up(c, b, b, j, &at)) {
      b->slot[at] = (uint32_t)j + 1;
      only_right++;
    }
  }
  *out = (nd_overlap){common, c->distinct_left + only_right};
  return ND_OK;
}

nd_status nd_comparer_right(nd_overlap *out, nd_comparer *c, nd_str token_text, nd_error *err) {
  side *a = &c->left, *b = &c->right;
  ND_TRY(side_load(b, token_text, err));
  c->comparison++;
  size_t k = c->spec.size, front = 0, back = 0;
  if (c->spec.kind == ND_SHINGLE_WORDS && a->token_count >= k && b->token_count >= k)
    common_ends(c, &front, &back);
  if (front >= k || back >= k) return compare_middle(out, c, front, back, err);
  return compare_whole(out, c, err);
}
