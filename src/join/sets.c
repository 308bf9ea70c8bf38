/* Building token sets; see sets.h.
 *
 * A first pass over the input marks hash cells that are hit more than once; a
 * token alone in its cell occurs once and never enters the table.  The others,
 * at most half as many distinct ones as tokens, get numbers from an open table;
 * where even that would grow too large, the input is passed over several times.
 * Then frequencies are counted, tokens ranked by them,
 * and every record written in its place. */
#include "join/sets.h"

#include "base/hash.h"

enum { AHEAD = 16, SMALL = 24 };
#define NONE UINT32_MAX
#define PENDING (UINT32_MAX - 1)

/* Tokens and their numbers; 12 bytes a slot would not be aligned, so two arrays. */
typedef struct numbers {
  uint64_t *key; /* mixed tokens */
  uint32_t *id;  /* number + 1; 0 is an empty slot */
  uint64_t slots, used, limit;
  uint32_t next; /* the next number */
} numbers;

static void numbers_clear(numbers *t) {
  nd_free(t->key);
  nd_free(t->id);
  *t = (numbers){0};
}

static nd_status numbers_alloc(numbers *t, uint64_t slots, nd_error *err) {
  t->slots = slots;
  t->limit = slots - slots / 4;
  t->used = 0;
  t->key = nd_malloc(slots * sizeof *t->key);
  t->id = nd_calloc(slots, sizeof *t->id);
  if (t->key && t->id) return ND_OK;
  numbers_clear(t);
  return nd_fail_memory(err, slots * (sizeof *t->key + sizeof *t->id));
}

ND_INLINE uint64_t home_slot(const numbers *t, uint64_t mixed) {
  return (uint64_t)(((unsigned __int128)(mixed << 16) * t->slots) >> 64);
}

static nd_status numbers_grow(numbers *t, uint64_t most, nd_error *err) {
  const uint64_t slots = t->slots * 2;
  numbers big = {.next = t->next};
  ND_TRY(numbers_alloc(&big, slots < most ? slots : most, err));
  for (uint64_t i = 0; i < t->slots; i++) {
    if (!t->id[i]) continue;
    uint64_t at = home_slot(&big, t->key[i]);
    while (big.id[at]) at = at + 1 == big.slots ? 0 : at + 1;
    big.key[at] = t->key[i];
    big.id[at] = t->id[i];
  }
  big.used = t->used;
  nd_free(t->key);
  nd_free(t->id);
  *t = big;
  return ND_OK;
}

/* The number of a token; PENDING: it is new, and the table is full. */
ND_INLINE uint32_t number_of(numbers *t, uint64_t mixed) {
  uint64_t at = home_slot(t, mixed);
  while (t->id[at]) {
    if (t->key[at] == mixed) return t->id[at] - 1;
    at = at + 1 == t->slots ? 0 : at + 1;
  }
  if (t->used == t->limit) return PENDING;
  t->key[at] = mixed;
  t->id[at] = ++t->next;
  t->used++;
  return t->next - 1;
}

/* Two bits a cell: hit, hit again. */
ND_INLINE uint64_t cell_of(uint64_t mixed, uint64_t cells) {
  return (uint64_t)(((unsigned __int128)mixed * cells) >> 64);
}

static void mark_cells(uint64_t *bits, uint64_t cells, const uint64_t *raw, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    if (i + AHEAD < n) {
      __builtin_prefetch(&bits[cell_of(nd_mix(raw[i + AHEAD]), cells) / 32], 1);
    }
    uint64_t cell = cell_of(nd_mix(raw[i]), cells);
    uint64_t shift = cell % 32 * 2, word = bits[cell / 32];
    bits[cell / 32] = word | (UINT64_C(1) << shift) | ((word >> shift & 1) << shift << 1);
  }
}

ND_INLINE bool hit_again(const uint64_t *bits, uint64_t cell) {
  return bits[cell / 32] >> (cell % 32 * 2 + 1) & 1;
}

/* Passes over the tokens that have no number yet; the first time `bits` tells which ones
 * need none.  Says whether some are left. */
