/* --ignore-boilerplate: which passages recur on the pages of a site? */
#ifndef ND_PIPELINE_PASSAGES_H
#define ND_PIPELINE_PASSAGES_H

#include "pipeline/job.h"

/* Reads all of the input once and counts, exactly and out of core; the set goes to
 * j->passages and j->settings.boilerplate. */
nd_status nd_passages_count(nd_job_run *j, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
