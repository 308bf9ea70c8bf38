/* Reading and writing sketch files; see sketch_file.h. */
#include "sketchfile/sketch_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>
#include <xxhash.h>

#include "input/foreign.h"

static const uint32_t order_mark = 0x01020304;
enum {
  MAGIC = sizeof ND_SKETCH_MAGIC - 1,
  CHUNK_HEAD = 16,
  MOST_PARAMETERS = 1 << 16,
  MOST_WORDS = 4096,
  MOST_CHUNK = 1 << 20
};

/* --- little-endian numbers --------------------------------------------------------- */

static void put32(char *p, uint32_t x) {
  for (int i = 0; i < 4; i++) p[i] = (char)(x >> 8 * i);
}

static void put64(char *p, uint64_t x) {
  for (int i = 0; i < 8; i++) p[i] = (char)(x >> 8 * i);
}

static uint32_t get32(const char *p) {
  uint32_t x = 0;
  for (int i = 3; i >= 0; i--) x = x << 8 | (unsigned char)p[i];
  return x;
}

static uint64_t get64(const char *p) {
  return (uint64_t)get32(p + 4) << 32 | get32(p);
}

static uint64_t padded(uint64_t n) {
  return (n + 7) / 8 * 8;
}

/* --- chunks --------------------------------------------------------------------------- */

nd_status nd_sketch_chunk_reserve(nd_sketch_chunk *c, uint32_t docs, uint32_t words,
                                  nd_error *err) {
  ND_TRY(nd_array_grow(&c->digest, &c->digest_cap, docs, sizeof *c->digest, err));
  ND_TRY(nd_array_grow(&c->rows, &c->row_cap, (size_t)docs * words, sizeof *c->rows, err));
  ND_TRY(nd_array_grow(&c->shingles, &c->shingle_cap, docs, sizeof *c->shingles, err));
  return nd_array_grow(&c->id_end, &c->id_cap, docs, sizeof *c->id_end, err);
}

void nd_sketch_chunk_clear(nd_sketch_chunk *c) {
  nd_free(c->digest);
  nd_free(c->rows);
  nd_free(c->shingles);
  nd_free(c->id_end);
  nd_buf_clear(&c->ids);
  nd_buf_clear(&c->bytes);
  *c = (nd_sketch_chunk){0};
}

static uint64_t chunk_bytes(uint64_t docs, uint64_t words, uint64_t id_bytes) {
  return CHUNK_HEAD + docs * (16 + 8 * words + 8) + padded(id_bytes);
}

/* Computes a chunk's checksum, which covers its sizes and its number, so that chunks cannot be
 * swapped. */
static uint64_t chunk_sum(const char *chunk, uint64_t bytes, uint64_t number) {
  uint64_t sizes = get64(chunk);
  return XXH3_64bits_withSeed(chunk + CHUNK_HEAD, bytes - CHUNK_HEAD, sizes ^ number << 1);
}

/* --- writing ----------------------------------------------------------------------------- */

struct nd_sketch_writer {
  nd_output *file;
  nd_buf begin; /* space for the head, the parameters, padding */
  nd_sketch_head head;
};

void nd_sketch_abandon(nd_sketch_writer *w) {
  if (!w) return;
  nd_buf_clear(&w->begin);
  nd_free(w);
}

nd_status nd_sketch_create(nd_sketch_writer **out, nd_output *file, nd_str parameters,
                           uint32_t words, nd_error *err) {
  nd_sketch_writer *w = nd_calloc(1, sizeof *w);
  if (!w) return nd_fail_memory(err, sizeof *w);
  *out = w;
  w->file = file;
  w->begin.n = ND_SKETCH_HEAD + padded(parameters.n);
  w->begin.p = nd_calloc(w->begin.n, 1);
  if (!w->begin.p) return nd_fail_memory(err, w->begin.n);
  memcpy(w->begin.p + ND_SKETCH_HEAD, parameters.p, parameters.n);
  w->head = (nd_sketch_head){.parameter_bytes = parameters.n, .words = words};
  /* The head is zeros until everything else is written. */
  ND_TRY(nd_output_head(file, w->begin.p, ND_SKETCH_HEAD, err));
  return nd_output_put(file, w->begin.p, w->begin.n, err);
}

