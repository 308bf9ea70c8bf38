/* Content encodings: gzip, deflate (zlib-wrapped or raw) and zstd.
 *
 * Output grows only as bytes arrive and stops at the limit, so a small body
 * that would unpack to gigabytes costs no more than the limit. */
#include "input/http.h"

#include <zlib.h>
#include <zstd.h>

#include "input/archive.h"

enum { STEP = 1 << 16, ZSTD_WINDOW_LOG = 23 /* RFC 9659 */, LOOK = 512 };

typedef enum unpacked { DONE, CUT, BROKEN } unpacked;

bool nd_http_is_text(nd_str b) {
  size_t n = b.n < LOOK ? b.n : LOOK;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)b.p[i];
    if (c == 0x7f) return false;
    if (c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b) return false;
  }
  return true;
}

nd_http_codec nd_http_codec_of(nd_str name) {
  static const struct {
    const char *name;
    nd_http_codec codec;
  } names[] = {
      {"", ND_HTTP_IDENTITY},         {"identity", ND_HTTP_IDENTITY},
      {"none", ND_HTTP_IDENTITY},     {"chunked", ND_HTTP_IDENTITY},
      {"gzip", ND_HTTP_GZIP},         {"x-gzip", ND_HTTP_GZIP},
      {"deflate", ND_HTTP_DEFLATE},   {"x-deflate", ND_HTTP_DEFLATE},
      {"zstd", ND_HTTP_ZSTD},         {"br", ND_HTTP_BROTLI},
      {"compress", ND_HTTP_COMPRESS}, {"x-compress", ND_HTTP_COMPRESS},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (nd_archive_is(name, names[i].name)) return names[i].codec;
  }
  return ND_HTTP_UNKNOWN;
}

static nd_status too_long(nd_error *err) {
  return nd_fail(err, ND_ERR_LIMIT, "the unpacked body is longer than --max-document");
}

/* Room for the next step: 0 bytes when the limit (plus one byte that proves
 * that it was passed) is reached. */
static nd_status make_room(size_t *room, nd_buf *b, uint64_t limit, nd_error *err) {
  size_t left = (size_t)(limit + 1 - b->n);
  size_t more = left < STEP ? left : STEP;
  ND_TRY(nd_buf_reserve(b, more, err));
  *room = b->cap - b->n < left ? b->cap - b->n : left;
  if (*room > 1u << 30) *room = 1u << 30; /* untaken: a piece of more than 1 GiB */
  return ND_OK;
}

static void *zlib_malloc(void *opaque, unsigned items, unsigned size) {
  (void)opaque;
  return nd_malloc((size_t)items * size);
}
static void zlib_free(void *opaque, void *p) {
  (void)opaque;
  nd_free(p);
}

static nd_status run_zlib(nd_buf *out, unpacked *how, nd_str in, int window, uint64_t limit,
                          nd_error *err) {
  z_stream z = {.zalloc = zlib_malloc, .zfree = zlib_free};
  bool more_members = window > 15;
  nd_status status = ND_OK;
  out->n = 0;
  *how = BROKEN;
  if (inflateInit2(&z, window) != Z_OK) return nd_fail_memory(err, 1 << 15);
  const unsigned char *p = (const unsigned char *)in.p;
  size_t left = in.n;
  size_t good = 0; /* end of the last whole member */
  for (;;) {
    size_t room;
    ND_TRY_GOTO(make_room(&room, out, limit, err), done);
    /* untaken: a piece of more than 1 GiB */
    unsigned give = left < 1u << 30 ? (unsigned)left : 1u << 30;
    z.next_in = (unsigned char *)(uintptr_t)p;
    z.avail_in = give;
    z.next_out = (unsigned char *)out->p + out->n;
    z.avail_out = (unsigned)room;
    int rc = inflate(&z, Z_NO_FLUSH);
    p += give - z.avail_in;
    left -= give - z.avail_in;
    out->n += room - z.avail_out;
    if (out->n > limit) {
      status = too_long(err);
      goto done;
    }
    if (rc == Z_STREAM_END) {
      *how = DONE;
      good = out->n;
      if (!more_members || left < 18 || p[0] != 0x1f || p[1] != 0x8b) break;
      if (inflateReset(&z) != Z_OK) break; /* untaken: fails only without memory */
    } else if (rc == Z_MEM_ERROR) {
      status = nd_fail_memory(err, 1 << 15);
      goto done;
    } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
      if (*how == DONE) out->n = good; /* rubbish behind a whole member */
      break;
    } else if (left == 0 && z.avail_out > 0) {
      *how = CUT;
      break;
    }
  }
