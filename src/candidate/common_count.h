/* Counts the common features of every two documents, from the documents of each feature.
 *
 * Similar documents share many features, so lists of documents repeat; each distinct list is
 * stored once, with a count.  Then, for each document, one array of counters counts the
 * documents after it in its lists, so no pair is stored before its count is complete.
 *
 *     lists  [ count | d0 < d1 < d2 … | END ] [ count | … | END ] …
 *     index  per document: (position in a list, count of that list) …
 *
 * Lists that fit the memory form a round; the count of a pair is the sum over all rounds. */
#ifndef ND_CANDIDATE_COMMON_COUNT_H
#define ND_CANDIDATE_COMMON_COUNT_H

#include "base/mem.h"

typedef struct nd_common nd_common;

typedef struct nd_common_options {
  uint32_t documents;
  uint32_t split;   /* 0: all pairs; otherwise pairs of a document below it and one not */
  unsigned threads; /* at least 1 */
  uint64_t memory;  /* bytes for lists, index and counters; one list always fits; 0: only two */
} nd_common_options;

nd_status nd_common_new(nd_common **out, const nd_common_options *o, nd_error *err) ND_MUST_CHECK;
void nd_common_free(nd_common *c);

/* Adds the documents of a feature, ascending, for a thread.  If *full, nothing was added for
 * lack of room: count the round first. */
nd_status nd_common_add(bool *full, nd_common *c, unsigned member, const uint32_t *document,
                        size_t n, nd_error *err) ND_MUST_CHECK;

typedef struct nd_common_pair {
  uint32_t a, b; /* a < b */
  uint32_t common;
} nd_common_pair;

/* Receives pairs with their counts; called by several threads at once. */
typedef nd_status (*nd_common_sink)(void *context, unsigned member, const nd_common_pair *pair,
                                    size_t n, nd_error *err);

/* Counts the round on all threads and empties it. */
nd_status nd_common_round(nd_common *c, nd_common_sink sink, void *context,
                          nd_error *err) ND_MUST_CHECK;

#endif
