/* The window over the decompressed bytes of a file.
 *
 *     win: [ consumed | visible (live) | room ]
 *          0        begin            end     cap (+ ND_SLACK)
 *
 * Data is decompressed up to the next multiple of BLOCK of the decompressed offset,
 * whatever the caller wants, so the number of bytes delivered before damage depends only
 * on the file.
 *
 * Data is decompressed to `end`.  If there is too little room, the visible bytes move to
 * the front and the window grows to 1.5 × live + a block.  A move of L bytes therefore
 * follows about L/2 new ones: amortised O(1) per byte for any pattern of peeks, and at most
 * 1.5 × the largest want plus a block of memory. */
#include "codec/stream.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "codec/stream_codec.h"

enum { BLOCK = ND_STREAM_BLOCK, MIN_ROOM = BLOCK / 4 };

struct nd_stream {
  nd_source src;
  nd_packing packing;
  nd_codec *codec; /* NULL if uncompressed */
  char *win;
  size_t begin, end, cap;
  uint64_t offset; /* decompressed offset of `begin` */
  bool ended;
  bool lost;       /* no data after the damage can be read */
  nd_error failed; /* the current failure, or status ND_OK */
  char *name;
};

/* ---- source ---- */

nd_status nd_source_read(size_t *got, nd_source *src, char *to, size_t room, nd_error *err) {
  *got = 0;
  if (src->fd < 0) { /* memory: all bytes are in [pos, end) */
    size_t n = src->end - src->pos < room ? src->end - src->pos : room;
    if (n) memcpy(to, src->bytes + src->pos, n);
    src->pos += n;
    *got = n;
  } else if (src->seekable) {
    ND_TRY(nd_hooks_check(src->hooks, err));
    ND_TRY(nd_io_pread(got, src->fd, to, room, src->end_offset, src->name, err));
    src->end_offset += *got;
  } else {
    ND_TRY(nd_hooks_wait(src->hooks, src->fd, src->name, err));
    ND_TRY(nd_io_read(got, src->fd, to, room, src->name, err));
    src->end_offset += *got;
  }
  if (*got == 0) src->ended = true;
  return ND_OK;
}

nd_status nd_source_fill(nd_source *src, nd_error *err) {
  if (src->pos < src->end || src->ended) return ND_OK;
  if (src->fd < 0) {
    src->ended = true;
    return ND_OK;
  }
  size_t keep = src->pos < ND_SOURCE_KEEP ? src->pos : ND_SOURCE_KEEP;
  memmove(src->buf, src->buf + src->pos - keep, keep);
  src->pos = src->end = keep;
  size_t got;
  ND_TRY(nd_source_read(&got, src, src->buf + keep, BLOCK, err));
  src->end += got;
  return ND_OK;
}

void nd_source_seek(nd_source *src, uint64_t offset) {
  src->ended = false;
  uint64_t back = src->end_offset - offset;
  if (src->fd < 0) {
    src->pos = (size_t)offset;
  } else if (back <= src->end) {
    src->pos = src->end - (size_t)back;
  } else {
    src->pos = src->end = 0;
    src->end_offset = offset;
  }
}

nd_status nd_source_damaged(const nd_source *src, const char *kind, const char *why,
                            nd_error *err) {
  return nd_fail(err, ND_ERR_DATA, "%s: damaged %s data at byte %llu: %s", src->name, kind,
                 (unsigned long long)nd_source_offset(src), why);
}

nd_status nd_source_truncated(const nd_source *src, const char *kind, const char *where,
                              nd_error *err) {
  return nd_fail(err, ND_ERR_DATA,
                 "%s: truncated %s data: the file ends at byte %llu, in the middle of %s; copy or "
                 "compress it again",
                 src->name, kind, (unsigned long long)nd_source_offset(src), where);
}

/* ---- opening ---- */

static nd_packing recognise(const char *bytes, size_t n) {
  const unsigned char *b = (const unsigned char *)bytes;
  if (n >= 2 && b[0] == 0x1f && b[1] == 0x8b) return ND_PACKING_GZIP;
  if (n >= 4 && b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd) {
    return ND_PACKING_ZSTD;
  }
  /* Files of pzstd and of zstd WARC writers start with a skippable frame. */
  if (n >= 4 && (b[0] & 0xf0) == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18) {
    return ND_PACKING_ZSTD;
  }
  return ND_PACKING_NONE;
}

static nd_status stream_new(nd_stream **out, const char *name, nd_error *err) {
  *out = NULL;
  size_t n = strlen(name) + 1;
  nd_stream *s = nd_calloc(1, sizeof *s + n);
  if (!s) return nd_fail_memory(err, sizeof *s + n);
  s->name = (char *)(s + 1);
  memcpy(s->name, name, n);
  s->src.fd = -1;
  s->src.name = s->name;
  *out = s;
  return ND_OK;
}

