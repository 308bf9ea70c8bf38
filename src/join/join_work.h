/* State shared by the joins: the task, and the counters and batch of results of a thread. */
#ifndef ND_JOIN_JOIN_WORK_H
#define ND_JOIN_JOIN_WORK_H

#include <pthread.h>

#include "join/join.h"

enum { ND_JOIN_BATCH = 4096 };

/* Records of one size, which share every bound. */
typedef struct nd_join_class {
  uint32_t size;
  uint32_t first;  /* the first record of this size */
  uint32_t lowest; /* the first record large enough to be similar */
  uint32_t probe, index;
  int64_t limit_x, limit_y; /* block join: shares in the distance allowed, in 1/256 */
} nd_join_class;

typedef struct nd_join_worker {
  struct nd_join_task *task;
  nd_join_pair *batch;
  size_t batched;
  uint64_t after_size, after_positional, after_suffix, verified, results;
  char padding[64]; /* keeps the counters of two threads off one cache line */
} nd_join_worker;

typedef struct nd_join_task {
  const nd_sets *sets;
  nd_join_options options;
  nd_set_bounds bounds;
  unsigned threads;
  uint64_t memory;
  nd_join_sink sink;
  void *context;
  pthread_mutex_t lock;
  nd_join_worker *worker; /* one per thread */
  nd_join_class *class_;  /* by ascending size; one more at the end with first = n */
  uint32_t classes;
  uint64_t index_entries, blocks;
} nd_join_task;

nd_status nd_join_flush(nd_join_worker *w, nd_error *err) ND_MUST_CHECK;

ND_INLINE nd_status nd_join_emit(nd_join_worker *w, uint32_t x, uint32_t y, uint32_t overlap,
                                 nd_error *err) {
  const uint32_t *record = w->task->sets->record;
  uint32_t a = record[x], b = record[y];
  w->batch[w->batched++] = a < b ? (nd_join_pair){a, b, overlap} : (nd_join_pair){b, a, overlap};
  return ND_UNLIKELY(w->batched == ND_JOIN_BATCH) ? nd_join_flush(w, err) : ND_OK;
}

/* Returns the collection of a record: 0 or 1. */
ND_INLINE unsigned nd_join_side(const nd_join_task *t, uint32_t record) {
  return t->options.split && t->sets->record[record] >= t->options.split;
}

/* Counts common tokens of two ascending runs.  Once `needed` is out of reach, stops and returns a
 * number below it. */
ND_INLINE uint32_t nd_join_common(const uint32_t *a, const uint32_t *a_end, const uint32_t *b,
                                  const uint32_t *b_end, int64_t needed) {
  uint32_t common = 0;
  while (a_end - a >= 4 && b_end - b >= 4) {
    uint64_t a0, a1, b0, b1;
    memcpy(&a0, a, 8);
    memcpy(&a1, a + 2, 8);
    memcpy(&b0, b, 8);
    memcpy(&b1, b + 2, 8);
    if (((a0 ^ b0) | (a1 ^ b1)) == 0) { /* near-duplicates have long equal runs */
      a += 4;
      b += 4;
      common += 4;
      continue;
    }
    for (int step = 0; step < 4; step++) {
      uint32_t u = *a, v = *b;
      common += u == v;
      a += u <= v;
      b += v <= u;
    }
    ptrdiff_t left = a_end - a < b_end - b ? a_end - a : b_end - b;
    if ((int64_t)common + left < needed) return common;
  }
  while (a < a_end && b < b_end) {
    uint32_t u = *a, v = *b;
    common += u == v;
    a += u <= v;
    b += v <= u;
  }
  return common;
}

/* Returns the class of a record. */
uint32_t nd_join_class_of(const nd_join_task *t, uint32_t record);

/* Returns the first record larger than `size`. */
uint32_t nd_join_first_above(const nd_join_task *t, uint64_t size);

nd_status nd_join_blocks(nd_join_task *t, nd_error *err) ND_MUST_CHECK;
nd_status nd_join_prefixes(nd_join_task *t, nd_error *err) ND_MUST_CHECK;

#endif
