/* Prevalence of near-duplicates in the results of search systems (Nikkhoo 2010, chapter 4): per
 * topic, per run, in the first n results; and the runs without them. */
#ifndef NEARDUP_PREVALENCE_H
#define NEARDUP_PREVALENCE_H

#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nd_prevalence_request {
  const char *const *runs; /* TREC runs: topic Q0 document rank score name */
  size_t run_n;
  const char *qrels;      /* judgements: topic 0 document grade; NULL: none */
  const char *pairs;      /* near-duplicates: a list of pairs or of clusters */
  const char *pairs_kind; /* "pairs", "clusters"; NULL or "auto": look */
  const char *threshold;  /* near-duplicates from this resemblance on; NULL: 0.5 */
  const char *directory;  /* tables, charts and a page go here; NULL: to the sink only */
  const char *filtered;   /* the runs without near-duplicates go here; NULL: nowhere */
  const nd_sink *sink;    /* takes the tables as TSV, a "# title" line before each */
  uint64_t reserved[8];   /* 0 */
} nd_prevalence_request;

typedef struct nd_prevalence_summary {
  uint64_t runs, topics, run_topics, documents; /* different documents */
  uint64_t pairs;                               /* of the list, between two of them */
  uint64_t missing;                             /* run-topics without results */
  uint64_t repeated, ties;                      /* lines of repeated documents; equal scores */
  uint64_t unranked;                            /* lines whose rank and score disagree */
  uint64_t unjudged;                            /* topics of runs without a relevant document */
  uint64_t qrels_repeated;                      /* repeated judgements */
  uint64_t qrels_disagreeing;                   /* repeated judgements that differ */
  uint64_t removed;                             /* lines removed from the filtered runs */
  char first_missing[240], first_repeated[240], first_tie[240], first_unranked[240],
      first_disagreeing[240]; /* an example of each, or "" */
  uint64_t reserved[16];      /* 0 */
} nd_prevalence_summary;

/* Counts near-duplicates in the runs and writes the tables.  ND_ERR_DATA names the line
 * of a run, of the judgements or of the list that is malformed. */
ND_API nd_status nd_prevalence(nd_prevalence_summary *out, const nd_prevalence_request *request,
                               const nd_options *options, const nd_hooks *hooks,
                               nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
