/* A buffered writer that only appends.  It reserves disk space ahead of the
 * data, which makes appending several times faster on ext4, and gives back what
 * is left.  After a failure every later call returns the same failure. */
#ifndef ND_BASE_WRITER_H
#define ND_BASE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "neardup/status.h"

typedef struct nd_writer nd_writer;

/* Makes or empties the file. */
nd_status nd_writer_open(nd_writer **out, const char *path, nd_error *err) ND_MUST_CHECK;
/* Writes to an open file, which the writer closes also if this fails; `path` is for messages and
 * for removing the file. */
nd_status nd_writer_take(nd_writer **out, int fd, const char *path, nd_error *err) ND_MUST_CHECK;
nd_status nd_writer_put(nd_writer *w, const void *p, size_t n, nd_error *err) ND_MUST_CHECK;
/* Appends `length` bytes at `offset` of another file. */
nd_status nd_writer_copy(nd_writer *w, int in, uint64_t offset, uint64_t length,
                         const char *in_name, nd_error *err) ND_MUST_CHECK;
/* For the files of a result: the writer keeps a checksum and, if `early`, has the kernel begin to
 * write to the disk as soon as there is enough.  Called before the first byte. */
void nd_writer_result(nd_writer *w, bool early);
/* XXH3 of the bytes in the file so far: after nd_writer_flush, all of them. */
uint64_t nd_writer_sum(const nd_writer *w);
/* Bytes put so far: where the next one goes. */
uint64_t nd_writer_offset(const nd_writer *w);
/* Puts everything into the file, so that others can read it; keeps writing. */
nd_status nd_writer_flush(nd_writer *w, nd_error *err) ND_MUST_CHECK;
/* Flushes, cuts the file to its real size, syncs it when `sync`, closes and
 * frees.  When that fails before the close the unfinished file is removed. */
nd_status nd_writer_close(nd_writer *w, bool sync, nd_error *err) ND_MUST_CHECK;
/* A whole file at once. */
nd_status nd_writer_file(const char *path, nd_str bytes, bool sync, nd_error *err) ND_MUST_CHECK;
/* For failure paths: closes and frees without writing the rest, and removes
 * the unfinished file (a regular one).  NULL is allowed. */
void nd_writer_abandon(nd_writer *w);
/* The same, but what was written stays: for logs whose parts are good by
 * themselves, even after a failure. */
void nd_writer_leave(nd_writer *w);

#endif
