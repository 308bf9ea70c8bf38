/* Output files that appear atomically; see neardup/output.h. */
#include "outdir/output_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/io.h"
#include "base/writer.h"
#include "outdir/guard.h"

enum { HEAD_MOST = 64, LOOK = 4096 };

struct nd_output {
  const char *shown;   /* the name that the caller uses; borrowed */
  char *path, *folder; /* without links; NULL: written directly */
  char *fresh;         /* the temporary name */
  nd_file_info before; /* the file to be replaced */
  nd_writer *writer;   /* of `fresh`, unless written directly */
  int fd;              /* written directly */
  uint64_t direct;     /* bytes written to `fd` */
  char head[HEAD_MOST];
  size_t head_n;
  bool sync;
};

/* --- existing files ------------------------------------------------------------------ */

/* The first bytes of our files. */
static const struct {
  const char *name, *begin;
  bool anywhere; /* the bytes may also be further down in the head */
} kinds[] = {[ND_OUTPUT_PLAN] = {"plan", "neardup-plan ", false},
             [ND_OUTPUT_SKETCHES] = {"sketch file", "neardupS", false},
             [ND_OUTPUT_PAGE] = {"page", "<meta name=\"generator\" content=\"neardup ", true}};

static nd_status looks_like(bool *out, nd_output_kind kind, const char *path, nd_error *err) {
  char first[LOOK];
  size_t n = 0;
  int fd;
  ND_TRY(nd_io_open(&fd, path, O_RDONLY, 0, err));
  nd_status status = ND_OK;
  for (size_t got = 1; got && n < sizeof first && status == ND_OK; n += got)
    status = nd_io_read(&got, fd, first + n, sizeof first - n, path, err);
  close(fd);
  const size_t length = strlen(kinds[kind].begin);
  *out = status == ND_OK && n >= length &&
         (kinds[kind].anywhere ? memmem(first, n, kinds[kind].begin, length) != NULL
                               : memcmp(first, kinds[kind].begin, length) == 0);
  return status;
}

/* Checks that the regular file at o->path may be replaced; an empty one may. */
static nd_status check_existing(const nd_output *o, nd_output_kind kind, const nd_options *options,
                                nd_error *err) {
  bool ours = false;
  const char *name = kinds[kind].name;
  if (o->before.size == 0) return ND_OK;
  ND_TRY(looks_like(&ours, kind, o->path, err));
  if (ours && strcmp(options->resume, "never") != 0)
    return nd_fail(err, ND_ERR_STATE,
                   "%s is a %s of an earlier run; use --resume never to replace it, or name "
                   "another file",
                   o->shown, name);
  if (!ours && !options->force)
    return nd_fail(err, ND_ERR_STATE,
                   "%s exists and is not a %s of neardup; use --force to replace it, or name "
                   "another file",
                   o->shown, name);
  return ND_OK;
}

/* --- opening --------------------------------------------------------------------------- */

/* Duplicates the open descriptor that the path names; -1 if it names none.  Opening /dev/stdout
 * would overwrite the earlier contents of a file that standard output is redirected to. */
static int named_descriptor(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const size_t n = strlen(folders[i]);
    if (strncmp(path, folders[i], n) != 0 || path[n] < '0' || path[n] > '9') continue;
    char *end;
    const long number = strtol(path + n, &end, 10);
    if (*end == '\0' && number <= INT_MAX) return (int)number;
  }
  return -1;
}

static nd_status copy(char **out, const char *text, size_t n, nd_error *err) {
  *out = nd_malloc(n + 1);
  if (!*out) return nd_fail_memory(err, n + 1);
  memcpy(*out, text, n);
  (*out)[n] = '\0';
  return ND_OK;
}