static nd_status number_round(bool *left, uint32_t *id, numbers *t, const uint64_t *raw, uint64_t n,
                              const uint64_t *bits, uint64_t cells, uint64_t most, nd_error *err) {
  *left = false;
  for (uint64_t i = 0; i < n; i++) {
    if (i + AHEAD < n) {
      const uint64_t ahead = nd_mix(raw[i + AHEAD]), at = home_slot(t, ahead);
      if (bits) __builtin_prefetch(&bits[cell_of(ahead, cells) / 32]);
      __builtin_prefetch(&t->id[at]);
      __builtin_prefetch(&t->key[at]);
    }
    const uint64_t mixed = nd_mix(raw[i]);
    if (bits) {
      id[i] = hit_again(bits, cell_of(mixed, cells)) ? PENDING : NONE;
    }
    if (id[i] != PENDING) continue;
    if (t->used == t->limit && t->slots < most) ND_TRY(numbers_grow(t, most, err));
    id[i] = number_of(t, mixed);
    *left |= id[i] == PENDING;
    if (t->next == PENDING - 1) {
      return nd_fail(err, ND_ERR_LIMIT, "more than 4,294,967,292 distinct tokens in a join");
    }
  }
  return ND_OK;
}

/* The number of every token of the input in id[], NONE where it surely occurs once.  A
 * table of `most` slots takes 12 bytes each, and half of that beside it while it grows:
 * 10 bytes per token of the input at most.  When it is full, it gives no new numbers, and
 * the tokens without one have their turn in an empty table. */
static nd_status number_tokens(uint32_t *id, uint32_t *count, const uint64_t *raw, uint64_t n,
                               nd_error *err) {
  nd_status status = ND_OK;
  numbers table = {0};
  const uint64_t cells = n * 8 + 64, most = n / 12 * 5 > 4096 ? n / 12 * 5 : 4096;
  uint64_t *bits = nd_calloc(cells / 32 + 1, sizeof *bits);
  if (!bits) return nd_fail_memory(err, cells / 4);
  mark_cells(bits, cells, raw, n);
  for (bool left = true; left;) {
    const uint32_t next = table.next;
    numbers_clear(&table);
    ND_TRY_GOTO(numbers_alloc(&table, 4096 < most ? 4096 : most, err), out);
    table.next = next;
    ND_TRY_GOTO(number_round(&left, id, &table, raw, n, bits, cells, most, err), out);
    nd_free(bits);
    bits = NULL;
  }
  *count = table.next;
out:
  nd_free(bits);
  numbers_clear(&table);
  return status;
}

static void sort_record(uint32_t *a, uint64_t n, uint32_t *spare) {
  if (n <= SMALL) {
    for (uint64_t i = 1; i < n; i++) {
      uint32_t v = a[i];
      uint64_t j = i;
      for (; j && a[j - 1] > v; j--) a[j] = a[j - 1];
      a[j] = v;
    }
    return;
  }
  bool sorted = true;
  for (uint64_t i = 1; i < n; i++) sorted &= a[i - 1] < a[i];
  if (sorted) return;
  uint64_t half = n / 2;
  sort_record(a, half, spare);
  sort_record(a + half, n - half, spare);
  memcpy(spare, a, half * sizeof *a);
  uint64_t i = 0, j = half, k = 0;
  while (i < half && j < n) {
    uint32_t left = spare[i], right = a[j];
    bool take = left <= right;
    a[k++] = take ? left : right;
    i += take;
    j += !take;
  }
  memcpy(a + k, spare + i, (half - i) * sizeof *a);
}

/* Gives every number its rank by frequency, ties by first appearance; numbers that
 * one record holds get NONE.  `df` becomes the frequency per rank. */
