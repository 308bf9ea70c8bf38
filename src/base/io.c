/* The only file with the system's file calls.  Each call goes through `nd_io_refused` (a test can
 * make the nth call fail) and `shortened` (a test can limit every transfer). */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io_hook.h"
#include "base/mem.h"

enum { COPY_BLOCK = 1 << 18 };
#define MOST_AT_ONCE ((size_t)1 << 30) /* the kernel's own limit is just below 2 GiB */

/* ---- test hooks ---- */

static _Atomic uint64_t fail_at;
static _Atomic uint64_t calls;
static _Atomic(nd_watch) watch;
static _Atomic int fail_errno;
static _Atomic size_t short_max;

void nd_io_fail_at(uint64_t nth, int error_number) {
  atomic_store(&calls, 0);
  atomic_store(&fail_errno, error_number);
  atomic_store(&fail_at, nth);
}

uint64_t nd_io_count(void) {
  return atomic_load(&calls);
}

void nd_io_watch(nd_watch watching) {
  atomic_store(&watch, watching);
}

void nd_io_short(size_t max) {
  atomic_store(&short_max, max);
}

/* Relaxed: an ordering here would hide races from the thread sanitizer. */
bool nd_io_refused(void) {
  uint64_t nth = atomic_load_explicit(&fail_at, memory_order_relaxed);
  if (nth == 0) return false;
  uint64_t call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
  nd_watch watching = atomic_load_explicit(&watch, memory_order_relaxed);
  if (watching) watching(call);
  if (call != nth) return false;
  /* untaken: ends before it is counted */
  if (atomic_load(&fail_errno) == ND_IO_KILL) (void)raise(SIGKILL);
  errno = atomic_load(&fail_errno);
  return true;
}

static size_t shortened(size_t n) {
  size_t max = atomic_load_explicit(&short_max, memory_order_relaxed);
  if (max != 0 && n > max) n = max;
  return n < MOST_AT_ONCE ? n : MOST_AT_ONCE;
}

/* ---- messages ---- */

static const char *describe(char *buf, size_t n, int error_number) {
#if defined(__GLIBC__)
  return strerror_r(error_number, buf, n);
#else
  if (strerror_r(error_number, buf, n) != 0) snprintf(buf, n, "error %d", error_number);
  return buf;
#endif
}

int nd_io_error_write(nd_error *err, const char *verb, const char *name, int error_number) {
  const char *advice = "";
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: advice = "; free some space or choose another --tmp"; break;
    case EMFILE:
    case ENFILE: advice = "; raise the limit of open files (ulimit -n)"; break;
    case EACCES:
    case EPERM: advice = "; check its permissions"; break;
    case EROFS: advice = "; choose a writable directory"; break;
    case EFBIG: advice = "; raise the limit of file sizes (ulimit -f)"; break;
    case EIO: advice = "; the disk may be failing"; break;
    default: break;
  }
  /* The reason must fit into the message, however long the name is. */
  enum { HEAD = 200, TAIL = 300 };
  char buf[256];
  const char *why = describe(buf, sizeof buf, error_number);
  const size_t n = strlen(name);
  if (n <= HEAD + TAIL)
    return nd_error_write(err, ND_ERR_IO, "cannot %.300s %s: %s%s", verb, name, why, advice);
  return nd_error_write(err, ND_ERR_IO, "cannot %.300s %.*s...%s: %s%s", verb, HEAD, name,
                        name + n - TAIL, why, advice);
}

/* Returns true if the file system of `path`, existing or not, has no free inodes. */
static bool lacks_inodes(const char *path) {
  char folder[PATH_MAX];
  struct statvfs system;
  size_t n = strlen(path);
  if (n == 0 || n >= sizeof folder) return false;
  if (statvfs(path, &system) != 0) {
    memcpy(folder, path, n + 1);
    while (n > 0 && folder[n - 1] != '/') n--;
    if (n == 0) folder[n++] = '.';
    folder[n] = '\0';
    if (statvfs(folder, &system) != 0) return false;
  }
  return system.f_files > 0 && system.f_favail == 0;
}

