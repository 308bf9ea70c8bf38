/* Pages: self-contained HTML of headings, paragraphs, tables and charts.
 *
 *   nd_page page;
 *   nd_page_start(&page, dir, "Sampling", "What was measured.", err);
 *   nd_page_heading(&page, "Precision");
 *   nd_page_chart(&page, &chart);            also written as DIR/NAME.svg
 *   nd_page_chart(&page, &chart);            also written to DIR/NAME.svg
 *     nd_page_cell(&page, "text"); nd_page_cell_number(&page, 0.5, 3); … n a row
 *     nd_page_cell(&page, "text"); nd_page_cell_number(&page, 0.5, 3); … n per row
 *   nd_page_table_end(&page);
 *   return nd_page_write(&page);             DIR/index.html; frees
 *
 * A page needs no network and runs no script but ours (a content security policy
 * names it by digest); all text is escaped.  Calls after a failure do nothing;
 * nd_page_write returns the failure. */
#ifndef ND_OUTPUT_PAGE_H
#define ND_OUTPUT_PAGE_H

#include "output/chart.h"

typedef struct nd_page {
  nd_buf html;
  const char *dir; /* may be NULL: then charts are not written to files */
  nd_status status;
  nd_error *err;
  size_t columns, cell; /* of the open table */
  bool figures;         /* a group of charts is open */
} nd_page;

void nd_page_start(nd_page *p, const char *dir, const char *title, const char *lead, nd_error *err);
void nd_page_heading(nd_page *p, const char *text);
void nd_page_paragraph(nd_page *p, const char *text);
/* Adds a command or file name in a fixed-width font. */
void nd_page_code(nd_page *p, const char *text);
void nd_page_chart(nd_page *p, const nd_chart *chart);

/* Begins a table, whose cells follow row by row.  A column whose name ends in '#' holds numbers;
 * the '#' is not shown. */
void nd_page_table(nd_page *p, const char *caption, const char *const *columns, size_t n);
void nd_page_cell(nd_page *p, const char *text);
void nd_page_cell_str(nd_page *p, nd_str text);
/* Adds a number; NaN is shown as a dash. */
void nd_page_cell_number(nd_page *p, double v, int decimals);
void nd_page_cell_count(nd_page *p, uint64_t v);
void nd_page_table_end(nd_page *p);

/* Creates DIR, writes DIR/index.html and frees, also on failure. */
nd_status nd_page_write(nd_page *p) ND_MUST_CHECK;

/* --- other kinds of pages --------------------------------------------------- */

/* Appends the doctype, the head with policy and style, and <body>.  `css` and `script` (may be
 * NULL) are added to the page's own; nd_page_foot takes the script again. */
nd_status nd_page_head(nd_buf *out, const char *title, const char *css, const char *script,
                       nd_error *err) ND_MUST_CHECK;
nd_status nd_page_foot(nd_buf *out, const char *script, nd_error *err) ND_MUST_CHECK;

/* Appends a chart in a <figure>, with its numbers in a collapsed table. */
nd_status nd_page_figure(nd_buf *out, const nd_chart *chart, nd_error *err) ND_MUST_CHECK;

/* Formats 12345678 as 12,345,678. */
void nd_page_count(char out[32], uint64_t v);

#endif
