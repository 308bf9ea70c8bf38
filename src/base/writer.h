/* A buffered, append-only file writer.  It reserves disk space ahead of the data, which makes
 * appending several times faster on ext4, and releases what is left.  After a failure every later
 * call returns the same error. */
#ifndef ND_BASE_WRITER_H
#define ND_BASE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "neardup/status.h"

typedef struct nd_writer nd_writer;

/* Creates or truncates the file. */
nd_status nd_writer_open(nd_writer **out, const char *path, nd_error *err) ND_MUST_CHECK;
/* Writes to an open file, which the writer owns from now on, even if this fails; `path` is for
 * messages and for removing the file. */
nd_status nd_writer_take(nd_writer **out, int fd, const char *path, nd_error *err) ND_MUST_CHECK;
nd_status nd_writer_put(nd_writer *w, const void *p, size_t n, nd_error *err) ND_MUST_CHECK;
/* Appends `length` bytes at `offset` of another file. */
nd_status nd_writer_copy(nd_writer *w, int in, uint64_t offset, uint64_t length,
                         const char *in_name, nd_error *err) ND_MUST_CHECK;
/* For result files: maintains a checksum and, if `early`, has the kernel start writing to the disk
 * as soon as enough data is there.  Call before the first byte. */
void nd_writer_result(nd_writer *w, bool early);
/* Returns the XXH3 of the bytes in the file so far; after nd_writer_flush, of all bytes. */
uint64_t nd_writer_sum(const nd_writer *w);
/* Returns the number of bytes put so far, the offset of the next byte. */
uint64_t nd_writer_offset(const nd_writer *w);
/* Writes the buffer to the file, so that others can read it; the writer stays open. */
nd_status nd_writer_flush(nd_writer *w, nd_error *err) ND_MUST_CHECK;
/* Flushes, truncates the file to its real size, syncs it if `sync`, closes and frees.  If a step
 * before the close fails, the unfinished file is removed. */
nd_status nd_writer_close(nd_writer *w, bool sync, nd_error *err) ND_MUST_CHECK;
/* Writes an entire file. */
nd_status nd_writer_file(const char *path, nd_str bytes, bool sync, nd_error *err) ND_MUST_CHECK;
/* For failure paths: closes and frees without writing the rest, and removes the unfinished file (if
 * it is a regular file).  NULL is allowed. */
void nd_writer_abandon(nd_writer *w);
/* Like nd_writer_abandon, but keeps what was written: for logs, whose parts are valid on their
 * own. */
void nd_writer_leave(nd_writer *w);

#endif
