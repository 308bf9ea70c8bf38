/* Threads: a fixed pool that runs one function over numbered jobs.
 *
 * Jobs are dispatched in ascending order, and each writes its result to its own slot (slot = job
 * number), so nothing depends on timing.  The first failure stops dispatch; the error of the lowest
 * failed job is returned. */
#ifndef ND_BASE_THREADS_H
#define ND_BASE_THREADS_H

#include "neardup/status.h"

/* Runs job `job` on worker `worker` (0 … threads-1). */
typedef nd_status (*nd_job)(void *context, unsigned worker, uint64_t job, nd_error *err);

nd_status nd_threads_run(unsigned threads, uint64_t jobs, nd_job run, void *context,
                         nd_error *err) ND_MUST_CHECK;

/* Tests: starting the thread number `nth` from now (1 = the next) fails; 0 = none. */
void nd_threads_fail_at(uint64_t nth);
uint64_t nd_threads_count(void); /* started or refused since then; counted only while nth != 0 */

/* Returns the number of cores that this process may use. */
unsigned nd_threads_cores(void);

#endif
