/* The state of a run: the results of every step of dedup or pairs so far.
 *
 * The job fills it in step by step; the modules that write results and reports only read it.  A
 * stage of an engine such as Spark fills in only the parts that it has. */
#ifndef ND_RESULT_RUN_STATE_H
#define ND_RESULT_RUN_STATE_H

#include "find/find.h"
#include "neardup/run.h"
#include "read/reading.h"
#include "store/ids.h"
#include "verify/verify.h"

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
  nd_verified verified;
  nd_ids *ids;
  uint64_t pair_bins[ND_RUN_BINS]; /* number of listed pairs by similarity; see nd_run_bin */
  uint64_t stays[ND_RUN_BINS];     /* documents kept at thresholds 0.00, 0.01 …; 0: unknown */
  uint64_t stage_peak[4];          /* peak resident bytes up to the end of each stage */
  unsigned stage;
  double began, stage_began, cpu_began; /* nd_clock_now, seconds */
  bool writes_documents;                /* if so, sketch files are refused as input */
  nd_options adopted;                   /* the options, completed from sketch files */
  bool store_open;
} nd_run;

/* Starts a run whose documents are elsewhere, at an engine: it knows their number, and what the
 * engine tells it, but has no walk, feed or blocks unless the caller lends it some.  `settings` is
 * copied, the rest is borrowed. */
void nd_run_elsewhere(nd_run *r, const nd_settings *settings, const nd_options *options,
                      nd_summary *summary, uint64_t documents);

/* Frees what any step has made, in any state. */
void nd_run_clear(nd_run *r);

/* Reports progress to the hooks.  Returns ND_ERR_CANCELLED if they ask to stop. */
nd_status nd_run_report(nd_run *r, const char *stage, uint64_t done, uint64_t total,
                        nd_error *err) ND_MUST_CHECK;

/* Returns the width of a bin if similarities are integers. */
uint64_t nd_run_step(const nd_settings *s);

/* Returns the bin of a pair's value: hundredths, or a range of nd_run_step integers. */
size_t nd_run_bin(const nd_settings *s, uint64_t value);

/* A rejected record, or an entry that could not be read (block SIZE_MAX, with its path). */
typedef struct nd_reject {
  size_t block;
  uint64_t offset, length;
  uint32_t file, line;
  nd_str reason;
  const char *path; /* for entries outside blocks */
} nd_reject;
typedef nd_status (*nd_reject_each)(void *context, const nd_reject *r, nd_error *err);
/* Calls `each` for every rejected record, then for every entry that could not be read. */
nd_status nd_run_rejects(nd_run *r, nd_reject_each each, void *context,
                         nd_error *err) ND_MUST_CHECK;
/* Calls `each` for the rejected records of one block. */
nd_status nd_run_block_rejects(const nd_run *r, size_t block, nd_buf *scratch, nd_reject_each each,
                               void *context, nd_error *err) ND_MUST_CHECK;

#endif
