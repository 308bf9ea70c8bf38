/* The output directory of a study: tables, charts and a page.  It becomes complete
 * atomically, like the result of dedup, and cannot be resumed. */
#ifndef ND_STUDY_COMMON_STUDY_DIR_H
#define ND_STUDY_COMMON_STUDY_DIR_H

#include "outdir/result_dir.h"

typedef struct nd_study_dir {
  nd_result_dir result;
  const char *out; /* directory for files until the commit, or NULL */
  const nd_options *options;
} nd_study_dir;

/* With `directory` NULL this and the other calls do nothing.  Returns ND_ERR_STATE if it
 * has files that may not be replaced, or an interrupted dedup. */
nd_status nd_study_dir_open(nd_study_dir *d, const char *directory, const nd_options *options,
                            nd_error *err) ND_MUST_CHECK;
/* Writes summary.json, with the name of the command, and makes `out` the result. */
nd_status nd_study_dir_commit(nd_study_dir *d, const char *command, nd_error *err) ND_MUST_CHECK;
/* Removes uncommitted files.  Accepts {0} and a closed directory. */
void nd_study_dir_close(nd_study_dir *d);

#endif
