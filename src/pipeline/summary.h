/* summary.json: what a run did. */
#ifndef ND_PIPELINE_SUMMARY_H
#define ND_PIPELINE_SUMMARY_H

#include "pipeline/job.h"

/* Writes the file.  `fingerprint` names the run's manifest. */
nd_status nd_summary_write(const nd_job_run *j, const char *path, uint64_t fingerprint,
                           nd_error *err) ND_MUST_CHECK;

#endif
