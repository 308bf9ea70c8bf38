/* Ids and locations of documents; see ids.h. */
#include "store/ids.h"

#include <inttypes.h>

#include "output/tsv.h"

enum { LEAST_SLOTS = 8, SMALL_COLUMNS = ND_COLUMNS - ND_COL_FILE };

typedef struct slot {
  size_t block; /* block number + 1; 0: empty */
  nd_buf bytes; /* columns FILE … ID_END, then the ids */
} slot;

struct nd_ids {
  const nd_store *store;
  const nd_walk *walk;
  uint64_t *line_base; /* for each block, the lines of its file before it */
  slot *slots;         /* indexed by block number modulo slot_n */
  size_t slot_n;
  size_t last; /* the block loaded last */
  nd_buf row;
  nd_buf memo; /* the last id read without loading its block: the first of many exact duplicates is
                  named again and again */
  uint64_t memo_document; /* document number + 1 of `memo`; 0: none */
  const uint32_t *given;  /* documents whose ids are known, ascending */
  const nd_str *given_id;
  size_t given_n;
};

/* Line numbers of a range count from its start; sums up the lines before each block. */
static void add_up_lines(nd_ids *ids) {
  const nd_store *s = ids->store;
  uint64_t lines = 0;
  uint32_t file = UINT32_MAX;
  for (size_t i = 0; i < s->block_n; i++) {
    const nd_block_header *h = &s->blocks[i].head;
    uint32_t this_file = h->lines_relative ? h->range_file : UINT32_MAX;
    if (this_file != file) lines = 0;
    file = this_file;
    ids->line_base[i] = h->lines_relative ? lines : 0;
    lines += h->lines;
  }
}

/* Returns the number of blocks whose ids fit into `memory`. */
static size_t count_slots(const nd_store *s, uint64_t memory) {
  uint64_t bytes = 1;
  for (size_t i = 0; i < s->block_n; i++)
    bytes += (uint64_t)s->blocks[i].head.docs * 4 * SMALL_COLUMNS + s->blocks[i].head.id_bytes;
  if (s->block_n == 0) return 1;
  if (bytes <= memory) return s->block_n;
  uint64_t fit = memory / (bytes / s->block_n + 1);
  return fit < LEAST_SLOTS ? LEAST_SLOTS : (size_t)fit;
}

nd_status nd_ids_new(nd_ids **out, const nd_store *store, const nd_walk *walk, uint64_t memory,
                     nd_error *err) {
  nd_ids *ids = nd_calloc(1, sizeof *ids);
  if (!ids) return nd_fail_memory(err, sizeof *ids);
  ids->store = store;
  ids->walk = walk;
  ids->line_base = nd_malloc(store->block_n * sizeof *ids->line_base);
  ids->slot_n = count_slots(store, memory);
  ids->last = SIZE_MAX;
  ids->slots = nd_calloc(ids->slot_n, sizeof *ids->slots);
  if (!ids->line_base || !ids->slots) {
    nd_free(ids->line_base);
    nd_free(ids->slots);
    nd_free(ids);
    return nd_fail_memory(err, store->block_n * sizeof *ids->line_base);
  }
  add_up_lines(ids);
  *out = ids;
  return ND_OK;
}

nd_status nd_ids_given(nd_ids **out, const uint32_t *document, const nd_str *id, size_t n,
                       nd_error *err) {
  nd_ids *ids = nd_calloc(1, sizeof *ids);
  if (!ids) return nd_fail_memory(err, sizeof *ids);
  ids->given = document;
  ids->given_id = id;
  ids->given_n = n;
  *out = ids;
  return ND_OK;
}

void nd_ids_free(nd_ids *ids) {
  if (!ids) return;
  for (size_t i = 0; i < ids->slot_n; i++) nd_buf_clear(&ids->slots[i].bytes);
  nd_free(ids->slots);
  nd_buf_clear(&ids->row);
  nd_buf_clear(&ids->memo);
  nd_free(ids->line_base);
  nd_free(ids);
}

nd_status nd_ids_append_location(nd_buf *out, const char *path, uint64_t line, uint64_t offset,
                                 nd_error *err) {
  ND_TRY(nd_tsv_append(out, nd_str_of(path), err));
  if (line) return nd_buf_printf(out, err, ":%" PRIu64, line);
  if (offset) return nd_buf_printf(out, err, "@%" PRIu64, offset);
  return ND_OK;
}

nd_status nd_ids_location(nd_buf *out, const nd_ids *ids, size_t block, uint32_t file,
                          uint32_t line, uint64_t offset, nd_error *err) {
  return nd_ids_append_location(out, ids->walk->files[file].path,
                                line ? ids->line_base[block] + line : 0, offset, err);
}

