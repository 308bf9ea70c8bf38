/* Counts of all trials of `study sampling`; internal to it. */
#ifndef ND_STUDY_YE_STUDY_SAMPLING_H
#define ND_STUDY_YE_STUDY_SAMPLING_H

#include "output/page.h"
#include "plan/trials.h"
#include "result/run_state.h"
#include "study/common/documents.h"
#include "study/common/study_run.h"

/* Ye: thresholds 0.50, 0.55 … 0.95, 0.99; ratios 1/2 … 1/32; 11 groups and all. */
enum {
  ND_YE_THRESHOLDS = 11,
  ND_YE_RATIOS = 5,
  ND_YE_GROUPS = ND_SIZE_GROUPS + 1, /* the last group has all pairs */
  ND_YE_STEPS = ND_YE_THRESHOLDS + 1 /* numbers of thresholds that a pair may reach */
};
extern const unsigned nd_ye_percent[ND_YE_THRESHOLDS];

/* Nikkhoo: no sampling; 1/2 … 1/512; SCT 100, 90 … 10. */
enum { ND_NIK_RATIOS = 9, ND_NIK_LEVELS = 10, ND_NIK_RUNS = 1 + ND_NIK_RATIOS + ND_NIK_LEVELS };

/* Sums over pairs of (similarity without, with sampling), for error and correlation: in units
 * of 2^-30, squares in 2^-60, so that they do not depend on the order. */
typedef unsigned __int128 nd_wide;
typedef struct nd_pair_sums {
  uint64_t n;
  nd_wide error, a, b, aa, bb, ab;
} nd_pair_sums;

/* Counts over pairs, per thread. */
typedef struct nd_sampling_tally {
  uint64_t pairs; /* pairs that share a shingle */
  /* [group][trial][thresholds reached without][with sampling] */
  uint64_t (*reached)[ND_TRIAL_SUMS][ND_YE_STEPS][ND_YE_STEPS];
  nd_pair_sums near[ND_NIK_RUNS], all[ND_NIK_RUNS]; /* pairs at 0.5 and above; all */
  uint64_t truth, found[ND_NIK_RUNS], both[ND_NIK_RUNS];
  uint8_t (*best)[ND_NIK_RUNS]; /* per record: tenths of its best similarity, at most 9 */
} nd_sampling_tally;

typedef struct nd_sampling_study {
  nd_study_run *run;
  nd_run *job;
  nd_trials trials;
  uint32_t *copies; /* per record: number of documents with its text */
  uint8_t *group;   /* per record */
  uint64_t documents;
  uint64_t group_documents[ND_SIZE_GROUPS], group_shingles[ND_SIZE_GROUPS], shingles;
  uint64_t kept[ND_NIK_RUNS]; /* shingles of all records */
  unsigned threads;
  nd_sampling_tally *of_thread;
  nd_sampling_tally sum;
} nd_sampling_study;

/* Computes precision and recall, each as the mean over the residues where it is defined
 * (NaN if there are none); ratio r is 1 / 2^(r + 1). */
typedef struct nd_ye_point {
  double precision, recall, found;
  uint64_t truth;
} nd_ye_point;
nd_ye_point nd_ye_measure(const nd_sampling_study *s, unsigned group, unsigned threshold,
                          unsigned ratio);

/* Section 6: chooses per group the smallest ratio, down to 1/2^coarsest, whose precision
 * reaches the goal, or all shingles.  Returns the share of shingles left. */
double nd_ye_adapt(unsigned modulus[ND_SIZE_GROUPS], const nd_sampling_study *s, unsigned threshold,
                   double goal, unsigned coarsest);

/* Formulas (3.6) and (3.7) of Nikkhoo 2010. */
double nd_pair_error(const nd_pair_sums *s);
double nd_pair_correlation(const nd_pair_sums *s);
void nd_pair_sums_add(nd_pair_sums *s, double a, double b);

/* Allocates tallies for `threads` threads; adds pairs to the tally of a thread; sums them. */
nd_status nd_sampling_tallies(nd_sampling_study *s, unsigned threads, nd_error *err) ND_MUST_CHECK;
nd_status nd_sampling_count(void *study, unsigned member, const nd_trial_pair *pairs, size_t n,
                            nd_error *err) ND_MUST_CHECK;
void nd_sampling_add_up(nd_sampling_study *s);
void nd_sampling_tallies_clear(nd_sampling_study *s);

/* Computes the shingles kept by each run of Nikkhoo, from cells and their sums. */
void nd_sampling_runs(uint32_t out[ND_NIK_RUNS], const uint32_t *cell, const uint32_t *sum);

/* Write tables to the run and charts to the page (if there is a directory). */
nd_status nd_sampling_ye(nd_sampling_study *s, nd_page *page, nd_error *err) ND_MUST_CHECK;
nd_status nd_sampling_nikkhoo(nd_sampling_study *s, nd_page *page, nd_error *err) ND_MUST_CHECK;

#endif
