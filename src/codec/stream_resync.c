/* Recovery from damage: the search for the next member that can be decompressed.
 *
 * Decompressing damaged bytes often continues into later members, so in a seekable source
 * the search starts just after the start of the damaged member.  Time is linear for any
 * bytes: a trial reads a bounded number of bytes, and stepping back uses a credit that grows
 * only with newly read bytes.  Nested members that all fail at the end of the file therefore
 * do not cause one pass over the file each. */
#include "codec/stream_codec.h"

enum {
  FIRST_CREDIT = 1 << 20,
  CREDIT = 4 /* bytes to step back per newly read byte */
};

nd_status nd_source_ensure(nd_source *src, size_t want, nd_error *err) {
  while (src->end - src->pos < want && !src->ended) {
    if (src->fd < 0) {
      src->ended = true;
      break;
    }
    if (src->pos > ND_SOURCE_KEEP && src->pos + want > ND_STREAM_BLOCK) {
      size_t from = src->pos - ND_SOURCE_KEEP;
      memmove(src->buf, src->buf + from, src->end - from);
      src->pos = ND_SOURCE_KEEP;
      src->end -= from;
    }
    size_t got;
    size_t room = ND_STREAM_BLOCK + ND_SOURCE_KEEP - src->end;
    ND_TRY(nd_source_read(&got, src, src->buf + src->end, room, err));
    src->end += got;
  }
  return ND_OK;
}

/* Tests whether a member starts at the current offset. */
static nd_status try_here(bool *yes, nd_source *src, const nd_beacon *b, void *codec,
                          nd_error *err) {
  *yes = false;
  ND_TRY(nd_source_ensure(src, b->ahead, err));
  nd_str ahead = {src->bytes + src->pos, src->end - src->pos};
  if (ahead.n < b->magic_n || memcmp(ahead.p, b->magic, b->magic_n) != 0) return ND_OK;
  /* Limit the view to `ahead`: the result must not depend on the buffer. */
  bool whole = ahead.n <= b->ahead && src->ended;
  if (ahead.n > b->ahead) ahead.n = b->ahead;
  return b->credible(yes, codec, ahead, whole, err);
}

/* After a wrong checksum, tests for a member that follows directly.  *ended: the source ends. */
static nd_status try_next(bool *yes, bool *ended, nd_source *src, const nd_beacon *b, void *codec,
                          nd_error *err) {
  *yes = *ended = false;
  for (;;) {
    ND_TRY(nd_source_ensure(src, 1, err));
    while (src->pos < src->end && src->bytes[src->pos] == 0) src->pos++;
    if (src->pos < src->end) return try_here(yes, src, b, codec, err);
    if (src->ended) {
      *ended = true;
      return ND_OK;
    }
  }
}

/* Steps back to just after the start of the damaged member, as far as the credit allows. */
static void go_back(nd_source *src, nd_resync *r) {
  uint64_t here = nd_source_offset(src);
  if (here > r->furthest) {
    r->credit += r->furthest ? CREDIT * (here - r->furthest) : FIRST_CREDIT + CREDIT * here;
    r->furthest = here;
  }
  uint64_t start = r->member_at + 1;
  if (start >= here || !src->seekable) return;
  if (here - start > r->credit) start = here - r->credit;
  r->credit -= here - start;
  nd_source_seek(src, start);
}

nd_status nd_resync_find(bool *found, nd_resync *r, nd_source *src, const nd_beacon *b, void *codec,
                         nd_error *err) {
  *found = false;
  if (r->at_end) {
    bool ended;
    r->at_end = false;
    ND_TRY(try_next(found, &ended, src, b, codec, err));
    if (*found || ended) return ND_OK;
  }
  go_back(src, r);
  for (;;) {
    ND_TRY(nd_source_ensure(src, b->ahead, err));
    const char *p = src->bytes + src->pos;
    size_t n = src->end - src->pos;
    bool all = src->ended;                        /* then fewer than `ahead` bytes are left */
    if (n > ND_STREAM_BLOCK) n = ND_STREAM_BLOCK; /* memory: one block at a time */
    const char *hit = n < b->magic_n ? NULL : memmem(p, n, b->magic, b->magic_n);
    if (hit) { /* after the start of the damaged member */
      src->pos += (size_t)(hit - p);
      ND_TRY(try_here(found, src, b, codec, err));
      if (*found) return ND_OK;
      src->pos++;
    } else if (all) {
      src->pos = src->end;
      return ND_OK;
    } else {
      src->pos += n - (b->magic_n - 1);
    }
  }
}
