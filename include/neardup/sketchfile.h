/* Files of sketches: computed once, used in place of documents.
 *
 * nd_pairs takes such files as inputs, with every method whose sketches they
 * hold.  The format is described in docs/formats.md. */
#ifndef NEARDUP_SKETCHFILE_H
#define NEARDUP_SKETCHFILE_H

#include "neardup/run.h"

/* INPUT... → a file with the sketches that the method (candidates, confirm and
 * columns) of `options` needs.  The file is complete or not there; one that exists
 * is replaced as nd_output_open says. */
ND_API nd_status nd_sketch_documents(nd_summary *out, const char *const *inputs, size_t n,
                                     const char *file, const nd_options *options,
                                     const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;

/* Several files → one, in the order given.  Files that were made differently are
 * refused. */
ND_API nd_status nd_sketch_merge(nd_summary *out, const char *const *files, size_t n,
                                 const char *file, const nd_options *options, const nd_hooks *hooks,
                                 nd_error *err) ND_MUST_CHECK;

/* What a file holds, a line each: name TAB value.  Reads and checks all of it. */
ND_API nd_status nd_sketch_info(const char *file, const nd_sink *sink, const nd_hooks *hooks,
                                nd_error *err) ND_MUST_CHECK;

#endif
