/* All sampling trials from one sort of the unsampled shingles.
 *
 * Whether a shingle is kept depends only on the shingle (the remainder of its key, the number of
 * its documents), so a trial is a sum over classes of shingles.  The classes are counted once per
 * document and per pair of documents:
 *
 *   cell  0 … 31   shingles whose key is 0 … 31 modulo 32
 *        32 … 35   whose key is 0 modulo 64, 128, 256, 512
 *        36 … 45   by the number of documents that have them: the first of the levels
 *                  10, 20 … 100 that is not below it
 *
 * The cells of modulo 16, 8, 4, 2 and 1 are sums of these.  So all residues of all ratios down to
 * 1/32 take a small multiple of the time of one run of --method exact. */
#ifndef ND_PLAN_TRIALS_H
#define ND_PLAN_TRIALS_H

#include "read/reading.h"

enum {
  ND_TRIAL_RESIDUES = 32,
  ND_TRIAL_DEEP = 4,
  ND_TRIAL_LEVELS = 10,
  ND_TRIAL_LEVEL_STEP = 10,
  ND_TRIAL_CELLS = ND_TRIAL_RESIDUES + ND_TRIAL_DEEP + ND_TRIAL_LEVELS
};

typedef struct nd_trials {
  uint32_t n;                        /* records */
  uint32_t *document;                /* record → document */
  uint32_t *tokens;                  /* per record */
  uint32_t *cell;                    /* ND_TRIAL_CELLS per record */
  uint64_t given;                    /* pairs that step 1 gives: the sum of df (df - 1) / 2 */
  uint64_t given_of[ND_TRIAL_CELLS]; /* `given` by class */
  uint64_t memory;
  uint64_t most_work; /* maximum of pairs counted individually (trial_lists.h) */
  const nd_text_source *source;
  struct nd_scatter *shingles; /* key → record */
  unsigned bits;               /* log2 of the number of partitions of `shingles` */
} nd_trials;

/* Classifies the shingles of the documents (first occurrences, ascending).  `memory` and `tmp` are
 * as for --method exact. */
nd_status nd_trials_make(nd_trials *out, const nd_text_source *source, const uint32_t *document,
                         uint32_t n, uint64_t memory, const char *tmp, nd_error *err) ND_MUST_CHECK;
void nd_trials_clear(nd_trials *t);

/* A pair of records that share a shingle, with the shared ones by class. */
typedef struct nd_trial_pair {
  uint32_t a, b;
  uint32_t cell[ND_TRIAL_CELLS];
} nd_trial_pair;

/* Calls `each` with batches of pairs until all were given, in any order, from several threads. */
typedef nd_status (*nd_trials_take)(void *context, unsigned member, const nd_trial_pair *pairs,
                                    size_t n, nd_error *err);
nd_status nd_trials_each(nd_trials *t, nd_trials_take each, void *context,
                         nd_error *err) ND_MUST_CHECK;

/* Sums cells to the counts of all trials of the ratios 1/2 … 1/32:
 *   out[m - 1 + r] = shingles whose key is r modulo m, m = 1, 2, 4 … 32. */
enum { ND_TRIAL_SUMS = 2 * ND_TRIAL_RESIDUES - 1 };
ND_INLINE void nd_trials_sum(uint32_t out[ND_TRIAL_SUMS], const uint32_t *cell) {
  memcpy(out + ND_TRIAL_RESIDUES - 1, cell, ND_TRIAL_RESIDUES * sizeof *cell);
  for (unsigned m = ND_TRIAL_RESIDUES / 2; m; m /= 2) {
    const uint32_t *twice = out + 2 * m - 1;
    for (unsigned r = 0; r < m; r++) out[m - 1 + r] = twice[r] + twice[r + m];
  }
}

#endif
