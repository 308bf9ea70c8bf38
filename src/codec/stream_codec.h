/* Interface between a stream and its decompressors: a source reads compressed bytes from a
 * file or memory, a codec decompresses them. */
#ifndef ND_CODEC_STREAM_CODEC_H
#define ND_CODEC_STREAM_CODEC_H

#include "base/hooks.h"
#include "base/mem.h"

enum {
  ND_STREAM_BLOCK = 1 << 18, /* bytes per read, and initial size of a window */
  ND_SOURCE_KEEP = 8         /* consumed bytes kept before pos, so that a codec may step back */
};

typedef struct nd_source {
  int fd;        /* -1 for memory */
  bool owned;    /* fd is closed at the end */
  bool seekable; /* a regular file or memory: nd_source_seek works */
  bool ended;    /* no bytes follow after `end` */
  const char *name;
  const nd_hooks *hooks; /* polled before every read; NULL: reads block */
  char *buf;             /* file: ND_STREAM_BLOCK + ND_SOURCE_KEEP bytes, owned */
  const char *bytes;     /* buf, or the borrowed memory */
  size_t pos, end;       /* bytes[pos, end) are read but not consumed */
  uint64_t end_offset;   /* offset in the file of bytes[end] */
  uint64_t base;         /* offset in the file of the start of the stream */
} nd_source;

/* Reads until pos < end, or sets `ended` with pos == end. */
nd_status nd_source_fill(nd_source *src, nd_error *err) ND_MUST_CHECK;
/* Reads into a buffer of the caller; *got = 0 at the end.  Requires pos == end. */
nd_status nd_source_read(size_t *got, nd_source *src, char *to, size_t room,
                         nd_error *err) ND_MUST_CHECK;
/* Makes at least `want` (at most a block) bytes visible, fewer only at the end; visible bytes
 * remain visible. */
nd_status nd_source_ensure(nd_source *src, size_t want, nd_error *err) ND_MUST_CHECK;
/* Returns to an offset that was read before. */
void nd_source_seek(nd_source *src, uint64_t offset);

static inline uint64_t nd_source_offset(const nd_source *src) {
  return src->end_offset - (src->end - src->pos);
}

typedef struct nd_codec nd_codec;
struct nd_codec {
  /* Decompresses up to `room` (> 0) bytes.  ND_OK with *got = 0 means the end.  On failure
   * *got counts the good bytes before it; the next call is then allowed only after recover
   * has found a member. */
  nd_status (*read)(size_t *got, nd_codec *c, char *to, size_t room, nd_error *err);
  /* Searches for the next member after read failed with ND_ERR_DATA. */
  nd_status (*recover)(bool *found, nd_codec *c, nd_error *err);
  void (*free)(nd_codec *c);
  uint64_t members;
};

nd_status nd_codec_gzip_new(nd_codec **out, nd_source *src, nd_error *err) ND_MUST_CHECK;
nd_status nd_codec_zstd_new(nd_codec **out, nd_source *src, nd_error *err) ND_MUST_CHECK;

/* ---- recovery from damage: stream_resync.c ---- */

/* State of a codec for recovery. */
typedef struct nd_resync {
  uint64_t member_at; /* start of the current member */
  bool at_end;        /* the member was read to its end; only its checksum is wrong */
  uint64_t furthest;  /* end of the bytes read at the last damage */
  uint64_t credit;    /* bytes that recovery may still step back */
} nd_resync;

/* Detection of a member.  `credible` is called at magic bytes with `ahead` bytes (at most a
 * block), fewer only at the end of the file (`whole`). */
typedef struct nd_beacon {
  const char *magic;
  size_t magic_n;
  size_t ahead;
  nd_status (*credible)(bool *yes, void *codec, nd_str ahead, bool whole, nd_error *err);
} nd_beacon;

/* Moves the source to the next credible member, or to its end. */
nd_status nd_resync_find(bool *found, nd_resync *r, nd_source *src, const nd_beacon *b, void *codec,
                         nd_error *err) ND_MUST_CHECK;

/* Returns ND_ERR_DATA "NAME: damaged KIND data at byte N: WHY". */
nd_status nd_source_damaged(const nd_source *src, const char *kind, const char *why, nd_error *err);
/* Returns ND_ERR_DATA: the file ends in the middle of `where`. */
nd_status nd_source_truncated(const nd_source *src, const char *kind, const char *where,
                              nd_error *err);

#endif
