/* Documents that share values in equal places of their sketches → candidate pairs.
 *
 * For every place the list (value, document) is sorted, and all documents in a run
 * of equal values are pairs (Williams and Giles 2013, section 3.2: min values;
 * Henzinger 2006, section 2: super-shingles).  When at least `needed` of `places`
 * values must agree, some agreeing one stands among any places - needed + 1 of
 * them, so that many are enough to find every pair.
 *
 * A run of more than `cap` documents is hot: it gives star edges from its first
 * document, never all its pairs, and is counted, as in buckets.h. */
#ifndef ND_CANDIDATE_SHARED_VALUES_H
#define ND_CANDIDATE_SHARED_VALUES_H

#include "candidate/buckets.h"

/* The value of document row i in a place; UINT64_MAX: none, matches nothing. */
typedef uint64_t (*nd_value_at)(const void *context, uint64_t row, uint32_t place);

typedef struct nd_shared_request {
  nd_value_at value;
  const void *context;
  uint64_t n;             /* rows, below 2^32 */
  const uint32_t *number; /* rising; NULL: row i is document i */
  uint32_t places;
  uint32_t needed; /* 1 … places */
  uint32_t split;  /* != 0: only pairs of a document below it and one not */
  uint64_t cap;    /* 0: no limit */
  unsigned threads;
  /* Asked now and then, also by threads; anything but ND_OK ends the work.  NULL: never. */
  nd_status (*check)(void *context, nd_error *err);
  void *check_context;
} nd_shared_request;

/* A table of values, `places` for each row: the usual context of nd_rows_value. */
typedef struct nd_rows {
  const uint64_t *values;
  uint32_t places;
} nd_rows;
uint64_t nd_rows_value(const void *rows, uint64_t row, uint32_t place);

/* The mega-shingles of a table of super-shingles (supershingle.h), as places:
 * nd_mega_count(rows->places) of them, of which 1 is needed. */
uint64_t nd_rows_mega(const void *rows, uint64_t row, uint32_t place);

/* Adds to `pairs`, which must be a unique sorter with nd_sorter_sum: keys
 * nd_pair_key(a, b) with a < b, value 1 for every place looked at that agrees.  With
 * needed = 1 and no hot run the sums are the numbers of agreeing places; else
 * they are lower bounds, and nd_rows_agree says the number.  12 bytes of memory
 * for each row, once. */
nd_status nd_shared_pairs(nd_sorter *pairs, nd_bucket_stats *stats,
                          const nd_shared_request *request, nd_error *err) ND_MUST_CHECK;

/* In how many places two rows agree. */
uint32_t nd_rows_agree(const nd_rows *rows, uint64_t a, uint64_t b);

#endif
