/* TREC runs and judgements, read and put in order.
 *
 *   run    topic Q0 document rank score name     fields between blanks or tabs
 *   qrels  topic 0 document grade                also topic document grade x x
 *
 * The results of a run for a topic, a run-topic, are in order of falling score;
 * equal scores go by rank, then by line.  A document counts where it comes
 * first in that order. */
#ifndef ND_STUDY_NIKKHOO_TREC_RUN_H
#define ND_STUDY_NIKKHOO_TREC_RUN_H

#include "base/id_map.h"
#include "neardup/prevalence.h"
#include "study/common/near.h"

typedef struct nd_result {
  uint32_t topic, document;
  double score;
  uint64_t rank, line;
} nd_result;

/* The results begin … end - 1 of a run are those of a topic. */
typedef struct nd_run_topic {
  uint32_t run, topic;
  size_t begin, end;
} nd_run_topic;

typedef struct nd_trec_run {
  const char *path;
  nd_result *results; /* in order, without repeats */
  size_t n, cap;
  size_t lines, repeated, ties;
} nd_trec_run;

typedef struct nd_trec {
  const nd_hooks *hooks; /* may be NULL */
  nd_id_map topics, documents;
  nd_trec_run *runs;
  size_t run_n;
  nd_run_topic *run_topics; /* by run, then by topic as first seen */
  size_t run_topic_n, run_topic_cap;
  nd_result *judged; /* of the qrels: topic, document, score = grade; by (topic, document) */
  size_t judged_n, judged_cap;
} nd_trec;

nd_status nd_trec_read(nd_trec *t, nd_prevalence_summary *s, const nd_prevalence_request *q,
                       const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;
void nd_trec_clear(nd_trec *t);

/* Writes the runs into a directory, each under its own name (without .gz and
 * .zst), without results that have a near-duplicate before them that stays, and
 * without repeats.  Lines stay as they are but for the rank, which counts what
 * is left.  *removed: lines that are not there any more. */
nd_status nd_trec_filter(uint64_t *removed, const nd_trec *t, nd_near *near, int64_t threshold,
                         const char *directory, nd_error *err) ND_MUST_CHECK;

/* A decimal number; false: none.  NaN and infinities are none. */
bool nd_trec_score(double *out, nd_str text);

#endif
