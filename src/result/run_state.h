/* A run: what every step of dedup or pairs has made so far.
 *
 * The job fills it step by step; what writes results and reports only reads it.
 * A stage of an engine such as Spark fills in just the parts that it has. */
#ifndef ND_RESULT_RUN_STATE_H
#define ND_RESULT_RUN_STATE_H

#include "find/find.h"
#include "neardup/run.h"
#include "read/reading.h"
#include "store/ids.h"
#include "verify/confirm.h"

enum { ND_RUN_BINS = 101 };

typedef struct nd_run {
  const nd_options *options;
  const nd_hooks *hooks;
  nd_summary *summary;
  nd_settings settings;
  nd_walk walk;
  nd_feed *feed; /* NULL: the inputs are sketch files */
  nd_store store;
  nd_reading reading;
  nd_text_source source;
  nd_found found;
  nd_confirmed confirmed;
  nd_ids *ids;
  uint64_t pair_bins[ND_RUN_BINS]; /* pairs listed, by similarity: see nd_run_bin */
  uint64_t stays[ND_RUN_BINS];     /* documents kept at a threshold of 0.00, 0.01 …; 0: unknown */
  uint64_t stage_peak[4];          /* highest resident bytes up to the end of each stage */
  unsigned stage;
  double began, stage_began, cpu_began; /* nd_clock_now, seconds */
  bool writes_documents;                /* so sketch files do not serve as input */
  nd_options adopted;                   /* of sketch files: the options with what the files say */
  bool store_open;
} nd_run;

/* Reports progress to the hooks; ND_ERR_CANCELLED when they ask to stop. */
nd_status nd_run_report(nd_run *r, const char *stage, uint64_t done, uint64_t total,
                        nd_error *err) ND_MUST_CHECK;

/* How many whole numbers share a bin, where similarities are whole numbers. */
uint64_t nd_run_step(const nd_settings *s);

/* The bin of a pair's value: its hundredths, or a step of whole numbers. */
size_t nd_run_bin(const nd_settings *s, uint64_t value);

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
nd_status nd_run_rejects(nd_run *r, nd_reject_each each, void *context,
                         nd_error *err) ND_MUST_CHECK;
/* The rejects of one block. */
nd_status nd_run_block_rejects(const nd_run *r, size_t block, nd_buf *scratch, nd_reject_each each,
                               void *context, nd_error *err) ND_MUST_CHECK;

#endif
