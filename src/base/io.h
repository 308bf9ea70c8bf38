/* Files: the only wrapper for file calls, so that tests can make them fail.
 *
 * Every error message names the operation, the file, the system's reason and, if there is one, the
 * remedy.  `name` is only for that message. */
#ifndef ND_BASE_IO_H
#define ND_BASE_IO_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mem.h"
#include "neardup/status.h"

/* Opens with O_CLOEXEC.  `mode` is used only with O_CREAT. */
nd_status nd_io_open(int *fd, const char *path, int flags, mode_t mode,
                     nd_error *err) ND_MUST_CHECK;

/* Closes a descriptor; fd < 0 is allowed and does nothing.  The descriptor is closed even if this
 * fails. */
nd_status nd_io_close(int fd, const char *name, nd_error *err) ND_MUST_CHECK;

/* Reads at most n bytes; *got = 0 only at the end (or if n = 0). */
nd_status nd_io_read(size_t *got, int fd, void *buf, size_t n, const char *name,
                     nd_error *err) ND_MUST_CHECK;
/* Waits at most `ms` milliseconds until a read would not block because of data, the end or an
 * error.  A signal ends the wait early. */
nd_status nd_io_wait(bool *ready, int fd, int ms, const char *name, nd_error *err) ND_MUST_CHECK;
nd_status nd_io_pread(size_t *got, int fd, void *buf, size_t n, uint64_t offset, const char *name,
                      nd_error *err) ND_MUST_CHECK;

/* Reads exactly n bytes.  Returns ND_ERR_DATA if the file is shorter. */
nd_status nd_io_read_full(int fd, void *buf, size_t n, const char *name,
                          nd_error *err) ND_MUST_CHECK;
nd_status nd_io_pread_full(int fd, void *buf, size_t n, uint64_t offset, const char *name,
                           nd_error *err) ND_MUST_CHECK;
nd_status nd_io_write_full(int fd, const void *buf, size_t n, const char *name,
                           nd_error *err) ND_MUST_CHECK;
nd_status nd_io_pwrite_full(int fd, const void *buf, size_t n, uint64_t offset, const char *name,
                            nd_error *err) ND_MUST_CHECK;

/* Copies `length` bytes at `offset` of one file to the current position of another, inside the
 * kernel where possible. */
nd_status nd_io_copy_range(int in, uint64_t offset, int out, uint64_t length, const char *in_name,
                           const char *out_name, nd_error *err) ND_MUST_CHECK;

nd_status nd_io_truncate(int fd, uint64_t size, const char *name, nd_error *err) ND_MUST_CHECK;
nd_status nd_io_fsync(int fd, const char *name, nd_error *err) ND_MUST_CHECK;
/* Makes the entries of a directory durable (after a rename). */
nd_status nd_io_fsync_dir(const char *path, nd_error *err) ND_MUST_CHECK;
nd_status nd_io_rename(const char *from, const char *to, nd_error *err) ND_MUST_CHECK;
/* Removes a file; a missing one is not an error. */
nd_status nd_io_unlink(const char *path, nd_error *err) ND_MUST_CHECK;
/* Opens a new file in `dir` for reading and writing that is already unlinked: closing deletes
 * it. */
nd_status nd_io_open_unnamed(int *fd, const char *dir, nd_error *err) ND_MUST_CHECK;
/* Creates a directory and its parents; an existing one is not an error. */
nd_status nd_io_mkdirs(const char *path, nd_error *err) ND_MUST_CHECK;

/* Creates a new directory inside `in`.  `path` is below `in` and ends with XXXXXX, which is
 * replaced. */
nd_status nd_io_make_private(char *path, const char *in, nd_error *err) ND_MUST_CHECK;
/* Removes an empty directory; a missing one is not an error. */
nd_status nd_io_remove_dir(const char *path, nd_error *err) ND_MUST_CHECK;
nd_status nd_io_open_dir(DIR **out, const char *path, nd_error *err) ND_MUST_CHECK;
/* Returns the next entry but . and .., valid until the next call; NULL at the end. */
nd_status nd_io_read_dir(const struct dirent **out, DIR *dir, const char *path,
                         nd_error *err) ND_MUST_CHECK;

