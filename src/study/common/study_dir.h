/* The directory of tables, charts and a page: complete or not there, like the
 * result of dedup, and not resumed. */
#ifndef ND_STUDY_COMMON_STUDY_DIR_H
#define ND_STUDY_COMMON_STUDY_DIR_H

#include "outdir/result_dir.h"

typedef struct nd_study_dir {
  nd_result_dir result;
  const char *out; /* files are written here meanwhile; NULL: none is wanted */
  const nd_options *options;
} nd_study_dir;

/* `directory` NULL: none, and the other calls do nothing.  ND_ERR_STATE: it holds
 * what may not be replaced, or an interrupted dedup. */
nd_status nd_study_dir_open(nd_study_dir *d, const char *directory, const nd_options *options,
                            nd_error *err) ND_MUST_CHECK;
/* Writes summary.json, with the command's name, and makes `out` the result. */
nd_status nd_study_dir_commit(nd_study_dir *d, const char *command, nd_error *err) ND_MUST_CHECK;
/* What was not committed goes.  {0} and a closed one are allowed. */
void nd_study_dir_close(nd_study_dir *d);

#endif
