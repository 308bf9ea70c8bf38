/* Lists of records with shingle counts by class; see trial_lists.h. */
#include "plan/trial_lists.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/threads.h"
#include "candidate/list_table.h"

enum {
  SHARDS = 64,          /* lists are partitioned by hash, so equal lists share a shard */
  MOST_PIECE = 1 << 12, /* words that a shard reserves at a time */
  LEAST_PIECE = 64,
  ROW = 48,         /* counters of a row: the cells, then the next two */
  TOUCHED = 46,     /* non-zero if the row is in use */
  NOWHERE = 47,     /* shingles that no level lets pass */
  JOB_RECORDS = 16, /* records per job of a counting thread */
  BATCH = 64,       /* pairs per call of `each` */
  WORD_BYTES = 16,  /* per word of a list: the word, its index entry, its slot */
  VECTOR_BYTES = ROW * 4
};
_Static_assert((int)TOUCHED >= (int)ND_TRIAL_CELLS && ROW > NOWHERE, "cells fit a row");
#define VECTOR UINT32_C(0x80000000)

typedef struct shard {
  pthread_mutex_t lock;
  nd_list_table table;
  uint32_t at, end; /* its current piece of the lists */
  uint64_t work;
} shard;

/* The position of a record in a list. */
typedef struct entry {
  uint32_t at, head;
} entry;

typedef struct counter {
  uint32_t *row, *touched;
  nd_trial_pair *batch;
  size_t batched;
} counter;

struct nd_trial_lists {
  uint32_t records;
  unsigned threads;
  uint64_t memory;
  uint32_t *list, *vector;
  uint64_t list_cap, piece;
  uint32_t vector_cap;
  _Atomic uint64_t words;
  _Atomic uint32_t vectors;
  shard shard[SHARDS];
  uint64_t *start; /* per record of the round: the end of its entries */
  entry *index;
  uint32_t from, to, second;
  counter *counter; /* per thread */
  nd_trials_take each;
  void *context;
};

nd_status nd_trial_lists_new(nd_trial_lists **out, uint32_t records, unsigned threads,
                             uint64_t memory, nd_error *err) {
  nd_trial_lists *l = nd_calloc(1, sizeof *l);
  if (!l) return nd_fail_memory(err, sizeof *l);
  l->records = records;
  l->threads = threads;
  l->memory = memory;
  l->words = 1; /* position 0 means an empty slot */
  for (unsigned i = 0; i < SHARDS; i++) pthread_mutex_init(&l->shard[i].lock, NULL);
  l->list_cap = memory / 2 / WORD_BYTES;
  l->piece = l->list_cap / (16 * SHARDS);
  if (l->piece > MOST_PIECE) l->piece = MOST_PIECE;
  if (l->piece < LEAST_PIECE) l->piece = LEAST_PIECE;
  const uint64_t least = SHARDS * l->piece + records + 3, most = UINT32_MAX - MOST_PIECE;
  if (l->list_cap < least) l->list_cap = least;
  if (l->list_cap > most) l->list_cap = most; /* untaken: more than 2^31 things */
  const uint64_t vectors = memory / 4 / VECTOR_BYTES;
  /* untaken: more than 2^31 things */
  l->vector_cap = vectors < 1024 ? 1024 : vectors < VECTOR ? (uint32_t)vectors : VECTOR - 1;
  /* calloc: only pages in use take memory. */
  l->list = nd_calloc(l->list_cap, sizeof *l->list);
  l->vector = nd_calloc(l->vector_cap, VECTOR_BYTES);
  l->counter = nd_calloc(l->threads, sizeof *l->counter);
  if (!l->list || !l->vector || !l->counter) {
    nd_trial_lists_free(l);
    return nd_fail_memory(err, memory);
  }
  *out = l;
  return ND_OK;
}

static void clear_index(nd_trial_lists *l) {
  nd_free(l->start);
  nd_free(l->index);
  l->start = NULL;
  l->index = NULL;
  for (unsigned i = 0; l->counter && i < l->threads; i++) {
    nd_free(l->counter[i].row);
    nd_free(l->counter[i].touched);
    nd_free(l->counter[i].batch);
    l->counter[i] = (counter){0};
  }
}

void nd_trial_lists_clear(nd_trial_lists *l) {
  clear_index(l);
  memset(l->list, 0, l->words * sizeof *l->list);
  memset(l->vector, 0, (size_t)l->vectors * VECTOR_BYTES);
  l->words = 1;
  l->vectors = 0;
  for (unsigned i = 0; i < SHARDS; i++) {
    shard *s = &l->shard[i];
    nd_list_table_clear(&s->table);
    s->work = 0;
    s->at = s->end = 0;
  }
}

void nd_trial_lists_free(nd_trial_lists *l) {
  if (!l) return;
  clear_index(l);
  for (unsigned i = 0; i < SHARDS; i++) {
    nd_list_table_clear(&l->shard[i].table);
    pthread_mutex_destroy(&l->shard[i].lock);
  }
  nd_free(l->counter);
  nd_free(l->list);
  nd_free(l->vector);
  nd_free(l);
}