nd_status nd_io_fail_to_make(nd_error *err, const char *verb, const char *path, int error_number) {
  bool inodes = error_number == ENOSPC && lacks_inodes(path);
  errno = error_number; /* callers look at errno */
  if (!inodes) return nd_io_fail(err, verb, path, error_number);
  return nd_fail(err, ND_ERR_IO,
                 "cannot %s %s: no inodes are left on its file system (df -i); remove some files "
                 "or choose another directory",
                 verb, path);
}

/* ---- single calls ---- */

nd_status nd_io_open(int *fd, const char *path, int flags, mode_t mode, nd_error *err) {
  do {
    *fd = nd_io_refused() ? -1 : open(path, flags | O_CLOEXEC, mode);
  } while (*fd < 0 && errno == EINTR);
  if (*fd >= 0) return ND_OK;
  bool writes = (flags & O_ACCMODE) != O_RDONLY;
  return nd_io_fail_to_make(err, writes ? "open for writing" : "open", path, errno);
}

nd_status nd_io_close(int fd, const char *name, nd_error *err) {
  if (fd < 0) return ND_OK;
  bool refuse = nd_io_refused();
  int error_number = errno;
  bool closed = close(fd) == 0 && !refuse;
  if (!refuse) error_number = errno;
  /* Linux has closed the descriptor when it returns EINTR; a second close may hit another
   * thread's. */
  if (closed || error_number == EINTR) return ND_OK;
  return nd_io_fail(err, "close", name, error_number);
}

nd_status nd_io_read(size_t *got, int fd, void *buf, size_t n, const char *name, nd_error *err) {
  ssize_t r;
  *got = 0;
  do {
    r = nd_io_refused() ? -1 : read(fd, buf, shortened(n));
  } while (r < 0 && errno == EINTR);
  if (r < 0) return nd_io_fail(err, "read", name, errno);
  *got = (size_t)r;
  return ND_OK;
}

nd_status nd_io_wait(bool *ready, int fd, int ms, const char *name, nd_error *err) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  const int r = nd_io_refused() ? -1 : poll(&p, 1, ms);
  *ready = r > 0; /* after POLLHUP, POLLERR or POLLNVAL the read reports the cause */
  return r >= 0 || errno == EINTR ? ND_OK : nd_io_fail(err, "wait for", name, errno);
}

nd_status nd_io_pread(size_t *got, int fd, void *buf, size_t n, uint64_t offset, const char *name,
                      nd_error *err) {
  ssize_t r;
  *got = 0;
  do {
    r = nd_io_refused() ? -1 : pread(fd, buf, shortened(n), (off_t)offset);
  } while (r < 0 && errno == EINTR);
  if (r < 0) return nd_io_fail(err, "read", name, errno);
  *got = (size_t)r;
  return ND_OK;
}

static nd_status too_short(nd_error *err, const char *name, size_t missing) {
  return nd_fail(err, ND_ERR_DATA, "%s is shorter than expected: %zu bytes are missing", name,
                 missing);
}

nd_status nd_io_read_full(int fd, void *buf, size_t n, const char *name, nd_error *err) {
  char *p = buf;
  while (n > 0) {
    size_t got;
    ND_TRY(nd_io_read(&got, fd, p, n, name, err));
    if (got == 0) return too_short(err, name, n);
    p += got;
    n -= got;
  }
  return ND_OK;
}

nd_status nd_io_pread_full(int fd, void *buf, size_t n, uint64_t offset, const char *name,
                           nd_error *err) {
  char *p = buf;
  while (n > 0) {
    size_t got;
    ND_TRY(nd_io_pread(&got, fd, p, n, offset, name, err));
    if (got == 0) return too_short(err, name, n);
    p += got;
    n -= got;
    offset += got;
  }
  return ND_OK;
}

