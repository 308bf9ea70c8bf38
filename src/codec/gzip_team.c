/* Parallel compression of gzip chunks; see gzip_team.h. */
#include "codec/gzip_team.h"

#include <zlib.h>

#include "base/threads.h"
#include "base/writer.h"

enum {
  CHUNK = 1 << 18,
  LARGE_MEMBER = 4 << 20,
  BLOCK = 1 << 16,
  LEVEL = 1,
  MEMORY_LEVEL = 8,
  PER_THREAD = 2
};
enum { GZIP_WINDOW = 15 + 16 /* zlib's way to ask for a gzip wrapper */, OS_UNKNOWN = 255 };

typedef struct chunk {
  nd_buf bytes;
  uint32_t *ends; /* ends of members in the chunk */
  size_t end_n, end_cap;
  nd_buf packed;
} chunk;

struct nd_gzip_team {
  nd_writer *to;
  unsigned threads;
  chunk *chunks;
  size_t n, cap; /* chunks in use; the last is being filled */
  bool any;      /* a member was written */
  bool records;  /* members end only where the caller ends them */
  bool large;    /* a large member is being streamed through z */
  z_stream z;
  gz_header head;
};

nd_status nd_gzip_team_new(nd_gzip_team **out, nd_writer *to, bool records, nd_error *err) {
  nd_gzip_team *t = nd_calloc(1, sizeof *t);
  if (!t) return nd_fail_memory(err, sizeof *t);
  t->to = to;
  t->threads = 1;
  t->records = records;
  *out = t;
  return ND_OK;
}

void nd_gzip_team_free(nd_gzip_team *t) {
  if (!t) return;
  if (t->large) deflateEnd(&t->z);
  for (size_t i = 0; i < t->cap; i++) {
    nd_buf_clear(&t->chunks[i].bytes);
    nd_buf_clear(&t->chunks[i].packed);
    nd_free(t->chunks[i].ends);
  }
  nd_free(t->chunks);
  nd_free(t);
}

void nd_gzip_team_threads(nd_gzip_team *t, unsigned threads) {
  t->threads = threads;
}

static void *zlib_alloc(void *opaque, unsigned items, unsigned size) {
  (void)opaque;
  return nd_malloc((size_t)items * size);
}

static void zlib_free(void *opaque, void *p) {
  (void)opaque;
  nd_free(p);
}

