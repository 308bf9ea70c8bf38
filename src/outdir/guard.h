/* Checks the outputs of a job against everything that it reads. */
#ifndef ND_OUTDIR_GUARD_H
#define ND_OUTDIR_GUARD_H

#include "neardup/output.h"
#include "settings/option_fields.h"

typedef struct nd_guard {
  const nd_output_path *outputs; /* entries without a path are ignored */
  size_t output_n;
  const char *const *inputs; /* INPUT... */
  size_t input_n;
  const char *role;           /* of the inputs; NULL: "the input" */
  const nd_output_path *more; /* further inputs; entries without a path are ignored */
  size_t more_n;
  const nd_options *options; /* for --against and the plan of --sample; may be NULL */
} nd_guard;

/* Calls nd_output_check with all of these. */
nd_status nd_guard_check(const nd_guard *g, nd_error *err) ND_MUST_CHECK;

#endif
