/* Measures, on a sample of a corpus, the sampling ratio that documents of each size can bear
 * (Ye et al. 2008, section 6), and how similar pairs are.
 *
 * A fraction f of the documents is drawn by MinHash value, and documents with equal values are
 * compared.  Two documents with resemblance r have equal values, and are drawn, with probability
 * r f, so each pair found represents 1 / (r f) pairs of the corpus.  The document list of a common
 * shingle is never scanned. */
#ifndef ND_PLAN_PLAN_MEASURE_H
#define ND_PLAN_PLAN_MEASURE_H

#include "plan/trials.h"

enum {
  ND_PLAN_RATIOS = 5,    /* 1/2 … 1/32 */
  ND_PLAN_DRAWN = 20000, /* default number of documents to draw */
  ND_PLAN_EVIDENCE = 60, /* minimum of pairs in a group */
};
#define ND_PLAN_Z 1.645 /* one-sided bounds with 95% confidence */

typedef struct nd_plan_fact {
  uint64_t from, below;         /* tokens */
  uint64_t modulus;             /* 1: all shingles are kept */
  uint64_t documents, shingles; /* in the sample */
  double pairs;                 /* number of pairs that the bounds rest on */
  double precision, low, high;  /* measured at the modulus; 1 if all shingles are kept */
  double recall;
  uint64_t best_modulus; /* the ratio of real sampling with the highest lower bound */
  double best_low;       /* its lower bound; NaN: no pair was found */
} nd_plan_fact;

typedef struct nd_plan_facts {
  nd_sample_plan plan;
  unsigned n; /* groups */
  nd_plan_fact group[ND_PLAN_GROUPS];
  uint64_t documents, shingles; /* of the corpus; shingles with repetitions */
  uint64_t drawn, different;    /* documents in the sample; those with different texts */
  double share;                 /* share of shingles kept */
  double similar[101];          /* estimated pairs of the corpus by similarity in percent */
  double sort_seconds;          /* to sort one item on one thread */
} nd_plan_facts;

/* Copies the options that determine what is read and by which shingles it is compared; the others
 * have their defaults. */
void nd_reading_options(nd_options *out, const nd_options *from);

/* Makes options for a job whose documents nd_plan_measure can draw. */
void nd_plan_options(nd_options *out, const nd_options *from);

/* Measures `source`, which was read with such options.  goal.num == 0 means no plan; `wanted` is
 * the number of documents to draw (0: default). */
nd_status nd_plan_measure(nd_plan_facts *out, const nd_text_source *source, nd_decimal goal,
                          nd_decimal threshold, uint64_t wanted, nd_error *err) ND_MUST_CHECK;

/* --sample adaptive:P: reads the input of `r` once and stores the plan in its settings. */
nd_status nd_plan_for_reading(nd_reading *r, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