static nd_status new_window(nd_stream *s, size_t cap, nd_error *err) {
  s->win = nd_malloc(cap + ND_SLACK);
  if (!s->win) return nd_fail_memory(err, cap + ND_SLACK);
  memset(s->win + cap, 0, ND_SLACK);
  s->cap = cap;
  return ND_OK;
}

static nd_status new_codec(nd_stream *s, nd_error *err) {
  if (s->packing == ND_PACKING_GZIP) return nd_codec_gzip_new(&s->codec, &s->src, err);
  if (s->packing == ND_PACKING_ZSTD) return nd_codec_zstd_new(&s->codec, &s->src, err);
  return ND_OK;
}

static nd_status open_source(nd_source *src, const char *path, nd_error *err) {
  if (strcmp(path, "-") == 0) {
    src->fd = STDIN_FILENO;
  } else {
    /* Opening a FIFO waits for its writer.  If hooks are polled, the first read waits instead. */
    ND_TRY(nd_io_open(&src->fd, path, src->hooks ? O_RDONLY | O_NONBLOCK : O_RDONLY, 0, err));
    src->owned = true;
  }
  nd_file_info info;
  ND_TRY(nd_io_fstat(&info, src->fd, src->name, err));
  if (info.directory) {
    return nd_fail(err, ND_ERR_IO, "cannot read %s: it is a directory, not a file", src->name);
  }
  src->seekable = info.regular;
  if (src->seekable) {
    nd_io_will_read_on(src->fd);
    off_t at = src->owned ? 0 : lseek(src->fd, 0, SEEK_CUR);
    src->base = src->end_offset = at > 0 ? (uint64_t)at : 0;
  }
  return ND_OK;
}

/* Reads a block to detect the compression.  The block becomes the window of an uncompressed
 * file, or the buffer of the source. */
nd_status nd_stream_open_polled(nd_stream **out, const char *path, const nd_hooks *hooks,
                                nd_error *err) {
  *out = NULL;
  nd_stream *s;
  ND_TRY(stream_new(&s, path, err));
  s->src.hooks = hooks && hooks->cancelled ? hooks : NULL;
  nd_status status;
  ND_TRY_GOTO(open_source(&s->src, path, err), fail);
  ND_TRY_GOTO(new_window(s, BLOCK + ND_SOURCE_KEEP, err), fail);
  while (s->end < 4 && !s->ended) {
    size_t got;
    ND_TRY_GOTO(nd_source_read(&got, &s->src, s->win + s->end, BLOCK - s->end, err), fail);
    s->end += got;
    s->ended = got == 0;
  }
  s->packing = recognise(s->win, s->end);
  if (s->packing != ND_PACKING_NONE) {
    s->src.buf = s->win;
    s->src.bytes = s->win;
    s->src.end = s->end;
    s->win = NULL;
    s->end = 0;
    s->ended = false;
    ND_TRY_GOTO(new_window(s, BLOCK, err), fail);
    ND_TRY_GOTO(new_codec(s, err), fail);
  }
  *out = s;
  return ND_OK;
fail:
  nd_stream_close(s);
  return status;
}

nd_status nd_stream_open(nd_stream **out, const char *path, nd_error *err) {
  return nd_stream_open_polled(out, path, NULL, err);
}

nd_status nd_stream_open_memory(nd_stream **out, nd_str bytes, const char *name, nd_error *err) {
  *out = NULL;
  nd_stream *s;
  ND_TRY(stream_new(&s, name, err));
  nd_status status;
  s->src.bytes = bytes.p;
  s->src.end = bytes.n;
  s->src.end_offset = bytes.n;
  s->src.seekable = true;
  s->packing = recognise(bytes.p, bytes.n);
  ND_TRY_GOTO(new_window(s, BLOCK, err), fail);
  ND_TRY_GOTO(new_codec(s, err), fail);
  *out = s;
  return ND_OK;
fail:
  nd_stream_close(s);
  return status;
}

void nd_stream_close(nd_stream *s) {
  if (!s) return;
  if (s->codec) s->codec->free(s->codec);
  if (s->src.owned) close(s->src.fd);
  nd_free(s->src.buf);
  nd_free(s->win);
  nd_free(s);
}

/* ---- the window ---- */

static nd_status make_room(nd_stream *s, size_t room, nd_error *err) {
  if (s->cap - s->end >= room) return ND_OK;
  size_t live = s->end - s->begin;
  if (s->begin > 0) {
    memmove(s->win, s->win + s->begin, live);
    s->begin = 0;
    s->end = live;
  }
  /* untaken: more bytes than can be addressed */
  if (live > SIZE_MAX / 4) return nd_fail_memory(err, SIZE_MAX);
  size_t cap = live + live / 2 + BLOCK;
  if (s->cap >= cap) return ND_OK;
  char *win = nd_realloc(s->win, cap + ND_SLACK);
  if (!win) return nd_fail_memory(err, cap + ND_SLACK);
  memset(win + cap, 0, ND_SLACK);
  s->win = win;
  s->cap = cap;
  return ND_OK;
}

