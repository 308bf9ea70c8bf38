/* Measuring, on a part of a corpus, what ratio each size of document can bear
 * (Ye et al. 2008, section 6), and how similar its pairs are.
 *
 * Documents are drawn by their min-hash, and those with one min-hash are
 * compared: of two documents with resemblance r that is the case with probability
 * r f, f being the share drawn, so a pair found stands for 1 / (r f) of the
 * corpus.  No list of a common shingle's documents is ever walked. */
#ifndef ND_PLAN_PLAN_MEASURE_H
#define ND_PLAN_PLAN_MEASURE_H

#include "plan/trials.h"

enum {
  ND_PLAN_RATIOS = 5,    /* 1/2 … 1/32 */
  ND_PLAN_DRAWN = 20000, /* documents, unless told otherwise */
  ND_PLAN_EVIDENCE = 60, /* pairs that a group of its own must have */
};
#define ND_PLAN_Z 1.645 /* bounds hold with 95 %, each on its side */

typedef struct nd_plan_fact {
  uint64_t from, below;         /* tokens */
  uint64_t modulus;             /* 1: all shingles are kept */
  uint64_t documents, shingles; /* drawn ones */
  double pairs;                 /* that the bounds rest on */
  double precision, low, high;  /* measured at the modulus; 1 when all are kept */
  double recall;
  uint64_t best_modulus; /* of real sampling: the one with the highest lower bound … */
  double best_low;       /* … which is this; NaN: no pair was found */
} nd_plan_fact;

typedef struct nd_plan_facts {
  nd_sample_plan plan;
  unsigned n; /* groups */
  nd_plan_fact group[ND_PLAN_GROUPS];
  uint64_t documents, shingles; /* of the corpus; shingles with repetitions */
  uint64_t drawn, different;    /* documents in the sample; with different texts */
  double share;                 /* of shingles kept */
  double similar[101];          /* pairs of the corpus by their similarity in per cent */
  double sort_seconds;          /* of one item, on one thread */
} nd_plan_facts;

/* Of the options only those that say what is read and by which shingles it is
 * compared; the rest as usual. */
void nd_reading_options(nd_options *out, const nd_options *from);

/* Options for a job whose documents nd_plan_measure can draw. */
void nd_plan_options(nd_options *out, const nd_options *from);

/* `source` was read with such options; goal.num = 0 leaves the plan out.  `wanted` documents are
 * drawn (0: the usual number). */
nd_status nd_plan_measure(nd_plan_facts *out, const nd_text_source *source, nd_decimal goal,
                          nd_decimal threshold, uint64_t wanted, nd_error *err) ND_MUST_CHECK;

/* For --sample adaptive:P: reads the input of `r` once and puts the plan into its settings. */
nd_status nd_plan_for_reading(nd_reading *r, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
