/* Studies: the papers' experiments, on any corpus. */
#ifndef NEARDUP_STUDY_H
#define NEARDUP_STUDY_H

#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One study.  The library makes these; later versions add fields at the end. */
typedef struct nd_study_info {
  const char *name;
  const char *summary; /* one line */
} nd_study_info;

/* Returns study number `i`, from 0 on, or NULL after the last one.  It is valid for
 * the life of the program. */
ND_API const nd_study_info *nd_study_at(size_t i);

typedef struct nd_study_request {
  const char *name;
  const char *const *inputs;
  size_t input_n;
  const char *directory; /* tables, charts and a page go here; NULL: tables to the sink only */
  const char *truth;     /* a list of true pairs or clusters; NULL: none */
  const nd_sink *sink;
  uint64_t reserved[8]; /* 0 */
} nd_study_request;

/* Runs a study.  Tables go to the sink as TSV, a "# title" line before each; with a
 * directory also to DIR/NAME.tsv, with charts and index.html.  *out is filled as far as
 * the study came.  ND_ERR_USAGE: the study is unknown, or its inputs do not suit it. */
ND_API nd_status nd_study(nd_summary *out, const nd_study_request *request,
                          const nd_options *options, const nd_hooks *hooks,
                          nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
