/* The parts of the report that are shared by its files. */
#ifndef ND_REPORT_REPORT_DRAW_H
#define ND_REPORT_REPORT_DRAW_H

#include "output/chart_draw.h"
#include "report/report.h"

/* The charts, each as a <figure>. */
nd_status nd_report_similarities(nd_buf *out, const nd_report *r, nd_error *err) ND_MUST_CHECK;
nd_status nd_report_detection(nd_buf *out, const nd_report *r, nd_error *err) ND_MUST_CHECK;
nd_status nd_report_sizes(nd_buf *out, const nd_report *r, nd_error *err) ND_MUST_CHECK;
nd_status nd_report_parts(nd_buf *out, const nd_report_group *g, const char *name,
                          const char *title, nd_error *err) ND_MUST_CHECK;
/* The share of pairs at or above the threshold that the bands may have missed,
 * judged by those that were found; negative: not known. */
double nd_report_missed(const nd_report *r);

#endif
