/* The data of a report, gathered from a finished run.
 *
 * One pass over a few columns of the store, one over the documents, and the
 * texts of a bounded sample: little work compared with the run, in bounded
 * memory. */
#ifndef ND_REPORT_REPORT_DATA_H
#define ND_REPORT_REPORT_DATA_H

#include "cluster/clusters.h"
#include "report/report.h"
#include "result/run_state.h"

/* Data reported by the tasks of a run without a store (neardup/stage.h). */
typedef struct nd_report_told {
  nd_str parts, rejected;
  bool by_folder;
} nd_report_told;

typedef struct nd_report_source {
  nd_run *job;
  const nd_clusters *clusters;
  const uint32_t *size; /* members per centre */
  const char *tmp;
  const char *const *inputs;
  size_t input_n;
  const char *directory;
  const nd_report_told *told; /* NULL: parts and rejects are counted in the store */
} nd_report_source;

/* Gathers everything except times. */
nd_status nd_report_gather(nd_report *r, const nd_report_source *s, nd_error *err) ND_MUST_CHECK;

/* Adds the times and writes the page to DIR/report.html. */
nd_status nd_report_finish(nd_report *r, const nd_report_source *s, const char *dir,
                           nd_error *err) ND_MUST_CHECK;

/* Gathers the embedded clusters (report_clusters.c). */
nd_status nd_report_clusters(nd_report *r, const nd_report_source *s, nd_error *err) ND_MUST_CHECK;

/* Returns the closeness of a pair: 0 at the threshold, 1 for exact duplicates. */
double nd_report_closeness(const nd_settings *s, uint64_t value);

/* Stores the URL of a document in `out`. */
nd_status nd_report_url(nd_buf *out, const nd_store *s, uint32_t document,
                        nd_error *err) ND_MUST_CHECK;

/* Returns the size class of a document: powers of four, from 256 bytes. */
enum { ND_REPORT_LARGEST = 12 };
unsigned nd_report_size(uint64_t bytes);

/* Takes parts and rejects as reported by tasks (stage_report.c). */
nd_status nd_report_take_told(nd_report *r, const nd_report_told *told,
                              nd_error *err) ND_MUST_CHECK;
/* Counts a rejected record.  Returns false if its reason is new; the caller then fills in *row. */
bool nd_report_reject_known(nd_report_reject **row, nd_report *r, nd_str reason);
/* Adds a row per size class that has documents. */
void nd_report_take_sizes(nd_report_group *g, const nd_report_row *sizes);

#endif
