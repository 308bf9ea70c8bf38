/* Batches of texts in memory; see feed_memory.h. */
#include "read/feed_memory.h"

#include <inttypes.h>
#include <stdio.h>

#include "read/feed_range.h"

enum { BATCH_BYTES = 2 << 20 };

struct nd_memory {
  const nd_text_stream *stream;
  uint64_t *first; /* number of the first text of each chunk, if chunks stay */
  size_t chunk;    /* the chunk being read */
  uint64_t row;    /* the next text in it */
  nd_chunk texts, facts;
  uint64_t done; /* texts read */
};

nd_status nd_memory_new(nd_memory **out, const nd_text_stream *stream, nd_error *err) {
  nd_memory *m = nd_calloc(1, sizeof *m);
  if (!m) return nd_fail_memory(err, sizeof *m);
  *out = m;
  m->stream = stream;
  if (stream->next) return ND_OK;
  m->first = nd_malloc((stream->n + 1) * sizeof *m->first);
  if (!m->first) return nd_fail_memory(err, (stream->n + 1) * sizeof *m->first);
  uint64_t n = 0;
  for (size_t i = 0; i < stream->n; i++) {
    m->first[i] = n;
    n += stream->chunks[i].n;
    if (n >= UINT32_MAX) /* untaken: more than 2^31 things */
      return nd_fail(err, ND_ERR_LIMIT, "more than 4,294,967,294 texts; split the input");
    if (stream->facts && stream->facts[i].n != stream->chunks[i].n)
      return nd_fail(err, ND_ERR_USAGE,
                     "chunk %zu has %" PRIu64 " texts, but %" PRIu64 " values for --keep", i,
                     stream->chunks[i].n, stream->facts[i].n);
  }
  m->first[stream->n] = n;
  return ND_OK;
}

void nd_memory_free(nd_memory *m) {
  if (!m) return;
  nd_free(m->first);
  nd_free(m);
}

static uint64_t chunk_bytes(const nd_chunk *c) {
  const int32_t *narrow = c->index;
  const int64_t *wide = c->index;
  if (c->n == 0) return 0;
  if (c->layout == ND_LAYOUT_OFFSET32)
    return (uint64_t)(narrow[c->first + c->n] - narrow[c->first]);
  if (c->layout == ND_LAYOUT_OFFSET64) return (uint64_t)(wide[c->first + c->n] - wide[c->first]);
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < c->n; i++) {
    nd_str text;
    int null;
    if (nd_chunk_text(&text, &null, c, i, NULL) == ND_OK) bytes += text.n;
  }
  return bytes;
}

uint64_t nd_memory_bytes(const nd_memory *m) {
  uint64_t bytes = 0;
  if (m->stream->next) return 0; /* unknown */
  for (size_t i = 0; i < m->stream->n; i++) bytes += chunk_bytes(&m->stream->chunks[i]);
  return bytes;
}

uint64_t nd_memory_texts(const nd_memory *m) {
  return m->done;
}

/* Advances m->texts to the chunk with the next text; *more is false at the end. */
static nd_status turn_to_chunk(bool *more, nd_memory *m, nd_error *err) {
  const nd_text_stream *s = m->stream;
  while (m->row == m->texts.n) {
    m->row = 0;
    m->texts = m->facts = (nd_chunk){0};
    if (s->next) {
      ND_TRY(s->next(s->context, &m->texts, &m->facts, err));
      *more = m->texts.n > 0;
      if (!*more) return ND_OK;
      if (m->facts.n && m->facts.n != m->texts.n)
        return nd_fail(err, ND_ERR_USAGE, "a chunk has %" PRIu64 " texts, but %" PRIu64 " values",
                       m->texts.n, m->facts.n);
    } else {
      *more = m->chunk < s->n;
      if (!*more) return ND_OK;
      m->texts = s->chunks[m->chunk];
      if (s->facts) m->facts = s->facts[m->chunk];
      m->chunk++;
    }
  }
  *more = true;
  return ND_OK;
}

static nd_status add_text(nd_batch *b, nd_memory *m, nd_raw *raw, nd_str text,
                          const nd_input_options *o, nd_error *err) {
  if (text.n > o->max_document) {
    char reason[80];
    snprintf(reason, sizeof reason, "longer than --max-document (%" PRIu64 " bytes)",
             o->max_document);
    return nd_batch_reject(b, raw, nd_str_of(reason), err);
  }
  ND_TRY(nd_array_grow(&b->raws, &b->cap, b->n + 1, sizeof *b->raws, err));
  if (m->facts.n) {
    nd_str fact;
    int null;
    ND_TRY(nd_chunk_text(&fact, &null, &m->facts, m->row, err));
    raw->fact_at = b->facts.n;
    raw->fact_n = fact.n;
    ND_TRY(nd_buf_append(&b->facts, fact.p, fact.n, err));
  }
  if (b->stays) {
    raw->p = text.p;
  } else {
    raw->at = b->bytes.n;
    ND_TRY(nd_buf_append(&b->bytes, text.p, text.n, err));
  }
  b->raws[b->n++] = *raw;
  return ND_OK;
}

nd_status nd_memory_batch(nd_batch *b, nd_memory *m, uint32_t task, const nd_format *format,
                          const nd_input_options *o, nd_error *err) {
  b->stays = !m->stream->next;
  for (;;) {
    if (b->raw_bytes >= BATCH_BYTES || b->n + b->others >= ND_BATCH_RECORDS) return ND_OK;
    bool more;
    ND_TRY(turn_to_chunk(&more, m, err));
    b->last = !more;
    if (b->last) return ND_OK;
    if (m->done >= UINT32_MAX - 1) /* untaken: more than 2^31 things */
      return nd_fail(err, ND_ERR_LIMIT, "more than 4,294,967,294 texts; split the input");
    nd_str text;
    int null;
    ND_TRY(nd_chunk_text(&text, &null, &m->texts, m->row, err));
    nd_raw raw = {.format = format, .file = task, .offset = m->done, .length = text.n, .n = text.n};
    if (null)
      b->others++;
    else
      ND_TRY(add_text(b, m, &raw, text, o, err));
    b->raw_bytes += text.n;
    m->row++;
    m->done++;
  }
}

nd_str nd_memory_text(const nd_memory *m, uint32_t text) {
  size_t low = 0, high = m->stream->n; /* the last chunk with first <= text */
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (m->first[middle] <= text)
      low = middle;
    else
      high = middle;
  }
  nd_str out = {"", 0};
  int null;
  /* Cannot fail: the text was read before. */
  nd_status status =
      nd_chunk_text(&out, &null, &m->stream->chunks[low], text - m->first[low], NULL);
  (void)status;
  return out;
}
