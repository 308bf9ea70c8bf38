/* Which records share a shingle, and how many shingles of each class two of them share.
 *
 * Documents that are alike share their shingles in bulk: whole lists of records repeat, so
 * a list is stored once, with the number of its shingles by class (trials.h).  Pairs are
 * then counted record by record: those after it in each of its lists, a row of counters
 * for each, so that no pair is written down before it is complete.
 *
 *   lists    [ head | r0 < r1 < r2 … | END ] [ head | … ] …
 *   head     1 + class, while the list has one shingle; then VECTOR | number of a vector
 *   vectors  counts by class, one row of counters each
 *   index    per record: (where it stands in a list, that list's head) … */
#ifndef ND_PLAN_TRIAL_LISTS_H
#define ND_PLAN_TRIAL_LISTS_H

#include "plan/trials.h"

typedef struct nd_trial_lists nd_trial_lists;

/* Pairs of lists' records that are counted one by one; beyond that it would take hours. */
#define ND_TRIAL_MOST_WORK UINT64_C(200000000000)

/* `memory` bytes at most, but a list of all records always fits. */
nd_status nd_trial_lists_new(nd_trial_lists **out, uint32_t records, unsigned threads,
                             uint64_t memory, nd_error *err) ND_MUST_CHECK;
void nd_trial_lists_free(nd_trial_lists *l);

/* Adds a shingle's records, rising, and its class.  Several threads may.  *full: there is
 * no room for it; what is there already can only be cleared. */
nd_status nd_trial_lists_add(bool *full, nd_trial_lists *l, const uint32_t *record, size_t n,
                             unsigned class, nd_error *err) ND_MUST_CHECK;

/* Gives every pair whose first record is at least `from` and below `to`, and whose second is
 * at least `second`, on all threads, and empties the lists. */
nd_status nd_trial_lists_count(nd_trial_lists *l, uint32_t from, uint32_t to, uint32_t second,
                               nd_trials_take each, void *context, nd_error *err) ND_MUST_CHECK;
void nd_trial_lists_clear(nd_trial_lists *l);

/* The pairs of records of all different lists that are there. */
uint64_t nd_trial_lists_work(const nd_trial_lists *l);

#endif