static nd_status rank_tokens(uint32_t *rank, uint32_t *df, uint32_t *distinct, uint32_t count,
                             const uint32_t *id, uint64_t n, nd_error *err) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < count; i++) most = df[i] > most ? df[i] : most;
  uint64_t *start = nd_calloc((uint64_t)most + 2, sizeof *start);
  if (!start) return nd_fail_memory(err, most * sizeof *start);
  for (uint32_t i = 0; i < count; i++) start[df[i] + 1]++;
  start[1] = start[2] = 0;
  for (uint64_t f = 3; f <= (uint64_t)most + 1; f++) start[f] += start[f - 1];
  uint32_t last = (uint32_t)start[most + 1];
  for (uint32_t i = 0; i < count; i++) rank[i] = NONE;
  for (uint64_t i = 0; i < n; i++) {
    if (id[i] != NONE && df[id[i]] > 1 && rank[id[i]] == NONE) {
      rank[id[i]] = (uint32_t)start[df[id[i]]]++;
    }
  }
  /* After that start[f] is where frequency f ends. */
  uint32_t at = 0;
  for (uint64_t f = 2; f <= most; f++) {
    for (; at < start[f]; at++) df[at] = (uint32_t)f;
  }
  nd_free(start);
  *distinct = most > 1 ? last : 0;
  return ND_OK;
}

/* Drops repetitions within a record (in place, from begin[r] on), counts frequencies
 * and sizes. */
static nd_status count_tokens(uint32_t *df, uint32_t *size, uint32_t *stored, uint32_t *id,
                              const uint64_t *begin, uint64_t n, uint32_t count, nd_error *err) {
  uint32_t *last = nd_calloc(count, sizeof *last);
  if (!last) return nd_fail_memory(err, count * sizeof *last);
  for (uint32_t r = 0; r < n; r++) {
    uint32_t *in = id + begin[r], *to = in;
    uint64_t length = begin[r + 1] - begin[r], alone = 0;
    for (uint64_t k = 0; k < length; k++) {
      uint32_t token = in[k];
      if (token == NONE) {
        alone++;
      } else if (last[token] != r + 1) {
        last[token] = r + 1;
        df[token]++;
        *to++ = token;
      }
    }
    stored[r] = (uint32_t)(to - in);
    size[r] = stored[r] + (uint32_t)alone;
    for (uint64_t k = stored[r]; k < length; k++) in[k] = NONE;
  }
  nd_free(last);
  return ND_OK;
}

/* order[] = the records by rising size, ties by number. */
static nd_status order_records(uint32_t *order, const uint32_t *size, uint32_t n, nd_error *err) {
  uint32_t *spare = nd_malloc(((uint64_t)n + 1) * sizeof *spare);
  if (!spare) return nd_fail_memory(err, n * sizeof *spare);
  uint32_t most = 0;
  for (uint32_t r = 0; r < n; r++) {
    spare[r] = r;
    most = size[r] > most ? size[r] : most;
  }
  uint32_t *from = spare, *to = order;
  bool in_order = false;
  for (unsigned shift = 0; shift < 32; shift += 11) {
    if (shift && most >> shift == 0) break;
    uint32_t start[2049] = {0};
    for (uint32_t r = 0; r < n; r++) start[(size[r] >> shift & 2047) + 1]++;
    for (unsigned d = 0; d < 2048; d++) start[d + 1] += start[d];
    for (uint32_t i = 0; i < n; i++) to[start[size[from[i]] >> shift & 2047]++] = from[i];
    uint32_t *swap = from;
    from = to;
    to = swap;
    in_order = !in_order;
  }
  if (!in_order) memcpy(order, spare, n * sizeof *order);
  nd_free(spare);
  return ND_OK;
}

/* Wider sketches tell longer records apart. */
static unsigned sketch_words(uint64_t tokens, uint64_t records) {
  return tokens <= 24 * records ? 1 : tokens <= 160 * records ? 2 : 4;
}

static nd_status check_input(const uint64_t *begin, uint64_t n, nd_error *err) {
  if (n >= UINT32_MAX - 1) {
    return nd_fail(err, ND_ERR_LIMIT, "more than 4,294,967,293 records in a join");
  }
  for (uint64_t r = 0; r < n; r++) {
    if (begin[r + 1] < begin[r] || begin[r + 1] - begin[r] > INT32_MAX) {
      return nd_fail(err, ND_ERR_LIMIT, "record %llu has more than 2,147,483,647 tokens",
                     (unsigned long long)r);
    }
  }
  return ND_OK;
}