static nd_status append_given(nd_buf *out, const nd_ids *ids, uint32_t document, nd_error *err) {
  size_t low = 0, high = ids->given_n;
  if (!ids->given_id) return ND_OK;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (ids->given[middle] < document)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == ids->given_n || ids->given[low] != document)
    return nd_fail(err, ND_ERR_STATE, "the id of document %" PRIu32 " is not known", document);
  return nd_buf_append(out, ids->given_id[low].p, ids->given_id[low].n, err);
}

static nd_status load(slot **out, nd_ids *ids, size_t block, nd_error *err) {
  slot *s = &ids->slots[block % ids->slot_n];
  *out = s;
  if (s->block == block + 1) return ND_OK;
  const nd_block_header *h = &ids->store->blocks[block].head;
  size_t size = (size_t)h->docs * 4 * SMALL_COLUMNS + (size_t)h->id_bytes;
  s->block = 0;
  s->bytes.n = 0;
  ND_TRY(nd_buf_reserve(&s->bytes, size, err));
  ND_TRY(nd_store_read(ids->store, block, nd_block_column(h, ND_COL_FILE), s->bytes.p, size, err));
  s->block = block + 1;
  ids->last = block;
  return ND_OK;
}

/* Reads one cell of a 32-bit column. */
static nd_status read_cell(uint32_t *out, const nd_ids *ids, size_t block, nd_column column,
                           size_t row, nd_error *err) {
  uint64_t at = nd_block_column(&ids->store->blocks[block].head, column) + 4 * row;
  return nd_store_read(ids->store, block, at, out, sizeof *out, err);
}

static nd_status append_place(nd_buf *out, const nd_ids *ids, size_t block, size_t row,
                              uint32_t file, uint32_t line, nd_error *err) {
  uint64_t offset = 0;
  if (!line) {
    uint64_t at = nd_block_column(&ids->store->blocks[block].head, ND_COL_OFFSET) + 8 * row;
    ND_TRY(nd_store_read(ids->store, block, at, &offset, sizeof offset, err));
  }
  return nd_ids_location(out, ids, block, file, line, offset, err);
}

/* Appends an id without loading its block. */
static nd_status append_row(nd_buf *out, nd_ids *ids, size_t block, size_t row, nd_error *err) {
  const nd_block_header *h = &ids->store->blocks[block].head;
  uint32_t begin = 0, end = 0, file = 0, line = 0;
  if (row) ND_TRY(read_cell(&begin, ids, block, ND_COL_ID_END, row - 1, err));
  ND_TRY(read_cell(&end, ids, block, ND_COL_ID_END, row, err));
  if (end > begin) {
    ids->row.n = 0;
    ND_TRY(nd_buf_reserve(&ids->row, end - begin, err));
    ND_TRY(nd_store_read(ids->store, block, nd_block_column(h, ND_COLUMNS) + begin, ids->row.p,
                         end - begin, err));
    return nd_tsv_append(out, (nd_str){ids->row.p, end - begin}, err);
  }
  ND_TRY(read_cell(&file, ids, block, ND_COL_FILE, row, err));
  ND_TRY(read_cell(&line, ids, block, ND_COL_LINE, row, err));
  return append_place(out, ids, block, row, file, line, err);
}

void nd_ids_rewind(nd_ids *ids) {
  ids->last = SIZE_MAX;
}

nd_status nd_ids_append(nd_buf *out, nd_ids *ids, uint32_t document, nd_error *err) {
  if (ids->given) return append_given(out, ids, document, err);
  size_t block = nd_store_find(ids->store, document);
  const nd_block_ref *b = &ids->store->blocks[block];
  slot *s;
  size_t row = document - b->first, docs = b->head.docs;
  bool here = ids->slots[block % ids->slot_n].block == block + 1;
  bool in_order = ids->last == SIZE_MAX || block == ids->last + 1;
  if (!here && !in_order && ids->slot_n < ids->store->block_n) {
    if (ids->memo_document == (uint64_t)document + 1)
      return nd_buf_append(out, ids->memo.p, ids->memo.n, err);
    size_t from = out->n;
    ND_TRY(append_row(out, ids, block, row, err));
    ids->memo_document = 0;
    ids->memo.n = 0;
    ND_TRY(nd_buf_append(&ids->memo, out->p + from, out->n - from, err));
    ids->memo_document = (uint64_t)document + 1;
    return ND_OK;
  }
  ND_TRY(load(&s, ids, block, err));
  const uint32_t *cells = (const uint32_t *)(const void *)s->bytes.p;
  const uint32_t *id_end = cells + (size_t)(ND_COL_ID_END - ND_COL_FILE) * docs;
  uint32_t begin = row ? id_end[row - 1] : 0;
  if (id_end[row] > begin) {
    const char *bytes = s->bytes.p + docs * 4 * SMALL_COLUMNS;
    return nd_tsv_append(out, (nd_str){bytes + begin, id_end[row] - begin}, err);
  }
  return append_place(out, ids, block, row, cells[row], cells[docs + row], err);
}
