/* A first look at the whole corpus, before it is read for good: which shingles
 * do too many documents have (--sample sct:N), and how much may be sampled away
 * (adaptive:P, see plan_measure.h)?
 *
 * The other collection of --against and all shards are counted; copies count
 * once.  Counts are exact, out of core: (shingle, digest of the document) is
 * sorted, and equal ones are neighbours. */
#ifndef ND_PIPELINE_CENSUS_H
#define ND_PIPELINE_CENSUS_H

#include "pipeline/job.h"

/* Fills in what the samplers of j->settings need to know.  `tmp` for temporary
 * files.  Does nothing when they need nothing. */
nd_status nd_census(nd_job_run *j, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
