/* Reading all of the input once before it is read for good, to count something
 * in it.
 *
 * Records that cannot be read are passed over: the reading itself rejects them,
 * with place and reason.  That both see the same documents is checked
 * (nd_job_counted). */
#ifndef ND_PIPELINE_FOREREAD_H
#define ND_PIPELINE_FOREREAD_H

#include "pipeline/job.h"
#include "pipeline/sign.h"

/* Takes a document, on thread `member`.  The views last until it returns. */
typedef nd_status (*nd_foreread_each)(void *context, unsigned member, const nd_read *read,
                                      nd_error *err);

/* Members are below nd_job_reading_threads(&j->settings). */
nd_status nd_foreread(nd_job_run *j, nd_foreread_each each, void *context,
                      nd_error *err) ND_MUST_CHECK;

#endif
