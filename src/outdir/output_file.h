/* Output files as used by jobs; see neardup/output.h. */
#ifndef ND_OUTDIR_OUTPUT_FILE_H
#define ND_OUTDIR_OUTPUT_FILE_H

#include "neardup/output.h"

nd_status nd_output_put(nd_output *o, const void *p, size_t n, nd_error *err) ND_MUST_CHECK;
/* Returns the number of bytes written so far. */
uint64_t nd_output_offset(const nd_output *o);
/* Sets the bytes that replace the start of the file when it is closed.  Returns ND_ERR_USAGE for
 * pipes and devices. */
nd_status nd_output_head(nd_output *o, const void *p, size_t n, nd_error *err) ND_MUST_CHECK;

#endif
