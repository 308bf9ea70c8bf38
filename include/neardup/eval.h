/* Evaluation: a list of pairs or clusters against the truth.
 *
 * Lists are files of lines with tabs, plain or packed by gzip or zstd:
 *
 *   pairs     id, id, and (if there is one) a number: a similarity, or a
 *             judgement, where more than 0 means near-duplicates
 *   clusters  id, cluster (any name), and what else there may be
 *
 * Documents that a cluster list leaves out are clusters of one. */
#ifndef NEARDUP_EVAL_H
#define NEARDUP_EVAL_H

#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nd_eval_request {
  const char *truth, *result;           /* files; one of them may be "-" */
  const char *truth_kind, *result_kind; /* "pairs", "clusters"; NULL or "auto": look */
  const char *as;                       /* what is measured: "pairs", "clusters"; NULL or "auto":
                                           clusters when both lists are, else pairs */
  const char *truth_threshold;          /* a truth pair counts from this number on; NULL: above 0 */
  const char *threshold;     /* a result pair counts from this number on; NULL: every pair counts */
  const char *by;            /* "size" or "site"; NULL: no groups */
  const char *documents;     /* a list: id, tokens, URL; NULL: none */
  const char *const *corpus; /* or the documents themselves, and how many inputs */
  size_t corpus_n;
  int judged;           /* result pairs that the truth does not list are left out */
  uint64_t reserved[8]; /* 0 */
} nd_eval_request;

/* Defects of a list.  Lines of the first four kinds are left out. */
typedef struct nd_eval_list {
  const char *kind; /* "pairs" or "clusters" */
  uint64_t lines, selves, unknown, repeated;
  uint64_t contradicting; /* pairs or documents that lines disagree about: left out everywhere */
  int valued;             /* every pair has a number */
  char first_unknown[240], first_contradicting[240]; /* for people, "" when there is none */
  uint64_t reserved[4];                              /* 0 */
} nd_eval_list;

/* Measures that have nothing to divide by are NAN. */
typedef struct nd_eval_group {
  char name[24];                  /* "all", "0-499", "same site" … */
  uint64_t documents;             /* of the group; 0 where groups are of pairs only */
  uint64_t truth, result, common; /* pairs */
  uint64_t unjudged;              /* result pairs left out by `judged` */
  double precision, recall, f1;
  /* Nikkhoo (2010), formulas 3.6 and 3.7, over the pairs of either list; a pair
   * that one of them lacks has the value 0 there.  Then over common pairs. */
  uint64_t compared;
  double average_error, correlation, common_error, common_correlation;
  double bcubed_precision, bcubed_recall, bcubed_f1;
  double accuracy;            /* documents whose duplicates are exactly the true ones */
  double duplicates_accuracy; /* that share among documents that have duplicates in the truth */
  uint64_t reserved[8];       /* 0 */
} nd_eval_group;

enum { ND_EVAL_GROUPS = 13 }; /* all, and at most 11 sizes or 3 kinds of site */

typedef struct nd_eval_result {
  nd_eval_list truth, result;
  int clusters;                             /* clusters were measured, else pairs */
  uint64_t documents;                       /* compared */
  uint64_t rejected;                        /* of the corpus: could not be read */
  uint64_t truth_clusters, result_clusters; /* of two and more */
  double ari, homogeneity, completeness, v_measure;
  nd_eval_group group[ND_EVAL_GROUPS]; /* the first is "all" */
  size_t group_n;
  uint64_t reserved[16]; /* 0 */
} nd_eval_result;

/* Compares a result with the ground truth.  `options` say how the corpus is read.
 * ND_ERR_USAGE: a kind or number of the request is not allowed; ND_ERR_DATA names a
 * line that is malformed.  *out holds no memory of its own. */
ND_API nd_status nd_eval(nd_eval_result *out, const nd_eval_request *request,
                         const nd_options *options, const nd_hooks *hooks,
                         nd_error *err) ND_MUST_CHECK;

/* Writes the measures to the sink: a line each with a column per group, or JSON if
 * `json` is not 0.  Fails with the status of the sink. */
ND_API nd_status nd_eval_write(const nd_eval_result *r, int json, const nd_sink *sink,
                               nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
