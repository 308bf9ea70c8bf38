/* Locations of files that may not exist yet.
 *
 *   /data/corpus/../out/new/x     real  /data/out     chain  /, /data, /data/out
 *                                 rest  new/x
 *
 * The existing part of a path is identified by the devices and inodes of its
 * directories from the root down, and by its path in its file system, so two
 * names of one directory (links, mounts) compare equal.  The rest does not exist
 * yet and is compared by name. */
#ifndef ND_OUTDIR_OVERLAP_H
#define ND_OUTDIR_OVERLAP_H

#include "base/io.h"
#include "neardup/output.h"
#include "outdir/mounts.h"

typedef struct nd_location_id {
  uint64_t device, inode;
} nd_location_id;

typedef struct nd_location {
  nd_file_info info;     /* of the complete path */
  char *real;            /* owned */
  char *rest;            /* owned; "": the path exists */
  nd_location_id *chain; /* owned; at least the root */
  size_t n, cap;
  nd_buf home; /* mounts.h; empty: unknown */
} nd_location;

/* Finds the location of a path; `mounts` is from nd_mounts_read, or empty.  Returns ND_ERR_USAGE
 * for a dangling link: writing through it would create a file at an unseen path. */
nd_status nd_location_find(nd_location *out, const char *path, nd_str mounts,
                           nd_error *err) ND_MUST_CHECK;
void nd_location_clear(nd_location *p);

typedef enum nd_overlap { ND_APART, ND_SAME, ND_INSIDE } nd_overlap;
/* Compares locations: whether `a` is `b`, or is inside it. */
nd_overlap nd_location_compare(const nd_location *a, const nd_location *b);

#endif
