/* gzip (RFC 1952): members one after another, each a header, a deflate body and
 * a trailer with CRC and length.
 *
 * Header and trailer are read here, so only the deflate body depends on the engine: ISA-L
 * if it was built in, otherwise zlib.  The two agree on intact data.  On damaged data they
 * stop at slightly different bytes, and zlib checks more of the codes of a block.  When
 * ISA-L reports an error, zlib therefore decodes the body of that member again from its
 * start and determines bytes and message.  This needs a seekable source; a pipe is decoded
 * by zlib alone. */
#include <zlib.h>

#include "codec/stream_codec.h"

#if defined(ND_HAVE_ISAL)
#include <isa-l/igzip_lib.h>
#endif

enum { FHCRC = 2, FEXTRA = 4, FNAME = 8, FCOMMENT = 16, FRESERVED = 0xe0 };
enum { FIXED_HEADER = 10, TRAILER = 8, MOST_AT_ONCE = 1 << 30 };
/* A credible member after damage has a header within half of TRIAL_IN bytes, and data that
 * decompresses to TRIAL_OUT bytes (at the end of the file TRIAL_LAST) or to an intact trailer. */
enum { TRIAL_IN = 1 << 14, TRIAL_OUT = 1024, TRIAL_LAST = 256 };

typedef enum state {
  BETWEEN, /* before a member: padding or the end may follow */
  HEADER,
  EXTRA_LENGTH,
  EXTRA,
  NAME,
  COMMENT,
  HEADER_CRC,
  BODY,
  END_OF_MEMBER
} state;

typedef struct gzip {
  nd_codec codec;
  nd_source *src;
  nd_resync resync;
  state state;
  unsigned char part[FIXED_HEADER]; /* a part of a header or trailer, as far as it was read */
  unsigned have;
  unsigned flags;
  unsigned extra_left;
  uint32_t header_crc;
  uint32_t crc;
  uint64_t body_at;  /* offset of the deflate data of the member */
  uint64_t produced; /* decompressed bytes of the member */
  uint64_t again;    /* second attempt with zlib: bytes already delivered, to be discarded */
  size_t before;     /* bytes in the output buffer at the start of the member or the call */
  bool fast;         /* ISA-L decodes */
  bool has_zlib;
  z_stream z;
#if defined(ND_HAVE_ISAL)
  struct inflate_state isal;
#endif
} gzip;

static nd_status damaged(const gzip *g, const char *why, nd_error *err) {
  return nd_source_damaged(g->src, "gzip", why, err);
}

/* ---- engines ---- */

static void *zlib_alloc(void *opaque, unsigned items, unsigned size) {
  (void)opaque;
  return nd_malloc((size_t)items * size);
}

static void zlib_free(void *opaque, void *p) {
  (void)opaque;
  nd_free(p);
}

static nd_status zlib_begin(gzip *g, nd_error *err) {
  int r;
  if (g->has_zlib) {
    r = inflateReset(&g->z);
  } else {
    g->z = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
    r = inflateInit2(&g->z, -15);
  }
  if (r != Z_OK) return nd_fail_memory(err, (size_t)1 << 15);
  g->has_zlib = true;
  return ND_OK;
}

static nd_status begin_body(gzip *g, nd_error *err) {
  g->produced = 0;
  g->crc = 0;
#if defined(ND_HAVE_ISAL)
  if (g->fast) {
    isal_inflate_reset(&g->isal);
    g->isal.crc_flag = ISAL_GZIP_NO_HDR;
    return ND_OK;
  }
#endif
  return zlib_begin(g, err);
}

/* One step: decompresses from the source into `to`, at most a block.  *why describes damage. */
static nd_status zlib_step(size_t *got, bool *done, const char **why, gzip *g, char *to,
                           size_t room, nd_error *err) {
  nd_source *src = g->src;
  size_t in = src->end - src->pos;
  if (in > MOST_AT_ONCE) in = MOST_AT_ONCE; /* untaken: a piece of more than 1 GiB */
  g->z.next_in = (z_const Bytef *)(uintptr_t)(src->bytes + src->pos);
  g->z.avail_in = (unsigned)in;
  g->z.next_out = (Bytef *)to;
  g->z.avail_out = (unsigned)room;
  int r = inflate(&g->z, Z_NO_FLUSH);
  src->pos += in - g->z.avail_in;
  *got = room - g->z.avail_out;
  g->crc = (uint32_t)crc32(g->crc, (const Bytef *)to, (unsigned)*got);
  *done = r == Z_STREAM_END;
  if (r == Z_MEM_ERROR) return nd_fail_memory(err, (size_t)1 << 15);
  if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR) {
    *why = g->z.msg; /* always set for damage */
  }
  return ND_OK;
}

