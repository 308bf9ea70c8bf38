/* The shares of --memory: one table says who may use how much.
 *
 * A run goes step by step (prepass, read, find, verify, write) and frees what a step needed before
 * the next begins; only the sorted pairs go from step to step.  So the shares of one step together
 * stay within the budget, and those of different steps need not. */
#ifndef ND_SETTINGS_BUDGET_H
#define ND_SETTINGS_BUDGET_H

#include <stdint.h>

typedef enum nd_share {
  /* of --memory */
  ND_SHARE_DOCUMENT,      /* the largest document: it, its text and its tokens exist at once */
  ND_SHARE_IDS,           /* ids kept in memory */
  ND_SHARE_PREPASS,       /* the prepass: shingles or passages of all documents */
  ND_SHARE_PREPASS_PAGES, /* the prepass: pages per site */
  ND_SHARE_SHINGLE_SET,   /* common shingles or passages, from then on */
  ND_SHARE_EQUALS,        /* the digests or ids that are compared, two threads at once */
  ND_SHARE_FIND_LEAST,    /* finding has at least this, however many documents there are */
  ND_SHARE_PAIRS,         /* sorted pairs: verified, best, by position, by value */
  ND_SHARE_EXPANDED,      /* sorted pairs with all exact duplicates */
  ND_SHARE_PREPARED,      /* prepared documents of the verifier, all threads together */
  ND_SHARE_REPORT,        /* documents per site, and again per file */
  ND_SHARE_TRIALS,        /* the trials of a sampling study */
  ND_SHARE_STAGE_SET,     /* an engine's stages: common shingles */
  ND_SHARE_STAGE_BUCKETS, /* keys of one partition */
  ND_SHARE_STAGE_PAIRS,   /* pairs of one partition, and the search for them */
  /* of what finding has (nd_budget_find) */
  ND_SHARE_FIND_STEP,  /* the method's own tables */
  ND_SHARE_FIND_PAIRS, /* sorted candidates */
  ND_SHARE_VALUES,     /* of the method's tables: counts of shared MinHash values */
  /* of what an exact method or a trial has */
  ND_SHARE_EXACT_SLICES, /* a slice of shingles, all threads together */
  ND_SHARE_EXACT_ITEMS,  /* shingles on their way to slices; trials */
  ND_SHARE_TRIAL_ITEMS,
  ND_SHARE_EXACT_COUNTS, /* counters of pairs; their sums, if one round is not enough */
  ND_SHARE_TRIAL_LISTS,  /* lists of documents; also the most that counts of cells may take */
  /* of what a join has */
  ND_SHARE_JOIN, /* the index; the other half is for the records */
  ND_SHARES
} nd_share;

/* Returns the share of `memory`, which is what the table says the share is of. */
uint64_t nd_budget(uint64_t memory, nd_share share);

/* Returns what finding may use: --memory without what every document takes in memory anyway, but
 * at least ND_SHARE_FIND_LEAST. */
uint64_t nd_budget_find(uint64_t memory, uint64_t documents);

#endif
