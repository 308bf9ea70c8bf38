/* Directories by handle.
 *
 * A handle keeps referring to its directory whatever happens to the path: in a shared directory,
 * nobody can swap in a link or another directory between two calls.  Names are single components,
 * and a link at the name itself is never followed.  Messages show path/name. */
#ifndef ND_BASE_DIR_H
#define ND_BASE_DIR_H

#include "base/io.h"

typedef struct nd_dir {
  int fd;     /* -1: closed */
  char *path; /* owned; for messages, and for functions that take paths */
} nd_dir;
#define ND_DIR_CLOSED ((nd_dir){.fd = -1})

/* Opens an existing directory; links in the path are followed. */
nd_status nd_dir_open(nd_dir *out, const char *path, nd_error *err) ND_MUST_CHECK;

/* Opens the subdirectory `name`.  With `make`, creates it (mode 0700) if it is missing.  Returns
 * ND_ERR_STATE if it is a link or a file, belongs to another user, or is writable by others. */
nd_status nd_dir_private(nd_dir *out, const nd_dir *parent, const char *name, bool make,
                         nd_error *err) ND_MUST_CHECK;

/* Returns ND_ERR_STATE if an open directory belongs to another user or is writable by others. */
nd_status nd_dir_check_private(const nd_dir *d, nd_error *err) ND_MUST_CHECK;

enum { ND_DIR_UNIQUE = 17 }; /* bytes of a unique suffix with its NUL */
/* Writes an unpredictable suffix of 16 hexadecimal digits. */
void nd_dir_unique(char out[ND_DIR_UNIQUE]);

/* Closes and frees; a closed handle is allowed. */
void nd_dir_close(nd_dir *d);

/* Gets an entry's metadata; a missing entry is ND_OK with exists = false. */
nd_status nd_dir_probe(nd_file_info *out, const nd_dir *d, const char *name,
                       nd_error *err) ND_MUST_CHECK;
nd_status nd_dir_open_file(int *fd, const nd_dir *d, const char *name, int flags, mode_t mode,
                           nd_error *err) ND_MUST_CHECK;
/* Creates a subdirectory; an existing one is not an error. */
nd_status nd_dir_make(const nd_dir *d, const char *name, mode_t mode, nd_error *err) ND_MUST_CHECK;
nd_status nd_dir_rename(const nd_dir *from, const char *name, const nd_dir *to,
                        const char *new_name, nd_error *err) ND_MUST_CHECK;
/* Removes a file or a directory tree; a missing one is not an error. */
nd_status nd_dir_remove(const nd_dir *d, const char *name, nd_error *err) ND_MUST_CHECK;

/* Removes a subdirectory if it is empty, and says so in *removed. */
nd_status nd_dir_remove_empty(bool *removed, const nd_dir *d, const char *name,
                              nd_error *err) ND_MUST_CHECK;

/* Reads an entire file and appends a NUL.  Returns ND_ERR_LIMIT if it has more than `most`
 * bytes. */
nd_status nd_dir_read(nd_buf *out, const nd_dir *d, const char *name, uint64_t most,
                      nd_error *err) ND_MUST_CHECK;
/* Writes a file atomically, by renaming a temporary one: a reader sees the old or the new
 * contents. */
nd_status nd_dir_write(const nd_dir *d, const char *name, nd_str text, bool sync,
                       nd_error *err) ND_MUST_CHECK;

/* Calls `each` for every entry but . and ..; the callback may remove or rename that entry. */
typedef nd_status (*nd_dir_each_fn)(void *context, const char *name, nd_error *err);
nd_status nd_dir_each(const nd_dir *d, nd_dir_each_fn each, void *context,
                      nd_error *err) ND_MUST_CHECK;

/* Makes the entries of the directory durable. */
nd_status nd_dir_sync(const nd_dir *d, nd_error *err) ND_MUST_CHECK;
/* Makes everything on the directory's file system durable: files, names, sizes. */
nd_status nd_dir_sync_all(const nd_dir *d, nd_error *err) ND_MUST_CHECK;

/* Removes a directory tree or a file by path; a missing one is not an error. */
nd_status nd_remove_tree(const char *path, nd_error *err) ND_MUST_CHECK;

/* Returns a/b; the caller owns it. */
nd_status nd_path_join(char **out, const char *a, const char *b, nd_error *err) ND_MUST_CHECK;

#endif
