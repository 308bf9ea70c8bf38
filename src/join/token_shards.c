/* Partitioning and numbering of tokens; see token_shards.h. */
#include "join/token_shards.h"

#include "base/threads.h"

enum {
  SHARD_TOKENS = 1 << 14, /* target number of tokens in a shard */
  MOST_BITS = 8,          /* at most 2^8 shards, whose streams are written at once */
  FIRST_SLOTS = 1 << 10,
};
/* The top bit of a key follows from its shard; in the stream the bit marks the first key of a
 * record in the shard. */
#define NEW_RECORD (UINT64_C(1) << 63)

/* Not base/hash_table.h: all that a probe needs is in its slot, as cache misses take the time. */
typedef struct slot {
  uint64_t key;
  uint32_t number; /* + 1; 0 is an empty slot */
  uint32_t last;   /* the last record with the token */
} slot;

/* Hash table of a thread, reused for each shard. */
typedef struct table {
  slot *slot;
  uint64_t mask, used;
  uint32_t *df;
  size_t df_cap;
} table;

typedef struct numbering {
  nd_token_shards *shards;
  table *table; /* per thread */
} numbering;

static nd_status table_grow(table *t, nd_error *err) {
  const uint64_t slots = t->slot ? (t->mask + 1) * 2 : FIRST_SLOTS;
  const uint64_t secret = nd_hash_secret();
  slot *grown = nd_calloc(slots, sizeof *grown);
  if (!grown) return nd_fail_memory(err, slots * sizeof *grown);
  for (uint64_t i = 0; t->slot && i <= t->mask; i++) {
    if (!t->slot[i].number) continue;
    uint64_t at = nd_hash_slot(t->slot[i].key, secret, slots);
    while (grown[at].number) at = (at + 1) & (slots - 1);
    grown[at] = t->slot[i];
  }
  nd_free(t->slot);
  t->slot = grown;
  t->mask = slots - 1;
  return nd_array_grow(&t->df, &t->df_cap, slots, sizeof *t->df, err);
}

/* Numbers the keys in order of appearance, counts frequencies and detects repetitions. */
static nd_status number_keys(table *t, uint32_t *answer, const uint64_t *key, uint64_t n,
                             nd_error *err) {
  const uint64_t secret = nd_hash_secret();
  uint32_t record = 0;
  for (uint64_t i = 0; i < n; i++) {
    if (ND_UNLIKELY(t->used * 2 >= t->mask)) ND_TRY(table_grow(t, err));
    const uint64_t k = key[i] & ~NEW_RECORD;
    record += key[i] >> 63;
    uint64_t at = nd_hash_slot(k, secret, t->mask + 1);
    while (t->slot[at].number && t->slot[at].key != k) at = (at + 1) & t->mask;
    slot *s = &t->slot[at];
    if (!s->number) {
      t->df[t->used] = 0;
      *s = (slot){k, (uint32_t)++t->used, 0};
    }
    const bool repeated = s->last == record;
    s->last = record;
    t->df[s->number - 1] += !repeated;
    answer[i] = repeated ? ND_TOKEN_REPEAT : s->number - 1;
  }
  return ND_OK;
}

/* Renumbers the answers, so that only tokens of several records have a number. */
static void renumber(uint32_t *answer, uint64_t n, uint32_t *number) {
  uint32_t next = 0;
  for (uint64_t i = 0; i < n; i++) {
    if (answer[i] == ND_TOKEN_REPEAT) continue;
    const uint32_t mine = number[answer[i]];
    const bool first = mine == next;
    next += first;
    answer[i] = first ? mine | ND_TOKEN_FIRST : mine;
  }
}

static nd_status number_shard(void *context, unsigned member, uint64_t job, nd_error *err) {
  const numbering *all = context;
  const nd_token_shards *t = all->shards;
  table *mine = &all->table[member];
  const uint64_t n = t->start[job + 1] - t->start[job];
  uint64_t *key = t->stream + t->start[job];
  uint32_t *answer = (uint32_t *)(void *)key;
  if (n >= ND_TOKEN_REPEAT) { /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "too many tokens in a join; split the input");
  }
  mine->used = 0;
  if (mine->slot) {
    memset(mine->slot, 0, (mine->mask + 1) * sizeof *mine->slot);
  } else {
    ND_TRY(table_grow(mine, err));
  }
  /* Answer i overwrites key i / 2, which has been read. */
  ND_TRY(number_keys(mine, answer, key, n, err));
  uint32_t kept = 0;
  for (uint64_t i = 0; i < mine->used; i++) kept += mine->df[i] > 1;
  nd_token_shard *s = &t->shard[job];
  s->count = kept;
  s->df = nd_malloc(kept * sizeof *s->df);
  if (!s->df) return nd_fail_memory(err, kept * sizeof *s->df);
  kept = 0;
  for (uint64_t i = 0; i < mine->used; i++) {
    const uint32_t df = mine->df[i];
    if (df > 1) s->df[kept] = df;
    mine->df[i] = df > 1 ? kept : ND_TOKEN_ALONE;
    kept += df > 1;
  }
  renumber(answer, n, mine->df);
  return ND_OK;
}

