/* Verified pairs and copies → who stays (DESIGN: clusters are built from
 * verified pairs only, after verification). */
#ifndef ND_PIPELINE_SURVIVORS_H
#define ND_PIPELINE_SURVIVORS_H

#include "cluster/clusters.h"
#include "pipeline/job.h"

/* Fills `out` for all documents: centre[d] is the one kept in d's place, and
 * value[d] the overlap with it. */
nd_status nd_survivors(nd_clusters *out, nd_job_run *j, const char *tmp,
                       nd_error *err) ND_MUST_CHECK;

#endif
