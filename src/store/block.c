/* Building and validating blocks; the layout is drawn in block.h. */
#include "store/block.h"

#include <xxhash.h>

static const uint64_t block_magic = 0x326b6c4270754464; /* "dDupBlk2" */

static size_t cell(const nd_block_header *h, int column) {
  switch (column) {
    case ND_COL_DIGEST: return 16;
    case ND_COL_BANDS: return 8 * (size_t)h->bands;
    case ND_COL_SKETCH: return 8 * (size_t)h->sketch_words;
    case ND_COL_RANK:
    case ND_COL_ID_HASH:
    case ND_COL_OFFSET:
    case ND_COL_LENGTH: return 8;
    default: return 4;
  }
}

uint64_t nd_block_column(const nd_block_header *h, nd_column column) {
  uint64_t at = sizeof *h;
  for (int c = 0; c < (int)column; c++) at += (uint64_t)cell(h, c) * h->docs;
  return at;
}

uint64_t nd_block_urls(const nd_block_header *h) {
  return nd_block_column(h, ND_COLUMNS) + h->id_bytes + h->text_bytes + h->reject_bytes +
         8 * h->starts;
}

void nd_block_start(nd_block *b, uint32_t task, uint32_t part, uint32_t bands,
                    uint32_t sketch_words) {
  b->head = (nd_block_header){.magic = block_magic,
                              .task = task,
                              .part = part,
                              .bands = bands,
                              .sketch_words = sketch_words};
  b->ids.n = b->texts.n = b->rejects.n = b->starts.n = b->urls.n = b->image.n = 0;
}

static nd_status grow(void *column, size_t *cap, size_t want, size_t size, nd_error *err) {
  size_t own = *cap;
  if (size == 0) return ND_OK;
  void *old;
  memcpy(&old, column, sizeof old);
  if (!old) own = 0;
  return nd_array_grow(column, &own, want, size, err);
}

nd_status nd_block_reserve(nd_block *b, nd_error *err) {
  size_t want = (size_t)b->head.docs + 1;
  if (want <= b->cap) return ND_OK;
  size_t to = b->cap * 2 > 256 ? b->cap * 2 : 256;
  const nd_block_header *h = &b->head;
  ND_TRY(grow(&b->digest, &b->cap, to, 16, err));
  ND_TRY(grow(&b->bands, &b->cap, to, 8 * (size_t)h->bands, err));
  ND_TRY(grow(&b->sketch, &b->cap, to, 8 * (size_t)h->sketch_words, err));
  uint64_t **wide[] = {&b->rank, &b->id_hash, &b->offset, &b->length};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    ND_TRY(grow(wide[i], &b->cap, to, 8, err));
  uint32_t **narrow[] = {&b->file, &b->line, &b->shingles, &b->text_end, &b->id_end, &b->url_end};
  for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
    ND_TRY(grow(narrow[i], &b->cap, to, 4, err));
  b->cap = to;
  return ND_OK;
}

nd_status nd_block_reject(nd_block *b, uint64_t offset, uint64_t length, uint32_t file,
                          uint32_t line, nd_str reason, nd_error *err) {
  uint32_t small[3] = {file, line, (uint32_t)reason.n};
  ND_TRY(nd_buf_append(&b->rejects, &offset, 8, err));
  ND_TRY(nd_buf_append(&b->rejects, &length, 8, err));
  ND_TRY(nd_buf_append(&b->rejects, small, sizeof small, err));
  ND_TRY(nd_buf_append(&b->rejects, reason.p, reason.n, err));
  b->head.rejects++;
  return ND_OK;
}

nd_status nd_block_finish(nd_block *b, nd_error *err) {
  nd_block_header *h = &b->head;
  h->id_bytes = b->ids.n;
  h->text_bytes = b->texts.n;
  h->reject_bytes = b->rejects.n;
  h->starts = b->starts.n / 8;
  h->url_bytes = b->urls.n;
  uint64_t columns = nd_block_column(h, ND_COLUMNS);
  uint64_t end =
      columns + h->id_bytes + h->text_bytes + h->reject_bytes + 8 * h->starts + h->url_bytes;
  uint64_t padded = (end + ND_BLOCK_ALIGN - 1) / ND_BLOCK_ALIGN * ND_BLOCK_ALIGN;
  h->payload = padded - sizeof *h;
  b->image.n = 0;
  ND_TRY(nd_buf_reserve(&b->image, padded, err));
  char *p = b->image.p;
  size_t n = h->docs;
  const void *columns_in[ND_COLUMNS] = {b->digest,   NULL,      b->sketch, b->rank, b->id_hash,
                                        b->offset,   b->length, b->file,   b->line, b->shingles,
                                        b->text_end, b->id_end, b->url_end};
  for (int c = 0; c < ND_COLUMNS; c++) {
    size_t size = cell(h, c) * n;
    char *to = p + nd_block_column(h, (nd_column)c);
    if (columns_in[c] && size) memcpy(to, columns_in[c], size);
    if (c != ND_COL_BANDS) continue;
    uint64_t *turned = (uint64_t *)(void *)to;
    for (size_t band = 0; band < h->bands; band++) {
      for (size_t i = 0; i < n; i++) turned[band * n + i] = b->bands[i * h->bands + band];
    }
  }
  char *bytes = p + columns;
  const nd_buf *tail[] = {&b->ids, &b->texts, &b->rejects, &b->starts, &b->urls};
  for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
    if (tail[i]->n) memcpy(bytes, tail[i]->p, tail[i]->n);
    bytes += tail[i]->n;
  }
  memset(p + end, 0, padded - end);
  h->checksum = 0;
  memcpy(p, h, sizeof *h);
  b->image.n = padded;
  const size_t skip = 2 * sizeof(uint64_t);
  h->checksum = XXH3_64bits(p + skip, padded - skip);
  memcpy(p, h, sizeof *h);
  return ND_OK;
}

void nd_block_clear(nd_block *b) {
  void *all[] = {b->digest, b->bands, b->sketch,   b->rank,     b->id_hash, b->offset, b->length,
                 b->file,   b->line,  b->shingles, b->text_end, b->id_end,  b->url_end};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) nd_free(all[i]);
  nd_buf_clear(&b->ids);
  nd_buf_clear(&b->texts);
  nd_buf_clear(&b->rejects);
  nd_buf_clear(&b->starts);
  nd_buf_clear(&b->urls);
  nd_buf_clear(&b->image);
  *b = (nd_block){0};
}

bool nd_block_valid(nd_str bytes) {
  nd_block_header h;
  if (bytes.n < sizeof h) return false;
  memcpy(&h, bytes.p, sizeof h);
  if (h.magic != block_magic || h.payload > bytes.n - sizeof h) return false;
  uint64_t need = nd_block_column(&h, ND_COLUMNS);
  if (h.id_bytes > bytes.n || h.text_bytes > bytes.n || h.reject_bytes > bytes.n ||
      h.starts > bytes.n || h.url_bytes > bytes.n)
    return false;
  need += h.id_bytes + h.text_bytes + h.reject_bytes + 8 * h.starts + h.url_bytes;
  if (need > sizeof h + h.payload) return false;
  const size_t skip = 2 * sizeof(uint64_t);
  return XXH3_64bits(bytes.p + skip, sizeof h + h.payload - skip) == h.checksum;
}
