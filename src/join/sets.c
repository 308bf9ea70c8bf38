/* Building token sets; see sets.h.
 *
 *   1  token_shards.c numbers the tokens that several records hold
 *   2  a pass over the answers, chunk by chunk, counts sizes and lists tokens by first
 *      appearance
 *   3  tokens are ranked by frequency, ties in that order
 *   4  a second pass writes the ranks of every record to its slot and sorts them
 *
 * All threads process chunks; the result does not depend on their boundaries. */
#include "join/sets.h"

#include <stdlib.h>

#include "base/threads.h"
#include "join/token_shards.h"

enum { SMALL = 24, CLASSES = 4096 };

/* A frequent token, to be ranked when all of them are known. */
typedef struct frequent {
  uint32_t df, shard, number;
  uint64_t order;
} frequent;

/* The tokens that first appear in a chunk of the records. */
typedef struct firsts {
  uint8_t *shard; /* of each token; its number follows from the preceding ones */
  size_t n, cap;
  uint32_t *class_; /* tokens per frequency below CLASSES; then: the next rank */
  uint32_t *next;   /* per shard: the first number that appears first in the chunk */
  frequent *frequent;
  size_t frequent_n, frequent_cap;
} firsts;

typedef struct builder {
  nd_sets *out;
  nd_token_shards shards;
  firsts *firsts;   /* per chunk */
  uint32_t *size;   /* per record of the input */
  uint32_t *stored; /* per record: its stored tokens; then: its index in the order */
  uint32_t longest;
} builder;

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

static const uint32_t **open_answers(const nd_token_shards *t, uint64_t chunk) {
  const uint32_t **answer = nd_malloc(t->shards * sizeof *answer);
  for (uint32_t s = 0; answer && s < t->shards; s++) {
    answer[s] = nd_token_answers(t, (uint32_t)chunk, s);
  }
  return answer;
}

/* Adds a token at its first appearance. */
static nd_status add_first(firsts *f, uint32_t shard, uint32_t number, uint32_t df, nd_error *err) {
  if (f->next[shard] == UINT32_MAX) f->next[shard] = number;
  if (f->n == f->cap) ND_TRY(nd_array_grow(&f->shard, &f->cap, f->n + 1, 1, err));
  f->shard[f->n++] = (uint8_t)shard;
  if (df < CLASSES) {
    f->class_[df]++;
    return ND_OK;
  }
  ND_TRY(
      nd_array_grow(&f->frequent, &f->frequent_cap, f->frequent_n + 1, sizeof *f->frequent, err));
  f->frequent[f->frequent_n++] = (frequent){df, shard, number, 0};
  return ND_OK;
}

static nd_status measure_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  builder *b = context;
  const nd_token_shards *t = &b->shards;
  firsts *f = &b->firsts[job];
  f->class_ = nd_calloc(CLASSES, sizeof *f->class_);
  f->next = nd_malloc(t->shards * sizeof *f->next);
  const uint32_t **answer = open_answers(t, job);
  nd_status status = ND_OK;
  if (!f->class_ || !f->next || !answer) {
    status = nd_fail_memory(err, CLASSES * sizeof *f->class_);
    goto out;
  }
  memset(f->next, 255, t->shards * sizeof *f->next);
  uint64_t i = t->begin[t->chunk[job]] - t->begin[0];
  for (uint64_t r = t->chunk[job]; r < t->chunk[job + 1]; r++) {
    const uint64_t end = t->begin[r + 1] - t->begin[0];
    uint32_t size = 0, stored = 0;
    for (; i < end; i++) {
      const uint32_t s = nd_token_shard_of(t, t->raw[i]), a = *answer[s]++;
      if (a & ND_TOKEN_FIRST) {
        const uint32_t number = a & ~ND_TOKEN_FIRST;
        ND_TRY_GOTO(add_first(f, s, number, t->shard[s].df[number], err), out);
      }
      size += a != ND_TOKEN_REPEAT;
      stored += a != ND_TOKEN_REPEAT && a != ND_TOKEN_ALONE;
    }
    b->size[r] = size;
    b->stored[r] = stored;
  }
out:
  nd_free(answer);
  return status;
}

