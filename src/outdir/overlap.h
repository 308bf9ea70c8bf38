/* Places of files: where a path leads, before it exists.
 *
 *   /data/corpus/../out/new/x     real  /data/out     chain  /, /data, /data/out
 *                                 rest  new/x
 *
 * The part of the path that exists is known by the devices and inodes of its
 * folders from the root down, and by its path in its file system, so two names
 * of one folder (links, mounts) compare equal.  The rest does not exist yet and
 * is compared by name. */
#ifndef ND_OUTDIR_OVERLAP_H
#define ND_OUTDIR_OVERLAP_H

#include "base/io.h"
#include "neardup/output.h"
#include "outdir/mounts.h"

typedef struct nd_place_id {
  uint64_t device, inode;
} nd_place_id;

typedef struct nd_place {
  nd_file_info info;  /* of the whole path */
  char *real;         /* owned */
  char *rest;         /* owned; "": the whole path exists */
  nd_place_id *chain; /* owned; at least the root */
  size_t n, cap;
  nd_buf home; /* mounts.h; empty: not known */
} nd_place;

/* `mounts`: of nd_mounts_read, or nothing.  A link that leads nowhere is ND_ERR_USAGE: writing
 * through it would make a file that nobody has seen. */
nd_status nd_place_find(nd_place *out, const char *path, nd_str mounts,
                        nd_error *err) ND_MUST_CHECK;
void nd_place_clear(nd_place *p);

typedef enum nd_overlap { ND_APART, ND_SAME, ND_INSIDE } nd_overlap;
/* Is `a` the same as `b`, or inside of it? */
nd_overlap nd_place_compare(const nd_place *a, const nd_place *b);

#endif
