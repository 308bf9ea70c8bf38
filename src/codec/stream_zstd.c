/* zstd (RFC 8878): a sequence of frames.
 *
 * On a failure, ZSTD_decompressStream discards the output of the same call.  Each call
 * therefore gets only the bytes of one step: the size that the last call requested, without
 * the three bytes of the next block header that it requests in advance.  Damage then loses
 * only its own block.
 *
 * A WARC file compressed with a dictionary has it in its first frame, a skippable frame of
 * type 0xD, raw or compressed with zstd. */
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/stream_codec.h"

enum {
  WINDOW_LOG_MAX = 27,
  BLOCK_HEADER = 3,
  FIRST_STEP = 5 + BLOCK_HEADER,
  DICTIONARY_MAX = 1 << 27, /* limit, compressed and decompressed */
  /* A credible frame after damage: its first block, at most 128 KiB, can be decompressed. */
  TRIAL_IN = 18 + BLOCK_HEADER + (1 << 17),
  TRIAL_OUT = 1024
};

typedef struct zstd {
  nd_codec codec;
  nd_source *src;
  nd_resync resync;
  ZSTD_DCtx *d;
  size_t hint;     /* bytes requested by the last call */
  bool started;    /* the first frame was inspected */
  bool in_frame;   /* a frame is partly consumed */
  bool counted;    /* the frame is counted in codec.members */
  bool full;       /* the last call filled the output, so the decoder may have more */
  bool dictionary; /* a dictionary is loaded */
  bool no_way;     /* the dictionary is damaged, so no frame can be read */
} zstd;

static nd_status zstd_failed(const zstd *z, size_t code, nd_error *err) {
  switch (ZSTD_getErrorCode(code)) { /* untaken: no further value */
    case ZSTD_error_memory_allocation: return nd_fail_memory(err, (size_t)1 << WINDOW_LOG_MAX);
    case ZSTD_error_frameParameter_windowTooLarge:
      return nd_fail(err, ND_ERR_DATA,
                     "%s: the zstd frame before byte %llu needs a window of more than 128 MiB; "
                     "compress it again with --long=27 or less",
                     z->src->name, (unsigned long long)nd_source_offset(z->src));
    case ZSTD_error_dictionary_wrong:
      return nd_source_damaged(z->src, "zstd", "it needs a dictionary that is not in the file",
                               err);
    case ZSTD_error_prefix_unknown:
      return nd_source_damaged(z->src, "zstd", "bytes after the last frame are not a zstd frame",
                               err);
    case ZSTD_error_checksum_wrong:
      return nd_source_damaged(z->src, "zstd", "the checksum is wrong", err);
    default: return nd_source_damaged(z->src, "zstd", ZSTD_getErrorName(code), err);
  }
}

static nd_status truncated(const zstd *z, nd_error *err) {
  return nd_source_truncated(z->src, "zstd", "a frame", err);
}

/* Passes the next bytes to the decoder; *consumed tells whether it used any. */
static nd_status step(size_t *got, bool *consumed, zstd *z, char *to, size_t room, nd_error *err) {
  nd_source *src = z->src;
  size_t n = z->hint > BLOCK_HEADER ? z->hint - BLOCK_HEADER : z->hint;
  if (z->full) n = 0; /* first flush the output, which damage after it would discard */
  if (!z->in_frame) z->resync.member_at = nd_source_offset(src);
  if (n > src->end - src->pos) n = src->end - src->pos;
  ZSTD_inBuffer in = {src->bytes + src->pos, n, 0};
  ZSTD_outBuffer out = {to, room, 0};
  size_t r = ZSTD_decompressStream(z->d, &out, &in);
  src->pos += in.pos;
  *got = out.pos;
  *consumed = in.pos > 0;
  z->full = out.pos == room;
  if (ZSTD_isError(r)) {
    nd_status status = zstd_failed(z, r, err);
    z->resync.at_end = ZSTD_getErrorCode(r) == ZSTD_error_checksum_wrong;
    if (z->resync.at_end) src->pos += n - in.pos;
    return status;
  }
  if (in.pos > 0) z->in_frame = true;
  if (out.pos > 0 && !z->counted) {
    z->codec.members++;
    z->counted = true;
  }
  z->hint = r;
  if (r == 0) {
    z->in_frame = z->counted = z->full = false;
    z->hint = FIRST_STEP;
  }
  return ND_OK;
}

