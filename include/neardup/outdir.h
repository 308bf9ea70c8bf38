/* Directories of results, for callers that write files of their own: complete at
 * one moment or not there, locked meanwhile, as the directory of nd_dedup is. */
#ifndef NEARDUP_OUTDIR_H
#define NEARDUP_OUTDIR_H

#include "neardup/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The directory of a result.  Files are written to a directory inside it; one
 * commit makes them the result, in place of an older one. */
typedef struct nd_output_dir nd_output_dir;

/* Makes and locks the directory; completes an interrupted commit.  Close it by
 * nd_output_dir_close.  Of the options,
 * force, resume and sync count.  ND_ERR_STATE: it holds files of others, or
 * another run is writing to it. */
ND_API nd_status nd_output_dir_open(nd_output_dir **out, const char *dir, const nd_options *options,
                                    nd_error *err) ND_MUST_CHECK;

/* Returns whether a complete result of neardup is there. */
ND_API int nd_output_dir_is_complete(const nd_output_dir *o);

/* Sets *folder to the empty directory that files are written to.  ND_ERR_STATE: a
 * complete result is there, and the options do not say resume never. */
ND_API nd_status nd_output_dir_begin(const char **folder, nd_output_dir *o,
                                     nd_error *err) ND_MUST_CHECK;

/* Writes summary.json, lists all files in it, and makes them the result.
 * `summary` is the text of a JSON object whose first member is "neardup". */
ND_API nd_status nd_output_dir_commit(nd_output_dir *o, nd_str summary,
                                      nd_error *err) ND_MUST_CHECK;

/* Unlocks and frees; what is not committed is removed.  NULL is allowed. */
ND_API void nd_output_dir_close(nd_output_dir *o);

/* Compares the files of a complete result with the list in its summary.json:
 * sizes, and contents too if the machine has restarted since or the result was not
 * synced.  ND_ERR_STATE names the first file that differs. */
ND_API nd_status nd_output_dir_verify(const char *dir, nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
