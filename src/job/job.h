/* The life of a job, shared by dedup, pairs and other commands.
 *
 *   open → input → read → match → (the command's own output) → finish → close
 *
 * The steps own what they create; close frees everything in any state. */
#ifndef ND_JOB_JOB_H
#define ND_JOB_JOB_H

#include "result/run_state.h"

/* Resolves the options and starts the clock. */
nd_status nd_job_open(nd_run *j, nd_summary *summary, const nd_options *options,
                      const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;
void nd_job_close(nd_run *j);

/* Lists the input files and partitions them into tasks (j->walk, j->feed). */
nd_status nd_job_input(nd_run *j, const char *const *inputs, size_t n, const char *avoid,
                       const char *spool, nd_error *err) ND_MUST_CHECK;

/* Counts what --sample and --ignore-boilerplate need to know of the entire input before the first
 * document is sketched.  nd_job_read calls it if necessary. */
nd_status nd_job_count(nd_run *j, const char *tmp, nd_error *err) ND_MUST_CHECK;

/* Runs the first pass into a store in `work`; seals it unless the run is only a shard. */
nd_status nd_job_read(nd_run *j, const char *work, nd_error *err) ND_MUST_CHECK;

/* Finds exact duplicates and candidate pairs, and verifies the pairs. */
nd_status nd_job_match(nd_run *j, const char *work, nd_error *err) ND_MUST_CHECK;

/* Ends a step and returns its seconds. */
double nd_job_lap(nd_run *j);

/* Fills in times, memory and other totals at the end. */
void nd_job_finish(nd_run *j);

#endif
