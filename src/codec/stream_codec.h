/* Between a stream and its unpackers: a source gives packed bytes from a file
 * or from memory, a codec turns them into plain ones. */
#ifndef ND_CODEC_STREAM_CODEC_H
#define ND_CODEC_STREAM_CODEC_H

#include "base/hooks.h"
#include "base/mem.h"

enum {
  ND_STREAM_BLOCK = 1 << 18, /* bytes of one read, and what a window begins with */
  ND_SOURCE_KEEP = 8 /* consumed bytes before pos that stay, so that a codec may step back */
};

typedef struct nd_source {
  int fd;        /* -1: memory */
  bool owned;    /* close fd at the end */
  bool seekable; /* a regular file or memory: nd_source_seek works */
  bool ended;    /* nothing comes after `end` */
  const char *name;
  const nd_hooks *hooks; /* polled before every read; NULL: a read waits */
  char *buf;             /* file: ND_STREAM_BLOCK + ND_SOURCE_KEEP bytes, owned */
  const char *bytes;     /* buf, or the borrowed memory */
  size_t pos, end;       /* bytes[pos, end) are read but not consumed */
  uint64_t end_offset;   /* offset in the file of bytes[end] */
  uint64_t base;         /* offset in the file where the stream began */
} nd_source;

/* Makes pos < end, or sets `ended` with pos == end. */
nd_status nd_source_fill(nd_source *src, nd_error *err) ND_MUST_CHECK;
/* Reads into the caller's room; *got = 0 at the end.  Only while pos == end. */
nd_status nd_source_read(size_t *got, nd_source *src, char *to, size_t room,
                         nd_error *err) ND_MUST_CHECK;
/* Makes at least `want` (at most a block) bytes visible, fewer only at the end; what is
 * visible stays so. */
nd_status nd_source_ensure(nd_source *src, size_t want, nd_error *err) ND_MUST_CHECK;
/* Back to a place that was read before. */
void nd_source_seek(nd_source *src, uint64_t offset);

static inline uint64_t nd_source_offset(const nd_source *src) {
  return src->end_offset - (src->end - src->pos);
}

typedef struct nd_codec nd_codec;
struct nd_codec {
  /* Unpacks up to `room` (> 0) bytes.  ND_OK with *got = 0: the end.  On failure
   * *got counts the good bytes before it; it is not called again then, unless
   * recover has found a place to go on. */
  nd_status (*read)(size_t *got, nd_codec *c, char *to, size_t room, nd_error *err);
  /* After read failed with ND_ERR_DATA. */
  nd_status (*recover)(bool *found, nd_codec *c, nd_error *err);
  void (*free)(nd_codec *c);
  uint64_t members;
};

nd_status nd_codec_gzip_new(nd_codec **out, nd_source *src, nd_error *err) ND_MUST_CHECK;
nd_status nd_codec_zstd_new(nd_codec **out, nd_source *src, nd_error *err) ND_MUST_CHECK;

/* ---- going on behind damage: stream_resync.c ---- */

/* What a codec remembers for it. */
typedef struct nd_resync {
  uint64_t member_at; /* where the member under way begins */
  bool at_end;        /* it was read to its end; only its checksum is wrong */
  uint64_t furthest;  /* how far the source was read when damage was met last */
  uint64_t credit;    /* bytes that may still be gone back */
} nd_resync;

/* What a member looks like.  `credible` is asked where the magic bytes stand and sees `ahead`
 * bytes (at most a block), fewer only at the end of the file (`whole`). */
typedef struct nd_beacon {
  const char *magic;
  size_t magic_n;
  size_t ahead;
  nd_status (*credible)(bool *yes, void *codec, nd_str ahead, bool whole, nd_error *err);
} nd_beacon;

/* Moves the source to the next credible member, or to its end. */
nd_status nd_resync_find(bool *found, nd_resync *r, nd_source *src, const nd_beacon *b, void *codec,
                         nd_error *err) ND_MUST_CHECK;

/* ND_ERR_DATA "NAME: damaged KIND data at byte N: WHY". */
nd_status nd_source_damaged(const nd_source *src, const char *kind, const char *why, nd_error *err);
/* ND_ERR_DATA: the file ends too early, in the middle of `where`. */
nd_status nd_source_truncated(const nd_source *src, const char *kind, const char *where,
                              nd_error *err);

#endif
