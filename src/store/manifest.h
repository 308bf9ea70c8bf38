/* What a run of dedup depends on, as text, and how two runs differ. */
#ifndef ND_STORE_MANIFEST_H
#define ND_STORE_MANIFEST_H

#include "base/dir.h"
#include "input/walk.h"
#include "settings/settings.h"

/* A manifest is text, a line for the version, every option that counts and every input file.  It
 * is made line by line, as inputs may be millions. */
typedef struct nd_manifest {
  const nd_settings *settings;
  const nd_walk *walk;
  uint64_t plan; /* the fingerprint of the tasks */
} nd_manifest;

nd_status nd_manifest_fingerprint(uint64_t *out, const nd_manifest *m, nd_error *err) ND_MUST_CHECK;

/* Writes the file `manifest` at once, under another name first. */
nd_status nd_manifest_write(const nd_dir *d, const nd_manifest *m, bool sync,
                            nd_error *err) ND_MUST_CHECK;

enum { ND_MANIFEST_SHOWN = 300 };
typedef struct nd_manifest_difference {
  bool differs;
  bool piped; /* the run that wrote the file read standard input */
  char there[ND_MANIFEST_SHOWN + 1], now[ND_MANIFEST_SHOWN + 1]; /* the first lines that differ */
} nd_manifest_difference;

/* Compares the file `manifest` with this one. */
nd_status nd_manifest_compare(nd_manifest_difference *out, const nd_dir *d, const nd_manifest *m,
                              nd_error *err) ND_MUST_CHECK;

/* ND_ERR_STATE that shows the difference. */
nd_status nd_manifest_differ(const char *dir, const nd_manifest_difference *found,
                             nd_error *err) ND_MUST_CHECK;

/* Is the complete result in `d` that of the run `fingerprint`?  ND_ERR_STATE names the option that
 * differs, or the inputs.  *rejected is what it rejected. */
nd_status nd_manifest_check_result(uint64_t *rejected, const nd_dir *d, uint64_t fingerprint,
                                   const nd_settings *s, nd_error *err) ND_MUST_CHECK;

#endif
