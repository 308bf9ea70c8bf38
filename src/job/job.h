/* A job in the making: what dedup and pairs share.
 *
 *   open → read → find → confirm → (the command's own output) → close
 *
 * The stages own what they make; close frees everything in any state. */
#ifndef ND_JOB_JOB_H
#define ND_JOB_JOB_H

#include "result/run_state.h"

/* Resolves options, starts the clock. */
nd_status nd_job_open(nd_run *j, nd_summary *summary, const nd_options *options,
                      const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;
void nd_job_close(nd_run *j);

/* Walks and plans (j->walk, j->feed). */
nd_status nd_job_plan(nd_run *j, const char *const *inputs, size_t n, const char *avoid,
                      const char *spool, nd_error *err) ND_MUST_CHECK;

/* Counts what must be known of the entire input before its first document is sketched, for
 * --sample and --ignore-boilerplate.  nd_job_read does so itself. */
nd_status nd_job_count(nd_run *j, const char *tmp, nd_error *err) ND_MUST_CHECK;

/* The first pass into the store of `work`; seals it unless only a shard was asked for. */
nd_status nd_job_read(nd_run *j, const char *work, nd_error *err) ND_MUST_CHECK;

/* Copies, candidates, verified pairs. */
nd_status nd_job_match(nd_run *j, const char *work, nd_error *err) ND_MUST_CHECK;

/* Seconds since the last call (or the start): a stage ends. */
double nd_job_lap(nd_run *j);

/* Times, memory and the like, at the end. */
void nd_job_finish(nd_run *j);

#endif
