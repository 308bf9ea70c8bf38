/* Reading the texts of documents again; see texts.h. */
#include "read/texts.h"

#include <fcntl.h>
#include <unistd.h>

#include "read/sign.h"

enum {
  OPEN_FILES = 16,  /* at once, per thread */
  NEAR = 1 << 15,   /* bytes: a gap that costs less to read than another call */
  WINDOW = 1 << 17, /* bytes per read where documents lie near each other */
};

struct nd_texts {
  nd_text_source source;
  nd_signer *signer;
  nd_buf raw; /* bytes of a file: one document, or a window for sequential reading */
  uint32_t raw_file;
  uint64_t raw_at;
  nd_span span[ND_SPANS]; /* spans of the documents starting with span_first */
  size_t span_n;
  uint32_t span_first;
  struct {
    int fd;
    uint32_t file;
  } open[OPEN_FILES]; /* indexed by file number modulo OPEN_FILES; fd < 0: closed */
};

uint64_t nd_source_shingles(const nd_text_source *s) {
  uint64_t sum = 0;
  for (size_t i = 0; i < s->store->block_n; i++) {
    const nd_block_header *h = &s->store->blocks[i].head;
    sum += s->settings->shingle.kind == ND_SHINGLE_CHARS ? h->raw_bytes : h->tokens;
  }
  return sum;
}

nd_status nd_texts_new(nd_texts **out, const nd_text_source *source, nd_error *err) {
  nd_texts *t = nd_calloc(1, sizeof *t);
  if (!t) return nd_fail_memory(err, sizeof *t);
  t->source = *source;
  for (size_t i = 0; i < OPEN_FILES; i++) t->open[i].fd = -1;
  nd_status status = nd_signer_new(&t->signer, source->settings, err);
  if (status != ND_OK) {
    nd_texts_free(t);
    return status;
  }
  *out = t;
  return ND_OK;
}

void nd_texts_free(nd_texts *t) {
  if (!t) return;
  for (size_t i = 0; i < OPEN_FILES; i++)
    if (t->open[i].fd >= 0) close(t->open[i].fd);
  nd_signer_free(t->signer);
  nd_buf_clear(&t->raw);
  nd_free(t);
}

static nd_status open_file(int *fd, nd_texts *t, uint32_t file, nd_error *err) {
  size_t i = file % OPEN_FILES;
  if (t->open[i].fd < 0 || t->open[i].file != file) {
    if (t->open[i].fd >= 0) close(t->open[i].fd);
    t->open[i].fd = -1;
    ND_TRY(nd_io_open(&t->open[i].fd, t->source.walk->files[file].real, O_RDONLY, 0, err));
    t->open[i].file = file;
  }
  *fd = t->open[i].fd;
  return ND_OK;
}

/* Reads bytes of a file.  Documents are often requested in the order of the file; then a larger
 * piece is read at once. */
static nd_status read_raw(nd_str *out, nd_texts *t, int fd, uint32_t file, uint64_t at, size_t n,
                          nd_error *err) {
  const nd_input_file *f = &t->source.walk->files[file];
  uint64_t end = t->raw_at + t->raw.n;
  bool same = t->raw.n && t->raw_file == file && at >= t->raw_at;
  if (!same || at + n > end) {
    size_t size = n;
    if (same && at < end + NEAR && size < WINDOW) size = WINDOW;
    if (size > f->size - at) size = f->size > at + n ? (size_t)(f->size - at) : n;
    t->raw.n = 0;
    ND_TRY(nd_buf_reserve(&t->raw, size, err));
    ND_TRY(nd_io_pread_full(fd, t->raw.p, size, at, f->path, err));
    t->raw.n = size;
    t->raw_file = file;
    t->raw_at = at;
  }
  *out = (nd_str){t->raw.p + (at - t->raw_at), n};
  return ND_OK;
}

nd_str nd_line_of(nd_str raw) {
  if (raw.n && raw.p[raw.n - 1] == '\n') raw.n--;
  if (raw.n && raw.p[raw.n - 1] == '\r') raw.n--;
  return raw;
}

/* Reads a line of a file, without its line end. */
static nd_status read_line(nd_str *raw, nd_texts *t, const nd_task *task, nd_span span,
                           nd_error *err) {
  int fd;
  ND_TRY(open_file(&fd, t, task->file, err));
  ND_TRY(read_raw(raw, t, fd, task->file, task->begin + span.begin, span.n, err));
  *raw = nd_line_of(*raw);
  return ND_OK;
}

static nd_status read_again(nd_buf *out, nd_texts *t, const nd_block_ref *b, nd_span span,
                            nd_error *err) {
  const nd_task *task = nd_feed_task(t->source.feed, b->head.task);
  bool memory = task->kind == ND_TASK_MEMORY;
  const char *path = memory ? "a text" : t->source.walk->files[task->file].path;
  nd_str raw;
  if (memory)
    raw = nd_feed_text(t->source.feed, b->head.task, span.begin);
  else
    ND_TRY(read_line(&raw, t, task, span, err));
  nd_read read;
  nd_error local;
  nd_status status = nd_signer_read(&read, t->signer, task->format, raw, &local);
  if (status == ND_ERR_DATA)
    return nd_fail(err, ND_ERR_STATE, "%s has changed while it was being read; run again", path);
  if (status != ND_OK) {
    nd_error_pass(err, &local);
    return status;
  }
  out->n = 0;
  return nd_buf_append(out, read.tokens->text.p, read.tokens->text.n, err);
}

/* Spans that are not in memory are read in groups, for sequential access. */
static nd_status span_of(nd_span *out, nd_texts *t, size_t block, uint32_t document,
                         nd_error *err) {
  const nd_store *s = t->source.store;
  if (!s->span && (uint32_t)(document - t->span_first) >= t->span_n) {
    t->span_n = 0;
    ND_TRY(nd_store_spans(t->span, &t->span_n, s, block, document, err));
    t->span_first = document;
  }
  *out = s->span ? s->span[document] : t->span[document - t->span_first];
  return ND_OK;
}

nd_status nd_texts_get(nd_buf *out, nd_texts *t, uint32_t document, nd_error *err) {
  if (t->source.fetch) return t->source.fetch(out, t->source.fetch_context, document, err);
  const nd_store *s = t->source.store;
  size_t block = nd_store_find(s, document);
  const nd_block_ref *b = &s->blocks[block];
  nd_span span;
  ND_TRY(span_of(&span, t, block, document, err));
  if (b->head.raw) return read_again(out, t, b, span, err);
  out->n = 0;
  ND_TRY(nd_buf_reserve(out, span.n, err));
  uint64_t at = nd_block_column(&b->head, ND_COLUMNS) + b->head.id_bytes + span.begin;
  ND_TRY(nd_store_read(s, block, at, out->p, span.n, err));
  out->n = span.n;
  return ND_OK;
}