nd_status nd_sets_build(nd_sets *out, const uint64_t *raw, const uint64_t *begin, uint64_t n,
                        nd_error *err) {
  *out = (nd_sets){0};
  ND_TRY(check_input(begin, n, err));
  nd_status status = ND_OK;
  const uint64_t first = n ? begin[0] : 0, tokens = n ? begin[n] - first : 0;
  uint32_t count = 0, *stored = NULL, *size = NULL, *rank = NULL, *spare = NULL;
  uint64_t *place = NULL, longest = 0, kept = 0;
  uint32_t *id = nd_malloc(tokens * sizeof *id);
  size = nd_malloc(n * sizeof *size);
  stored = nd_malloc(n * sizeof *stored);
  out->size = nd_malloc(n * sizeof *out->size);
  out->record = nd_malloc(n * sizeof *out->record);
  out->begin = nd_malloc((n + 1) * sizeof *out->begin);
  place = nd_malloc((n + 1) * sizeof *place);
  if (!id || !size || !stored || !out->size || !out->record || !out->begin || !place) {
    status = nd_fail_memory(err, tokens * sizeof *id + n * 32);
    goto out;
  }
  out->n = (uint32_t)n;
  for (uint64_t r = 0; r <= n; r++) place[r] = n ? begin[r] - first : 0;
  ND_TRY_GOTO(number_tokens(id, &count, raw ? raw + first : raw, tokens, err), out);
  out->df = nd_calloc(count, sizeof *out->df);
  if (!out->df) {
    status = nd_fail_memory(err, count * sizeof *out->df);
    goto out;
  }
  ND_TRY_GOTO(count_tokens(out->df, size, stored, id, place, n, count, err), out);
  ND_TRY_GOTO(order_records(out->record, size, out->n, err), out);
  rank = nd_malloc(count * sizeof *rank);
  if (!rank) {
    status = nd_fail_memory(err, count * sizeof *rank);
    goto out;
  }
  ND_TRY_GOTO(rank_tokens(rank, out->df, &out->distinct, count, id, tokens, err), out);

  for (uint64_t r = 0; r < n; r++) {
    uint32_t left = 0;
    for (uint32_t k = 0; k < stored[r]; k++) {
      uint32_t token = rank[id[place[r] + k]];
      if (token != NONE) id[place[r] + left++] = token;
    }
    stored[r] = left;
    kept += left;
    longest = left > longest ? left : longest;
  }
  nd_free(rank);
  rank = NULL;
  out->token = nd_malloc(kept * sizeof *out->token + ND_SLACK);
  spare = nd_malloc(longest * sizeof *spare);
  out->words = sketch_words(kept, n);
  out->sketch = nd_calloc(n * out->words, sizeof *out->sketch);
  if (!out->token || !spare || !out->sketch) {
    status = nd_fail_memory(err, kept * sizeof *out->token);
    goto out;
  }
  out->begin[0] = 0;
  for (uint32_t i = 0; i < out->n; i++) {
    uint32_t r = out->record[i], *to = out->token + out->begin[i];
    if (i + AHEAD < out->n) __builtin_prefetch(id + place[out->record[i + AHEAD]]);
    memcpy(to, id + place[r], stored[r] * sizeof *to);
    sort_record(to, stored[r], spare);
    nd_sets_flip(out->sketch + (uint64_t)i * out->words, to, stored[r], out->words);
    out->size[i] = size[r];
    out->tokens += size[r];
    out->begin[i + 1] = out->begin[i] + stored[r];
  }
  memset(out->token + kept, 0, ND_SLACK);
  uint32_t *df = nd_realloc(out->df, out->distinct * sizeof *df);
  if (df) out->df = df; /* a smaller one is a courtesy, not a need */
out:
  nd_free(id);
  nd_free(size);
  nd_free(stored);
  nd_free(place);
  nd_free(rank);
  nd_free(spare);
  if (status != ND_OK) nd_sets_clear(out);
  return status;
}

void nd_sets_clear(nd_sets *s) {
  nd_free(s->token);
  nd_free(s->begin);
  nd_free(s->size);
  nd_free(s->record);
  nd_free(s->df);
  nd_free(s->sketch);
  *s = (nd_sets){0};
}
