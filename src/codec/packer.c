/* Compression on top of the file writer: zstd through one output block, gzip through
 * several threads. */
#include "codec/packer.h"

#include <zstd.h>

#include "base/io.h"
#include "base/writer.h"
#include "codec/gzip_team.h"

enum { BLOCK = 1 << 17, ZSTD_LEVEL = 3 };

struct nd_packer {
  nd_packing packing;
  nd_writer *writer;
  char *block;     /* output block; NULL for an uncompressed file */
  uint64_t offset; /* bytes put */
  bool open;       /* a member is open */
  bool any;        /* a member was written */
  nd_gzip_team *team;
  ZSTD_CCtx *c;
  nd_error failed; /* the first failure, or status ND_OK */
};

static void free_parts(nd_packer *p) {
  nd_gzip_team_free(p->team);
  ZSTD_freeCCtx(p->c);
  nd_free(p->block);
  nd_free(p);
}

static nd_status init_zstd(nd_packer *p, nd_error *err) {
  p->c = ZSTD_createCCtx();
  if (!p->c) return nd_fail_memory(err, 1 << 20); /* untaken: fails only without memory */
  size_t a = ZSTD_CCtx_setParameter(p->c, ZSTD_c_compressionLevel, ZSTD_LEVEL);
  size_t b = ZSTD_CCtx_setParameter(p->c, ZSTD_c_checksumFlag, 1);
  if (ZSTD_isError(a) || ZSTD_isError(b)) { /* untaken: fails only without memory */
    return nd_fail(err, ND_ERR_IO, "the zstd library cannot compress at level %d", ZSTD_LEVEL);
  }
  return ND_OK;
}

nd_status nd_packer_open(nd_packer **out, const char *path, nd_packing packing, bool records,
                         nd_error *err) {
  *out = NULL;
  nd_packer *p = nd_calloc(1, sizeof *p);
  if (!p) return nd_fail_memory(err, sizeof *p);
  p->packing = packing;
  nd_status status;
  if (packing == ND_PACKING_ZSTD) {
    p->block = nd_malloc(BLOCK);
    if (!p->block) {
      status = nd_fail_memory(err, BLOCK);
      goto fail;
    }
  }
  /* untaken: fails only without memory */
  if (packing == ND_PACKING_ZSTD) ND_TRY_GOTO(init_zstd(p, err), fail);
  /* Open the file last: it is not created or emptied if another step fails. */
  ND_TRY_GOTO(nd_writer_open(&p->writer, path, err), fail);
  if (packing == ND_PACKING_GZIP) {
    status = nd_gzip_team_new(&p->team, p->writer, records, err);
    if (status != ND_OK) {
      nd_writer_abandon(p->writer);
      goto fail;
    }
  }
  *out = p;
  return ND_OK;
fail:
  free_parts(p);
  return status;
}

void nd_packer_threads(nd_packer *p, unsigned threads) {
  if (p->team) nd_gzip_team_threads(p->team, threads);
}

static nd_status remember(nd_packer *p, nd_status status, const nd_error *why, nd_error *err) {
  if (status == ND_OK) return ND_OK;
  p->failed = *why;
  p->failed.status = status;
  nd_error_pass(err, &p->failed);
  return status;
}

static nd_status check(const nd_packer *p, nd_error *err) {
  if (p->failed.status == ND_OK) return ND_OK;
  nd_error_pass(err, &p->failed);
  return p->failed.status;
}

static nd_status run_zstd(nd_packer *p, const char *bytes, size_t n, bool finish, nd_error *err) {
  ZSTD_inBuffer in = {bytes, n, 0};
  size_t left;
  do {
    ZSTD_outBuffer out = {p->block, BLOCK, 0};
    left = ZSTD_compressStream2(p->c, &out, &in, finish ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) { /* untaken: fails only without memory */
      return nd_fail(err, ND_ERR_MEMORY, "zstd compression failed: %s", ZSTD_getErrorName(left));
    }
    ND_TRY(nd_writer_put(p->writer, p->block, out.pos, err));
  } while (finish ? left != 0 : in.pos < in.size);
  return ND_OK;
}

static nd_status run(nd_packer *p, const char *bytes, size_t n, bool finish, nd_error *err) {
  switch (p->packing) {
    case ND_PACKING_GZIP:
      return finish ? nd_gzip_team_member_end(p->team, err)
                    : nd_gzip_team_put(p->team, bytes, n, err);
    case ND_PACKING_ZSTD: return run_zstd(p, bytes, n, finish, err);
    default: return nd_writer_put(p->writer, bytes, n, err);
  }
}

nd_status nd_packer_put(nd_packer *p, const void *bytes, size_t n, nd_error *err) {
  ND_TRY(check(p, err));
  if (n == 0) return ND_OK;
  nd_error why;
  p->open = true;
  p->offset += n;
  return remember(p, run(p, bytes, n, false, &why), &why, err);
}

nd_status nd_packer_copy(nd_packer *p, int in, uint64_t offset, uint64_t length,
                         const char *in_name, nd_error *err) {
  ND_TRY(check(p, err));
  nd_error why;
  nd_status status = ND_OK;
  if (p->packing == ND_PACKING_NONE) {
    p->offset += length;
    status = nd_writer_copy(p->writer, in, offset, length, in_name, &why);
    return remember(p, status, &why, err);
  }
  size_t room = length < BLOCK ? (size_t)length : BLOCK;
  char *buf = nd_malloc(room);
  if (!buf) return nd_fail_memory(err, room);
  while (length > 0 && status == ND_OK) {
    size_t n = length < room ? (size_t)length : room;
    status = remember(p, nd_io_pread_full(in, buf, n, offset, in_name, &why), &why, err);
    if (status == ND_OK) status = nd_packer_put(p, buf, n, err);
    offset += n;
    length -= n;
  }
  nd_free(buf);
  return status;
}

static nd_status end_member(nd_packer *p, nd_error *err) {
  nd_error why;
  p->open = false;
  p->any = true;
  return remember(p, run(p, "", 0, true, &why), &why, err);
}

nd_status nd_packer_member_end(nd_packer *p, nd_error *err) {
  ND_TRY(check(p, err));
  return p->open && p->packing != ND_PACKING_NONE ? end_member(p, err) : ND_OK;
}

uint64_t nd_packer_offset(const nd_packer *p) {
  return p->offset;
}

nd_status nd_packer_close(nd_packer *p, bool sync, nd_error *err) {
  nd_status status = check(p, err);
  if (status == ND_OK && p->packing != ND_PACKING_NONE && (p->open || !p->any)) {
    status = end_member(p, err);
  }
  if (status == ND_OK && p->team) status = nd_gzip_team_finish(p->team, err);
  if (status == ND_OK) {
    status = nd_writer_close(p->writer, sync, err);
  } else {
    nd_writer_abandon(p->writer);
  }
  free_parts(p);
  return status;
}

void nd_packer_abandon(nd_packer *p) {
  if (!p) return;
  nd_writer_abandon(p->writer);
  free_parts(p);
}