/* ---- the dictionary of the first frame ---- */

static nd_status read_bytes(zstd *z, char *to, size_t n, nd_error *err) {
  nd_source *src = z->src;
  while (n > 0) {
    ND_TRY(nd_source_fill(src, err));
    if (src->pos == src->end) return truncated(z, err);
    size_t part = src->end - src->pos < n ? src->end - src->pos : n;
    memcpy(to, src->bytes + src->pos, part);
    src->pos += part;
    to += part;
    n -= part;
  }
  return ND_OK;
}

static nd_status load(zstd *z, const char *p, size_t n, nd_error *err) {
  size_t r = ZSTD_DCtx_loadDictionary(z->d, p, n);
  /* zstd reports every failure here as lack of memory. */
  /* untaken: fails only without memory */
  if (ZSTD_isError(r) && ZDICT_isError(ZDICT_getDictHeaderSize(p, n))) {
    return nd_source_damaged(z->src, "zstd", "the dictionary is damaged", err);
  }
  if (ZSTD_isError(r)) return zstd_failed(z, r, err); /* untaken: fails only without memory */
  z->dictionary = true;
  return ND_OK;
}

static nd_status load_packed(zstd *z, nd_str packed, nd_error *err) {
  nd_buf plain = {0};
  nd_status status = ND_OK;
  ZSTD_inBuffer in = {packed.p, packed.n, 0};
  size_t r = 1;
  while (r != 0) {
    ND_TRY_GOTO(nd_buf_reserve(&plain, ND_STREAM_BLOCK, err), done);
    ZSTD_outBuffer out = {plain.p + plain.n, plain.cap - plain.n, 0};
    size_t before = in.pos;
    r = ZSTD_decompressStream(z->d, &out, &in);
    plain.n += out.pos;
    if (ZSTD_isError(r) || (r != 0 && out.pos == 0 && in.pos == before)) {
      status = nd_source_damaged(z->src, "zstd", "the dictionary is damaged", err);
      break;
    }
    if (plain.n > DICTIONARY_MAX) {
      status = nd_source_damaged(z->src, "zstd", "the dictionary is too large", err);
      break;
    }
  }
  ZSTD_DCtx_reset(z->d, ZSTD_reset_session_only);
  if (status == ND_OK) status = load(z, plain.p, plain.n, err);
done:
  nd_buf_clear(&plain);
  return status;
}