/* Decompresses more bytes after the visible ones.  ND_OK without new bytes means the end. */
static nd_status refill(nd_stream *s, nd_error *err) {
  size_t piece = BLOCK - (size_t)((s->offset + (s->end - s->begin)) % BLOCK);
  ND_TRY(make_room(s, s->codec ? piece : MIN_ROOM, err));
  size_t got = 0;
  nd_error why;
  nd_status status;
  char *to = s->win + s->end;
  size_t room = s->codec ? piece : s->cap - s->end;
  if (s->codec) {
    status = s->codec->read(&got, s->codec, to, room, &why);
  } else {
    status = nd_source_read(&got, &s->src, to, room, &why);
  }
  s->end += got;
  if (status != ND_OK) {
    s->failed = why;
    s->failed.status = status;
  } else if (got == 0) {
    s->ended = true;
  }
  return ND_OK;
}

nd_status nd_stream_peek(nd_str *out, nd_stream *s, size_t want, nd_error *err) {
  nd_status status = ND_OK;
  while (s->end - s->begin < want && !s->ended) {
    if (s->failed.status != ND_OK) {
      nd_error_pass(err, &s->failed);
      status = s->failed.status;
      break;
    }
    status = refill(s, err);
    if (status != ND_OK) break;
  }
  *out = (nd_str){s->win + s->begin, s->end - s->begin};
  return status;
}

void nd_stream_skip(nd_stream *s, size_t n) {
  if (n > s->end - s->begin) n = s->end - s->begin;
  s->begin += n;
  s->offset += n;
}

/* An uncompressed file is skipped without reading, if it is long enough. */
static nd_status jump(nd_stream *s, uint64_t *n, nd_error *err) {
  nd_file_info info;
  ND_TRY(nd_io_fstat(&info, s->src.fd, s->name, err));
  uint64_t left = info.size > s->src.end_offset ? info.size - s->src.end_offset : 0;
  uint64_t step = *n < left ? *n : left;
  s->src.end_offset += step;
  s->offset += step;
  *n -= step;
  return ND_OK;
}

nd_status nd_stream_advance(nd_stream *s, uint64_t n, nd_error *err) {
  for (;;) {
    size_t live = s->end - s->begin;
    size_t step = n < live ? (size_t)n : live;
    nd_stream_skip(s, step);
    n -= step;
    if (n == 0) return ND_OK;
    s->begin = s->end = 0;
    bool plain_file = !s->codec && s->src.fd >= 0 && s->src.seekable && !s->ended;
    if (plain_file && n > BLOCK && s->failed.status == ND_OK) {
      ND_TRY(jump(s, &n, err));
      if (n == 0) return ND_OK;
    }
    nd_str seen;
    ND_TRY(nd_stream_peek(&seen, s, 1, err));
    if (seen.n == 0) {
      return nd_fail(err, ND_ERR_DATA, "%s is shorter than expected: it ends at byte %llu", s->name,
                     (unsigned long long)s->offset);
    }
  }
}

nd_status nd_stream_recover(bool *found, nd_stream *s, nd_error *err) {
  *found = false;
  if (!s->codec || s->failed.status != ND_ERR_DATA || s->lost) return ND_OK;
  nd_stream_skip(s, s->end - s->begin);
  nd_error why;
  nd_status status = s->codec->recover(found, s->codec, &why);
  if (status != ND_OK) {
    s->failed = why;
    s->failed.status = status;
    nd_error_pass(err, &s->failed);
    return status;
  }
  if (*found) s->failed.status = ND_OK;
  s->lost = !*found;
  return ND_OK;
}

bool nd_stream_glimpse(size_t *got, nd_stream *s, uint64_t distance, char *to, size_t room) {
  *got = 0;
  if (s->codec || s->src.fd < 0 || !s->src.seekable) return false;
  uint64_t at = s->src.end_offset - (s->end - s->begin) + distance;
  while (*got < room) {
    size_t step;
    if (nd_io_pread(&step, s->src.fd, to + *got, room - *got, at + *got, s->name, NULL) != ND_OK)
      return false;
    if (step == 0) break;
    *got += step;
  }
  return true;
}

uint64_t nd_stream_offset(const nd_stream *s) {
  return s->offset;
}

uint64_t nd_stream_packed_offset(const nd_stream *s) {
  uint64_t at = nd_source_offset(&s->src) - s->src.base;
  /* The window of an uncompressed stream has bytes that are read but not consumed. */
  return s->codec ? at : at - (s->end - s->begin);
}

uint64_t nd_stream_members(const nd_stream *s) {
  return s->codec ? s->codec->members : 0;
}
nd_packing nd_stream_packing(const nd_stream *s) {
  return s->packing;
}
const char *nd_stream_name(const nd_stream *s) {
  return s->name;
}
