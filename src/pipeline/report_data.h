/* What the report shows, gathered from a finished run.
 *
 * One pass over a few columns of the store, one over the documents, and the
 * texts of a bounded sample: a small share of the run's own work, in bounded
 * memory. */
#ifndef ND_PIPELINE_REPORT_DATA_H
#define ND_PIPELINE_REPORT_DATA_H

#include "cluster/clusters.h"
#include "output/report.h"
#include "pipeline/job.h"

typedef struct nd_report_source {
  nd_job_run *job;
  const nd_clusters *clusters;
  const uint32_t *size; /* per centre: members */
  const char *tmp;
  const char *const *inputs;
  size_t input_n;
  const char *directory;
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

/* The bin of a pair's value; see nd_report. */
size_t nd_report_bin(const nd_settings *s, uint64_t value);

#endif
