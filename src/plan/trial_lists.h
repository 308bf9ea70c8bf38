/* The records that share a shingle, and the shingles of each class that two records share.
 *
 * Similar documents share many shingles: entire lists of records repeat, so a list is stored once,
 * with its shingle counts by class (trials.h).  Pairs are then counted record by record, with a row
 * of counters for each later record in the record's lists; so no pair is written before it is
 * complete.
 *
 *   lists    [ head | r0 < r1 < r2 … | END ] [ head | … ] …
 *   head     1 + class for a list with one shingle; otherwise VECTOR | number of a vector
 *   vectors  counts by class, one row of counters each
 *   index    per record: (position in a list, head of that list) … */
#ifndef ND_PLAN_TRIAL_LISTS_H
#define ND_PLAN_TRIAL_LISTS_H

#include "plan/trials.h"

typedef struct nd_trial_lists nd_trial_lists;

/* Maximum number of record pairs that are counted individually; more would take hours. */
#define ND_TRIAL_MOST_WORK UINT64_C(200000000000)

/* Uses at most `memory` bytes, but one list of all records always fits. */
nd_status nd_trial_lists_new(nd_trial_lists **out, uint32_t records, unsigned threads,
                             uint64_t memory, nd_error *err) ND_MUST_CHECK;
void nd_trial_lists_free(nd_trial_lists *l);

/* Adds the records of a shingle, ascending, and its class; thread-safe.  *full means that there is
 * no room, and that the lists can only be cleared. */
nd_status nd_trial_lists_add(bool *full, nd_trial_lists *l, const uint32_t *record, size_t n,
                             unsigned class, nd_error *err) ND_MUST_CHECK;

/* Calls `each` with every pair whose first record is in [from, to) and whose second is at least
 * `second`, on all threads, and empties the lists. */
nd_status nd_trial_lists_count(nd_trial_lists *l, uint32_t from, uint32_t to, uint32_t second,
                               nd_trials_take each, void *context, nd_error *err) ND_MUST_CHECK;
void nd_trial_lists_clear(nd_trial_lists *l);

/* Returns the number of record pairs in all distinct lists. */
uint64_t nd_trial_lists_work(const nd_trial_lists *l);

#endif
