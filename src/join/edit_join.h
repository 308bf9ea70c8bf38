/* Exact joins of strings: all pairs within an edit distance, each with its distance.
 *
 *   ND_EDIT_PASS         partitions of the shorter string (Pass-Join, Li et al. 2011): the
 *                        fastest, for any length and bound (edit_pass.c)
 *   ND_EDIT_ALLPAIRS     q-grams: prefix and size filters (edit_qgram.c)
 *   ND_EDIT_PPJOIN       and the positional filter (Xiao et al. 2008, sections 4 and 6)
 *   ND_EDIT_PPJOIN_PLUS  and the suffix filter
 *
 * All give the same pairs.  Distances count code points.  Equal strings are compared once and
 * listed as often as they occur; empty strings take part. */
#ifndef ND_JOIN_EDIT_JOIN_H
#define ND_JOIN_EDIT_JOIN_H

#include "base/mem.h"

typedef enum nd_edit_method {
  ND_EDIT_PASS = 0,
  ND_EDIT_ALLPAIRS,
  ND_EDIT_PPJOIN,
  ND_EDIT_PPJOIN_PLUS,
} nd_edit_method;

/* String i is bytes[begin[i]] … bytes[begin[i + 1] - 1], UTF-8. */
typedef struct nd_edit_input {
  const char *bytes;
  const uint64_t *begin; /* n + 1 offsets */
  uint64_t n;
} nd_edit_input;

typedef struct nd_edit_options {
  nd_edit_method method;
  uint32_t tau;     /* maximum distance */
  uint32_t q;       /* of the q-gram methods; 0: 3 */
  unsigned threads; /* 0 and 1: only the caller's */
  /* Bytes for the index, besides the strings; 0: 256 MiB.  A larger index is built and joined in
   * pieces (Pass-Join). */
  uint64_t memory;
  uint32_t split;    /* 0: all pairs; else pairs of one string below it and one not */
  uint32_t maxdepth; /* of the suffix filter; 0: 2 */
  uint32_t few;      /* Pass-Join: least strings of one length for a table; 0: chosen */
} nd_edit_options;

/* Two strings by their numbers in the input, a < b. */
typedef struct nd_edit_pair {
  uint32_t a, b;
  uint32_t distance;
} nd_edit_pair;

/* Takes a batch of results; never called by two threads at once.  The order of pairs depends on the
 * threads; the set of pairs does not. */
typedef nd_status (*nd_edit_sink)(void *context, const nd_edit_pair *pair, size_t n, nd_error *err);

/* All but `results` count pairs of distinct strings. */
typedef struct nd_edit_stats {
  uint64_t strings, distinct, points; /* points: code points of the distinct ones */
  uint64_t index_entries;
  uint64_t probes;             /* Pass-Join: look-ups of substrings */
  uint64_t candidates;         /* pairs with a common segment, or after prefix and size filters */
  uint64_t after_positional;   /* q-grams: pairs that also pass the positional filter */
  uint64_t after_suffix;       /* q-grams: also the suffix filter */
  uint64_t after_count;        /* enough common q-grams; Pass-Join: similar sketches */
  uint64_t direct;             /* pairs compared without an index, in few or short strings */
  uint64_t verified;           /* edit distances computed */
  uint64_t results;            /* pairs passed to the sink */
  uint64_t pieces;             /* pieces of the index */
  double prepare, index, join; /* seconds */
} nd_edit_stats;

/* `stats` may be NULL. */
nd_status nd_edit_join(nd_edit_input input, const nd_edit_options *options, nd_edit_sink sink,
                       void *context, nd_edit_stats *stats, nd_error *err) ND_MUST_CHECK;

#endif
