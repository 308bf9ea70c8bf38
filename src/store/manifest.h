/* The options and inputs that a dedup run depends on, as text, and how two runs differ. */
#ifndef ND_STORE_MANIFEST_H
#define ND_STORE_MANIFEST_H

#include "base/dir.h"
#include "input/walk.h"
#include "settings/settings.h"

/* A manifest is text: one line for the version, one per relevant option and one per input file.  It
 * is produced line by line because there may be millions of inputs. */
typedef struct nd_manifest {
  const nd_settings *settings;
  const nd_walk *walk;
  uint64_t tasks; /* fingerprint of the tasks */
} nd_manifest;

nd_status nd_manifest_fingerprint(uint64_t *out, const nd_manifest *m, nd_error *err) ND_MUST_CHECK;

/* Writes the file `manifest` atomically. */
nd_status nd_manifest_write(const nd_dir *d, const nd_manifest *m, bool sync,
                            nd_error *err) ND_MUST_CHECK;

enum { ND_MANIFEST_SHOWN = 300 };
typedef struct nd_manifest_difference {
  bool differs;
  bool piped; /* the run that wrote the manifest read standard input */
  char there[ND_MANIFEST_SHOWN + 1], now[ND_MANIFEST_SHOWN + 1]; /* the first lines that differ */
} nd_manifest_difference;

/* Compares the file `manifest` in `d` with `m`. */
nd_status nd_manifest_compare(nd_manifest_difference *out, const nd_dir *d, const nd_manifest *m,
                              nd_error *err) ND_MUST_CHECK;

/* Fails with ND_ERR_STATE and a message that shows the difference. */
nd_status nd_manifest_differ(const char *dir, const nd_manifest_difference *found,
                             nd_error *err) ND_MUST_CHECK;

/* Checks that the complete result in `d` is that of the run `fingerprint`; *rejected is the number
 * of records it rejected.  Returns ND_ERR_STATE, with a message that names the option that differs
 * or the inputs, if it is not. */
nd_status nd_manifest_check_result(uint64_t *rejected, const nd_dir *d, uint64_t fingerprint,
                                   const nd_settings *s, nd_error *err) ND_MUST_CHECK;

#endif