static nd_status open_z(z_stream *z, nd_error *err) {
  *z = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
  int r = deflateInit2(z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
  return r == Z_OK ? ND_OK : nd_fail_memory(err, 1 << 18);
}

/* Compresses `n` bytes, n < 1 GiB, as one member. */
static nd_status pack_member(nd_buf *out, z_stream *z, const char *bytes, size_t n, nd_error *err) {
  gz_header head = {.os = OS_UNKNOWN};
  /* untaken: fails only without memory */
  if (deflateReset(z) != Z_OK || deflateSetHeader(z, &head) != Z_OK)
    return nd_fail(err, ND_ERR_IO, "gzip compression failed");
  size_t most = deflateBound(z, n) + 64;
  ND_TRY(nd_buf_reserve(out, most, err));
  z->next_in = (z_const Bytef *)(uintptr_t)bytes;
  z->avail_in = (unsigned)n;
  z->next_out = (Bytef *)out->p + out->n;
  z->avail_out = (unsigned)most;
  if (deflate(z, Z_FINISH) != Z_STREAM_END) /* untaken: fails only without memory */
    return nd_fail(err, ND_ERR_IO, "gzip compression failed");
  out->n += most - z->avail_out;
  return ND_OK;
}

static nd_status pack_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  nd_gzip_team *t = context;
  chunk *c = &t->chunks[job];
  (void)member;
  z_stream z;
  ND_TRY(open_z(&z, err));
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

static bool is_full(const nd_gzip_team *t, const chunk *c) {
  if (!t->records) return c->bytes.n == CHUNK;
  return c->bytes.n >= CHUNK && c->end_n && c->ends[c->end_n - 1] == c->bytes.n;
}

/* Returns the chunk being filled. */
static nd_status current(chunk **out, nd_gzip_team *t, nd_error *err) {
  if (!t->chunks) {
    size_t cap = (size_t)t->threads * PER_THREAD;
    t->chunks = nd_calloc(cap, sizeof *t->chunks);
    if (!t->chunks) return nd_fail_memory(err, cap * sizeof *t->chunks);
    t->cap = cap;
  }
  if (t->n == t->cap && is_full(t, &t->chunks[t->n - 1])) ND_TRY(flush(t, err));
  if (t->n == 0 || is_full(t, &t->chunks[t->n - 1])) t->n++;
  *out = &t->chunks[t->n - 1];
  return ND_OK;
}

static nd_status run_large(nd_gzip_team *t, const char *bytes, size_t n, int how, nd_error *err) {
  Bytef block[BLOCK];
  t->z.next_in = (z_const Bytef *)(uintptr_t)bytes;
  t->z.avail_in = (unsigned)n;
  do {
    t->z.next_out = block;
    t->z.avail_out = BLOCK;
    if (deflate(&t->z, how) == Z_STREAM_ERROR) /* untaken: fails only without memory */
      return nd_fail(err, ND_ERR_IO, "gzip compression failed");
    ND_TRY(nd_writer_put(t->to, block, BLOCK - t->z.avail_out, err));
  } while (t->z.avail_out == 0);
  return ND_OK;
}

/* Starts streaming the member at the end of `c`, which is too large to buffer. */
static nd_status begin_large(nd_gzip_team *t, chunk *c, size_t begin, nd_error *err) {
  nd_buf tail = {0};
  ND_TRY(nd_buf_append(&tail, c->bytes.p + begin, c->bytes.n - begin, err));
  c->bytes.n = begin;
  nd_status status = flush(t, err);
  if (status == ND_OK) status = open_z(&t->z, err);
  if (status == ND_OK) {
    t->large = t->any = true;
    t->head = (gz_header){.os = OS_UNKNOWN};
    deflateSetHeader(&t->z, &t->head);
    status = run_large(t, tail.p, tail.n, Z_NO_FLUSH, err);
  }
  nd_buf_clear(&tail);
  return status;
}

nd_status nd_gzip_team_put(nd_gzip_team *t, const char *bytes, size_t n, nd_error *err) {
  while (n) {
    size_t part = n < CHUNK ? n : CHUNK;
    if (t->large) {
      ND_TRY(run_large(t, bytes, part, Z_NO_FLUSH, err));
    } else {
      chunk *c = NULL;
      ND_TRY(current(&c, t, err));
      if (!t->records && part > CHUNK - c->bytes.n) part = CHUNK - c->bytes.n;
      ND_TRY(nd_buf_append(&c->bytes, bytes, part, err));
      size_t begin = c->end_n ? c->ends[c->end_n - 1] : 0;
      if (t->records && c->bytes.n - begin > LARGE_MEMBER) ND_TRY(begin_large(t, c, begin, err));
    }
    bytes += part;
    n -= part;
  }
  return ND_OK;
}

nd_status nd_gzip_team_member_end(nd_gzip_team *t, nd_error *err) {
  if (t->large) {
    t->large = false;
    nd_status status = run_large(t, "", 0, Z_FINISH, err);
    deflateEnd(&t->z);
    return status;
  }
  if (t->n == 0) return ND_OK;
  chunk *c = &t->chunks[t->n - 1];
  ND_TRY(nd_array_grow(&c->ends, &c->end_cap, c->end_n + 1, sizeof *c->ends, err));
  c->ends[c->end_n++] = (uint32_t)c->bytes.n;
  return ND_OK;
}

nd_status nd_gzip_team_finish(nd_gzip_team *t, nd_error *err) {
  ND_TRY(flush(t, err));
  if (t->any) return ND_OK;
  z_stream z;
  nd_buf out = {0};
  ND_TRY(open_z(&z, err));
  nd_status status = pack_member(&out, &z, "", 0, err);
  if (status == ND_OK) status = nd_writer_put(t->to, out.p, out.n, err);
  deflateEnd(&z);
  nd_buf_clear(&out);
  return status;
}
