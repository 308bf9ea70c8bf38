/* What the report shows, gathered from a finished run.
 *
 * One pass over a few columns of the store, one over the documents, and the
 * texts of a bounded sample: a small share of the run's own work, in bounded
 * memory. */
#ifndef ND_REPORT_REPORT_DATA_H
#define ND_REPORT_REPORT_DATA_H

#include "cluster/clusters.h"
#include "report/report.h"
#include "result/run_state.h"

/* What a run without a store was told (neardup/stage.h). */
typedef struct nd_report_told {
  nd_str parts, rejected;
  bool by_folder;
} nd_report_told;

typedef struct nd_report_source {
  nd_run *job;
  const nd_clusters *clusters;
  const uint32_t *size; /* per centre: members */
  const char *tmp;
  const char *const *inputs;
  size_t input_n;
  const char *directory;
  const nd_report_told *told; /* NULL: parts and rejects are counted in the store */
} nd_report_source;

/* Everything but the times. */
nd_status nd_report_gather(nd_report *r, const nd_report_source *s, nd_error *err) ND_MUST_CHECK;

/* The times, at the end; then the page as DIR/report.html. */
nd_status nd_report_finish(nd_report *r, const nd_report_source *s, const char *dir,
                           nd_error *err) ND_MUST_CHECK;

/* report_clusters.c: the embedded clusters. */
nd_status nd_report_clusters(nd_report *r, const nd_report_source *s, nd_error *err) ND_MUST_CHECK;

/* How close a pair is: 0 at the threshold, 1 for copies. */
double nd_report_closeness(const nd_settings *s, uint64_t value);

/* The URL of a document into `out` (emptied first). */
nd_status nd_report_url(nd_buf *out, const nd_store *s, uint32_t document,
                        nd_error *err) ND_MUST_CHECK;

/* The number of a document's size: in powers of four, from 256 bytes. */
enum { ND_REPORT_LARGEST = 12 };
unsigned nd_report_size(uint64_t bytes);

/* stage_report.c: parts and rejects as they were told. */
nd_status nd_report_take_told(nd_report *r, const nd_report_told *told,
                              nd_error *err) ND_MUST_CHECK;
/* Counts a rejected record; false: its reason is new, and *row waits for its place. */
bool nd_report_reject_known(nd_report_reject **row, nd_report *r, nd_str reason);
/* A row per size that has documents. */
void nd_report_take_sizes(nd_report_group *g, const nd_report_row *sizes);

#endif
