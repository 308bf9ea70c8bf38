/* Tables, charts and a page; see study_report.h. */
#include "study/common/study_report.h"

#include <math.h>

#include "input/line_list.h"

enum { MOST_ROWS = 200 }; /* rows of a table on the page; its file has all rows */

void nd_study_report_start(nd_study_report *r, nd_study_run *run, const char *title,
                           const char *lead, nd_error *err) {
  *r = (nd_study_report){.run = run, .paged = run->request->directory != NULL};
  if (r->paged) nd_page_start(&r->page, run->request->directory, title, lead, err);
}

void nd_study_report_heading(nd_study_report *r, const char *text) {
  if (r->paged) nd_page_heading(&r->page, text);
}

void nd_study_report_chart(nd_study_report *r, const nd_chart *chart) {
  if (r->paged) nd_page_chart(&r->page, chart);
}

/* Builds the header for the page: names end in '#' where the first row has a number. */
static nd_status put_header(nd_study_report *r, const nd_table *t, nd_str header, nd_str row,
                            nd_error *err) {
  nd_buf names = {0};
  const char **columns = nd_calloc(t->columns, sizeof *columns);
  size_t *at = nd_calloc(t->columns, sizeof *at), n = 0;
  nd_status status = columns && at ? ND_OK : nd_fail_memory(err, t->columns * sizeof *at);
  nd_str name = {0}, cell;
  int64_t number;
  while (status == ND_OK && n < t->columns) {
    (void)nd_line_field(&name, &header, '\t'); /* as many as columns */
    at[n++] = names.n;
    bool is_number = nd_line_field(&cell, &row, '\t') &&
                     (nd_line_number(&number, cell) || nd_str_eq(cell, nd_str_of("-")));
    status = nd_buf_append(&names, name.p, name.n, err);
    if (status == ND_OK)
      status = nd_buf_append(&names, is_number ? "#" : "", is_number ? 2 : 1, err);
  }
  if (status == ND_OK) {
    for (size_t i = 0; i < n; i++) columns[i] = names.p + at[i];
    nd_page_table(&r->page, t->title, columns, n);
  }
  nd_buf_clear(&names);
  nd_free(columns);
  nd_free(at);
  return status;
}

/* Puts a cell of the TSV; numbers keep their decimals. */
static void put_cell(nd_page *page, nd_str cell) {
  int64_t number;
  const char *point = memchr(cell.p, '.', cell.n);
  if (nd_str_eq(cell, nd_str_of("-")))
    nd_page_cell_number(page, NAN, 0);
  else if (!nd_line_number(&number, cell))
    nd_page_cell_str(page, cell);
  else if (point)
    nd_page_cell_number(page, (double)number / ND_LINE_UNIT, (int)(cell.p + cell.n - point - 1));
  else
    nd_page_cell_count(page, (uint64_t)(number / ND_LINE_UNIT));
}

static nd_status put_page_table(nd_study_report *r, const nd_table *t, nd_error *err) {
  nd_str rest = nd_buf_str(&t->text), header = {0}, line = {0}, cell;
  (void)nd_line_field(&header, &rest, '\n');
  nd_str ahead = rest, first = {0};
  (void)nd_line_field(&first, &ahead, '\n');
  ND_TRY(put_header(r, t, header, first, err));
  for (size_t rows = 0; rows < MOST_ROWS; rows++) {
    (void)nd_line_field(&line, &rest, '\n'); /* the last line is empty */
    if (line.n == 0) break;
    while (nd_line_field(&cell, &line, '\t')) put_cell(&r->page, cell);
  }
  nd_page_table_end(&r->page);
  if (rest.n > 1) nd_page_paragraph(&r->page, "The rest of the table is in its file.");
  return ND_OK;
}

nd_status nd_study_report_table(nd_study_report *r, nd_table *t, nd_status status, nd_error *err) {
  if (status == ND_OK) status = nd_study_table(r->run, t, err);
  if (status == ND_OK && r->paged) status = put_page_table(r, t, err);
  nd_table_clear(t);
  return status;
}

nd_status nd_study_report_end(nd_study_report *r, nd_status status) {
  if (!r->paged) return status;
  if (status == ND_OK) return nd_page_write(&r->page);
  nd_buf_clear(&r->page.html);
  return status;
}
