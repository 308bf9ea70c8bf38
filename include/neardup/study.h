/* Studies: the papers' experiments, on any corpus. */
#ifndef NEARDUP_STUDY_H
#define NEARDUP_STUDY_H

#include "neardup/run.h"

typedef struct nd_study_info {
  const char *name;    /* NULL ends the list */
  const char *summary; /* one line */
} nd_study_info;

/* All studies. */
ND_API const nd_study_info *nd_study_list(void);

typedef struct nd_study_request {
  const char *name;
  const char *const *inputs;
  size_t input_n;
  const char *directory; /* tables, charts and a page go here; NULL: tables to the sink only */
  const char *truth;     /* a list of true pairs or clusters; NULL: none */
} nd_study_request;

/* Runs a study.  Tables go to the sink as TSV, a "# title" line before each; with
 * a directory also to DIR/NAME.tsv, with charts and index.html. */
ND_API nd_status nd_study(nd_summary *out, const nd_study_request *request, const nd_sink *sink,
                          const nd_options *options, const nd_hooks *hooks,
                          nd_error *err) ND_MUST_CHECK;

#endif
