/* Chunks of gzip packed side by side; see gzip_team.h. */
#include "output/gzip_team.h"

#include <zlib.h>

#include "base/threads.h"

enum { CHUNK = 1 << 18, LEVEL = 4, MEMORY_LEVEL = 8, PER_THREAD = 2 };
enum { GZIP_WINDOW = 15 + 16 /* zlib's way to ask for a gzip wrapper */, OS_UNKNOWN = 255 };

typedef struct chunk {
  nd_buf bytes;
  uint32_t *ends; /* where members end inside it */
  size_t end_n, end_cap;
  nd_buf packed;
} chunk;

struct nd_gzip_team {
  nd_writer *to;
  unsigned threads;
  chunk *chunks;
  size_t n, cap; /* chunks in use: the last one is being filled */
  bool any;      /* something was packed */
};

nd_status nd_gzip_team_new(nd_gzip_team **out, nd_writer *to, nd_error *err) {
  nd_gzip_team *t = nd_calloc(1, sizeof *t);
  if (!t) return nd_fail_memory(err, sizeof *t);
  t->to = to;
  t->threads = 1;
  *out = t;
  return ND_OK;
}

void nd_gzip_team_free(nd_gzip_team *t) {
  if (!t) return;
  for (size_t i = 0; i < t->cap; i++) {
    nd_buf_clear(&t->chunks[i].bytes);
    nd_buf_clear(&t->chunks[i].packed);
    nd_free(t->chunks[i].ends);
  }
  nd_free(t->chunks);
  nd_free(t);
}

void nd_gzip_team_threads(nd_gzip_team *t, unsigned threads) { t->threads = threads; }

static void *zlib_alloc(void *opaque, unsigned items, unsigned size) {
  (void)opaque;
  return nd_malloc((size_t)items * size);
}

static void zlib_free(void *opaque, void *p) {
  (void)opaque;
  nd_free(p);
}

/* Appends one member: `n` bytes at `bytes`, n <= CHUNK. */
static nd_status pack_member(nd_buf *out, z_stream *z, const char *bytes, size_t n,
                             nd_error *err) {
  gz_header head = {.os = OS_UNKNOWN};
  if (deflateReset(z) != Z_OK || deflateSetHeader(z, &head) != Z_OK)
    return nd_fail(err, ND_ERR_IO, "the gzip packer failed");
  size_t most = deflateBound(z, n) + 64;
  ND_TRY(nd_buf_reserve(out, most, err));
  z->next_in = (z_const Bytef *)(uintptr_t)bytes;
  z->avail_in = (unsigned)n;
  z->next_out = (Bytef *)out->p + out->n;
  z->avail_out = (unsigned)most;
  if (deflate(z, Z_FINISH) != Z_STREAM_END)
    return nd_fail(err, ND_ERR_IO, "the gzip packer failed");
  out->n += most - z->avail_out;
  return ND_OK;
}

static nd_status pack_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  nd_gzip_team *t = context;
  chunk *c = &t->chunks[job];
  (void)member;
  z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free};
  if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    return nd_fail_memory(err, 1 << 18);
  nd_status status = ND_OK;
  size_t at = 0;
  for (size_t i = 0; i <= c->end_n && status == ND_OK; i++) {
    size_t end = i < c->end_n ? c->ends[i] : c->bytes.n;
    if (end > at) status = pack_member(&c->packed, &z, c->bytes.p + at, end - at, err);
    at = end;
  }
  deflateEnd(&z);
  return status;
}

static nd_status flush(nd_gzip_team *t, nd_error *err) {
  ND_TRY(nd_threads_run(t->threads, t->n, pack_chunk, t, err));
  for (size_t i = 0; i < t->n; i++) {
    chunk *c = &t->chunks[i];
    ND_TRY(nd_writer_put(t->to, c->packed.p, c->packed.n, err));
    t->any |= c->packed.n > 0;
    c->bytes.n = c->packed.n = c->end_n = 0;
  }
  t->n = 0;
  return ND_OK;
}

/* The chunk being filled, with room in it. */
static nd_status current(chunk **out, nd_gzip_team *t, nd_error *err) {
  if (!t->chunks) {
    t->cap = (size_t)t->threads * PER_THREAD;
    t->chunks = nd_calloc(t->cap, sizeof *t->chunks);
    if (!t->chunks) {
      t->cap = 0;
      return nd_fail_memory(err, (size_t)t->threads * PER_THREAD * sizeof *t->chunks);
    }
  }
  if (t->n && t->chunks[t->n - 1].bytes.n == CHUNK && t->n == t->cap) ND_TRY(flush(t, err));
  if (t->n == 0 || t->chunks[t->n - 1].bytes.n == CHUNK) t->n++;
  *out = &t->chunks[t->n - 1];
  return nd_buf_reserve(&(*out)->bytes, CHUNK - (*out)->bytes.n, err);
}

nd_status nd_gzip_team_put(nd_gzip_team *t, const char *bytes, size_t n, nd_error *err) {
  while (n) {
    chunk *c;
    ND_TRY(current(&c, t, err));
    size_t part = CHUNK - c->bytes.n < n ? CHUNK - c->bytes.n : n;
    ND_TRY(nd_buf_append(&c->bytes, bytes, part, err));
    bytes += part;
    n -= part;
  }
  return ND_OK;
}

nd_status nd_gzip_team_member_end(nd_gzip_team *t, nd_error *err) {
  if (t->n == 0) return ND_OK;
  chunk *c = &t->chunks[t->n - 1];
  ND_TRY(nd_array_grow(&c->ends, &c->end_cap, c->end_n + 1, sizeof *c->ends, err));
  c->ends[c->end_n++] = (uint32_t)c->bytes.n;
  return ND_OK;
}

nd_status nd_gzip_team_finish(nd_gzip_team *t, nd_error *err) {
  ND_TRY(flush(t, err));
  if (t->any) return ND_OK;
  z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free};
  nd_buf out = {0};
  if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    return nd_fail_memory(err, 1 << 18);
  nd_status status = pack_member(&out, &z, "", 0, err);
  if (status == ND_OK) status = nd_writer_put(t->to, out.p, out.n, err);
  deflateEnd(&z);
  nd_buf_clear(&out);
  return status;
}