#if defined(ND_HAVE_ISAL)
static void isal_step(size_t *got, bool *done, const char **why, gzip *g, char *to, size_t room) {
  nd_source *src = g->src;
  struct inflate_state *s = &g->isal;
  size_t in = src->end - src->pos;
  if (in > MOST_AT_ONCE) in = MOST_AT_ONCE; /* untaken: a piece of more than 1 GiB */
  s->next_in = (uint8_t *)(uintptr_t)(src->bytes + src->pos);
  s->avail_in = (uint32_t)in;
  s->next_out = (uint8_t *)to;
  s->avail_out = (uint32_t)room;
  int r = isal_inflate(s);
  src->pos += in - s->avail_in;
  *got = room - s->avail_out;
  *done = r == ISAL_DECOMP_OK && s->block_state == ISAL_BLOCK_FINISH;
  if (r != ISAL_DECOMP_OK) *why = "invalid data";
  if (*done) {
    g->crc = s->crc;
    /* The bit buffer has consumed bytes that follow the body. */
    src->pos -= (size_t)(s->read_in_length / 8);
  }
}
#endif

/* Handles damage in a body.  Sets *again if zlib must decode the member again. */
static nd_status second_try(bool *again, gzip *g, size_t *got, nd_error *err) {
  *again = g->fast;
  if (!g->fast) return ND_OK;
  g->fast = false;
  uint64_t undelivered = *got - g->before;
  *got = g->before;
  g->again = g->produced - undelivered;
  nd_source_seek(g->src, g->body_at);
  g->state = BODY;
  return begin_body(g, err);
}

/* ---- header and trailer ---- */

/* Collects `want` bytes of a part; sets *got_all once they are complete. */
static void collect(gzip *g, unsigned want) {
  nd_source *src = g->src;
  while (g->have < want && src->pos < src->end) {
    g->part[g->have++] = (unsigned char)src->bytes[src->pos++];
  }
}

static void count_header(gzip *g, const void *p, size_t n) {
  if (g->flags & FHCRC) g->header_crc = (uint32_t)crc32(g->header_crc, p, (unsigned)n);
}

static void next_header_part(gzip *g) {
  g->have = 0;
  switch (g->state) {
    case HEADER:
      g->state = EXTRA_LENGTH;
      if (g->flags & FEXTRA) return; /* fall through */
    case EXTRA_LENGTH:
    case EXTRA:
      g->state = NAME;
      if (g->flags & FNAME) return; /* fall through */
    case NAME:
      g->state = COMMENT;
      if (g->flags & FCOMMENT) return; /* fall through */
    case COMMENT:
      g->state = HEADER_CRC;
      if (g->flags & FHCRC) return; /* fall through */
    default: g->state = BODY;
  }
}

/* Checks bytes as soon as they are read: bytes after the last member are an error even if
 * they are fewer than a header. */
static nd_status read_fixed_header(gzip *g, nd_error *err) {
  collect(g, FIXED_HEADER);
  const unsigned char *h = g->part;
  if (h[0] != 0x1f || (g->have > 1 && h[1] != 0x8b)) {
    g->src->pos -= g->src->pos < g->have ? g->src->pos : g->have;
    return damaged(g, "bytes after the last member are not a gzip member", err);
  }
  if (g->have > 2 && h[2] != 8) return damaged(g, "unknown compression method", err);
  if (g->have > 3 && (h[3] & FRESERVED)) return damaged(g, "unknown header flags", err);
  if (g->have < FIXED_HEADER) return ND_OK;
  g->flags = h[3];
  g->header_crc = 0;
  count_header(g, h, FIXED_HEADER);
  next_header_part(g);
  return ND_OK;
}

static void skip_text(gzip *g) {
  nd_source *src = g->src;
  const char *p = src->bytes + src->pos;
  size_t n = src->end - src->pos;
  const char *zero = memchr(p, 0, n);
  if (zero) n = (size_t)(zero - p) + 1;
  while (n > 0) {
    size_t part = n < MOST_AT_ONCE ? n : MOST_AT_ONCE;
    count_header(g, src->bytes + src->pos, part);
    src->pos += part;
    n -= part;
  }
  if (zero) next_header_part(g);
}