nd_status nd_sketch_put(nd_sketch_writer *w, nd_sketch_chunk *c, nd_error *err) {
  uint32_t words = w->head.words;
  uint64_t size = chunk_bytes(c->docs, words, c->ids.n);
  c->bytes.n = 0;
  ND_TRY(nd_buf_reserve(&c->bytes, size, err));
  ND_TRY(nd_buf_reserve(&c->ids, 0, err)); /* even without ids */
  char *start = c->bytes.p, *p = start;
  memset(start, 0, size);
  put32(p, c->docs);
  put32(p + 4, (uint32_t)c->ids.n);
  p += CHUNK_HEAD;
  for (uint32_t i = 0; i < c->docs; i++, p += 16) {
    put64(p, c->digest[i].low);
    put64(p + 8, c->digest[i].high);
  }
  for (size_t i = 0; i < (size_t)c->docs * words; i++, p += 8) put64(p, c->rows[i]);
  for (uint32_t i = 0; i < c->docs; i++, p += 4) put32(p, c->shingles[i]);
  for (uint32_t i = 0; i < c->docs; i++, p += 4) put32(p, c->id_end[i]);
  memcpy(p, c->ids.p, c->ids.n);
  put64(start + 8, chunk_sum(start, size, w->head.chunks));
  w->head.chunks++;
  w->head.documents += c->docs;
  return nd_output_put(w->file, start, size, err);
}

static uint64_t head_sum(const char *head, nd_str parameters) {
  return XXH3_64bits_withSeed(head, ND_SKETCH_HEAD - 8, XXH3_64bits(parameters.p, parameters.n));
}

static nd_status write_head(nd_sketch_writer *w, nd_error *err) {
  char head[ND_SKETCH_HEAD] = {0};
  memcpy(head, ND_SKETCH_MAGIC, MAGIC);
  put32(head + 8, order_mark);
  put32(head + 12, ND_SKETCH_VERSION);
  put32(head + 16, (uint32_t)w->head.parameter_bytes);
  put32(head + 20, w->head.words);
  put64(head + 24, w->head.documents);
  put64(head + 32, w->head.chunks);
  put64(head + 40, w->head.bytes);
  put64(head + 56, head_sum(head, (nd_str){w->begin.p + ND_SKETCH_HEAD, w->head.parameter_bytes}));
  return nd_output_head(w->file, head, sizeof head, err);
}

nd_status nd_sketch_finish(nd_sketch_writer *w, nd_error *err) {
  w->head.bytes = nd_output_offset(w->file);
  const nd_status status = write_head(w, err);
  nd_sketch_abandon(w);
  return status;
}

/* --- reading --------------------------------------------------------------------------------- */

nd_status nd_sketch_probe(bool *is, const char *path, nd_error *err) {
  char first[MAGIC];
  int fd;
  *is = false;
  ND_TRY(nd_io_open(&fd, path, O_RDONLY, 0, err));
  nd_status status = nd_io_pread_full(fd, first, sizeof first, 0, path, err);
  close(fd);
  *is = status == ND_OK && memcmp(first, ND_SKETCH_MAGIC, MAGIC) == 0;
  return status == ND_ERR_DATA ? ND_OK : status; /* too short to be a sketch file */
}

static nd_status damaged(const nd_sketch_reader *r, const char *what, nd_error *err) {
  return nd_fail(err, ND_ERR_DATA, "%s: the sketch file is damaged (%s); create it again", r->name,
                 what);
}

static nd_status read_head(nd_sketch_reader *r, uint64_t size, nd_error *err) {
  char head[ND_SKETCH_HEAD];
  if (size < sizeof head)
    return nd_fail(err, ND_ERR_DATA,
                   "%s: the sketch file is truncated: %" PRIu64 " bytes; create it again", r->name,
                   size);
  ND_TRY(nd_io_pread_full(r->fd, head, sizeof head, 0, r->name, err));
  if (memcmp(head, ND_SKETCH_MAGIC, MAGIC) != 0)
    return nd_fail(err, ND_ERR_DATA, "%s is not a sketch file; create one with `neardup sketch`",
                   r->name);
  uint32_t mark = get32(head + 8), version = get32(head + 12);
  if (mark == __builtin_bswap32(order_mark))
    return nd_fail(err, ND_ERR_DATA,
                   "%s: byte order: big-endian in the file, but sketch files are "
                   "little-endian; create it again",
                   r->name);
  if (mark != order_mark) return damaged(r, "byte order", err);
  if (version != ND_SKETCH_VERSION)
    return nd_fail(err, ND_ERR_DATA,
                   "%s: version: %" PRIu32 " in the file, this neardup reads %d; create it again",
                   r->name, version, ND_SKETCH_VERSION);
  r->head = (nd_sketch_head){.parameter_bytes = get32(head + 16),
                             .words = get32(head + 20),
                             .documents = get64(head + 24),
                             .chunks = get64(head + 32),
                             .bytes = get64(head + 40)};
  const nd_sketch_head *h = &r->head;
  if (h->bytes != size)
    return nd_fail(err, ND_ERR_DATA,
                   "%s: the sketch file is %s: %" PRIu64 " bytes instead of %" PRIu64
                   "; create it again",
                   r->name, size < h->bytes ? "truncated" : "too long", size, h->bytes);
  if (h->parameter_bytes > MOST_PARAMETERS || h->words > MOST_WORDS ||
      ND_SKETCH_HEAD + padded(h->parameter_bytes) > size)
    return damaged(r, "file head", err);
  ND_TRY(nd_buf_reserve(&r->parameters, h->parameter_bytes, err));
  ND_TRY(
      nd_io_pread_full(r->fd, r->parameters.p, h->parameter_bytes, ND_SKETCH_HEAD, r->name, err));
  r->parameters.n = h->parameter_bytes;
  if (head_sum(head, nd_buf_str(&r->parameters)) != get64(head + 56))
    return damaged(r, "checksum of the file head", err);
  r->at = ND_SKETCH_HEAD + padded(h->parameter_bytes);
  return ND_OK;
}

