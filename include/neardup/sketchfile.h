/* Sketch files: sketches computed once, read instead of documents.
 *
 * nd_pairs takes such files as inputs, with every method whose sketches they
 * hold.  The format is described in docs/formats.md. */
#ifndef NEARDUP_SKETCHFILE_H
#define NEARDUP_SKETCHFILE_H

#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The inputs, and the sketch file to write. */
typedef struct nd_sketch_request {
  const char *const *inputs; /* documents; or sketch files, to merge */
  size_t input_n;
  const char *file;
  uint64_t reserved[8]; /* 0 */
} nd_sketch_request;

/* Writes the sketches that the method (candidates, confirm and columns) of `options`
 * needs.  The file is written atomically; an existing one is replaced as nd_output_open says.  *out
 * is filled even if the job fails. */
ND_API nd_status nd_sketch_documents(nd_summary *out, const nd_sketch_request *request,
                                     const nd_options *options, const nd_hooks *hooks,
                                     nd_error *err) ND_MUST_CHECK;

/* Writes the sketches of several sketch files, in the order given, to one.
 * ND_ERR_USAGE names the difference between incompatible files. */
ND_API nd_status nd_sketch_merge(nd_summary *out, const nd_sketch_request *request,
                                 const nd_options *options, const nd_hooks *hooks,
                                 nd_error *err) ND_MUST_CHECK;

/* Writes what a sketch file holds to the sink, a line each: name TAB value.  Reads and
 * checks all of it; ND_ERR_DATA: the file is damaged or not a sketch file. */
ND_API nd_status nd_sketch_info(const char *file, const nd_sink *sink, const nd_hooks *hooks,
                                nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