static uint32_t little_endian(const char *bytes) {
  const unsigned char *p = (const unsigned char *)bytes;
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The magic number of the first frame, which identified the stream, is in the buffer. */
static nd_status read_dictionary(zstd *z, nd_error *err) {
  nd_source *src = z->src;
  if (little_endian(src->bytes + src->pos) != 0x184d2a5d) return ND_OK;
  char head[8] = {0};
  nd_buf content = {0};
  ND_TRY(read_bytes(z, head, sizeof head, err));
  uint32_t left = little_endian(head + 4);
  if (left > DICTIONARY_MAX) {
    return nd_source_damaged(src, "zstd", "the dictionary is too large", err);
  }
  nd_status status = ND_OK;
  /* Read in blocks, so that a false size cannot allocate memory. */
  while (left > 0) {
    uint32_t n = left < ND_STREAM_BLOCK ? left : ND_STREAM_BLOCK;
    ND_TRY_GOTO(nd_buf_reserve(&content, n, err), done);
    ND_TRY_GOTO(read_bytes(z, content.p + content.n, n, err), done);
    content.n += n;
    left -= n;
  }
  if (content.n >= 8) {
    uint32_t magic = little_endian(content.p);
    if (magic == ZSTD_MAGIC_DICTIONARY) status = load(z, content.p, content.n, err);
    if (magic == ZSTD_MAGICNUMBER) status = load_packed(z, nd_buf_str(&content), err);
  }
done:
  nd_buf_clear(&content);
  return status;
}

/* ---- the codec ---- */

static nd_status zstd_read(size_t *got, nd_codec *c, char *to, size_t room, nd_error *err) {
  zstd *z = (zstd *)c;
  nd_source *src = z->src;
  *got = 0;
  if (!z->started) {
    z->started = true;
    z->no_way = true;
    ND_TRY(read_dictionary(z, err));
    z->no_way = false;
  }
  while (*got < room) {
    if (src->pos == src->end) {
      /* A pipe: deliver available bytes before waiting for more. */
      if (*got > 0 && !src->ended && !src->seekable) return ND_OK;
      ND_TRY(nd_source_fill(src, err));
    }
    bool at_end = src->ended && src->pos == src->end;
    if (at_end && !z->in_frame) return ND_OK;
    size_t n;
    bool consumed;
    ND_TRY(step(&n, &consumed, z, to + *got, room - *got, err));
    *got += n;
    if (at_end && n == 0) return truncated(z, err);
  }
  return ND_OK;
}

/* ---- recovery from damage ---- */

static nd_status credible(bool *yes, void *codec, nd_str ahead, bool whole, nd_error *err) {
  (void)whole;
  zstd *z = codec;
  char bytes[TRIAL_OUT];
  ZSTD_inBuffer in = {ahead.p, ahead.n, 0};
  ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
  size_t r = 1, before;
  ZSTD_DCtx_reset(z->d, ZSTD_reset_session_only);
  do {
    before = in.pos;
    r = ZSTD_decompressStream(z->d, &out, &in);
  } while (!ZSTD_isError(r) && r != 0 && out.pos == 0 && in.pos > before);
  ZSTD_DCtx_reset(z->d, ZSTD_reset_session_only);
  /* untaken: fails only without memory */
  if (ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation) return zstd_failed(z, r, err);
  *yes = !ZSTD_isError(r) && (r == 0 || out.pos > 0);
  return ND_OK;
}

/* The search ignores skippable frames: they have no data to read. */
static nd_status zstd_recover(bool *found, nd_codec *c, nd_error *err) {
  static const nd_beacon frame = {"\x28\xb5\x2f\xfd", 4, TRIAL_IN, credible};
  zstd *z = (zstd *)c;
  *found = false;
  if (z->no_way) return ND_OK;
  ND_TRY(nd_resync_find(found, &z->resync, z->src, &frame, z, err));
  ZSTD_DCtx_reset(z->d, ZSTD_reset_session_only);
  z->hint = FIRST_STEP;
  z->in_frame = z->counted = z->full = false;
  return ND_OK;
}

static void zstd_free(nd_codec *c) {
  zstd *z = (zstd *)c;
  ZSTD_freeDCtx(z->d);
  nd_free(z);
}

nd_status nd_codec_zstd_new(nd_codec **out, nd_source *src, nd_error *err) {
  *out = NULL;
  zstd *z = nd_calloc(1, sizeof *z);
  if (!z) return nd_fail_memory(err, sizeof *z);
  z->codec = (nd_codec){.read = zstd_read, .recover = zstd_recover, .free = zstd_free};
  z->src = src;
  z->hint = FIRST_STEP;
  z->d = ZSTD_createDCtx();
  if (!z->d) { /* untaken: fails only without memory */
    nd_free(z);
    return nd_fail_memory(err, 1 << 18);
  }
  ZSTD_DCtx_setParameter(z->d, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
  *out = &z->codec;
  return ND_OK;
}
