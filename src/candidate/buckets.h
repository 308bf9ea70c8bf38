/* Documents with equal keys → candidate pairs.
 *
 * Keys are brought together by sorting, in memory when they fit a budget and
 * else out of core.  A bucket of up to `cap` documents gives all its pairs; a
 * hotter one gives star edges from its first document, never a clique, and is
 * counted. */
#ifndef ND_CANDIDATE_BUCKETS_H
#define ND_CANDIDATE_BUCKETS_H

#include "base/sorter.h"

/* Items with equal keys together, each group in the order of adding. */
typedef struct nd_grouper nd_grouper;
nd_status nd_grouper_new(nd_grouper **out, uint64_t items, uint64_t memory, const char *dir,
                         nd_error *err) ND_MUST_CHECK;
void nd_grouper_free(nd_grouper *g);
/* Before adding: the members of a group shall come by rising value instead. */
void nd_grouper_by_value(nd_grouper *g);
nd_status nd_grouper_add(nd_grouper *g, uint64_t key, uint64_t value, nd_error *err) ND_MUST_CHECK;
nd_status nd_grouper_finish(nd_grouper *g, nd_error *err) ND_MUST_CHECK;
nd_status nd_grouper_next(size_t *got, nd_item *out, size_t room, nd_grouper *g,
                          nd_error *err) ND_MUST_CHECK;

/* What a candidate pair's value says.  Smaller numbers than ND_PAIR_STAR are
 * whole pairs too (the distance of hamming.h …); of several the smallest stays. */
enum { ND_PAIR_FULL = 0, ND_PAIR_STAR = 1 << 20 };

typedef struct nd_bucket_stats {
  uint64_t buckets; /* of two and more documents */
  uint64_t hot;     /* above the cap */
  uint64_t hot_documents;
  uint64_t largest;
  uint64_t edges; /* pairs given, repeats included */
} nd_bucket_stats;
void nd_bucket_stats_add(nd_bucket_stats *to, const nd_bucket_stats *from);

/* Reads all groups (values are documents' numbers, rising inside a group) and
 * adds the pairs to `pairs`: pairs with a < b, value ND_PAIR_FULL for
 * one of a whole bucket, ND_PAIR_STAR for a star edge.  split != 0: only pairs of
 * a document below it and one not.  `last_centre` (one
 * per document, may be NULL) spares repeats of one star edge: it only saves
 * work. */
nd_status nd_buckets_pairs(nd_sorter *pairs, nd_bucket_stats *stats, nd_grouper *from, uint64_t cap,
                           uint64_t split, _Atomic uint32_t *last_centre,
                           nd_error *err) ND_MUST_CHECK;

#endif
