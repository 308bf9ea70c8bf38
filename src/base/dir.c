/* Directories by handle; see dir.h. */
#include "base/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io_hook.h"

nd_status nd_path_join(char **out, const char *a, const char *b, nd_error *err) {
  size_t room = strlen(a) + strlen(b) + 2;
  *out = nd_malloc(room);
  if (!*out) return nd_fail_memory(err, room);
  snprintf(*out, room, "%s/%s", a, b);
  return ND_OK;
}

/* Like nd_io_fail, but names an entry of `d` in the message. */
static nd_status fail_entry(nd_error *err, const char *verb, const nd_dir *d, const char *name,
                            int error_number) {
  char *path = NULL;
  nd_status status = nd_path_join(&path, d->path, name, NULL);
  status = nd_io_fail_to_make(err, verb, status == ND_OK ? path : name, error_number);
  nd_free(path);
  return status;
}

static nd_status open_at(int *fd, int at, const char *name, int flags, mode_t mode) {
  do {
    *fd = nd_io_refused() ? -1 : openat(at, name, flags | O_CLOEXEC, mode);
  } while (*fd < 0 && errno == EINTR);
  return *fd >= 0 ? ND_OK : ND_ERR_IO;
}

nd_status nd_dir_open(nd_dir *out, const char *path, nd_error *err) {
  *out = ND_DIR_CLOSED;
  size_t n = strlen(path) + 1;
  out->path = nd_malloc(n);
  if (!out->path) return nd_fail_memory(err, n);
  memcpy(out->path, path, n);
  if (open_at(&out->fd, AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0) == ND_OK) return ND_OK;
  nd_status status = nd_io_fail(err, "open the directory", path, errno);
  nd_dir_close(out);
  return status;
}

/* Nobody else may have made it, or be able to change what is in it. */
nd_status nd_dir_check_private(const nd_dir *d, nd_error *err) {
  nd_file_info info;
  ND_TRY(nd_io_fstat(&info, d->fd, d->path, err));
  if (info.owner != (uint32_t)geteuid())
    return nd_fail(err, ND_ERR_STATE,
                   "%s belongs to another user (id %" PRIu32 "); choose another directory", d->path,
                   info.owner);
  if (info.mode & 002)
    return nd_fail(err, ND_ERR_STATE,
                   "%s can be changed by other users; remove it, or choose another directory",
                   d->path);
  return ND_OK;
}

