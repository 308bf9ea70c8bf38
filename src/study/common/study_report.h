/* Output of a study: tables as TSV and, with a directory, a page with charts. */
#ifndef ND_STUDY_COMMON_STUDY_REPORT_H
#define ND_STUDY_COMMON_STUDY_REPORT_H

#include "output/page.h"
#include "study/common/study_run.h"

typedef struct nd_study_report {
  nd_study_run *run;
  nd_page page;
  bool paged; /* a page is written */
} nd_study_report;

void nd_study_report_start(nd_study_report *r, nd_study_run *run, const char *title,
                           const char *lead, nd_error *err);
void nd_study_report_heading(nd_study_report *r, const char *text);
void nd_study_report_chart(nd_study_report *r, const nd_chart *chart);

/* Outputs a table and clears it.  If filling it failed with `status`, only clears it and
 * returns `status`. */
nd_status nd_study_report_table(nd_study_report *r, nd_table *t, nd_status status,
                                nd_error *err) ND_MUST_CHECK;

/* Writes the page, or only frees it if `status` is a failure.  Returns the status. */
nd_status nd_study_report_end(nd_study_report *r, nd_status status) ND_MUST_CHECK;

#endif