/* Writes the path without links and dots to `out`, which holds PATH_MAX bytes. */
nd_status nd_io_real_path(char *out, const char *path, nd_error *err) ND_MUST_CHECK;

/* Fails if the path of `name` below the output `dir`, with `between` bytes between them, would
 * exceed the system's limit. */
nd_status nd_io_check_length(const char *dir, size_t between, const char *name,
                             nd_error *err) ND_MUST_CHECK;

/* Locks an open file until it is closed.  Without `wait`, *got = false if another process holds the
 * lock.  Several processes may hold a `shared` lock. */
nd_status nd_io_lock(bool *got, int fd, bool shared, bool wait, const char *name,
                     nd_error *err) ND_MUST_CHECK;

typedef struct nd_file_info {
  bool exists;
  bool regular;
  bool directory;
  bool link;      /* set only if links are not followed */
  uint32_t mode;  /* permission bits */
  uint32_t owner; /* user id */
  uint64_t size;
  int64_t mtime_ns; /* since 1970 */
  uint64_t device;  /* device and inode identify a file */
  uint64_t inode;
} nd_file_info;

nd_status nd_io_stat(nd_file_info *out, const char *path, nd_error *err) ND_MUST_CHECK;
/* Like nd_io_stat, but a missing file is ND_OK with exists = false. */
nd_status nd_io_probe(nd_file_info *out, const char *path, nd_error *err) ND_MUST_CHECK;
/* Like nd_io_probe, but describes a symbolic link itself. */
nd_status nd_io_probe_link(nd_file_info *out, const char *path, nd_error *err) ND_MUST_CHECK;
nd_status nd_io_fstat(nd_file_info *out, int fd, const char *name, nd_error *err) ND_MUST_CHECK;

/* Returns the bytes that this process may still use on the file system of an open file; UINT64_MAX
 * if unknown. */
nd_status nd_io_free_space(uint64_t *out, int fd, const char *name, nd_error *err) ND_MUST_CHECK;

/* Advises the kernel that the file will be read from front to back. */
void nd_io_will_read_on(int fd);

/* Starts writing n bytes of the file to the disk (0: to its end) without waiting. */
void nd_io_write_back(int fd, uint64_t from, uint64_t n);

/* Reserves n bytes of disk space after the first `from`.  If that fails, *again says whether it was
 * interrupted and may be retried. */
bool nd_io_reserve(bool *again, int fd, uint64_t from, uint64_t n);

/* Writes ND_ERR_IO "cannot VERB NAME: reason of errno; remedy". */
int nd_io_error_write(nd_error *err, const char *verb, const char *name, int error_number);
static inline nd_status nd_io_fail(nd_error *err, const char *verb, const char *name,
                                   int error_number) {
  return nd_status_after(ND_ERR_IO, nd_io_error_write(err, verb, name, error_number));
}

/* Like nd_io_fail, if a new entry was to be created: ENOSPC may mean that no inodes are free. */
nd_status nd_io_fail_to_make(nd_error *err, const char *verb, const char *path, int error_number);

/* Tests: the system call number `nth` from now (1 = the next) fails with `error_number`; 0 = none.
 * Advice and the closing of descriptors on a failure path are not counted.  With ND_IO_KILL the
 * process is killed before that call. */
enum { ND_IO_KILL = -1 };
void nd_io_fail_at(uint64_t nth, int error_number);
uint64_t nd_io_count(void);          /* calls since then; counted only while nth != 0 */
void nd_io_watch(nd_watch watching); /* like nd_mem_watch */
/* Tests: a single read, write or copy transfers at most `max` bytes; 0 = no limit. */
void nd_io_short(size_t max);

#endif
