/* Mounts: the location of a path in its file system.
 *
 * A directory may be mounted at several paths (bind mounts, container volumes).
 * Its inode is the same everywhere, but its parent directories are not: only
 * the mount table shows that /in is /data/out/kept and /out is /data/out. */
#ifndef ND_OUTDIR_MOUNTS_H
#define ND_OUTDIR_MOUNTS_H

#include "base/mem.h"

/* Reads the mount table; empty where the system has none. */
nd_status nd_mounts_read(nd_buf *out, nd_error *err) ND_MUST_CHECK;

/* Gets "8:1 /data/out/kept" for a path without links and dots; "" if unknown. */
nd_status nd_mounts_home(nd_buf *out, nd_str table, const char *real, nd_error *err) ND_MUST_CHECK;

#endif