static nd_status write_all(int fd, const void *buf, size_t n, const uint64_t *offset,
                           const char *name, nd_error *err) {
  const char *p = buf;
  uint64_t at = offset ? *offset : 0;
  while (n > 0) {
    ssize_t r;
    errno = ENOSPC; /* a write of 0 bytes means a full disk */
    if (nd_io_refused()) {
      r = -1;
    } else {
      r = offset ? pwrite(fd, p, shortened(n), (off_t)at) : write(fd, p, shortened(n));
    }
    if (r < 0 && errno == EINTR) continue;
    if (r <= 0) return nd_io_fail(err, "write", name, errno);
    p += r;
    n -= (size_t)r;
    at += (uint64_t)r;
  }
  return ND_OK;
}

nd_status nd_io_write_full(int fd, const void *buf, size_t n, const char *name, nd_error *err) {
  return write_all(fd, buf, n, NULL, name, err);
}

nd_status nd_io_pwrite_full(int fd, const void *buf, size_t n, uint64_t offset, const char *name,
                            nd_error *err) {
  return write_all(fd, buf, n, &offset, name, err);
}

nd_status nd_io_truncate(int fd, uint64_t size, const char *name, nd_error *err) {
  int r;
  do {
    r = nd_io_refused() ? -1 : ftruncate(fd, (off_t)size);
  } while (r != 0 && errno == EINTR);
  return r == 0 ? ND_OK : nd_io_fail(err, "set the size of", name, errno);
}

nd_status nd_io_fsync(int fd, const char *name, nd_error *err) {
  int r;
  do {
    r = nd_io_refused() ? -1 : fsync(fd);
  } while (r != 0 && errno == EINTR);
  return r == 0 ? ND_OK : nd_io_fail(err, "sync", name, errno);
}

nd_status nd_io_rename(const char *from, const char *to, nd_error *err) {
  if (!nd_io_refused() && rename(from, to) == 0) return ND_OK;
  char verb[PATH_MAX < 600 ? PATH_MAX : 600];
  int error_number = errno;
  snprintf(verb, sizeof verb, "rename %s to", from);
  return nd_io_fail(err, verb, to, error_number);
}

nd_status nd_io_unlink(const char *path, nd_error *err) {
  if (!nd_io_refused() && unlink(path) == 0) return ND_OK;
  return errno == ENOENT ? ND_OK : nd_io_fail(err, "remove", path, errno);
}

static nd_status make_dir(const char *path, nd_error *err) {
  if (!nd_io_refused() && mkdir(path, 0777) == 0) return ND_OK;
  int error_number = errno;
  struct stat st;
  if (error_number == EEXIST) {
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return ND_OK;
    return nd_fail(err, ND_ERR_IO,
                   "cannot make the directory %s: a file of that name exists; remove it or choose "
                   "another name",
                   path);
  }
  return nd_io_fail_to_make(err, "make the directory", path, error_number);
}

nd_status nd_io_mkdirs(const char *path, nd_error *err) {
  /* The common case first; it also avoids the parents, which may not be searchable. */
  struct stat st;
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return ND_OK;
  size_t n = strlen(path);
  char *copy = nd_malloc(n + 1);
  if (!copy) return nd_fail_memory(err, n + 1);
  memcpy(copy, path, n + 1);
  nd_status status = ND_OK;
  for (size_t i = 1; i <= n; i++) {
    if (copy[i] != '/' && copy[i] != '\0') continue;
    if (copy[i - 1] == '/') continue;
    char saved = copy[i];
    copy[i] = '\0';
    bool there = stat(copy, &st) == 0 && S_ISDIR(st.st_mode);
    if (!there) status = make_dir(copy, err);
    copy[i] = saved;
    if (status != ND_OK) break;
  }
  if (n == 0) status = nd_io_fail(err, "make the directory", "\"\"", ENOENT);
  nd_free(copy);
  return status;
}

nd_status nd_io_make_private(char *path, const char *in, nd_error *err) {
  if (!nd_io_refused() && mkdtemp(path)) return ND_OK;
  return nd_io_fail_to_make(err, "make a directory in", in, errno);
}