static nd_status read_header_part(gzip *g, nd_error *err) {
  nd_source *src = g->src;
  switch (g->state) {
    case HEADER: return read_fixed_header(g, err);
    case EXTRA_LENGTH:
      collect(g, 2);
      if (g->have < 2) return ND_OK;
      count_header(g, g->part, 2);
      g->extra_left = g->part[0] | (unsigned)g->part[1] << 8;
      g->state = EXTRA; /* fall through */
    case EXTRA: {
      size_t n = src->end - src->pos < g->extra_left ? src->end - src->pos : g->extra_left;
      count_header(g, src->bytes + src->pos, n);
      src->pos += n;
      g->extra_left -= (unsigned)n;
      if (g->extra_left == 0) next_header_part(g);
      return ND_OK;
    }
    case NAME:
    case COMMENT: skip_text(g); return ND_OK;
    default: /* HEADER_CRC */
      collect(g, 2);
      if (g->have < 2) return ND_OK;
      if ((g->part[0] | (uint32_t)g->part[1] << 8) != (g->header_crc & 0xffff)) {
        return damaged(g, "the header's checksum is wrong", err);
      }
      next_header_part(g);
      return ND_OK;
  }
}

static uint32_t little_endian(const unsigned char *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static const char *check_trailer(const gzip *g) {
  if (little_endian(g->part) != g->crc) return "the checksum is wrong";
  if (little_endian(g->part + 4) != (uint32_t)g->produced) return "the length is wrong";
  return NULL;
}

/* ---- the codec ---- */

static nd_status read_body(size_t *got, gzip *g, char *to, size_t room, nd_error *err) {
  size_t n = 0;
  bool done = false, again;
  const char *why = NULL;
  size_t pos = g->src->pos;
#if defined(ND_HAVE_ISAL)
  if (g->fast) {
    isal_step(&n, &done, &why, g, to + *got, room - *got);
  } else
#endif
    ND_TRY(zlib_step(&n, &done, &why, g, to + *got, room - *got, err));
  bool stuck = !done && n == 0 && pos == g->src->pos; /* only at the end of the file */
  g->produced += n;
  if (g->again > 0) { /* already delivered: only count them */
    size_t known = n < g->again ? n : (size_t)g->again;
    memmove(to + *got, to + *got + known, n - known);
    g->again -= known;
    n -= known;
  }
  *got += n;
  if (!why && !stuck) {
    if (done) {
      g->state = END_OF_MEMBER;
      g->have = 0;
    }
    return ND_OK;
  }
  ND_TRY(second_try(&again, g, got, err));
  if (again) return ND_OK;
  if (why) return damaged(g, why, err);
  return nd_source_truncated(g->src, "gzip", "a member's data", err);
}

static nd_status read_trailer(size_t *got, gzip *g, nd_error *err) {
  bool again = false;
  collect(g, TRAILER);
  if (g->have < TRAILER) {
    if (!g->src->ended) return ND_OK;
    ND_TRY(second_try(&again, g, got, err));
    return again ? ND_OK : nd_source_truncated(g->src, "gzip", "a member's trailer", err);
  }
  const char *why = check_trailer(g);
  if (why) {
    ND_TRY(second_try(&again, g, got, err));
    if (again) return ND_OK;
    /* If both are wrong, this may not be the end of this member: a damaged body may decode
     * through the next member and end with it. */
    g->resync.at_end =
        little_endian(g->part) == g->crc || little_endian(g->part + 4) == (uint32_t)g->produced;
    return damaged(g, why, err);
  }
  g->state = BETWEEN;
  return ND_OK;
}

static void skip_padding(gzip *g) {
  nd_source *src = g->src;
  while (src->pos < src->end && src->bytes[src->pos] == 0) src->pos++;
}

static nd_status gzip_read(size_t *got, nd_codec *c, char *to, size_t room, nd_error *err) {
  gzip *g = (gzip *)c;
  nd_source *src = g->src;
  *got = 0;
  g->before = 0;
  while (*got < room) {
    if (src->pos == src->end) {
      /* A pipe: deliver available bytes before waiting for more. */
      if (*got > 0 && !src->ended && !src->seekable) return ND_OK;
      ND_TRY(nd_source_fill(src, err));
    }
    switch (g->state) {
      case BETWEEN:
        skip_padding(g);
        if (src->pos < src->end) {
          g->state = HEADER;
          g->have = 0;
          g->resync.member_at = nd_source_offset(src);
        } else if (src->ended) {
          return ND_OK;
        }
        break;
      case BODY: ND_TRY(read_body(got, g, to, room, err)); break;
      case END_OF_MEMBER: ND_TRY(read_trailer(got, g, err)); break;
      default:
        if (src->ended && src->pos == src->end) {
          return nd_source_truncated(src, "gzip", "a member's header", err);
        }
        ND_TRY(read_header_part(g, err));
        if (g->state == BODY) {
          g->codec.members++;
          g->before = *got;
          g->body_at = nd_source_offset(src);
          ND_TRY(begin_body(g, err));
        }
    }
  }
  return ND_OK;
}

/* ---- recovery from damage ---- */

/* Returns the size of a header, or 0 if it is invalid or too long. */
static size_t header_size(nd_str b) {
  const unsigned char *h = (const unsigned char *)b.p;
  size_t n = FIXED_HEADER, most = TRIAL_IN / 2 < b.n ? TRIAL_IN / 2 : b.n;
  if (most < FIXED_HEADER + 4 || (h[3] & FRESERVED)) return 0;
  if (h[3] & FEXTRA) n += 2 + (size_t)(h[10] | (unsigned)h[11] << 8);
  for (unsigned flag = FNAME; flag <= FCOMMENT; flag *= 2) {
    if (!(h[3] & flag)) continue;
    const unsigned char *zero = n < most ? memchr(h + n, 0, most - n) : NULL;
    if (!zero) return 0;
    n = (size_t)(zero - h) + 1;
  }
  if (h[3] & FHCRC) {
    if (n + 2 > most) return 0;
    uint32_t crc = (uint32_t)crc32(0, h, (unsigned)n);
    if ((h[n] | (uint32_t)h[n + 1] << 8) != (crc & 0xffff)) return 0;
    n += 2;
  }
  return n < most ? n : 0;
}

static nd_status credible(bool *yes, void *codec, nd_str ahead, bool whole, nd_error *err) {
  gzip *g = codec;
  unsigned char out[TRIAL_OUT];
  *yes = false;
  size_t n = header_size(ahead);
  if (n == 0) return ND_OK;
  ND_TRY(zlib_begin(g, err));
  g->z.next_in = (z_const Bytef *)(uintptr_t)(ahead.p + n);
  g->z.avail_in = (unsigned)(ahead.n - n);
  g->z.next_out = out;
  g->z.avail_out = TRIAL_OUT;
  int r = inflate(&g->z, Z_NO_FLUSH);
  if (r == Z_MEM_ERROR) return nd_fail_memory(err, (size_t)1 << 15);
  unsigned got = TRIAL_OUT - g->z.avail_out;
  if (r == Z_STREAM_END) {
    const unsigned char *trailer = g->z.next_in;
    *yes = g->z.avail_in >= TRAILER && little_endian(trailer) == crc32(0, out, got) &&
           little_endian(trailer + 4) == got;
  } else if (r == Z_OK) {
    *yes = got >= (whole && g->z.avail_in == 0 ? TRIAL_LAST : TRIAL_OUT);
  }
  return ND_OK;
}

static nd_status gzip_recover(bool *found, nd_codec *c, nd_error *err) {
  static const nd_beacon member = {"\x1f\x8b\x08", 3, TRIAL_IN, credible};
  gzip *g = (gzip *)c;
  ND_TRY(nd_resync_find(found, &g->resync, g->src, &member, g, err));
  g->state = HEADER;
  g->have = 0;
  g->again = 0;
  g->resync.member_at = nd_source_offset(g->src);
#if defined(ND_HAVE_ISAL)
  g->fast = g->src->seekable;
#endif
  return ND_OK;
}

static void gzip_free(nd_codec *c) {
  gzip *g = (gzip *)c;
  if (g->has_zlib) inflateEnd(&g->z);
  nd_free(g);
}

nd_status nd_codec_gzip_new(nd_codec **out, nd_source *src, nd_error *err) {
  *out = NULL;
  gzip *g = nd_malloc(sizeof *g);
  if (!g) return nd_fail_memory(err, sizeof *g);
  /* Not the entire struct: ISA-L initialises its own 90 KB. */
  memset(g, 0, offsetof(gzip, z));
  g->codec = (nd_codec){.read = gzip_read, .recover = gzip_recover, .free = gzip_free};
  g->src = src;
  g->resync.member_at = nd_source_offset(src);
  g->state = HEADER;
#if defined(ND_HAVE_ISAL)
  g->fast = src->seekable;
  if (g->fast) isal_inflate_init(&g->isal);
#endif
  *out = &g->codec;
  return ND_OK;
}
