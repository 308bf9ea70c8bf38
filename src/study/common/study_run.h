/* A study: a function that fills tables.
 *
 * A new study needs a file study_NAME.c, a row in the table of study.c, and a test. */
#ifndef ND_STUDY_COMMON_STUDY_RUN_H
#define ND_STUDY_COMMON_STUDY_RUN_H

#include "base/mem.h"
#include "neardup/study.h"

typedef struct nd_study_run {
  const nd_study_request *request;
  const nd_options *options;
  const nd_hooks *hooks;
  const nd_sink *sink;
  nd_summary *summary;
} nd_study_run;

typedef nd_status (*nd_study_function)(nd_study_run *run, nd_error *err);

/* A table being filled, cell by cell. */
typedef struct nd_table {
  const char *name;  /* the file is DIR/NAME.tsv */
  const char *title; /* with the table and paper it corresponds to */
  nd_buf text;       /* header and rows as TSV */
  size_t cells;      /* in the current row */
  size_t columns;
} nd_table;

/* Starts a table; `columns` is the tab-separated header. */
nd_status nd_table_start(nd_table *t, const char *name, const char *title, const char *columns,
                         nd_error *err) ND_MUST_CHECK;
/* Append a cell; the last cell of a row ends it. */
nd_status nd_table_text(nd_table *t, const char *text, nd_error *err) ND_MUST_CHECK;
nd_status nd_table_count(nd_table *t, uint64_t n, nd_error *err) ND_MUST_CHECK;
nd_status nd_table_real(nd_table *t, double x, int decimals, nd_error *err) ND_MUST_CHECK;
void nd_table_clear(nd_table *t);

/* Writes a table to the sink and to its file. */
nd_status nd_study_table(nd_study_run *run, const nd_table *t, nd_error *err) ND_MUST_CHECK;

nd_status nd_study_join(nd_study_run *run, nd_error *err) ND_MUST_CHECK;
nd_status nd_study_sampling(nd_study_run *run, nd_error *err) ND_MUST_CHECK;
nd_status nd_study_sources(nd_study_run *run, nd_error *err) ND_MUST_CHECK;
nd_status nd_study_web(nd_study_run *run, nd_error *err) ND_MUST_CHECK;
nd_status nd_study_library(nd_study_run *run, nd_error *err) ND_MUST_CHECK;

#endif
