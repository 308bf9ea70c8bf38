/* Numbered shingles of a group of documents; see group.h.
 *
 * A new document is processed from its start.  A shingle that the group knows has
 * a first occurrence in some member; the texts are compared from there on, and all
 * shingles within the equal stretch take that member's numbers.  Fingerprints are
 * computed only after it, a few at a time, so a document with ten edits against an
 * earlier one is hashed only around these ten edits. */
#include "similarity/group.h"

#include "base/bits.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "similarity/same_bytes.h"
#include "text/words.h"

enum {
  AHEAD = 16,          /* shingles that are hashed at once */
  FEWEST_ENTRIES = 512 /* that a table has room for */
};

/* First occurrence of a numbered shingle. */
typedef struct entry {
  uint64_t fingerprint;
  uint32_t member;
  uint32_t index;  /* its index in the member */
  uint32_t begin;  /* offset in the member's text */
  uint32_t length; /* bytes */
} entry;

typedef struct member {
  nd_buf text;
  uint32_t key;
  uint32_t *number; /* of every shingle, in text order */
  size_t n, number_cap;
  uint64_t *bits;
  size_t words, bits_cap; /* words of `bits`, for the shingles known when it was added */
  uint32_t distinct;
} member;

struct nd_group {
  nd_shingle_spec spec;
  uint64_t seed;
  uint64_t salt; /* of the hash tables; does not change results */
  member *members;
  uint32_t n;
  size_t made, cap; /* allocated members */
  entry *entries;
  size_t entry_n, entry_cap;
  nd_slots table;  /* entries, by fingerprint */
  nd_slots by_key; /* members */
  /* of the document being added */
  uint32_t *token_end;
  size_t token_count, token_cap;
  nd_shingles shingles;
  size_t bytes;
};

nd_status nd_group_new(nd_group **out, nd_shingle_spec spec, uint64_t seed, nd_error *err) {
  nd_group *g = nd_calloc(1, sizeof *g);
  if (!g) return nd_fail_memory(err, sizeof *g);
  g->spec = spec;
  g->seed = seed;
  g->salt = nd_mix(seed ^ (uint64_t)(uintptr_t)g);
  *out = g;
  return ND_OK;
}

static void clear_member(member *m) {
  nd_buf_clear(&m->text);
  nd_free(m->number);
  nd_free(m->bits);
}

void nd_group_free(nd_group *g) {
  if (!g) return;
  for (size_t i = 0; i < g->made; i++) clear_member(&g->members[i]);
  nd_free(g->members);
  nd_free(g->entries);
  nd_slots_clear(&g->table);
  nd_slots_clear(&g->by_key);
  nd_free(g->token_end);
  nd_shingles_clear(&g->shingles);
  nd_free(g);
}

/* Empties a group; members keep some of their memory for the next one. */
void nd_group_empty(nd_group *g) {
  size_t kept = 0;
  for (size_t i = 0; i < g->made; i++) {
    member *m = &g->members[i];
    kept += m->text.cap + m->number_cap * 4 + m->bits_cap * 8;
    if (kept <= (size_t)8 << 20) continue;
    clear_member(m);
    *m = (member){0};
  }
  g->n = 0;
  g->entry_n = 0;
  g->table.slots = 0;
  g->by_key.slots = 0;
  g->bytes = 0;
}

uint32_t nd_group_count(const nd_group *g) {
  return g->n;
}

size_t nd_group_bytes(const nd_group *g) {
  return g->bytes + g->entry_n * sizeof *g->entries + g->table.slots * sizeof *g->table.slot;
}

/* ---- keys ---- */

ND_INLINE uint64_t hash_of_key(const nd_group *g, uint32_t key) {
  return nd_mix(key ^ g->salt);
}

uint32_t nd_group_find(const nd_group *g, uint32_t key) {
  const nd_slots *t = &g->by_key;
  if (t->slots == 0) return UINT32_MAX;
  size_t i = nd_slots_first(t, hash_of_key(g, key));
  while (t->slot[i] && g->members[t->slot[i] - 1].key != key) i = nd_slots_next(t, i);
  return t->slot[i] - 1; /* of a free slot: UINT32_MAX */
}

static void enter_key(nd_group *g, uint32_t number) {
  nd_slots_enter(&g->by_key, hash_of_key(g, g->members[number].key), number);
}

