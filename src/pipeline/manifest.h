/* What a run of dedup depends on, as text, and how two runs differ. */
#ifndef ND_PIPELINE_MANIFEST_H
#define ND_PIPELINE_MANIFEST_H

#include "base/dir.h"
#include "input/walk.h"
#include "pipeline/settings.h"

/* Options and inputs, a line each; ends with a NUL.  `plan` is the fingerprint of the tasks. */
nd_status nd_manifest_make(nd_buf *out, const nd_settings *s, const nd_walk *walk, uint64_t plan,
                           nd_error *err) ND_MUST_CHECK;

/* ND_ERR_STATE with the first line in which two manifests of `dir` differ. */
nd_status nd_manifest_differ(const char *dir, const char *old, const char *now,
                             nd_error *err) ND_MUST_CHECK;

/* Is the complete result in `d` that of the run `fingerprint`?  ND_ERR_STATE names the option that
 * differs, or the inputs.  *rejected is what it rejected. */
nd_status nd_manifest_check_result(uint64_t *rejected, const nd_dir *d, uint64_t fingerprint,
                                   const nd_settings *s, nd_error *err) ND_MUST_CHECK;

#endif
