/* Threads: a fixed team that runs one function over numbered jobs.
 *
 * Jobs are handed out in rising order; results go where the caller's function
 * puts them (slot = job number), so that nothing depends on timing.  The first
 * failure stops the handing out and is returned. */
#ifndef ND_BASE_THREADS_H
#define ND_BASE_THREADS_H

#include "neardup/status.h"

/* Does job `job` on team member `member` (0 … threads-1). */
typedef nd_status (*nd_job)(void *context, unsigned member, uint64_t job, nd_error *err);

nd_status nd_threads_run(unsigned threads, uint64_t jobs, nd_job run, void *context,
                         nd_error *err) ND_MUST_CHECK;

/* Tests: the thread number `nth` from now (1 = the next) cannot be started; 0 = none. */
void nd_threads_fail_at(uint64_t nth);
uint64_t nd_threads_count(void); /* started or refused since then; only counted while nth != 0 */

/* Cores that this process may use. */
unsigned nd_threads_cores(void);

#endif
