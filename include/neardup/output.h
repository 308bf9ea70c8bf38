/* Outputs: an input is never written over.
 *
 * Every job checks its outputs by nd_output_check before it touches anything;
 * callers that write files of their own can do the same. */
#ifndef NEARDUP_OUTPUT_H
#define NEARDUP_OUTPUT_H

#include "neardup/status.h"

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

#endif