/* Finds the directory of o->path, which must exist. */
static nd_status find_folder(nd_output *o, nd_error *err) {
  const char *slash = strrchr(o->path, '/');
  nd_file_info info;
  if (slash == o->path) slash++; /* "/" itself */
  ND_TRY(slash ? copy(&o->folder, o->path, (size_t)(slash - o->path), err)
               : copy(&o->folder, ".", 1, err));
  ND_TRY(nd_io_probe(&info, o->folder, err));
  if (info.directory) return ND_OK;
  return nd_fail(
      err, ND_ERR_IO, "cannot write %s: the directory %s %s", o->shown, o->folder,
      info.exists ? "is a file; name another one" : "does not exist; make it or name another one");
}

/* Creates the temporary file; its name is unpredictable and must be new. */
static nd_status make_fresh(nd_output *o, nd_error *err) {
  uint64_t number;
  int fd;
  nd_error why = {0};
  const size_t room = strlen(o->folder) + 48;
  o->fresh = nd_malloc(room);
  if (!o->fresh) return nd_fail_memory(err, room);
  /* untaken: the system never refuses this */
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    return nd_fail(err, ND_ERR_IO, "cannot name a temporary file: no random numbers available");
  snprintf(o->fresh, room, "%s/.neardup-%016" PRIx64, o->folder, number);
  const mode_t mode = o->before.exists ? (mode_t)o->before.mode : 0666;
  nd_status status =
      nd_io_open(&fd, o->fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode | 0200, &why);
  if (status != ND_OK) {
    nd_free(o->fresh);
    o->fresh = NULL;
    return nd_fail(err, status, "cannot write %s: %s", o->shown, why.message);
  }
  return nd_writer_take(&o->writer, fd, o->fresh, err);
}

static nd_status open_direct(nd_output *o, nd_error *err) {
  const int named = named_descriptor(o->shown);
  if (named < 0) return nd_io_open(&o->fd, o->shown, O_WRONLY, 0, err);
  o->fd = fcntl(named, F_DUPFD_CLOEXEC, 0);
  return o->fd >= 0 ? ND_OK : nd_fail(err, ND_ERR_IO, "cannot open %s: it is closed", o->shown);
}

static nd_status open_file(nd_output *o, const nd_output_request *q, const nd_options *options,
                           nd_error *err) {
  const nd_output_path output = {"-o", q->path, 0};
  const nd_guard guard = {.outputs = &output,
                          .output_n = 1,
                          .inputs = q->inputs,
                          .input_n = q->input_n,
                          .options = options};
  ND_TRY(nd_guard_check(&guard, err));
  if (named_descriptor(q->path) >= 0) return open_direct(o, err);
  ND_TRY(nd_io_probe(&o->before, q->path, err));
  if (o->before.directory)
    return nd_fail(err, ND_ERR_USAGE, "%s is a directory; name a file in it", q->path);
  if (o->before.exists && !o->before.regular) return open_direct(o, err);
  if (o->before.exists) { /* resolve links */
    char real[PATH_MAX];
    ND_TRY(nd_io_real_path(real, q->path, err));
    ND_TRY(copy(&o->path, real, strlen(real), err));
    ND_TRY(check_existing(o, q->kind, options, err));
  } else {
    ND_TRY(copy(&o->path, q->path, strlen(q->path), err));
  }
  ND_TRY(find_folder(o, err));
  return make_fresh(o, err);
}

nd_status nd_output_open(nd_output **out, const nd_output_request *request,
                         const nd_options *options, nd_error *err) {
  nd_output *o = nd_calloc(1, sizeof *o);
  *out = NULL;
  if (!o) return nd_fail_memory(err, sizeof *o);
  o->fd = -1;
  o->shown = request->path;
  o->sync = strcmp(options->sync, "no") != 0;
  const nd_status status = open_file(o, request, options, err);
  if (status != ND_OK) return nd_output_close(o, status, err);
  *out = o;
  return ND_OK;
}

/* --- writing ------------------------------------------------------------------------------ */

