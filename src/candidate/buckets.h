/* Documents with equal keys → candidate pairs.
 *
 * Keys are grouped by sorting, in memory if they fit a budget, otherwise out of core.  A bucket
 * of up to `cap` documents gives all its pairs; an oversized one gives star edges from its
 * first document, never a clique, and is counted. */
#ifndef ND_CANDIDATE_BUCKETS_H
#define ND_CANDIDATE_BUCKETS_H

#include "base/sorter.h"

/* Groups items with equal keys; each group is in the order of adding. */
typedef struct nd_grouper nd_grouper;
nd_status nd_grouper_new(nd_grouper **out, uint64_t items, uint64_t memory, const char *dir,
                         nd_error *err) ND_MUST_CHECK;
void nd_grouper_free(nd_grouper *g);
/* Call before adding: members of a group are then in ascending order of value. */
void nd_grouper_by_value(nd_grouper *g);
nd_status nd_grouper_add(nd_grouper *g, uint64_t key, uint64_t value, nd_error *err) ND_MUST_CHECK;
nd_status nd_grouper_finish(nd_grouper *g, nd_error *err) ND_MUST_CHECK;
nd_status nd_grouper_next(size_t *got, nd_item *out, size_t room, nd_grouper *g,
                          nd_error *err) ND_MUST_CHECK;

/* Values of a candidate pair.  Numbers below ND_PAIR_STAR are full pairs too (such as the
 * distances of hamming.h); of several values the smallest is kept. */
enum { ND_PAIR_FULL = 0, ND_PAIR_STAR = 1 << 20 };

typedef struct nd_bucket_stats {
  uint64_t buckets; /* buckets of at least two documents */
  uint64_t hot;     /* oversized buckets */
  uint64_t hot_documents;
  uint64_t largest;
  uint64_t edges; /* pairs generated, including repeats */
} nd_bucket_stats;
void nd_bucket_stats_add(nd_bucket_stats *to, const nd_bucket_stats *from);

/* Reads all groups (values are document numbers, ascending within a group) and adds the pairs
 * to `pairs`: a < b, value ND_PAIR_FULL for a pair of a full bucket, ND_PAIR_STAR for a star
 * edge.  If split != 0, only pairs of a document below it and one not.  `last_centre` (one per
 * document, may be NULL) skips repeated star edges, to save work. */
nd_status nd_buckets_pairs(nd_sorter *pairs, nd_bucket_stats *stats, nd_grouper *from, uint64_t cap,
                           uint64_t split, _Atomic uint32_t *last_centre,
                           nd_error *err) ND_MUST_CHECK;

#endif
