/* How many features every two documents have in common, from the documents of each feature.
 *
 * Documents that are alike share their features in bulk: whole lists of documents repeat,
 * and a list that came before only counts once more.  What is left is counted document by
 * document: those after it in each of its lists, in one array of counters, so that no pair
 * is ever written down before its count is known.
 *
 *     lists  [ times | d0 < d1 < d2 … | END ] [ times | … | END ] …
 *     index  per document: (where it stands in a list, that list's times) …
 *
 * The lists that fit the memory make a round; a pair's count is the sum of its rounds'. */
#ifndef ND_CANDIDATE_COMMON_COUNT_H
#define ND_CANDIDATE_COMMON_COUNT_H

#include "base/mem.h"

typedef struct nd_common nd_common;

typedef struct nd_common_options {
  uint32_t documents;
  uint32_t split;   /* 0: all pairs; else one document below it and one not */
  unsigned threads; /* 1 at least */
  uint64_t memory;  /* bytes for lists, index and counters; one list always fits; 0: only two */
} nd_common_options;

nd_status nd_common_new(nd_common **out, const nd_common_options *o, nd_error *err) ND_MUST_CHECK;
void nd_common_free(nd_common *c);

/* Adds the documents of one feature, rising, on behalf of a thread.  *full: there is no room
 * (nothing was added); count the round first. */
nd_status nd_common_add(bool *full, nd_common *c, unsigned member, const uint32_t *document,
                        size_t n, nd_error *err) ND_MUST_CHECK;

typedef struct nd_common_pair {
  uint32_t a, b; /* a < b */
  uint32_t common;
} nd_common_pair;

/* Takes pairs with their counts; called by several threads at once. */
typedef nd_status (*nd_common_sink)(void *context, unsigned member, const nd_common_pair *pair,
                                    size_t n, nd_error *err);

/* Counts the round on all threads and empties it. */
nd_status nd_common_round(nd_common *c, nd_common_sink sink, void *context,
                          nd_error *err) ND_MUST_CHECK;

#endif
