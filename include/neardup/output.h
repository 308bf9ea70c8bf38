/* Outputs: an input is never written over, and a file is complete or not there.
 *
 * Every job checks its outputs by nd_output_check before it touches anything.
 * Jobs that write to a sink (nd_plan, nd_explain) go with an output file:
 *
 *   nd_output *file;
 *   nd_status status = nd_output_open(&file, &request, options, &err);
 *   if (status == ND_OK) {
 *     nd_sink sink = nd_output_sink(file);
 *     question.sink = &sink;
 *     status = nd_explain(&summary, &question, options, NULL, &err);
 *     status = nd_output_close(file, status, &err);
 *   } */
#ifndef NEARDUP_OUTPUT_H
#define NEARDUP_OUTPUT_H

#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A path, and its name in messages, such as "-o", "the input" or "--against". */
typedef struct nd_output_path {
  const char *role, *path;
  int directory; /* an output: a directory, not a file */
} nd_output_path;

/* Checks that no input equals, contains or is inside an output, and that no output equals or is
 * inside another one.  ND_ERR_USAGE names both paths.  Compares devices and inodes, so links,
 * directories and mounts hide nothing; outputs need not exist.  Also checks files of an input
 * directory that are links into an output.  Pipes, devices, "-" and missing inputs never overlap.
 */
ND_API nd_status nd_output_check(const nd_output_path *outputs, size_t n,
                                 const nd_output_path *inputs, size_t m,
                                 nd_error *err) ND_MUST_CHECK;

/* Kinds of output files. */
typedef enum nd_output_kind { ND_OUTPUT_PLAN, ND_OUTPUT_SKETCHES, ND_OUTPUT_PAGE } nd_output_kind;

/* A file to write. */
typedef struct nd_output_request {
  const char *path;
  nd_output_kind kind;
  const char *const *inputs; /* the inputs of the job, besides those that `options` name */
  size_t input_n;
  uint64_t reserved[8]; /* 0 */
} nd_output_request;

/* A file that is written under a temporary name in its directory and renamed at the end.  A file of
 * the same kind by neardup is replaced only with --resume never, any other file only with --force
 * (ND_ERR_STATE), a directory or an input never (ND_ERR_USAGE).  A link to a file stays a link.
 * Pipes, devices and /dev/stdout are written to directly. */
typedef struct nd_output nd_output;

/* Begins a file; end it by nd_output_close.  Uses the options resume, force and sync. */
ND_API nd_status nd_output_open(nd_output **out, const nd_output_request *request,
                                const nd_options *options, nd_error *err) ND_MUST_CHECK;
/* Returns a sink that writes to the file, until it is closed. */
ND_API nd_sink nd_output_sink(nd_output *o);

/* Ends a file and frees `o`.  With the status ND_OK the file appears, on the disk unless
 * sync is no; with the status of a failure, which is returned, nothing does, and what was
 * there before stays. */
ND_API nd_status nd_output_close(nd_output *o, nd_status status, nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
