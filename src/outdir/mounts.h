/* Mounts: where in its file system a path lies.
 *
 * A folder may be mounted at several places (bind mounts, the volumes of
 * containers).  Its inode is the same everywhere, but the folders above it are
 * not: only the table of mounts tells that /in is /data/out/kept and /out is
 * /data/out. */
#ifndef ND_OUTDIR_MOUNTS_H
#define ND_OUTDIR_MOUNTS_H

#include "base/mem.h"

/* The table of mounts; empty where the system shows none. */
nd_status nd_mounts_read(nd_buf *out, nd_error *err) ND_MUST_CHECK;

/* "8:1 /data/out/kept" of a path without links and dots; "": not known. */
nd_status nd_mounts_home(nd_buf *out, nd_str table, const char *real, nd_error *err) ND_MUST_CHECK;

#endif
