/* Storing standard input; see spool.h. */
#include "input/spool.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

enum { BLOCK = 1 << 20 };

typedef struct spooling {
  const nd_spool *spool;
  char *name; /* for messages */
  int fd;
  uint64_t most, written;
  nd_buf block;
} spooling;

static nd_status too_long(const spooling *s, nd_error *err) {
  if (s->spool->most)
    return nd_fail(err, ND_ERR_LIMIT,
                   "cannot store %s: there is more of it than --max-stdin allows, %llu bytes; save "
                   "it to a file and name that file, or raise --max-stdin",
                   s->name, (unsigned long long)s->most);
  return nd_fail(
      err, ND_ERR_LIMIT,
      "cannot store %s: there is more of it than half of the free space, %llu bytes; "
      "save it to a file and name that file, choose another --tmp or TMPDIR, or set --max-stdin",
      s->name, (unsigned long long)s->most);
}

static nd_status write_block(spooling *s, nd_error *err) {
  ND_TRY(nd_io_write_full(s->fd, s->block.p, s->block.n, s->name, err));
  s->written += s->block.n;
  s->block.n = 0;
  return ND_OK;
}

/* Blocks are filled before they are written: a pipe gives 64 KiB at a time. */
static nd_status copy(spooling *s, nd_error *err) {
  ND_TRY(nd_buf_reserve(&s->block, BLOCK, err));
  for (;;) {
    size_t got = 0;
    ND_TRY(nd_hooks_wait(s->spool->hooks, STDIN_FILENO, "standard input", err));
    ND_TRY(nd_io_read(&got, STDIN_FILENO, s->block.p + s->block.n, BLOCK - s->block.n,
                      "standard input", err));
    s->block.n += got;
    if (s->written + s->block.n > s->most) return too_long(s, err);
    if (got == 0 || s->block.n == BLOCK) ND_TRY(write_block(s, err));
    if (got == 0) return ND_OK;
  }
}

static nd_status run(spooling *s, nd_error *err) {
  const char *path = s->spool->path;
  ND_TRY(nd_io_unlink(path, err));
  ND_TRY(nd_io_open(&s->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, err));
  if (s->most == 0) {
    ND_TRY(nd_io_free_space(&s->most, s->fd, path, err));
    s->most /= 2;
  }
  return copy(s, err);
}

nd_status nd_spool_stdin(nd_file_info *out, const nd_spool *spool, nd_error *err) {
  spooling s = {.spool = spool, .fd = -1, .most = spool->most};
  size_t room = strlen(spool->path) + 32;
  s.name = nd_malloc(room);
  if (!s.name) return nd_fail_memory(err, room);
  snprintf(s.name, room, "standard input in %s", spool->path);
  nd_status status = run(&s, err);
  if (status == ND_OK) status = nd_io_fstat(out, s.fd, s.name, err);
  bool opened = s.fd >= 0;
  nd_status closed = nd_io_close(s.fd, s.name, status == ND_OK ? err : NULL);
  if (status == ND_OK) status = closed;
  if (status != ND_OK && opened) (void)unlink(spool->path);
  nd_buf_clear(&s.block);
  nd_free(s.name);
  return status;
}
