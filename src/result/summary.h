/* Writing summary.json, the record of a run. */
#ifndef ND_RESULT_SUMMARY_H
#define ND_RESULT_SUMMARY_H

#include "outdir/sums.h"
#include "result/run_state.h"

/* The files of the result.  `kept` has the checksums of the kept files and `written` says which
 * exist, both per file of the walk.  The other files, in directory `out`, are read to compute
 * theirs. */
typedef struct nd_summary_files {
  const char *out;
  const nd_file_sum *kept;
  const bool *written;
} nd_summary_files;

/* Writes summary.json to `path`.  `fingerprint` is that of the run's manifest.  If `files` is NULL,
 * the caller adds the list of files. */
nd_status nd_summary_write(const nd_run *j, const char *path, const nd_summary_files *files,
                           uint64_t fingerprint, nd_error *err) ND_MUST_CHECK;

#endif