nd_status nd_sketch_open(nd_sketch_reader *r, const char *path, const char *name, nd_error *err) {
  *r = (nd_sketch_reader){.fd = -1, .name = name};
  nd_file_info info;
  ND_TRY(nd_io_probe(&info, path, err));
  if (info.exists && !info.regular && !info.directory) /* opening a FIFO would wait */
    return nd_fail(err, ND_ERR_USAGE, "%s is not a plain file; sketches need one", name);
  ND_TRY(nd_io_open(&r->fd, path, O_RDONLY, 0, err));
  ND_TRY(nd_io_fstat(&info, r->fd, name, err)); /* untaken: the system never refuses this */
  return read_head(r, info.size, err);
}

void nd_sketch_close(nd_sketch_reader *r) {
  if (r->fd >= 0) close(r->fd);
  nd_buf_clear(&r->parameters);
  *r = (nd_sketch_reader){.fd = -1};
}

/* Decodes the numbers of a chunk; impossible values mean that it is damaged. */
static nd_status unpack(nd_sketch_chunk *c, const nd_sketch_reader *r, const char *p,
                        uint32_t id_bytes, nd_error *err) {
  uint32_t words = r->head.words;
  for (uint32_t i = 0; i < c->docs; i++, p += 16)
    c->digest[i] = (nd_digest){get64(p), get64(p + 8)};
  for (size_t i = 0; i < (size_t)c->docs * words; i++, p += 8) c->rows[i] = get64(p);
  for (uint32_t i = 0; i < c->docs; i++, p += 4) c->shingles[i] = get32(p);
  uint32_t last = 0;
  for (uint32_t i = 0; i < c->docs; i++, p += 4) {
    c->id_end[i] = get32(p);
    if (c->id_end[i] < last || c->id_end[i] > id_bytes) return damaged(r, "ids", err);
    last = c->id_end[i];
  }
  if (last != id_bytes) return damaged(r, "ids", err);
  c->ids.n = 0;
  return nd_buf_append(&c->ids, p, id_bytes, err);
}

nd_status nd_sketch_next(bool *more, nd_sketch_chunk *c, nd_sketch_reader *r, nd_error *err) {
  char head[CHUNK_HEAD];
  *more = r->chunk < r->head.chunks;
  c->docs = 0;
  if (!*more) return r->at == r->head.bytes ? ND_OK : damaged(r, "file size", err);
  uint64_t left = r->head.bytes - r->at;
  if (left < CHUNK_HEAD) return damaged(r, "chunk head", err);
  ND_TRY(nd_io_pread_full(r->fd, head, sizeof head, r->at, r->name, err));
  uint32_t docs = get32(head), id_bytes = get32(head + 4);
  uint64_t size = chunk_bytes(docs, r->head.words, id_bytes);
  if (docs > MOST_CHUNK || size > left) return damaged(r, "chunk size", err);
  c->bytes.n = 0;
  ND_TRY(nd_buf_reserve(&c->bytes, size, err));
  ND_TRY(nd_io_pread_full(r->fd, c->bytes.p, size, r->at, r->name, err));
  if (chunk_sum(c->bytes.p, size, r->chunk) != get64(head + 8)) return damaged(r, "checksum", err);
  c->bytes.n = size;
  ND_TRY(nd_sketch_chunk_reserve(c, docs, r->head.words, err));
  c->docs = docs;
  r->at += size;
  r->chunk++;
  return unpack(c, r, c->bytes.p + CHUNK_HEAD, id_bytes, err);
}
