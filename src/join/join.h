/* Exact similarity joins over token sets: every pair at or above the threshold, decided in
 * integers.
 *
 *   ND_JOIN_BLOCKS       the block join, the fastest: token by token (block_join.h)
 *   ND_JOIN_ALLPAIRS     prefix and size filters (Bayardo et al. 2007)
 *   ND_JOIN_PPJOIN       and the positional filter (Xiao et al. 2008, Algorithms 1, 2, lemma 3)
 *   ND_JOIN_PPJOIN_PLUS  and the suffix filter (Algorithms 3 to 5)
 *
 * All give the same pairs.  Records without tokens match nothing. */
#ifndef ND_JOIN_JOIN_H
#define ND_JOIN_JOIN_H

#include "join/sets.h"
#include "similarity/similarity.h"

typedef enum nd_join_method {
  ND_JOIN_BLOCKS,
  ND_JOIN_ALLPAIRS,
  ND_JOIN_PPJOIN,
  ND_JOIN_PPJOIN_PLUS,
} nd_join_method;

/* Ways for ND_JOIN_BLOCKS to find candidates; all but the fastest are for tests. */
typedef enum nd_join_way {
  ND_JOIN_FASTEST, /* chosen by a sample of the tokens */
  ND_JOIN_CHAINS,  /* all tokens by chains */
  ND_JOIN_BUCKETS, /* all tokens by buckets */
  ND_JOIN_BOTH     /* half of the tokens each */
} nd_join_way;

typedef struct nd_join_options {
  nd_join_method method;
  const nd_similarity *similarity;
  uint64_t num, den; /* the threshold as a fraction; overlap: num tokens, den 1 */
  unsigned threads;  /* 0 and 1: only the caller's */
  /* Bytes for the index, besides the sets; 0: 12 per token of the input.  A larger index is built
   * and joined in blocks.  The records of one token always fit. */
  uint64_t memory;
  uint32_t split;    /* 0: all pairs; else pairs of one record below it and one not */
  uint32_t maxdepth; /* of the suffix filter; 0: 2, as in the paper */
  int level;         /* tests: the SIMD level + 1; 0: that of nd_cpu() */
  nd_join_way way;
} nd_join_options;

/* Two records by their numbers in the input, a < b. */
typedef struct nd_join_pair {
  uint32_t a, b;
  uint32_t overlap; /* common tokens */
} nd_join_pair;

/* Takes a batch of results; never called by two threads at once.  The order of pairs depends on the
 * threads; the set of pairs does not. */
typedef nd_status (*nd_join_sink)(void *context, const nd_join_pair *pair, size_t n, nd_error *err);

/* The columns of the paper's tables.  A candidate is counted each time it is found: once per pair
 * by the joins of the literature, at every common token by the block join. */
typedef struct nd_join_stats {
  uint64_t records, tokens, distinct; /* distinct: tokens that two records hold */
  double average;                     /* tokens per record */
  uint64_t index_entries;
  uint64_t after_size;       /* candidates that pass the prefix and size filters */
  uint64_t after_positional; /* also the positional filter (block join: and the sketches) */
  uint64_t after_suffix;     /* also the suffix filter (block join: first common token) */
  uint64_t verified;         /* candidates whose tokens were compared */
  uint64_t results;
  uint64_t blocks; /* blocks of the index */
  double seconds;  /* index and join */
} nd_join_stats;

/* `stats` may be NULL. */
nd_status nd_join_run(const nd_sets *sets, const nd_join_options *options, nd_join_sink sink,
                      void *context, nd_join_stats *stats, nd_error *err) ND_MUST_CHECK;

#endif
