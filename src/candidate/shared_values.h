/* Candidate pairs of documents that share values at the same positions of their sketches.
 *
 * For each position the list (value, document) is sorted, and all documents in a run of equal
 * values are pairs (Williams and Giles 2013, section 3.2: MinHash values; Henzinger 2006,
 * section 2: super-shingles).  If at least `needed` of `places` values must agree, any
 * places - needed + 1 positions include an agreeing one, so these suffice to find every pair.
 *
 * A run of more than `cap` documents gives star edges from its first document, never all its
 * pairs, and is counted, as in buckets.h. */
#ifndef ND_CANDIDATE_SHARED_VALUES_H
#define ND_CANDIDATE_SHARED_VALUES_H

#include "candidate/buckets.h"

/* Returns the value of row i at a position; UINT64_MAX matches nothing. */
typedef uint64_t (*nd_value_at)(const void *context, uint64_t row, uint32_t place);

typedef struct nd_shared_request {
  nd_value_at value;
  const void *context;
  uint64_t n;             /* rows, below 2^32 */
  const uint32_t *number; /* ascending; NULL: row i is document i */
  uint32_t places;
  uint32_t needed; /* 1 to places */
  uint32_t split;  /* != 0: only pairs of a document below it and one not */
  uint64_t cap;    /* 0: no limit */
  unsigned threads;
  /* Polled, also by threads, unless NULL; any status other than ND_OK ends the search. */
  nd_status (*check)(void *context, nd_error *err);
  void *check_context;
} nd_shared_request;

/* A table of values, `places` per row: the usual context of nd_rows_value. */
typedef struct nd_rows {
  const uint64_t *values;
  uint32_t places;
} nd_rows;
uint64_t nd_rows_value(const void *rows, uint64_t row, uint32_t place);

/* The mega-shingles of a table of super-shingles (supershingle.h) as positions:
 * nd_mega_count(rows->places), of which 1 is needed. */
uint64_t nd_rows_mega(const void *rows, uint64_t row, uint32_t place);

/* Adds to `pairs`, which must be a unique sorter with nd_sorter_sum: keys
 * nd_pair_key(a, b) with a < b, value 1 for every position searched that agrees.  With
 * needed = 1 and no oversized run, the sums are the numbers of agreeing positions; otherwise they
 * are lower bounds, and nd_rows_agree returns the number.  Takes 12 bytes per row. */
nd_status nd_shared_pairs(nd_sorter *pairs, nd_bucket_stats *stats,
                          const nd_shared_request *request, nd_error *err) ND_MUST_CHECK;

/* Returns the number of positions in which two rows agree. */
uint32_t nd_rows_agree(const nd_rows *rows, uint64_t a, uint64_t b);

#endif
