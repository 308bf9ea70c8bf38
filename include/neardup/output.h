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

/* A path, and what a message calls it: "-o", "the input", "--against" … */
typedef struct nd_output_path {
  const char *role, *path;
  int directory; /* an output: a directory, not a file */
} nd_output_path;

/* ND_ERR_USAGE, with both paths named, when an input is, holds or lies inside
 * an output, or an output is or lies inside another one.  Compares devices and
 * inodes, so links, folders and mounts hide nothing; outputs need not exist.  A
 * file of an input directory counts as well when it is a link into an output.
 * Pipes, devices, "-" and inputs that do not exist never overlap anything. */
ND_API nd_status nd_output_check(const nd_output_path *outputs, size_t n,
                                 const nd_output_path *inputs, size_t m,
                                 nd_error *err) ND_MUST_CHECK;

/* What a file holds. */
typedef enum nd_output_kind { ND_OUTPUT_PLAN, ND_OUTPUT_SKETCHES, ND_OUTPUT_PAGE } nd_output_kind;

/* A file to write. */
typedef struct nd_output_request {
  const char *path;
  nd_output_kind kind;
  const char *const *inputs; /* what the job reads, beside what `options` name */
  size_t input_n;
  uint64_t reserved[8]; /* 0 */
} nd_output_request;

/* A file that is written beside its place, under another name, and renamed at
 * the end.  A file of the same kind by neardup is replaced with --resume never
 * only, any other one with --force only (ND_ERR_STATE), a directory and an input
 * (ND_ERR_USAGE) never.  A link to a file stays a link.  Pipes and devices, and
 * /dev/stdout, are written to directly. */
typedef struct nd_output nd_output;

/* Begins a file; end it by nd_output_close.  Of the options, resume, force and sync count. */
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
