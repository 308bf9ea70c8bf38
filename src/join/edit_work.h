/* State shared by the two edit-distance joins: the strings as symbols, the counters of a thread,
 * and the output of pairs. */
#ifndef ND_JOIN_EDIT_WORK_H
#define ND_JOIN_EDIT_WORK_H

#include <pthread.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "join/edit_join.h"
#include "similarity/edit_distance.h"

/* Parities of the counts of adjacent pairs of symbols, hashed into 128 bits.  An insertion or
 * deletion changes at most 3 bits, a replacement at most 4. */
typedef struct nd_edit_sketch {
  uint64_t low, high;
} nd_edit_sketch;

/* The distinct strings, by ascending length.  String u occurs in the input with the numbers
 * member[member_begin[u]] … member[member_begin[u + 1] - 1], ascending. */
typedef struct nd_edit_strings {
  uint32_t n;
  uint64_t points; /* code points of all strings */
  uint32_t *length;
  uint64_t *at; /* per string: offset of its symbols */
  uint32_t *member_begin, *member;
  uint8_t *side; /* 1: below the split, 2: not, 3: both; all 3 without a split */
  nd_edit_sketch *sketch;
  bool wide;     /* symbols of 4 bytes, else of 1 */
  char *symbols; /* with ND_EDIT_SLACK more before the first and after the last */
} nd_edit_strings;

typedef struct nd_edit_worker {
  struct nd_edit_task *task;
  nd_edit_scratch scratch;
  nd_edit_pair *batch;
  size_t batched;
  nd_edit_stats count;
  uint64_t *hash; /* Pass-Join: hashes of the prefixes of the searching string */
  size_t hash_cap;
  uint32_t *mark; /* per string of a block or of all: the last visit */
  size_t mark_cap;
  uint32_t visit;
  uint32_t *list;
  size_t list_cap;
  char padding[64]; /* keeps the counters of two threads off one cache line */
} nd_edit_worker;

typedef struct nd_edit_task {
  nd_edit_strings strings;
  nd_edit_options options;
  nd_edit_sink sink;
  void *context;
  pthread_mutex_t lock;
  nd_edit_worker *worker;
  nd_edit_stats stats;
} nd_edit_task;

nd_status nd_edit_strings_build(nd_edit_strings *out, nd_edit_input input, uint32_t split,
                                unsigned threads, nd_error *err) ND_MUST_CHECK;
void nd_edit_strings_clear(nd_edit_strings *s);

/* Returns the first string at least this long. */
uint32_t nd_edit_first_of_length(const nd_edit_strings *s, uint64_t length);

ND_INLINE const void *nd_edit_text(const nd_edit_strings *s, uint32_t u) {
  return s->symbols + ((s->at[u] + ND_EDIT_SLACK) << (s->wide ? 2 : 0));
}

/* Tests whether the collections of two strings allow a pair. */
ND_INLINE bool nd_edit_sides(const nd_edit_strings *s, uint32_t u, uint32_t v) {
  return (s->side[u] | s->side[v]) == 3;
}

/* Returns the maximum number of differing bits of two sketches within tau edits, of which `gap`
 * change the length. */
ND_INLINE unsigned nd_edit_sketch_bound(uint32_t tau, uint32_t gap) {
  return tau < 64 ? 4 * tau - gap : 128;
}

ND_INLINE unsigned nd_edit_sketch_apart(nd_edit_sketch a, nd_edit_sketch b) {
  return (unsigned)(__builtin_popcountll(a.low ^ b.low) + __builtin_popcountll(a.high ^ b.high));
}

/* Computes the distance of two strings and lists their pairs if it is at most tau. */
nd_status nd_edit_verify(nd_edit_worker *w, uint32_t u, uint32_t v, nd_error *err) ND_MUST_CHECK;

/* Compares string x with all strings first … last - 1, sketches first. */
nd_status nd_edit_scan(nd_edit_worker *w, uint32_t x, uint32_t first, uint32_t last,
                       nd_error *err) ND_MUST_CHECK;

/* Reserves marks of n strings and sets w->visit to a number that none of them has. */
nd_status nd_edit_marks(nd_edit_worker *w, size_t n, nd_error *err) ND_MUST_CHECK;
ND_INLINE void nd_edit_next_visit(nd_edit_worker *w) {
  if (ND_UNLIKELY(++w->visit == 0)) { /* untaken: more than 2^31 things */
    memset(w->mark, 0, w->mark_cap * sizeof *w->mark);
    w->visit = 1;
  }
}

nd_status nd_edit_pass(nd_edit_task *t, nd_error *err) ND_MUST_CHECK;
nd_status nd_edit_qgram(nd_edit_task *t, nd_error *err) ND_MUST_CHECK;

#endif
