/* A buffered file writer; see writer.h. */
#include "base/writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/sum.h"

enum {
  WRITER_BUFFER = 1 << 20,
  FIRST_RESERVE = 1 << 20,
  MOST_RESERVE = 1 << 25,
  WRITE_BACK = 1 << 24 /* bytes between two write-back requests */
};

struct nd_writer {
  int fd;
  bool reserves;     /* the file system can reserve space */
  uint64_t written;  /* bytes in the file */
  uint64_t reserved; /* reserved space, from the start of the file */
  char *buf;
  size_t n;           /* bytes in buf */
  nd_error failed;    /* ND_OK: none */
  bool summed;        /* maintains `sum` */
  bool early;         /* requests early write-back */
  uint64_t requested; /* written bytes for which write-back was requested */
  nd_sum sum;
  char path[];
};

static nd_status make_writer(nd_writer **out, const char *path, nd_error *err) {
  *out = NULL;
  size_t n = strlen(path) + 1;
  nd_writer *w = nd_malloc(sizeof *w + n);
  if (!w) return nd_fail_memory(err, sizeof *w + n);
  *w = (nd_writer){.fd = -1, .reserves = true};
  memcpy(w->path, path, n);
  w->buf = nd_malloc(WRITER_BUFFER);
  if (w->buf) {
    *out = w;
    return ND_OK;
  }
  nd_free(w);
  return nd_fail_memory(err, WRITER_BUFFER);
}

nd_status nd_writer_open(nd_writer **out, const char *path, nd_error *err) {
  nd_writer *w;
  *out = NULL;
  ND_TRY(make_writer(&w, path, err));
  nd_status status = nd_io_open(&w->fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0666, err);
  if (status == ND_OK) {
    *out = w;
    return ND_OK;
  }
  nd_free(w->buf);
  nd_free(w);
  return status;
}

nd_status nd_writer_take(nd_writer **out, int fd, const char *path, nd_error *err) {
  nd_status status = make_writer(out, path, err);
  if (status == ND_OK)
    (*out)->fd = fd;
  else
    close(fd);
  return status;
}

void nd_writer_result(nd_writer *w, bool early) {
  w->summed = true;
  w->early = early;
  nd_sum_begin(&w->sum);
}

uint64_t nd_writer_sum(const nd_writer *w) {
  return nd_sum_value(&w->sum);
}

/* Reserves space for `more` bytes after the written ones.  Appending to a fresh file makes ext4
 * allocate block by block; reserved space costs almost nothing.  A failure here is not an error: a
 * full disk is reported by the write, which may need less than was reserved. */
static void reserve(nd_writer *w, uint64_t more) {
  if (!w->reserves || w->written + more <= w->reserved) return;
  uint64_t step = w->reserved < FIRST_RESERVE ? FIRST_RESERVE : w->reserved;
  if (step > MOST_RESERVE) step = MOST_RESERVE;
  if (w->reserved + step < w->written + more) step = w->written + more - w->reserved;
  bool again; /* interrupted: the next flush tries again */
  if (nd_io_reserve(&again, w->fd, w->reserved, step)) {
    w->reserved += step;
  } else {
    w->reserves = again;
  }
}

static nd_status writer_fail(nd_writer *w, nd_status status, const nd_error *why, nd_error *err) {
  w->failed = *why;
  nd_error_pass(err, why);
  return status;
}

static nd_status writer_check(const nd_writer *w, nd_error *err) {
  if (w->failed.status == ND_OK) return ND_OK;
  nd_error_pass(err, &w->failed);
  return w->failed.status;
}

static nd_status write_out(nd_writer *w, const void *p, size_t n, nd_error *err) {
  nd_error why;
  nd_status status = nd_io_write_full(w->fd, p, n, w->path, &why);
  if (status != ND_OK) return writer_fail(w, status, &why, err);
  w->written += n;
  if (!w->summed) return ND_OK;
  nd_sum_add(&w->sum, p, n);
  if (w->early && w->written - w->requested >= WRITE_BACK) {
    nd_io_write_back(w->fd, w->requested, w->written - w->requested);
    w->requested = w->written;
  }
  return ND_OK;
}

