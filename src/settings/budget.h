/* The shares of --memory in one table.
 *
 * A run proceeds in steps (prepass, read, find, verify, write) and frees the memory of a step
 * before the next; only the sorted pairs are passed on.  So the shares of one step sum to at most
 * the budget, and those of different steps are independent. */
#ifndef ND_SETTINGS_BUDGET_H
#define ND_SETTINGS_BUDGET_H

#include <stdint.h>

typedef enum nd_share {
  /* of --memory */
  ND_SHARE_DOCUMENT,      /* the largest document: its bytes, text and tokens exist at once */
  ND_SHARE_IDS,           /* ids kept in memory */
  ND_SHARE_PREPASS,       /* the prepass: shingles or passages of all documents */
  ND_SHARE_PREPASS_PAGES, /* the prepass: pages per site */
  ND_SHARE_SHINGLE_SET,   /* common shingles or passages, after the prepass */
  ND_SHARE_EQUALS,        /* digests or ids, on each of two threads */
  ND_SHARE_FIND_LEAST,    /* finding has at least this for any number of documents */
  ND_SHARE_PAIRS,         /* sorted pairs: verified, best, by position, by value */
  ND_SHARE_EXPANDED,      /* sorted pairs with all exact duplicates */
  ND_SHARE_PREPARED,      /* prepared documents of the verifier, all threads together */
  ND_SHARE_REPORT,        /* documents per site, and again per file */
  ND_SHARE_TRIALS,        /* the trials of a sampling study */
  ND_SHARE_STAGE_SET,     /* an engine's stages: common shingles */
  ND_SHARE_STAGE_BUCKETS, /* keys of one partition */
  ND_SHARE_STAGE_PAIRS,   /* pairs of one partition, and the search for them */
  /* of the memory for finding (nd_budget_find) */
  ND_SHARE_FIND_STEP,  /* the method's own tables */
  ND_SHARE_FIND_PAIRS, /* sorted candidates */
  ND_SHARE_VALUES,     /* of the method's tables: counts of shared MinHash values */
  /* of the memory of an exact method or a trial */
  ND_SHARE_EXACT_SLICES, /* a slice of shingles, all threads together */
  ND_SHARE_EXACT_ITEMS,  /* buffers for shingles; trials */
  ND_SHARE_TRIAL_ITEMS,
  ND_SHARE_EXACT_COUNTS, /* counters of pairs; their sums, if one round is not enough */
  ND_SHARE_TRIAL_LISTS,  /* lists of documents; also the maximum for counts of cells */
  /* of the memory of a join */
  ND_SHARE_JOIN, /* the index; the other half is for the records */
  ND_SHARES
} nd_share;

/* Returns the share of `memory`, the whole that the table names for it. */
uint64_t nd_budget(uint64_t memory, nd_share share);

/* Returns the memory for finding: --memory less a fixed number of bytes per document, but at least
 * ND_SHARE_FIND_LEAST. */
uint64_t nd_budget_find(uint64_t memory, uint64_t documents);

#endif
