/* The list of a result's files in its summary.json, with their sizes and checksums.
 *
 * The list is the last member of the object, with one file per line, so that it can be read and
 * written as a stream:
 *
 *     "files": [
 *       {"name": "kept/a.jsonl", "bytes": 52, "xxh3": "00112233aabbccdd"},
 *       …
 *
 * Names are relative to the directory, escaped as in tables (output/tsv.h). */
#ifndef ND_OUTDIR_SUMS_H
#define ND_OUTDIR_SUMS_H

#include "base/dir.h"
#include "base/writer.h"
#include "output/json_out.h"

#define ND_SUMMARY "summary.json"

typedef struct nd_file_sum {
  uint64_t bytes, sum;
} nd_file_sum;

/* Checks whether `d` has a complete summary.json that is ours. */
nd_status nd_sums_is_result(bool *out, const nd_dir *d, nd_error *err) ND_MUST_CHECK;

/* ---- writing ---- */

/* Computes the size and checksum of a file. */
nd_status nd_sums_file(nd_file_sum *out, const char *path, nd_error *err) ND_MUST_CHECK;

/* Adds the line of folder/name, or of name if `folder` is "".  Errors are kept in `j`. */
void nd_sums_put(nd_json_out *j, const char *folder, const char *name, nd_file_sum sum);
/* Adds a line for every file below `dir`, by name; reads each file to compute its checksum.  Leaves
 * out `skip` (may be NULL) and the top-level summary.json. */
nd_status nd_sums_put_tree(nd_json_out *j, const char *dir, const char *skip,
                           nd_error *err) ND_MUST_CHECK;
/* Moves the text buffered so far to `to`, if it is enough for a write or if `all`. */
nd_status nd_sums_flush(nd_json_out *j, nd_writer *to, bool all, nd_error *err) ND_MUST_CHECK;

/* Writes the members "sync" and "boot", which tell whether files may have changed unseen. */
void nd_sums_put_origin(nd_json_out *j, bool sync);

/* ---- reading ---- */

/* Calls `each` with the first component of every listed name, once per directory.  *listed is false
 * if summary.json has no list. */
nd_status nd_sums_tops(bool *listed, const nd_dir *d, nd_dir_each_fn each, void *context,
                       nd_error *err) ND_MUST_CHECK;

/* Compares the files with the list: their sizes, and also their contents if the machine has
 * restarted since or the result was not synced.  Returns ND_ERR_STATE, with the first file that
 * differs, if they do not match. */
nd_status nd_sums_check(const nd_dir *d, nd_error *err) ND_MUST_CHECK;

#endif
