/* An external sort of (key, value) items inside a memory budget.
 *
 * Call order: new → add … add → finish → next … next (→ rewind → next …) → free.
 *
 * Items collect in a buffer.  When it is full it is sorted (radix, stable) and
 * the run is appended to one temporary file, which has no name any more, so
 * that a killed process leaves nothing.  finish sorts the last run; next merges
 * the runs through a small heap.  When everything fits the buffer, no file is
 * ever made.
 *
 *   temporary file:  run 0 | run 1 | …    each run: items in rising key order
 *
 * Items of equal keys come out in the order they were added; with `unique`
 * only one of them does, with the smallest of their values, or (nd_sorter_sum)
 * with their sum. */
#ifndef ND_BASE_SORTER_H
#define ND_BASE_SORTER_H

#include "base/mem.h"
#include "base/radix.h"

typedef struct nd_sorter nd_sorter;

/* `memory` bytes at most (buffers and merge windows together); `dir` for the
 * temporary file. */
nd_status nd_sorter_new(nd_sorter **out, uint64_t memory, const char *dir, bool unique,
                        nd_error *err) ND_MUST_CHECK;

/* Before adding, a unique sorter: equal keys add up their values. */
void nd_sorter_sum(nd_sorter *s);

/* Before adding: items of equal keys shall come by rising value instead. */
void nd_sorter_by_value(nd_sorter *s);

/* Adds items; may be called by several threads at once (whole batches please). */
nd_status nd_sorter_add(nd_sorter *s, const nd_item *items, size_t n, nd_error *err) ND_MUST_CHECK;

nd_status nd_sorter_finish(nd_sorter *s, nd_error *err) ND_MUST_CHECK;

/* Up to `room` next items in key order; *got = 0 at the end. */
nd_status nd_sorter_next(size_t *got, nd_item *out, size_t room, nd_sorter *s,
                         nd_error *err) ND_MUST_CHECK;

/* Back to the first item. */
nd_status nd_sorter_rewind(nd_sorter *s, nd_error *err) ND_MUST_CHECK;

/* Bytes written to the temporary file. */
uint64_t nd_sorter_spilled(const nd_sorter *s);

void nd_sorter_free(nd_sorter *s);

#endif