done:
  inflateEnd(&z);
  return status;
}

static nd_status run_zstd(nd_buf *out, unpacked *how, nd_str in, uint64_t limit, nd_error *err) {
  nd_status status = ND_OK;
  out->n = 0;
  *how = BROKEN;
  ZSTD_DCtx *z = ZSTD_createDCtx();
  if (!z) return nd_fail_memory(err, 1 << 17); /* untaken: fails only without memory */
  ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
  ZSTD_inBuffer from = {in.p, in.n, 0};
  for (;;) {
    size_t room;
    ND_TRY_GOTO(make_room(&room, out, limit, err), done);
    ZSTD_outBuffer to = {out->p + out->n, room, 0};
    size_t rc = ZSTD_decompressStream(z, &to, &from);
    out->n += to.pos;
    if (out->n > limit) {
      status = too_long(err);
      goto done;
    }
    if (ZSTD_isError(rc)) break;
    if (from.pos < from.size) continue;
    if (rc == 0) *how = DONE; /* also where it ends with the room */
    if (rc != 0 && to.pos < to.size) *how = CUT;
    if (*how != BROKEN) break;
  }
done:
  ZSTD_freeDCtx(z);
  return status;
}

static bool has_magic(nd_str in, const char *magic, size_t n) {
  return in.n >= n && memcmp(in.p, magic, n) == 0;
}

static bool is_zlib(nd_str in) {
  if (in.n < 2) return false;
  unsigned a = (unsigned char)in.p[0], b = (unsigned char)in.p[1];
  return (a & 15) == 8 && a >> 4 <= 7 && (a << 8 | b) % 31 == 0 && !(b & 0x20);
}

nd_status nd_http_unpack(nd_str *out, const char **why, nd_buf *scratch, nd_http_codec codec,
                         nd_str in, const nd_http_limits *limits, nd_error *err) {
  uint64_t limit = limits->max_bytes < SIZE_MAX / 4 ? limits->max_bytes : SIZE_MAX / 4;
  unpacked how = BROKEN;
  const char *name = "";
  *out = in;
  if (in.n == 0) return ND_OK;
  switch (codec) { /* untaken: no further value */
    case ND_HTTP_IDENTITY: return ND_OK;
    case ND_HTTP_GZIP:
      name = "gzip";
      if (!has_magic(in, "\x1f\x8b", 2)) return ND_OK;
      ND_TRY(run_zlib(scratch, &how, in, 15 + 16, limit, err));
      break;
    case ND_HTTP_DEFLATE:
      name = "deflate";
      if (has_magic(in, "\x1f\x8b\x08", 3)) {
        ND_TRY(run_zlib(scratch, &how, in, 15 + 16, limit, err));
        break;
      }
      if (is_zlib(in)) ND_TRY(run_zlib(scratch, &how, in, 15, limit, err));
      if (how == BROKEN) {
        /* Raw deflate has no magic: text that is no deflate is unpacked already. */
        nd_status status = run_zlib(scratch, &how, in, -15, limit, err);
        bool text = nd_http_is_text(in) && (!is_zlib(in) || in.p[1] == '^'); /* "x^2" is text */
        if (status == ND_ERR_MEMORY) return status;
        if ((status != ND_OK || how != DONE) && text) return ND_OK;
        ND_TRY(status);
      }
      break;
    case ND_HTTP_ZSTD:
      name = "zstd";
      if (!has_magic(in, "\x28\xb5\x2f\xfd", 4)) return ND_OK;
      ND_TRY(run_zstd(scratch, &how, in, limit, err));
      break;
    case ND_HTTP_BROTLI:
      if (!nd_http_is_text(in)) *why = "content encoding br";
      return ND_OK;
    case ND_HTTP_COMPRESS:
      if (has_magic(in, "\x1f\x9d", 2)) *why = "content encoding compress";
      return ND_OK;
    case ND_HTTP_UNKNOWN:
      if (!nd_http_is_text(in)) *why = "unknown content encoding";
      return ND_OK;
  }
  if (how == BROKEN) return nd_fail(err, ND_ERR_DATA, "the %s body is damaged", name);
  if (how == CUT && !limits->truncated) {
    return nd_fail(err, ND_ERR_DATA, "the %s body is truncated", name);
  }
  *out = nd_buf_str(scratch);
  return ND_OK;
}