static int rarer(const void *a, const void *b) {
  const frequent *x = a, *y = b;
  if (x->df != y->df) return x->df < y->df ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

/* Ranks the frequent tokens from `first` on, replacing the frequency by the rank. */
static nd_status rank_frequent(builder *b, uint32_t first, nd_error *err) {
  size_t n = 0;
  for (uint32_t c = 0; c < b->shards.chunks; c++) n += b->firsts[c].frequent_n;
  frequent *all = nd_malloc(n * sizeof *all);
  if (!all) return nd_fail_memory(err, n * sizeof *all);
  n = 0;
  for (uint32_t c = 0; c < b->shards.chunks; c++) {
    for (size_t k = 0; k < b->firsts[c].frequent_n; k++, n++) {
      all[n] = b->firsts[c].frequent[k];
      all[n].order = n;
    }
  }
  if (n) qsort(all, n, sizeof *all, rarer);
  for (size_t k = 0; k < n; k++) {
    b->out->df[first + k] = all[k].df;
    b->shards.shard[all[k].shard].df[all[k].number] = (uint32_t)(first + k);
  }
  nd_free(all);
  return ND_OK;
}

static nd_status rank_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  builder *b = context;
  firsts *f = &b->firsts[job];
  for (size_t k = 0; k < f->n; k++) {
    const uint32_t s = f->shard[k], number = f->next[s]++;
    uint32_t *df = &b->shards.shard[s].df[number];
    if (*df >= CLASSES) continue;
    const uint32_t rank = f->class_[*df]++;
    b->out->df[rank] = *df;
    *df = rank;
  }
  return ND_OK;
}

/* Replaces the frequency of every number by its rank. */
static nd_status rank_tokens(builder *b, nd_error *err) {
  nd_token_shards *t = &b->shards;
  uint64_t distinct = 0;
  for (uint32_t s = 0; s < t->shards; s++) distinct += t->shard[s].count;
  if (distinct > UINT32_MAX - 2) { /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "more than 4,294,967,293 tokens in common in a join");
  }
  b->out->distinct = (uint32_t)distinct;
  b->out->df = nd_malloc(distinct * sizeof *b->out->df);
  if (!b->out->df) return nd_fail_memory(err, distinct * sizeof *b->out->df);
  uint32_t rank = 0;
  for (uint32_t f = 0; f < CLASSES; f++) {
    for (uint32_t c = 0; c < t->chunks; c++) {
      const uint32_t n = b->firsts[c].class_[f];
      b->firsts[c].class_[f] = rank;
      rank += n;
    }
  }
  /* Rank the rare tokens afterwards, as chunks distinguish them from frequent ones by frequency. */
  ND_TRY(nd_threads_run(t->threads, t->chunks, rank_chunk, b, err));
  return rank_frequent(b, rank, err);
}

static nd_status write_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  builder *b = context;
  nd_sets *out = b->out;
  const nd_token_shards *t = &b->shards;
  const uint32_t **answer = open_answers(t, job);
  uint32_t *spare = nd_malloc(b->longest * sizeof *spare);
  nd_status status = ND_OK;
  if (!answer || !spare) {
    status = nd_fail_memory(err, b->longest * sizeof *spare);
    goto out;
  }
  uint64_t i = t->begin[t->chunk[job]] - t->begin[0];
  for (uint64_t r = t->chunk[job]; r < t->chunk[job + 1]; r++) {
    const uint64_t end = t->begin[r + 1] - t->begin[0], place = b->stored[r];
    uint32_t *to = out->token + out->begin[place];
    uint64_t n = 0;
    for (; i < end; i++) {
      const uint32_t s = nd_token_shard_of(t, t->raw[i]), a = *answer[s]++;
      if (a == ND_TOKEN_REPEAT || a == ND_TOKEN_ALONE) continue;
      to[n++] = t->shard[s].df[a & ~ND_TOKEN_FIRST];
    }
    sort_record(to, n, spare);
  }
out:
  nd_free(answer);
  nd_free(spare);
  return status;
}

enum { SKETCHED = 1 << 12 }; /* records at a time */

/* Clears a bit; tests it first, because most are already cleared. */
static void no_twin(uint8_t *twin, uint32_t token) {
  uint8_t *byte = &twin[token >> 3];
  const uint8_t bit = (uint8_t)(1u << (token & 7));
  if (__atomic_load_n(byte, __ATOMIC_RELAXED) & bit) {
    __atomic_fetch_and(byte, (uint8_t)~bit, __ATOMIC_RELAXED);
  }
}

static nd_status sketch_records(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  nd_sets *s = context;
  uint64_t end = (job + 1) * SKETCHED;
  if (end > s->n) end = s->n;
  for (uint64_t r = job * SKETCHED; r < end; r++) {
    const uint32_t *token = s->token + s->begin[r];
    const uint64_t n = s->begin[r + 1] - s->begin[r];
    nd_sets_flip(s->sketch + r * s->words, token, n, s->words);
    for (uint64_t i = 0; i < n; i++) {
      if (i == 0 || token[i - 1] + 1 != token[i]) no_twin(s->twin, token[i]);
    }
  }
  return ND_OK;
}