uint64_t nd_trial_lists_work(const nd_trial_lists *l) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < SHARDS; i++) sum += l->shard[i].work;
  return sum;
}

/* Reserves words for a shard, from its current piece or a new one. */
static bool reserve(nd_trial_lists *l, shard *s, uint64_t words) {
  if (s->end - s->at >= words) return true;
  const uint64_t piece = words > l->piece ? words : l->piece;
  /* Reserves only a piece that fits: if one were taken and given back, a smaller piece reserved in
   * between would overlap the next one. */
  uint64_t at = atomic_load_explicit(&l->words, memory_order_relaxed);
  do {
    if (at + piece > l->list_cap) return false;
    /* untaken: two threads at one moment */
  } while (!atomic_compare_exchange_weak_explicit(&l->words, &at, at + piece, memory_order_relaxed,
                                                  memory_order_relaxed));
  s->at = (uint32_t)at;
  s->end = (uint32_t)(at + piece);
  return true;
}

ND_INLINE unsigned level_cell(unsigned class) {
  const unsigned level = class >> 8;
  return level < ND_TRIAL_LEVELS ? ND_TRIAL_RESIDUES + ND_TRIAL_DEEP + level : NOWHERE;
}

ND_INLINE void count_class(uint32_t *row, unsigned class) {
  row[class % ND_TRIAL_RESIDUES]++;
  for (unsigned d = 0; d < (class >> 5 & 7); d++) row[ND_TRIAL_RESIDUES + d]++;
  row[level_cell(class)]++;
}

/* Counts one more shingle of an existing list. */
static bool count_again(nd_trial_lists *l, uint32_t *head, unsigned class) {
  if (!(*head & VECTOR)) {
    const uint32_t number = atomic_fetch_add_explicit(&l->vectors, 1, memory_order_relaxed);
    if (number >= l->vector_cap) {
      atomic_fetch_sub_explicit(&l->vectors, 1, memory_order_relaxed);
      return false;
    }
    count_class(l->vector + (size_t)number * ROW, *head - 1);
    *head = VECTOR | number;
  }
  count_class(l->vector + (size_t)(*head & ~VECTOR) * ROW, class);
  return true;
}

static nd_status add_to_shard(bool *full, nd_trial_lists *l, shard *s, uint64_t hash,
                              const uint32_t *record, size_t n, unsigned class, nd_error *err) {
  uint32_t *head;
  uint64_t at;
  ND_TRY(nd_list_find(&head, &at, &s->table, l->list, hash, record, n, err));
  if (head) {
    *full = !count_again(l, head, class);
    return ND_OK;
  }
  *full = !reserve(l, s, n + 2);
  if (*full) return ND_OK;
  nd_list_enter(&s->table, at, l->list, s->at, hash, class + 1, record, n);
  s->at += (uint32_t)(n + 2);
  s->work += (uint64_t)n * (n - 1) / 2;
  return ND_OK;
}

nd_status nd_trial_lists_add(bool *full, nd_trial_lists *l, const uint32_t *record, size_t n,
                             unsigned class, nd_error *err) {
  *full = false;
  if (n < 2) return ND_OK;
  const uint64_t hash = nd_list_hash(record, n);
  shard *s = &l->shard[hash >> 58];
  pthread_mutex_lock(&s->lock);
  nd_status status = add_to_shard(full, l, s, (hash << 6) >> 32, record, n, class, err);
  pthread_mutex_unlock(&s->lock);
  return status;
}

/* Visits every list, for the records of one part: counts its entries, or (fill) stores them in the
 * index.  Words of 0 separate the shards' pieces. */
static void walk_lists(nd_trial_lists *l, uint32_t from, uint32_t to, bool fill) {
  const uint64_t words = l->words;
  for (uint64_t at = 1; at < words; at++) {
    const uint32_t head = l->list[at];
    if (head == 0) continue;
    for (at++; l->list[at] != ND_LIST_END; at++) {
      const uint32_t r = l->list[at];
      if (r < from || r >= to) continue;
      if (fill)
        l->index[l->start[r - l->from]++] = (entry){(uint32_t)at, head};
      else
        l->start[r - l->from]++;
    }
  }
}

typedef struct indexing {
  nd_trial_lists *lists;
  bool fill;
} indexing;

static nd_status index_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  const indexing *x = context;
  const uint64_t from = x->lists->from, n = x->lists->to - from, jobs = x->lists->threads;
  walk_lists(x->lists, (uint32_t)(from + n * job / jobs), (uint32_t)(from + n * (job + 1) / jobs),
             x->fill);
  return ND_OK;
}

static nd_status make_index(nd_trial_lists *l, nd_error *err) {
  const uint64_t n = l->to - l->from;
  l->start = nd_calloc(n + 1, sizeof *l->start);
  if (!l->start) return nd_fail_memory(err, n * sizeof *l->start);
  indexing x = {l, false};
  ND_TRY(nd_threads_run(l->threads, l->threads, index_job, &x, err));
  uint64_t sum = 0;
  for (uint64_t r = 0; r <= n; r++) {
    const uint64_t count = l->start[r];
    l->start[r] = sum;
    sum += count;
  }
  l->index = nd_malloc_large((sum + 1) * sizeof *l->index);
  if (!l->index) return nd_fail_memory(err, sum * sizeof *l->index);
  x.fill = true;
  return nd_threads_run(l->threads, l->threads, index_job, &x, err);
}

