/* Functions shared by the files that draw the report. */
#ifndef ND_REPORT_REPORT_DRAW_H
#define ND_REPORT_REPORT_DRAW_H

#include "output/chart_draw.h"
#include "report/report.h"

/* Append the charts, each as a <figure>. */
nd_status nd_report_similarities(nd_buf *out, const nd_report *r, nd_error *err) ND_MUST_CHECK;
nd_status nd_report_detection(nd_buf *out, const nd_report *r, nd_error *err) ND_MUST_CHECK;
nd_status nd_report_sizes(nd_buf *out, const nd_report *r, nd_error *err) ND_MUST_CHECK;
nd_status nd_report_parts(nd_buf *out, const nd_report_group *g, const char *name,
                          const char *title, nd_error *err) ND_MUST_CHECK;
/* Returns the estimated share of pairs at or above the threshold that the bands missed; negative if
 * unknown. */
double nd_report_missed(const nd_report *r);

#endif
