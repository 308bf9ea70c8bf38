/* External sort of (key, value) items within a memory budget.
 *
 * Call order: new → add … add → finish → each … each → free, or next … next (→ rewind → next …)
 * where a caller wants batches of its own.
 *
 * Items collect in a buffer.  When it is full, it is sorted (radix, stable) and appended as a run
 * to one temporary file, which is already unlinked, so a killed process leaves nothing behind.
 * finish sorts the last run; next merges the runs through a small heap.  If everything fits the
 * buffer, no file is created.
 *
 *   temporary file:  run 0 | run 1 | …    each run: items in ascending key order
 *
 * Items with equal keys come out in the order they were added.  With `unique` they are merged to
 * one item with the smallest of their values or, after nd_sorter_sum, with their sum. */
#ifndef ND_BASE_SORTER_H
#define ND_BASE_SORTER_H

#include "base/mem.h"
#include "base/radix.h"

typedef struct nd_sorter nd_sorter;

/* Creates a sorter that uses at most `memory` bytes, buffers and merge windows together, and puts
 * the temporary file into `dir`.  A `memory` of 0 stands for 128 KiB. */
nd_status nd_sorter_new(nd_sorter **out, uint64_t memory, const char *dir, bool unique,
                        nd_error *err) ND_MUST_CHECK;

/* Makes a unique sorter add up the values of equal keys.  Call before adding. */
void nd_sorter_sum(nd_sorter *s);

/* Orders items with equal keys by ascending value.  Call before adding. */
void nd_sorter_by_value(nd_sorter *s);

/* Adds items.  Several threads may call this at once; prefer large batches. */
nd_status nd_sorter_add(nd_sorter *s, const nd_item *items, size_t n, nd_error *err) ND_MUST_CHECK;

nd_status nd_sorter_finish(nd_sorter *s, nd_error *err) ND_MUST_CHECK;

/* Returns up to `room` items in key order; *got = 0 at the end. */
nd_status nd_sorter_next(size_t *got, nd_item *out, size_t room, nd_sorter *s,
                         nd_error *err) ND_MUST_CHECK;

/* Restarts at the first item. */
nd_status nd_sorter_rewind(nd_sorter *s, nd_error *err) ND_MUST_CHECK;

/* Passes all items in key order, in batches, to `take`, which may overwrite them.  Starts at the
 * first item whatever was read before. */
typedef nd_status (*nd_sorter_take)(void *context, nd_item *items, size_t n, nd_error *err);
nd_status nd_sorter_each(nd_sorter *s, nd_sorter_take take, void *context,
                         nd_error *err) ND_MUST_CHECK;

/* Counts the different values of every key of a sorter with nd_sorter_by_value, and passes each
 * key, the count and the last of the values to `take`. */
typedef nd_status (*nd_sorter_take_key)(void *context, nd_item last, uint64_t count, nd_error *err);
nd_status nd_sorter_count_values(nd_sorter *s, nd_sorter_take_key take, void *context,
                                 nd_error *err) ND_MUST_CHECK;

/* Returns the bytes written to the temporary file. */
uint64_t nd_sorter_spilled(const nd_sorter *s);

void nd_sorter_free(nd_sorter *s);

#endif