/* Sorts the records by ascending size, ties by number. */
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

/* Chooses the width of sketches: longer records need wider ones. */
static unsigned sketch_words(uint64_t tokens, uint64_t records) {
  return tokens <= 24 * records ? 1 : tokens <= 160 * records ? 2 : 4;
}

static nd_status check_input(const uint64_t *begin, uint64_t n, nd_error *err) {
  if (n >= UINT32_MAX - 1) { /* untaken: more than 2^31 things */
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

/* Computes the sizes and offsets of the records in their order. */
static nd_status place_records(builder *b, nd_error *err) {
  nd_sets *out = b->out;
  ND_TRY(order_records(out->record, b->size, out->n, err));
  out->begin[0] = 0;
  for (uint32_t i = 0; i < out->n; i++) {
    const uint32_t r = out->record[i], stored = b->stored[r];
    out->size[i] = b->size[r];
    out->tokens += b->size[r];
    out->begin[i + 1] = out->begin[i] + stored;
    if (stored > b->longest) b->longest = stored;
    b->stored[r] = i;
  }
  const uint64_t kept = out->begin[out->n];
  out->token = nd_malloc_large(kept * sizeof *out->token);
  if (!out->token) return nd_fail_memory(err, kept * sizeof *out->token);
  memset(out->token + kept, 0, ND_SLACK);
  return ND_OK;
}

static nd_status build(builder *b, nd_error *err) {
  nd_token_shards *t = &b->shards;
  nd_sets *out = b->out;
  const uint64_t n = t->records;
  ND_TRY(nd_token_shards_make(t, err));
  out->n = (uint32_t)n;
  out->size = nd_malloc(n * sizeof *out->size);
  out->record = nd_malloc(n * sizeof *out->record);
  out->begin = nd_malloc((n + 1) * sizeof *out->begin);
  b->size = nd_malloc(n * sizeof *b->size);
  b->stored = nd_malloc(n * sizeof *b->stored);
  b->firsts = nd_calloc(t->chunks, sizeof *b->firsts);
  if (!out->size || !out->record || !out->begin || !b->size || !b->stored || !b->firsts) {
    return nd_fail_memory(err, n * 24);
  }
  ND_TRY(nd_threads_run(t->threads, t->chunks, measure_chunk, b, err));
  ND_TRY(rank_tokens(b, err));
  ND_TRY(place_records(b, err));
  return nd_threads_run(t->threads, t->chunks, write_chunk, b, err);
}

static nd_status sketch(nd_sets *s, unsigned threads, nd_error *err) {
  s->words = sketch_words(s->begin[s->n], s->n);
  s->sketch = nd_calloc((size_t)s->n * s->words, sizeof *s->sketch);
  if (!s->sketch) return nd_fail_memory(err, (size_t)s->n * s->words * sizeof *s->sketch);
  const size_t bytes = s->distinct / 8 + 1;
  s->twin = nd_malloc(bytes);
  if (!s->twin) return nd_fail_memory(err, bytes);
  memset(s->twin, 255, bytes);
  return nd_threads_run(threads, (s->n + SKETCHED - 1) / SKETCHED, sketch_records, s, err);
}

nd_status nd_sets_build(nd_sets *out, const uint64_t *raw, const uint64_t *begin, uint64_t n,
                        unsigned threads, nd_error *err) {
  static const uint64_t nothing[1] = {0};
  *out = (nd_sets){0};
  if (n == 0) begin = nothing;
  ND_TRY(check_input(begin, n, err));
  builder b = {.out = out};
  b.shards = (nd_token_shards){
      .raw = raw ? raw + begin[0] : raw, .begin = begin, .records = n, .threads = threads};
  nd_status status = build(&b, err);
  for (uint32_t c = 0; b.firsts && c < b.shards.chunks; c++) {
    nd_free(b.firsts[c].shard);
    nd_free(b.firsts[c].class_);
    nd_free(b.firsts[c].next);
    nd_free(b.firsts[c].frequent);
  }
  nd_free(b.firsts);
  nd_free(b.size);
  nd_free(b.stored);
  nd_token_shards_clear(&b.shards); /* free memory for the sketches */
  if (status == ND_OK) status = sketch(out, threads, err);
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
  nd_free(s->twin);
  *s = (nd_sets){0};
}
