/* TREC runs and judgements, read and sorted.
 *
 *   run    topic Q0 document rank score name     fields between blanks or tabs
 *   qrels  topic 0 document grade                also topic document grade x x
 *
 * The results of a run for a topic, a run-topic, are sorted by descending score, then by
 * rank, then by line.  A repeated document counts at its first occurrence in that order. */
#ifndef ND_STUDY_NIKKHOO_TREC_RUN_H
#define ND_STUDY_NIKKHOO_TREC_RUN_H

#include "base/id_map.h"
#include "neardup/prevalence.h"
#include "study/common/near.h"

typedef struct nd_trec_line {
  uint32_t topic, document;
  double score;
  uint64_t rank, line;
} nd_trec_line;

/* The results of a topic in a run: from `begin` to end - 1. */
typedef struct nd_run_topic {
  uint32_t run, topic;
  size_t begin, end;
} nd_run_topic;

typedef struct nd_trec_run {
  const char *path;
  nd_trec_line *results; /* sorted, without repeats */
  size_t n, cap;
  size_t lines, repeated, ties;
} nd_trec_run;

typedef struct nd_trec {
  const nd_hooks *hooks; /* may be NULL */
  nd_id_map topics, documents;
  nd_trec_run *runs;
  size_t run_n;
  nd_run_topic *run_topics; /* by run, then by topic in order of first occurrence */
  size_t run_topic_n, run_topic_cap;
  nd_trec_line
      *judged; /* the qrels: topic, document, grade as score; sorted by (topic, document) */
  size_t judged_n, judged_cap;
} nd_trec;

nd_status nd_trec_read(nd_trec *t, nd_prevalence_summary *s, const nd_prevalence_request *q,
                       const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;
void nd_trec_clear(nd_trec *t);

/* Writes the runs to a directory, under their own names (without .gz and .zst), without
 * repeats and without results that have a kept near-duplicate ranked before them.  Lines
 * change only in their rank, which counts the remaining results.  *removed: dropped lines. */
nd_status nd_trec_filter(uint64_t *removed, const nd_trec *t, nd_near *near, int64_t threshold,
                         const char *directory, nd_error *err) ND_MUST_CHECK;

/* Parses a decimal number; returns false for anything else, including NaN and infinities. */
bool nd_trec_score(double *out, nd_str text);

#endif
