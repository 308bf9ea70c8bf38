/* Preloaded into a command: stops its process before one of its calls.
 *
 * Counts the calls that change the file system at NEARDUP_CUT_ROOT: those that write,
 * rename, remove, create, reserve or sync.  Before call number NEARDUP_CUT_AT (from 1; 0:
 * never) the process stops itself with SIGSTOP, so that the power can be cut at a known
 * call.  Each call is a line in the file NEARDUP_CUT_LOG, which is elsewhere. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *root;
static dev_t device;
static int log_fd = -1;
static unsigned long stop_at;
static _Atomic unsigned long calls;

__attribute__((constructor)) static void begin(void) {
  struct stat st;
  const char *at = getenv("NEARDUP_CUT_AT"), *log = getenv("NEARDUP_CUT_LOG");
  const char *where = getenv("NEARDUP_CUT_ROOT");
  if (!where || stat(where, &st) != 0) return;
  device = st.st_dev;
  if (log) log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  stop_at = at ? strtoul(at, NULL, 10) : 0;
  root = where;
}

static void count(const char *call, const char *name) {
  char line[512];
  unsigned long n = atomic_fetch_add(&calls, 1) + 1;
  ssize_t (*out)(int, const void *, size_t) =
      (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  int len = snprintf(line, sizeof line, "%s %s\n", call, name);
  if (len >= (int)sizeof line) len = sizeof line - 1;
  if (log_fd >= 0 && out(log_fd, line, (size_t)len) < 0) log_fd = -1;
  if (n == stop_at) raise(SIGSTOP);
}

static void count_fd(const char *call, int fd) {
  struct stat st;
  if (root && fd != log_fd && fstat(fd, &st) == 0 && st.st_dev == device) count(call, "");
}

static void count_path(const char *call, int dir, const char *path) {
  struct stat st;
  if (!root) return;
  bool here = path[0] == '/'    ? strncmp(path, root, strlen(root)) == 0
              : dir == AT_FDCWD ? stat(".", &st) == 0 && st.st_dev == device
                                : fstat(dir, &st) == 0 && st.st_dev == device;
  if (here) count(call, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_FD(type, name, parameters, ...) \
  type name parameters {                   \
    count_fd(#name, fd);                   \
    return REAL(name)(__VA_ARGS__);        \
  }
#define ON_PATH(name, dir, path, parameters, ...) \
  int name parameters {                           \
    count_path(#name, dir, path);                 \
    return REAL(name)(__VA_ARGS__);               \
  }

ON_FD(ssize_t, write, (int fd, const void *p, size_t n), fd, p, n)
ON_FD(ssize_t, writev, (int fd, const struct iovec *v, int n), fd, v, n)
ON_FD(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), fd, p, n, at)
ON_FD(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), fd, p, n, at)
ON_FD(int, fsync, (int fd), fd)
ON_FD(int, fdatasync, (int fd), fd)
ON_FD(int, syncfs, (int fd), fd)
ON_FD(int, sync_file_range, (int fd, off64_t at, off64_t n, unsigned flags), fd, at, n, flags)
ON_FD(int, ftruncate, (int fd, off_t n), fd, n)
ON_FD(int, ftruncate64, (int fd, off64_t n), fd, n)
ON_FD(int, fallocate, (int fd, int mode, off_t at, off_t n), fd, mode, at, n)
ON_FD(int, fallocate64, (int fd, int mode, off64_t at, off64_t n), fd, mode, at, n)
ON_FD(int, posix_fallocate, (int fd, off_t at, off_t n), fd, at, n)
ON_FD(int, posix_fallocate64, (int fd, off64_t at, off64_t n), fd, at, n)
ON_FD(ssize_t, copy_file_range,
      (int in, off64_t *from, int fd, off64_t *to, size_t n, unsigned flags), in, from, fd, to, n,
      flags)
ON_PATH(rename, AT_FDCWD, to, (const char *from, const char *to), from, to)
ON_PATH(renameat, d, to, (int c, const char *from, int d, const char *to), c, from, d, to)
ON_PATH(renameat2, d, to, (int c, const char *from, int d, const char *to, unsigned flags), c, from,
        d, to, flags)
ON_PATH(link, AT_FDCWD, to, (const char *from, const char *to), from, to)
ON_PATH(linkat, d, to, (int c, const char *from, int d, const char *to, int flags), c, from, d, to,
        flags)
ON_PATH(symlink, AT_FDCWD, path, (const char *to, const char *path), to, path)
ON_PATH(symlinkat, d, path, (const char *to, int d, const char *path), to, d, path)
ON_PATH(unlink, AT_FDCWD, path, (const char *path), path)
ON_PATH(unlinkat, d, path, (int d, const char *path, int flags), d, path, flags)
ON_PATH(mkdir, AT_FDCWD, path, (const char *path, mode_t mode), path, mode)
ON_PATH(mkdirat, d, path, (int d, const char *path, mode_t mode), d, path, mode)
ON_PATH(rmdir, AT_FDCWD, path, (const char *path), path)

/* Files that are only read do not count. */
#define OPENING(name, dir, parameters, ...) \
  int name parameters {                     \
    mode_t mode = 0;                        \
    if (flags & (O_CREAT | __O_TMPFILE)) {  \
      va_list more;                         \
      va_start(more, flags);                \
      mode = (mode_t)va_arg(more, int);     \
      va_end(more);                         \
      count_path(#name, dir, path);         \
    } else if (flags & O_TRUNC) {           \
      count_path(#name, dir, path);         \
    }                                       \
    return REAL(name)(__VA_ARGS__, mode);   \
  }
OPENING(open, AT_FDCWD, (const char *path, int flags, ...), path, flags)
OPENING(open64, AT_FDCWD, (const char *path, int flags, ...), path, flags)
OPENING(openat, d, (int d, const char *path, int flags, ...), d, path, flags)
OPENING(openat64, d, (int d, const char *path, int flags, ...), d, path, flags)
