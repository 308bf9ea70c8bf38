/* Writing the kept documents: every input file without its dropped and
 * rejected records, under kept/, in the file's own format and packing. */
#ifndef ND_PIPELINE_KEPT_H
#define ND_PIPELINE_KEPT_H

#include "pipeline/job.h"

/* Something else to be done by one thread meanwhile. */
typedef nd_status (*nd_kept_beside)(void *context, nd_error *err);

/* `centre[d] != d` means dropped. */
nd_status nd_kept_write(nd_job_run *j, const uint32_t *centre, const char *dir,
                        nd_kept_beside beside, void *context, nd_error *err) ND_MUST_CHECK;

#endif