/* Counts the records after one record in each of its lists. */
ND_INLINE size_t count_body(const nd_trial_lists *l, counter *c, uint64_t first, uint64_t end) {
  uint32_t *restrict rows = c->row, *restrict touched = c->touched;
  size_t n = 0;
  for (uint64_t e = first; e < end; e++) {
    const uint32_t *p = l->list + l->index[e].at + 1, head = l->index[e].head;
    while (*p < l->second) p++;
    if (head & VECTOR) {
      const uint32_t *restrict v = l->vector + (size_t)(head & ~VECTOR) * ROW;
      for (; *p != ND_LIST_END; p++) {
        uint32_t *restrict row = rows + (size_t)*p * ROW;
        touched[n] = *p;
        n += row[TOUCHED] == 0;
        for (unsigned k = 0; k < ROW; k++) row[k] += v[k];
        row[TOUCHED] = 1;
      }
      continue;
    }
    const unsigned class = head - 1, residue = class % ND_TRIAL_RESIDUES, deep = class >> 5 & 7;
    const unsigned level = level_cell(class);
    for (; *p != ND_LIST_END; p++) {
      uint32_t *restrict row = rows + (size_t)*p * ROW;
      touched[n] = *p;
      n += row[TOUCHED] == 0;
      row[TOUCHED] = 1;
      row[residue]++;
      row[level]++;
      for (unsigned d = 0; d < deep; d++) row[ND_TRIAL_RESIDUES + d]++;
    }
  }
  return n;
}

static size_t count_base(const nd_trial_lists *l, counter *c, uint64_t first, uint64_t end) {
  return count_body(l, c, first, end);
}
#if ND_X86
ND_TARGET_AVX2 static size_t count_avx2(const nd_trial_lists *l, counter *c, uint64_t first,
                                        uint64_t end) {
  return count_body(l, c, first, end);
}
#endif

static nd_status flush(nd_trial_lists *l, counter *c, unsigned member, nd_error *err) {
  const size_t n = c->batched;
  c->batched = 0;
  return n ? l->each(l->context, member, c->batch, n, err) : ND_OK;
}

static nd_status count_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  nd_trial_lists *l = context;
  counter *c = &l->counter[member];
  if (!c->row) {
    c->row = nd_calloc(l->records, VECTOR_BYTES);
    c->touched = nd_malloc((l->records + (size_t)1) * sizeof *c->touched);
    c->batch = nd_malloc(BATCH * sizeof *c->batch);
    if (!c->row || !c->touched || !c->batch)
      return nd_fail_memory(err, (uint64_t)l->records * VECTOR_BYTES);
  }
  size_t (*count)(const nd_trial_lists *, counter *, uint64_t, uint64_t) = count_base;
#if ND_X86
  if (nd_cpu() >= ND_CPU_AVX2) count = count_avx2;
#endif
  const uint64_t all = l->to - l->from;
  const uint64_t end = (job + 1) * JOB_RECORDS < all ? (job + 1) * JOB_RECORDS : all;
  for (uint64_t a = job * JOB_RECORDS; a < end; a++) {
    const size_t n = count(l, c, a ? l->start[a - 1] : 0, l->start[a]);
    for (size_t k = 0; k < n; k++) {
      uint32_t *row = c->row + (size_t)c->touched[k] * ROW;
      nd_trial_pair *p = &c->batch[c->batched++];
      p->a = (uint32_t)(l->from + a);
      p->b = c->touched[k];
      memcpy(p->cell, row, sizeof p->cell);
      memset(row, 0, VECTOR_BYTES);
      if (c->batched == BATCH) ND_TRY(flush(l, c, member, err));
    }
  }
  return flush(l, c, member, err);
}

/* Returns the number of threads whose counters fit into memory. */
static unsigned counting_threads(const nd_trial_lists *l) {
  const uint64_t fit = l->memory / 4 / ((uint64_t)l->records * (VECTOR_BYTES + 4) + 1);
  return fit < 1 ? 1 : fit < l->threads ? (unsigned)fit : l->threads;
}

nd_status nd_trial_lists_count(nd_trial_lists *l, uint32_t from, uint32_t to, uint32_t second,
                               nd_trials_take each, void *context, nd_error *err) {
  l->from = from;
  l->to = to;
  l->second = second;
  l->each = each;
  l->context = context;
  for (unsigned i = 0; i < SHARDS; i++) { /* no more lists are added */
    nd_list_table_clear(&l->shard[i].table);
  }
  nd_status status = make_index(l, err);
  if (status == ND_OK)
    status =
        nd_threads_run(counting_threads(l), ((uint64_t)to - from + JOB_RECORDS - 1) / JOB_RECORDS,
                       count_job, l, err);
  nd_trial_lists_clear(l);
  return status;
}
