/* A job in the making: what dedup and pairs share.
 *
 *   open → read → find → confirm → (the command's own output) → close
 *
 * The stages own what they make; close frees everything in any state. */
#ifndef ND_PIPELINE_JOB_H
#define ND_PIPELINE_JOB_H

#include <time.h>

#include "neardup/run.h"
#include "pipeline/confirm.h"
#include "pipeline/feed.h"
#include "pipeline/find.h"
#include "pipeline/ids.h"

typedef struct nd_job_run {
  const nd_options *options;
  const nd_hooks *hooks;
  nd_summary *summary;
  nd_settings settings;
  nd_walk walk;
  nd_feed *feed;         /* NULL when … */
  bool sketched;         /* … the inputs are files of sketches */
  bool writes_documents; /* so that they are needed */
  nd_options adopted;    /* then: the options, with what the files say */
  nd_store store;
  bool store_open;
  nd_text_source source;
  uint32_t split; /* documents from here on are the other collection's */
  nd_found found;
  nd_confirmed confirmed;
  nd_ids *ids;
  nd_shingle_set *common;                  /* of the census; NULL: none */
  bool counted;                            /* the input was read before, to count something … */
  uint64_t count_documents, count_rejects; /* … and had so many of these */
  uint64_t pair_bins[101];                 /* pairs listed, by similarity: see report_data.h */
  uint64_t stays[101]; /* documents that a threshold of so many hundredths would keep; 0: unknown */
  uint64_t stage_peak[4]; /* resident bytes, at most, up to each stage's end */
  unsigned stage;
  nd_shingle_set *passages; /* of --ignore-boilerplate; NULL: none */
  struct timespec began, stage_began;
  double cpu_began;
} nd_job_run;

/* Resolves options, starts the clock. */
nd_status nd_job_open(nd_job_run *j, nd_summary *summary, const nd_options *options,
                      const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;
void nd_job_close(nd_job_run *j);

/* Walks and plans (j->walk, j->feed). */
nd_status nd_job_plan(nd_job_run *j, const char *const *inputs, size_t n, const char *avoid,
                      const char *spool, nd_error *err) ND_MUST_CHECK;

/* The first pass into the store of `work`; seals it unless only a shard was asked for. */
nd_status nd_job_read(nd_job_run *j, const char *work, nd_error *err) ND_MUST_CHECK;

/* Notes what a reading that counts has found.  The reading itself must find as many, or it
 * sees other documents than were counted. */
nd_status nd_job_counted(nd_job_run *j, uint64_t documents, uint64_t rejects,
                         nd_error *err) ND_MUST_CHECK;

/* Threads that may read at once within the budget. */
unsigned nd_job_reading_threads(const nd_settings *s);

/* Copies, candidates, verified pairs. */
nd_status nd_job_match(nd_job_run *j, const char *work, nd_error *err) ND_MUST_CHECK;

/* Tells the hooks; ND_ERR_CANCELLED when they ask to stop. */
nd_status nd_job_report(nd_job_run *j, const char *stage, uint64_t done, uint64_t total,
                        nd_error *err) ND_MUST_CHECK;

/* Seconds since the last call (or the start): a stage ends. */
double nd_job_lap(nd_job_run *j);

/* Times, memory and the like, at the end. */
void nd_job_finish(nd_job_run *j);

/* Calls `each` for every rejected record: its block, offset, length, file,
 * line, reason; then for every entry that could not be read (block SIZE_MAX). */
typedef struct nd_reject {
  size_t block;
  uint64_t offset, length;
  uint32_t file, line;
  nd_str reason;
  const char *path; /* for entries outside blocks */
} nd_reject;
typedef nd_status (*nd_reject_each)(void *context, const nd_reject *r, nd_error *err);
nd_status nd_job_rejects(nd_job_run *j, nd_reject_each each, void *context,
                         nd_error *err) ND_MUST_CHECK;
/* The rejects of one block. */
nd_status nd_job_block_rejects(const nd_job_run *j, size_t block, nd_buf *scratch,
                               nd_reject_each each, void *context, nd_error *err) ND_MUST_CHECK;

#endif