static nd_status number_shards(nd_token_shards *t, nd_error *err) {
  numbering all = {.shards = t, .table = nd_calloc(t->threads, sizeof *all.table)};
  if (!all.table) return nd_fail_memory(err, t->threads * sizeof *all.table);
  nd_status status = nd_threads_run(t->threads, t->shards, number_shard, &all, err);
  for (unsigned i = 0; i < t->threads; i++) {
    nd_free(all.table[i].slot);
    nd_free(all.table[i].df);
  }
  nd_free(all.table);
  return status;
}

static nd_status count_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  nd_token_shards *t = context;
  uint64_t *count = t->offset + job * t->shards;
  const uint64_t first = t->begin[0], end = t->begin[t->chunk[job + 1]] - first;
  for (uint64_t i = t->begin[t->chunk[job]] - first; i < end; i++) {
    count[nd_token_shard_of(t, t->raw[i])]++;
  }
  return ND_OK;
}

static nd_status deal_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  nd_token_shards *t = context;
  uint64_t at[1 << MOST_BITS], last[1 << MOST_BITS];
  memcpy(at, t->offset + job * t->shards, t->shards * sizeof *at);
  memset(last, 255, sizeof last); /* no record */
  const unsigned shift = 64 - t->bits;
  uint64_t i = t->begin[t->chunk[job]] - t->begin[0];
  for (uint64_t r = t->chunk[job]; r < t->chunk[job + 1]; r++) {
    const uint64_t end = t->begin[r + 1] - t->begin[0];
    for (; i < end; i++) {
      const uint64_t mixed = nd_mix(t->raw[i]), s = mixed >> shift;
      const uint64_t new_record = last[s] != r;
      last[s] = r;
      t->stream[at[s]++] = (mixed & ~NEW_RECORD) | new_record << 63;
    }
  }
  return ND_OK;
}

/* Splits the records into chunks with equal numbers of tokens. */
static void plan_chunks(nd_token_shards *t, uint64_t tokens) {
  uint64_t r = 0;
  for (uint32_t c = 0; c < t->chunks; c++) {
    const uint64_t wanted = t->begin[0] + tokens / t->chunks * c;
    while (r < t->records && t->begin[r] < wanted) r++;
    t->chunk[c] = r;
  }
  t->chunk[t->chunks] = t->records;
}

nd_status nd_token_shards_make(nd_token_shards *t, nd_error *err) {
  const uint64_t tokens = t->begin[t->records] - t->begin[0];
  for (t->bits = 1; t->bits < MOST_BITS && tokens >> t->bits > SHARD_TOKENS;) t->bits++;
  t->shards = 1u << t->bits;
  t->chunks = t->threads > 1 && tokens > 4 * SHARD_TOKENS ? 4 * t->threads : 1;
  t->chunk = nd_malloc(((size_t)t->chunks + 1) * sizeof *t->chunk);
  t->offset = nd_calloc((size_t)t->chunks * t->shards, sizeof *t->offset);
  t->start = nd_malloc(((size_t)t->shards + 1) * sizeof *t->start);
  t->shard = nd_calloc(t->shards, sizeof *t->shard);
  t->stream = nd_malloc_large(tokens * sizeof *t->stream);
  if (!t->chunk || !t->offset || !t->start || !t->shard || !t->stream) {
    return nd_fail_memory(err, tokens * sizeof *t->stream);
  }
  plan_chunks(t, tokens);
  ND_TRY(nd_threads_run(t->threads, t->chunks, count_chunk, t, err));
  uint64_t at = 0;
  for (uint32_t s = 0; s < t->shards; s++) {
    t->start[s] = at;
    for (uint32_t c = 0; c < t->chunks; c++) {
      uint64_t *offset = &t->offset[(size_t)c * t->shards + s], n = *offset;
      *offset = at;
      at += n;
    }
  }
  t->start[t->shards] = at;
  ND_TRY(nd_threads_run(t->threads, t->chunks, deal_chunk, t, err));
  return number_shards(t, err);
}

void nd_token_shards_clear(nd_token_shards *t) {
  for (uint32_t s = 0; t->shard && s < t->shards; s++) nd_free(t->shard[s].df);
  nd_free(t->shard);
  nd_free(t->chunk);
  nd_free(t->offset);
  nd_free(t->start);
  nd_free(t->stream);
  *t = (nd_token_shards){0};
}