/* Reserves a slot in the table of keys. */
static nd_status reserve_key(nd_group *g, nd_error *err) {
  if (!nd_slots_is_small(&g->by_key, (size_t)g->n + 1)) return ND_OK;
  ND_TRY(nd_slots_reset(&g->by_key, (size_t)g->n + 1, err));
  for (uint32_t i = 0; i < g->n; i++) enter_key(g, i);
  return ND_OK;
}

/* ---- shingles ---- */

/* Reserves n more entries in the list and the table. */
static nd_status reserve_entries(nd_group *g, size_t n, nd_error *err) {
  size_t want = g->entry_n + n;
  /* untaken: more than 2^31 things */
  if (want >= UINT32_MAX) return nd_fail(err, ND_ERR_LIMIT, "too many shingles to compare");
  ND_TRY(nd_array_grow(&g->entries, &g->entry_cap, want, sizeof *g->entries, err));
  if (!nd_slots_is_small(&g->table, want)) return ND_OK;
  ND_TRY(nd_slots_reset(&g->table, want < FEWEST_ENTRIES ? FEWEST_ENTRIES : want, err));
  for (uint32_t e = 0; e < g->entry_n; e++)
    nd_slots_enter(&g->table, nd_hash_salted(g->entries[e].fingerprint, g->salt), e);
  return ND_OK;
}

/* Returns the number of a shingle; assigns a new one at its first occurrence. */
ND_INLINE uint32_t number_of(nd_group *g, entry e) {
  const char *text = g->members[e.member].text.p + e.begin;
  const nd_slots *t = &g->table;
  size_t i = nd_slots_first(t, nd_hash_salted(e.fingerprint, g->salt));
  for (; t->slot[i]; i = nd_slots_next(t, i)) {
    const entry *x = &g->entries[t->slot[i] - 1];
    if (x->fingerprint == e.fingerprint && x->length == e.length &&
        nd_same_bytes(g->members[x->member].text.p + x->begin, text, e.length))
      return t->slot[i] - 1;
  }
  g->entries[g->entry_n] = e;
  t->slot[i] = (uint32_t)++g->entry_n;
  return (uint32_t)g->entry_n - 1;
}

