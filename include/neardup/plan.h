/* Plans: how much can be thrown away, and which parameters a goal needs, for
 * the corpus at hand. */
#ifndef NEARDUP_PLAN_H
#define NEARDUP_PLAN_H

#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nd_plan_request {
  const char *const *inputs;
  size_t input_n;
  const char *precision; /* goal of a sampling plan, such as "0.85"; NULL: none is wanted */
  uint64_t documents;    /* to draw; 0: 20,000 */
  const nd_sink *sink;   /* takes the plan's file (docs/formats.md); NULL: nobody */
  uint64_t reserved[8];  /* 0 */
} nd_plan_request;

/* Documents of one range of sizes. */
typedef struct nd_plan_group {
  uint64_t from, below;        /* tokens; below UINT64_MAX: no limit */
  uint64_t modulus;            /* one shingle in `modulus` is kept */
  uint64_t documents;          /* documents in the sample */
  double pairs;                /* pairs found, the basis of the bounds */
  double precision, low, high; /* measured; one-sided 95 % bounds */
  double recall;
  int reached;           /* 1 if a ratio meets the goal; else all shingles are kept */
  uint64_t best_modulus; /* the ratio closest to the goal */
  double best_low;       /* lower bound at that ratio; NaN: no pair was found */
  uint64_t reserved[4];  /* 0 */
} nd_plan_group;

enum { ND_PLAN_MOST_GROUPS = 32 };

typedef struct nd_plan_result {
  uint64_t documents, drawn, different;
  double near_duplicates; /* pairs at the threshold or above in the whole corpus, about */
  /* the sampling plan */
  unsigned groups; /* 0: none was asked for */
  nd_plan_group group[ND_PLAN_MOST_GROUPS];
  int reached; /* every group meets the goal with less than all shingles */
  double best; /* precision that sampling can promise for all groups: the best lower bound */
  uint64_t shingles;
  double kept, share;                 /* predicted: shingles, and their share of all */
  double plan_bytes;                  /* that --method exact sorts */
  double plan_seconds, exact_seconds; /* of --method exact with and without the plan */
  /* min-hash */
  uint32_t permutations, bands, rows; /* bands 0: the recall cannot be reached */
  double recall;                      /* at the threshold, or the best reachable */
  double recall_of_pairs;             /* over all near-duplicates of the sample */
  double candidates;                  /* estimated pairs to compare in the entire corpus */
  double minhash_bytes, minhash_seconds;
  nd_summary summary;    /* filled even if the job fails */
  uint64_t reserved[16]; /* 0 */
} nd_plan_result;

/* Draws documents, measures on them, and chooses.  The options' threshold and recall
 * are goals too.  Writes the plan to the sink if a precision was asked for.
 * ND_ERR_USAGE: a goal is out of range; ND_ERR_LIMIT: no parameters reach it. */
ND_API nd_status nd_plan(nd_plan_result *out, const nd_plan_request *request,
                         const nd_options *options, const nd_hooks *hooks,
                         nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