nd_status nd_writer_flush(nd_writer *w, nd_error *err) {
  ND_TRY(writer_check(w, err));
  if (w->n == 0) return ND_OK;
  ND_TRY(write_out(w, w->buf, w->n, err));
  w->n = 0;
  return ND_OK;
}

static nd_status flush_and_reserve(nd_writer *w, uint64_t more, nd_error *err) {
  reserve(w, w->n + more);
  return nd_writer_flush(w, err);
}

nd_status nd_writer_put(nd_writer *w, const void *p, size_t n, nd_error *err) {
  ND_TRY(writer_check(w, err));
  if (n > WRITER_BUFFER - w->n) {
    /* Fills the buffer first, so that the file grows in full buffers. */
    size_t part = WRITER_BUFFER - w->n;
    memcpy(w->buf + w->n, p, part);
    w->n += part;
    p = (const char *)p + part;
    n -= part;
    ND_TRY(flush_and_reserve(w, n, err));
    if (n >= WRITER_BUFFER) {
      size_t whole = n - n % WRITER_BUFFER;
      ND_TRY(write_out(w, p, whole, err));
      p = (const char *)p + whole;
      n -= whole;
    }
  }
  if (n) memcpy(w->buf + w->n, p, n);
  w->n += n;
  return ND_OK;
}

nd_status nd_writer_copy(nd_writer *w, int in, uint64_t offset, uint64_t length,
                         const char *in_name, nd_error *err) {
  /* Through the buffer: measured twice as fast as copy_file_range for cached files. */
  ND_TRY(writer_check(w, err));
  nd_error why;
  nd_status status;
  while (length > 0) {
    if (w->n == WRITER_BUFFER) ND_TRY(flush_and_reserve(w, length, err));
    size_t n = WRITER_BUFFER - w->n;
    if (length < n) n = (size_t)length;
    status = nd_io_pread_full(in, w->buf + w->n, n, offset, in_name, &why);
    if (status != ND_OK) return writer_fail(w, status, &why, err);
    w->n += n;
    offset += n;
    length -= n;
  }
  return ND_OK;
}

uint64_t nd_writer_offset(const nd_writer *w) {
  return w->written + w->n;
}

/* Removes an unfinished file, lest it pass for a finished one.  Devices and pipes are kept. */
static void discard(nd_writer *w) {
  struct stat st;
  /* untaken: the system never refuses this */
  bool regular = fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
  close(w->fd);
  if (regular) unlink(w->path);
}

nd_status nd_writer_close(nd_writer *w, bool sync, nd_error *err) {
  nd_status status = nd_writer_flush(w, err);
  if (status == ND_OK && w->reserved > w->written) {
    status = nd_io_truncate(w->fd, w->written, w->path, err);
  }
  if (status == ND_OK && sync) status = nd_io_fsync(w->fd, w->path, err);
  if (status == ND_OK && w->requested) nd_io_write_back(w->fd, w->requested, 0);
  if (status == ND_OK) {
    status = nd_io_close(w->fd, w->path, err);
  } else {
    discard(w);
  }
  nd_free(w->buf);
  nd_free(w);
  return status;
}

void nd_writer_abandon(nd_writer *w) {
  if (!w) return;
  discard(w);
  nd_free(w->buf);
  nd_free(w);
}

nd_status nd_writer_file(const char *path, nd_str bytes, bool sync, nd_error *err) {
  nd_writer *w = NULL;
  ND_TRY(nd_writer_open(&w, path, err));
  const nd_status status = nd_writer_put(w, bytes.p, bytes.n, err);
  if (status == ND_OK) return nd_writer_close(w, sync, err);
  nd_writer_abandon(w);
  return status;
}

void nd_writer_leave(nd_writer *w) {
  if (!w) return;
  /* Releases reserved space; a failure here only wastes space. */
  int ignored = ftruncate(w->fd, (off_t)w->written);
  (void)ignored;
  close(w->fd);
  nd_free(w->buf);
  nd_free(w);
}