nd_status nd_io_remove_dir(const char *path, nd_error *err) {
  if (!nd_io_refused() && rmdir(path) == 0) return ND_OK;
  return errno == ENOENT ? ND_OK : nd_io_fail(err, "remove", path, errno);
}

nd_status nd_io_open_dir(DIR **out, const char *path, nd_error *err) {
  *out = nd_io_refused() ? NULL : opendir(path);
  return *out ? ND_OK : nd_io_fail(err, "open", path, errno);
}

nd_status nd_io_read_dir(const struct dirent **out, DIR *dir, const char *path, nd_error *err) {
  do {
    errno = 0;
    *out = nd_io_refused() ? NULL : readdir(dir);
  } while (*out && (strcmp((*out)->d_name, ".") == 0 || strcmp((*out)->d_name, "..") == 0));
  return *out || errno == 0 ? ND_OK : nd_io_fail(err, "list", path, errno);
}

nd_status nd_io_real_path(char *out, const char *path, nd_error *err) {
  if (!nd_io_refused() && realpath(path, out)) return ND_OK;
  return nd_io_fail(err, "access", path, errno);
}

nd_status nd_io_check_length(const char *dir, size_t between, const char *name, nd_error *err) {
  size_t n = strlen(dir) + between + strlen(name);
  if (n < PATH_MAX) return ND_OK;
  return nd_fail(err, ND_ERR_IO,
                 "cannot write %s below %s: the path is too long, as it would have up to %zu bytes "
                 "and %d are allowed; choose a shorter output directory (-o), or input from a "
                 "directory further down",
                 name, dir, n, PATH_MAX - 1);
}

nd_status nd_io_lock(bool *got, int fd, bool shared, bool wait, const char *name, nd_error *err) {
  int how = (shared ? LOCK_SH : LOCK_EX) | (wait ? 0 : LOCK_NB), r;
  do {
    r = nd_io_refused() ? -1 : flock(fd, how);
  } while (r != 0 && errno == EINTR);
  *got = r == 0;
  return *got || errno == EWOULDBLOCK ? ND_OK : nd_io_fail(err, "lock", name, errno);
}

void nd_io_fill_info(nd_file_info *out, const struct stat *st) {
#if defined(__APPLE__)
  struct timespec mtime = st->st_mtimespec;
#else
  struct timespec mtime = st->st_mtim;
#endif
  *out = (nd_file_info){.exists = true,
                        .regular = S_ISREG(st->st_mode),
                        .directory = S_ISDIR(st->st_mode),
                        .link = S_ISLNK(st->st_mode),
                        .mode = (uint32_t)st->st_mode & 07777,
                        .owner = (uint32_t)st->st_uid,
                        .size = st->st_size > 0 ? (uint64_t)st->st_size : 0,
                        .mtime_ns = (int64_t)mtime.tv_sec * 1000000000 + mtime.tv_nsec,
                        .device = (uint64_t)st->st_dev,
                        .inode = (uint64_t)st->st_ino};
}

nd_status nd_io_stat(nd_file_info *out, const char *path, nd_error *err) {
  struct stat st;
  *out = (nd_file_info){0};
  if (nd_io_refused() || stat(path, &st) != 0) return nd_io_fail(err, "find", path, errno);
  nd_io_fill_info(out, &st);
  return ND_OK;
}

nd_status nd_io_probe(nd_file_info *out, const char *path, nd_error *err) {
  struct stat st;
  *out = (nd_file_info){0};
  if (nd_io_refused() || stat(path, &st) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? ND_OK : nd_io_fail(err, "find", path, errno);
  }
  nd_io_fill_info(out, &st);
  return ND_OK;
}

nd_status nd_io_probe_link(nd_file_info *out, const char *path, nd_error *err) {
  struct stat st;
  *out = (nd_file_info){0};
  if (nd_io_refused() || lstat(path, &st) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? ND_OK : nd_io_fail(err, "find", path, errno);
  }
  nd_io_fill_info(out, &st);
  return ND_OK;
}

