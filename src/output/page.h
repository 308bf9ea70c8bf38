/* Pages: self-contained HTML of headings, paragraphs, tables and charts.
 *
 *   nd_page page;
 *   nd_page_start(&page, dir, "Sampling", "What was measured.", err);
 *   nd_page_heading(&page, "Precision");
 *   nd_page_chart(&page, &chart);            also written as DIR/NAME.svg
 *   nd_page_table(&page, "Caption", columns, n);
 *     nd_page_cell(&page, "text"); nd_page_cell_number(&page, 0.5, 3); … n a row
 *   nd_page_table_end(&page);
 *   return nd_page_write(&page);             DIR/index.html; frees
 *
 * A page needs no network and allows no script but ours (a content security
 * policy names it by its digest); every text is escaped.  Calls after a failure
 * do nothing; nd_page_write returns it. */
#ifndef ND_OUTPUT_PAGE_H
#define ND_OUTPUT_PAGE_H

#include "output/chart.h"

typedef struct nd_page {
  nd_buf html;
  const char *dir; /* NULL: nothing is written but what nd_page_finish gives */
  nd_status status;
  nd_error *err;
  size_t columns, cell; /* of the open table */
  bool figures;         /* charts are being put side by side */
} nd_page;

void nd_page_start(nd_page *p, const char *dir, const char *title, const char *lead, nd_error *err);
void nd_page_heading(nd_page *p, const char *text);
void nd_page_paragraph(nd_page *p, const char *text);
/* A command or file in fixed type. */
void nd_page_code(nd_page *p, const char *text);
void nd_page_chart(nd_page *p, const nd_chart *chart);

/* Cells follow, row by row.  A column whose name ends in '#' holds numbers (the
 * sign is not shown). */
void nd_page_table(nd_page *p, const char *caption, const char *const *columns, size_t n);
void nd_page_cell(nd_page *p, const char *text);
void nd_page_cell_str(nd_page *p, nd_str text);
/* NaN is shown as a dash. */
void nd_page_cell_number(nd_page *p, double v, int decimals);
void nd_page_cell_count(nd_page *p, uint64_t v);
void nd_page_table_end(nd_page *p);

/* Writes DIR/index.html (DIR is made) and frees, also on failure. */
nd_status nd_page_write(nd_page *p) ND_MUST_CHECK;

/* --- for pages of another kind ---------------------------------------------- */

/* Doctype, head with policy and style, <body>.  `css` and `script` (NULL: none)
 * are added to the page's own; the script stands at the end of nd_page_foot. */
nd_status nd_page_head(nd_buf *out, const char *title, const char *css, const char *script,
                       nd_error *err) ND_MUST_CHECK;
nd_status nd_page_foot(nd_buf *out, const char *script, nd_error *err) ND_MUST_CHECK;

/* A chart in a <figure>, with its numbers folded away below. */
nd_status nd_page_figure(nd_buf *out, const nd_chart *chart, nd_error *err) ND_MUST_CHECK;

/* 12345678 as 12,345,678. */
void nd_page_count(char out[32], uint64_t v);

#endif