/* Returns the first token of the new document, from `first` on, that ends after byte `at`. */
static size_t tokens_until(const nd_group *g, size_t first, size_t at) {
  size_t step = 1, low = first, high = g->token_count;
  while (low + step < high && g->token_end[low + step] <= at) { /* gallop */
    low += step;
    step *= 2;
  }
  if (low + step < high) high = low + step;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (g->token_end[middle] <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the number of successors of shingle j of the new member `b` (words:K) that equal those of
 * the numbered shingle `x`, which equals shingle j. */
static size_t equal_run(const nd_group *g, const entry *x, const member *b, size_t j) {
  const member *a = &g->members[x->member];
  size_t k = g->spec.size;
  size_t a_end = x->begin + x->length, b_end = g->token_end[j + k - 1];
  size_t a_left = a->text.n - a_end, b_left = b->text.n - b_end;
  size_t alike =
      nd_equal_front(a->text.p + a_end, b->text.p + b_end, a_left < b_left ? a_left : b_left);
  size_t behind = tokens_until(g, j + k, b_end + alike);
  /* The last token must be equal to its end. */
  if (behind > j + k && g->token_end[behind - 1] == b_end + alike && alike < a_left &&
      a->text.p[a_end + alike] != ' ')
    behind--;
  return behind - (j + k);
}

/* Numbers the shingles of a document with words:K and at least K tokens. */
static nd_status number_words(nd_group *g, uint32_t which, nd_error *err) {
  member *m = &g->members[which];
  size_t k = g->spec.size;
  for (size_t j = 0; j < m->n;) {
    size_t ahead = m->n - j < AHEAD ? m->n - j : AHEAD, i = 0;
    ND_TRY(nd_shingle_range(&g->shingles, nd_buf_str(&m->text), g->token_end, j, ahead + k - 1,
                            (uint32_t)k, g->seed, err));
    ND_TRY(reserve_entries(g, ahead, err));
    while (i < ahead) {
      uint32_t before = (uint32_t)g->entry_n, begin = g->shingles.begin[i];
      uint32_t number = number_of(g, (entry){g->shingles.fingerprint[i], which, (uint32_t)(j + i),
                                             begin, g->shingles.end[i] - begin});
      m->number[j + i] = number;
      if (number < before) {
        const entry *x = &g->entries[number];
        size_t run = equal_run(g, x, m, j + i);
        const uint32_t *from = g->members[x->member].number + x->index + 1;
        uint32_t *to = m->number + j + i + 1;
        if (x->member != which)
          memcpy(to, from, run * sizeof *to);
        else /* source and target may overlap */
          for (size_t r = 0; r < run; r++) to[r] = from[r];
        i += run;
      }
      i++;
    }
    j += i;
  }
  return ND_OK;
}

static nd_status number_all(nd_group *g, uint32_t which, nd_error *err) {
  member *m = &g->members[which];
  ND_TRY(nd_shingle_make(&g->shingles, nd_buf_str(&m->text), g->token_end, g->token_count, g->spec,
                         g->seed, true, err));
  const nd_shingles *s = &g->shingles;
  ND_TRY(reserve_entries(g, s->n, err));
  ND_TRY(nd_array_grow(&m->number, &m->number_cap, s->n, sizeof *m->number, err));
  m->n = s->n;
  for (size_t i = 0; i < s->n; i++)
    m->number[i] = number_of(
        g, (entry){s->fingerprint[i], which, (uint32_t)i, s->begin[i], s->end[i] - s->begin[i]});
  return ND_OK;
}

/* Sets the bits of a member's numbers.  Numbers often ascend by one, so a word is collected before
 * it is written. */
static nd_status set_bits(nd_group *g, member *m, nd_error *err) {
  m->words = (g->entry_n + 63) / 64;
  ND_TRY(nd_array_grow(&m->bits, &m->bits_cap, m->words + 1, sizeof *m->bits, err));
  memset(m->bits, 0, (m->words + 1) * sizeof *m->bits);
  uint64_t word = 0;
  size_t at = 0;
  for (size_t i = 0; i < m->n; i++) {
    uint32_t number = m->number[i];
    if (number / 64 != at) {
      m->bits[at] |= word;
      at = number / 64;
      word = 0;
    }
    word |= UINT64_C(1) << (number % 64);
  }
  m->bits[at] |= word;
  m->distinct = nd_bits_common(m->bits, m->bits, (uint32_t)m->words);
  return ND_OK;
}

nd_buf *nd_group_next(nd_group *g, nd_error *err) {
  if (g->n == g->made) {
    if (nd_array_grow(&g->members, &g->cap, g->made + 1, sizeof *g->members, err) != ND_OK)
      return NULL;
    g->members[g->made++] = (member){0};
  }
  g->members[g->n].text.n = 0;
  return &g->members[g->n].text;
}

nd_status nd_group_add(uint32_t *out, nd_group *g, uint32_t key, nd_error *err) {
  uint32_t which = g->n;
  member *m = &g->members[which];
  size_t k = g->spec.size;
  ND_TRY(nd_buf_reserve(&m->text, 0, err));
  ND_TRY(reserve_key(g, err));
  ND_TRY(nd_token_ends(&g->token_end, &g->token_count, &g->token_cap, nd_buf_str(&m->text), err));
  if (g->spec.kind == ND_SHINGLE_WORDS && g->token_count >= k) {
    m->n = g->token_count - k + 1;
    ND_TRY(nd_array_grow(&m->number, &m->number_cap, m->n, sizeof *m->number, err));
    ND_TRY(number_words(g, which, err));
  } else {
    ND_TRY(number_all(g, which, err));
  }
  ND_TRY(set_bits(g, m, err));
  m->key = key;
  enter_key(g, which);
  g->n++;
  g->bytes += m->text.n + m->n * 4 + m->words * 8 + sizeof *m;
  *out = which;
  return ND_OK;
}

nd_overlap nd_group_compare(const nd_group *g, uint32_t a, uint32_t b) {
  const member *x = &g->members[a], *y = &g->members[b];
  size_t words = x->words < y->words ? x->words : y->words;
  uint32_t common = nd_bits_common(x->bits, y->bits, (uint32_t)words);
  return (nd_overlap){common, x->distinct + y->distinct - common, x->distinct};
}