nd_status nd_io_fstat(nd_file_info *out, int fd, const char *name, nd_error *err) {
  struct stat st;
  *out = (nd_file_info){0};
  if (nd_io_refused() || fstat(fd, &st) != 0) return nd_io_fail(err, "access", name, errno);
  nd_io_fill_info(out, &st);
  return ND_OK;
}

nd_status nd_io_free_space(uint64_t *out, int fd, const char *name, nd_error *err) {
  struct statvfs st;
  *out = UINT64_MAX;
  if (nd_io_refused() || fstatvfs(fd, &st) != 0)
    return nd_io_fail(err, "find the free space for", name, errno);
  if (st.f_blocks) *out = (uint64_t)st.f_bavail * st.f_frsize;
  return ND_OK;
}

void nd_io_will_read_on(int fd) {
#if defined(POSIX_FADV_SEQUENTIAL)
  (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#else
  (void)fd;
#endif
}

void nd_io_write_back(int fd, uint64_t from, uint64_t n) {
#if defined(__linux__)
  (void)sync_file_range(fd, (off_t)from, (off_t)n, SYNC_FILE_RANGE_WRITE);
#else
  (void)fd, (void)from, (void)n;
#endif
}

bool nd_io_reserve(bool *again, int fd, uint64_t from, uint64_t n) {
#if defined(__linux__)
  const int r = nd_io_refused() ? -1 : fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)n);
  *again = r != 0 && errno == EINTR;
  return r == 0;
#else
  (void)fd, (void)from, (void)n;
  *again = false;
  return false;
#endif
}

/* ---- copying ---- */

/* Copies inside the kernel and sets *done to the bytes copied.  ND_OK with fewer than `length`: the
 * kernel cannot, and the caller copies the rest. */
static nd_status kernel_copy(uint64_t *done, int in, uint64_t offset, int out, uint64_t length,
                             const char *in_name, const char *out_name, nd_error *err) {
  *done = 0;
#if defined(__linux__)
  while (*done < length) {
    off_t at = (off_t)(offset + *done);
    uint64_t left = length - *done;
    size_t n = shortened(left < MOST_AT_ONCE ? (size_t)left : MOST_AT_ONCE);
    ssize_t r = nd_io_refused() ? -1 : copy_file_range(in, &at, out, NULL, n, 0);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) {
      switch (errno) {
        case ENOSPC:
        case EDQUOT:
        case EFBIG: return nd_io_fail(err, "write", out_name, errno);
        case EIO: return nd_io_fail(err, "copy to", out_name, errno);
        /* EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EBADF (append mode) and others: ordinary calls decide.
         */
        default: return ND_OK;
      }
    }
    /* 0 means the end, but some kernels also return 0 for files of /proc. */
    if (r == 0) return ND_OK;
    *done += (uint64_t)r;
  }
#endif
  (void)in, (void)offset, (void)out, (void)length, (void)in_name, (void)out_name, (void)err;
  return ND_OK;
}

nd_status nd_io_copy_range(int in, uint64_t offset, int out, uint64_t length, const char *in_name,
                           const char *out_name, nd_error *err) {
  uint64_t done;
  ND_TRY(kernel_copy(&done, in, offset, out, length, in_name, out_name, err));
  if (done == length) return ND_OK;
  uint64_t left = length - done;
  size_t block = left < COPY_BLOCK ? (size_t)left : COPY_BLOCK;
  char *buf = nd_malloc(block);
  if (!buf) return nd_fail_memory(err, block);
  nd_status status = ND_OK;
  while (done < length && status == ND_OK) {
    size_t n = length - done < block ? (size_t)(length - done) : block;
    status = nd_io_pread_full(in, buf, n, offset + done, in_name, err);
    if (status == ND_OK) status = nd_io_write_full(out, buf, n, out_name, err);
    done += n;
  }
  nd_free(buf);
  return status;
}
