/* Behind damage: looking for the next member that can be unpacked.
 *
 * Unpacking wrong bytes often runs on into the members behind, so the search
 * begins just behind the beginning of the damaged one, in a source that can go
 * back.  Time stays linear for any bytes: a trial costs no more than a fixed
 * number of bytes, and the way back is paid from a credit that only new ground
 * fills, so members that lead into one another, each to fail at the end of the
 * file, do not make the file be read once for each. */
#include "codec/stream_codec.h"

enum {
  FIRST_CREDIT = 1 << 20,
  CREDIT = 4 /* bytes of going back per byte of new ground */
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

/* Does a member begin where the source stands? */
static nd_status try_here(bool *yes, nd_source *src, const nd_beacon *b, void *codec,
                          nd_error *err) {
  *yes = false;
  ND_TRY(nd_source_ensure(src, b->ahead, err));
  nd_str ahead = {src->bytes + src->pos, src->end - src->pos};
  if (ahead.n < b->magic_n || memcmp(ahead.p, b->magic, b->magic_n) != 0) return ND_OK;
  /* Never more than asked for: the answer must not depend on the buffer. */
  bool whole = ahead.n <= b->ahead && src->ended;
  if (ahead.n > b->ahead) ahead.n = b->ahead;
  return b->credible(yes, codec, ahead, whole, err);
}

/* Only the checksum was wrong, so the next member should follow at once.  *ended: nothing does. */
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

/* Steps back to just behind the damaged member's beginning, as far as the credit goes. */
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
    bool all = src->ended;                        /* then less than `ahead` is left */
    if (n > ND_STREAM_BLOCK) n = ND_STREAM_BLOCK; /* of memory, not all at once */
    const char *hit = n < b->magic_n ? NULL : memmem(p, n, b->magic, b->magic_n);
    if (hit) { /* behind the damaged member's own beginning */
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
