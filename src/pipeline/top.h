/* --top K: of all pairs, those that are among the K best of one of their two
 * documents. */
#ifndef ND_PIPELINE_TOP_H
#define ND_PIPELINE_TOP_H

#include "pipeline/job.h"

/* Replaces j->confirmed.sorted by the chosen pairs.  Memory: 12 bytes × K a
 * document. */
nd_status nd_top_pairs(nd_job_run *j, uint32_t top, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