/* Reports a failure of the temporary file under the name that the caller knows. */
static nd_status pass(const nd_output *o, nd_status status, const nd_error *why, nd_error *err) {
  if (status != ND_ERR_IO) {
    nd_error_pass(err, why);
    return status;
  }
  return nd_fail(err, status, "cannot write %s: %s", o->shown, why->message);
}

nd_status nd_output_put(nd_output *o, const void *p, size_t n, nd_error *err) {
  if (!o->writer) {
    o->direct += n;
    return nd_io_write_full(o->fd, p, n, o->shown, err);
  }
  nd_error why = {0};
  const nd_status status = nd_writer_put(o->writer, p, n, &why);
  return status == ND_OK ? ND_OK : pass(o, status, &why, err);
}

uint64_t nd_output_offset(const nd_output *o) {
  return o->writer ? nd_writer_offset(o->writer) : o->direct;
}

nd_status nd_output_head(nd_output *o, const void *p, size_t n, nd_error *err) {
  if (!o->writer)
    return nd_fail(err, ND_ERR_USAGE, "%s is not a plain file; sketches need one", o->shown);
  if (n > sizeof o->head)
    return nd_fail(err, ND_ERR_LIMIT, "a file head of %zu bytes is too long", n);
  memcpy(o->head, p, n);
  o->head_n = n;
  return ND_OK;
}

static nd_status write_part(void *context, const char *bytes, size_t n, nd_error *err) {
  return nd_output_put(context, bytes, n, err);
}

nd_sink nd_output_sink(nd_output *o) {
  return (nd_sink){o, write_part};
}

/* --- closing --------------------------------------------------------------------------------- */

static nd_status write_head(const nd_output *o, nd_error *err) {
  int fd = -1;
  ND_TRY(nd_io_open(&fd, o->fresh, O_WRONLY | O_NOFOLLOW, 0, err));
  nd_status status = nd_io_pwrite_full(fd, o->head, o->head_n, 0, o->fresh, err);
  if (status == ND_OK && o->sync) status = nd_io_fsync(fd, o->fresh, err);
  nd_status closed = nd_io_close(fd, o->fresh, status == ND_OK ? err : NULL);
  return status == ND_OK ? closed : status;
}

/* Checks that no other program wrote to the path during the job. */
static nd_status check_unchanged(const nd_output *o, nd_error *err) {
  nd_file_info now;
  const nd_file_info *was = &o->before;
  ND_TRY(nd_io_probe_link(&now, o->path, err));
  if (now.exists == was->exists && now.inode == was->inode && now.device == was->device &&
      now.size == was->size && now.mtime_ns == was->mtime_ns)
    return ND_OK;
  return nd_fail(err, ND_ERR_STATE,
                 "%s was changed by another program during the run and is left alone; run again",
                 o->shown);
}

static nd_status finish(nd_output *o, nd_error *err) {
  nd_writer *writer = o->writer;
  o->writer = NULL;
  ND_TRY(nd_writer_close(writer, o->sync && !o->head_n, err));
  if (o->head_n) ND_TRY(write_head(o, err));
  ND_TRY(check_unchanged(o, err));
  ND_TRY(nd_io_rename(o->fresh, o->path, err));
  nd_free(o->fresh);
  o->fresh = NULL;
  return o->sync ? nd_io_fsync_dir(o->folder, err) : ND_OK;
}

nd_status nd_output_close(nd_output *o, nd_status status, nd_error *err) {
  if (!o) return status;
  nd_error why = {0};
  if (status == ND_OK && o->writer) {
    status = finish(o, &why);
    if (status != ND_OK) status = pass(o, status, &why, err);
  }
  nd_writer_abandon(o->writer);
  if (o->fd >= 0) {
    nd_status closed = nd_io_close(o->fd, o->shown, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = closed;
  }
  if (o->fresh) (void)unlink(o->fresh);
  nd_free(o->path);
  nd_free(o->folder);
  nd_free(o->fresh);
  nd_free(o);
  return status;
}