nd_status nd_dir_private(nd_dir *out, const nd_dir *parent, const char *name, bool make,
                         nd_error *err) {
  *out = ND_DIR_CLOSED;
  ND_TRY(nd_path_join(&out->path, parent->path, name, err));
  nd_status status = make ? nd_dir_make(parent, name, 0700, err) : ND_OK;
  if (status == ND_OK) {
    status = open_at(&out->fd, parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (status != ND_OK && (errno == ENOTDIR || errno == ELOOP))
      status = nd_fail(err, ND_ERR_STATE,
                       "%s is not a directory of neardup's; remove it, or choose another directory",
                       out->path);
    else if (status != ND_OK)
      status = nd_io_fail(err, "open the directory", out->path, errno);
  }
  if (status == ND_OK) status = nd_dir_check_private(out, err);
  if (status != ND_OK) nd_dir_close(out);
  return status;
}

void nd_dir_unique(char out[ND_DIR_UNIQUE]) {
  uint64_t number = 0;
  /* untaken: the system never refuses this */
  while (getrandom(&number, sizeof number, 0) < 0 && errno == EINTR) continue;
  snprintf(out, ND_DIR_UNIQUE, "%016" PRIx64, number);
}

void nd_dir_close(nd_dir *d) {
  if (d->fd >= 0) close(d->fd);
  nd_free(d->path);
  *d = ND_DIR_CLOSED;
}

nd_status nd_dir_probe(nd_file_info *out, const nd_dir *d, const char *name, nd_error *err) {
  struct stat st;
  *out = (nd_file_info){0};
  if (nd_io_refused() || fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? ND_OK : fail_entry(err, "access", d, name, errno);
  nd_io_fill_info(out, &st);
  return ND_OK;
}

nd_status nd_dir_open_file(int *fd, const nd_dir *d, const char *name, int flags, mode_t mode,
                           nd_error *err) {
  if (open_at(fd, d->fd, name, flags | O_NOFOLLOW, mode) == ND_OK) return ND_OK;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  return fail_entry(err, writes ? "open for writing" : "open", d, name, errno);
}

nd_status nd_dir_make(const nd_dir *d, const char *name, mode_t mode, nd_error *err) {
  if (!nd_io_refused() && mkdirat(d->fd, name, mode) == 0) return ND_OK;
  return errno == EEXIST ? ND_OK : fail_entry(err, "make the directory", d, name, errno);
}

nd_status nd_dir_rename(const nd_dir *from, const char *name, const nd_dir *to,
                        const char *new_name, nd_error *err) {
  if (!nd_io_refused() && renameat(from->fd, name, to->fd, new_name) == 0) return ND_OK;
  const int why = errno;
  char verb[600];
  snprintf(verb, sizeof verb, "rename %s/%s to", from->path, name);
  return fail_entry(err, verb, to, new_name, why);
}

/* ---- removing ---- */

static nd_status remove_entry(void *context, const char *name, nd_error *err) {
  return nd_dir_remove(context, name, err);
}

nd_status nd_dir_remove(const nd_dir *d, const char *name, nd_error *err) {
  if (!nd_io_refused() && unlinkat(d->fd, name, 0) == 0) return ND_OK;
  if (errno == ENOENT) return ND_OK;
  nd_file_info info;
  int why = errno;
  ND_TRY(nd_dir_probe(&info, d, name, err));
  if (!info.exists) return ND_OK;
  if (!info.directory) return fail_entry(err, "remove", d, name, why);
  nd_dir sub = ND_DIR_CLOSED;
  nd_status status = nd_path_join(&sub.path, d->path, name, err);
  if (status == ND_OK &&
      open_at(&sub.fd, d->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0) != ND_OK)
    status = nd_io_fail(err, "open", sub.path, errno);
  if (status == ND_OK) status = nd_dir_each(&sub, remove_entry, &sub, err);
  nd_dir_close(&sub);
  ND_TRY(status);
  if (!nd_io_refused() && unlinkat(d->fd, name, AT_REMOVEDIR) == 0) return ND_OK;
  return errno == ENOENT ? ND_OK : fail_entry(err, "remove", d, name, errno);
}

nd_status nd_dir_remove_empty(bool *removed, const nd_dir *d, const char *name, nd_error *err) {
  *removed = !nd_io_refused() && unlinkat(d->fd, name, AT_REMOVEDIR) == 0;
  if (*removed || errno == ENOTEMPTY || errno == EEXIST) return ND_OK;
  return errno == ENOENT ? ND_OK : fail_entry(err, "remove", d, name, errno);
}

nd_status nd_dir_each(const nd_dir *d, nd_dir_each_fn each, void *context, nd_error *err) {
  int fd;
  if (open_at(&fd, d->fd, ".", O_RDONLY | O_DIRECTORY, 0) != ND_OK)
    return nd_io_fail(err, "open", d->path, errno);
  DIR *list = fdopendir(fd);
  if (!list) {
    nd_status status = nd_io_fail(err, "open", d->path, errno);
    close(fd);
    return status;
  }
  nd_status status;
  const struct dirent *e;
  while ((status = nd_io_read_dir(&e, list, d->path, err)) == ND_OK && e) {
    status = each(context, e->d_name, err);
    if (status != ND_OK) break;
  }
  closedir(list);
  return status;
}

nd_status nd_remove_tree(const char *path, nd_error *err) {
  struct stat st;
  if (lstat(path, &st) != 0)
    return errno == ENOENT ? ND_OK : nd_io_fail(err, "access", path, errno);
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  char *copy = nd_malloc(n + 1);
  if (!copy) return nd_fail_memory(err, n + 1);
  memcpy(copy, path, n);
  copy[n] = '\0';
  char *slash = strrchr(copy, '/');
  const char *parent = !slash ? "." : slash == copy ? "/" : copy;
  if (slash) *slash = '\0';
  nd_dir d;
  nd_status status = nd_dir_open(&d, slash == copy ? "/" : parent, err);
  if (status == ND_OK) status = nd_dir_remove(&d, slash ? slash + 1 : copy, err);
  nd_dir_close(&d);
  nd_free(copy);
  return status;
}

/* ---- whole files ---- */

nd_status nd_dir_read(nd_buf *out, const nd_dir *d, const char *name, uint64_t most,
                      nd_error *err) {
  int fd;
  nd_file_info info;
  ND_TRY(nd_dir_open_file(&fd, d, name, O_RDONLY, 0, err));
  nd_status status = nd_io_fstat(&info, fd, name, err);
  if (status == ND_OK && info.size > most)
    status =
        nd_fail(err, ND_ERR_LIMIT, "%s/%s is larger than %" PRIu64 " bytes", d->path, name, most);
  if (status == ND_OK) status = nd_buf_reserve(out, info.size + 1, err);
  if (status == ND_OK) status = nd_io_read_full(fd, out->p + out->n, info.size, name, err);
  close(fd);
  ND_TRY(status);
  out->n += info.size;
  out->p[out->n] = '\0';
  return ND_OK;
}

nd_status nd_dir_write(const nd_dir *d, const char *name, nd_str text, bool sync, nd_error *err) {
  char unique[ND_DIR_UNIQUE], fresh[300];
  int fd;
  nd_dir_unique(unique);
  snprintf(fresh, sizeof fresh, "%.200s.%s", name, unique);
  ND_TRY(nd_dir_open_file(&fd, d, fresh, O_WRONLY | O_CREAT | O_EXCL, 0600, err));
  nd_status status = nd_io_write_full(fd, text.p, text.n, name, err);
  if (status == ND_OK && sync) status = nd_io_fsync(fd, name, err);
  nd_status closed = nd_io_close(fd, name, status == ND_OK ? err : NULL);
  if (status == ND_OK) status = closed;
  if (status == ND_OK) status = nd_dir_rename(d, fresh, d, name, err);
  if (status != ND_OK) {
    nd_status ignored = nd_dir_remove(d, fresh, NULL);
    (void)ignored;
  }
  return status;
}

/* ---- syncing ---- */

nd_status nd_dir_sync(const nd_dir *d, nd_error *err) {
  int r;
  do {
    r = nd_io_refused() ? -1 : fsync(d->fd);
  } while (r != 0 && errno == EINTR);
  /* Some file systems cannot sync a directory; there is nothing to make durable then. */
  return r == 0 || errno == EINVAL ? ND_OK : nd_io_fail(err, "sync", d->path, errno);
}

nd_status nd_io_fsync_dir(const char *path, nd_error *err) {
  nd_dir d;
  ND_TRY(nd_dir_open(&d, path, err));
  nd_status status = nd_dir_sync(&d, err);
  nd_dir_close(&d);
  return status;
}

nd_status nd_dir_sync_all(const nd_dir *d, nd_error *err) {
#if defined(__linux__)
  int r;
  do {
    r = nd_io_refused() ? -1 : syncfs(d->fd);
  } while (r != 0 && errno == EINTR);
  return r == 0 ? ND_OK : nd_io_fail(err, "sync the file system of", d->path, errno);
#else
  (void)err;
  sync();
  return nd_dir_sync(d, err);
#endif
}

/* ---- temporary files ---- */

/* For file systems without O_TMPFILE: creates a file under an unpredictable name and unlinks it. */
static nd_status open_and_unlink(int *fd, const nd_dir *d, nd_error *err) {
  char unique[ND_DIR_UNIQUE];
  nd_dir_unique(unique);
  ND_TRY(nd_dir_open_file(fd, d, unique, O_RDWR | O_CREAT | O_EXCL, 0600, err));
  nd_status status = nd_dir_remove(d, unique, err);
  if (status == ND_OK) return ND_OK;
  close(*fd);
  (void)unlinkat(d->fd, unique, 0); /* retry: nothing else would remove the file later */
  return status;
}

nd_status nd_io_open_unnamed(int *fd, const char *dir, nd_error *err) {
  nd_dir d;
  *fd = -1;
  ND_TRY(nd_dir_open(&d, dir, err));
  nd_status status = ND_ERR_IO;
  bool named = true;
#ifdef O_TMPFILE
  status = open_at(fd, d.fd, ".", O_TMPFILE | O_RDWR | O_EXCL, 0600);
  named = status != ND_OK && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
  if (status != ND_OK && !named)
    status = nd_io_fail_to_make(err, "create a temporary file in", dir, errno);
#endif
  if (named) status = open_and_unlink(fd, &d, err);
  nd_dir_close(&d);
  return status;
}
