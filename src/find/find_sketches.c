/* Pairs of sketches that differ in few bits.
 *
 * The sketches of all documents are gathered in memory in keep order (order.h), so the position of
 * a document is its row.  If they do not fit, they are read from the store for each pass. */
#include "find/find_sketches.h"
#include "candidate/hamming.h"

void nd_sketch_rows_clear(nd_sketch_rows *g) {
  nd_free(g->words);
  nd_free(g->present);
  *g = (nd_sketch_rows){0};
}

/* Copies a part of the row of each first occurrence to its position. */
static nd_status take_rows(void *to, const uint64_t *vector, const uint32_t *position, size_t n,
                           nd_error *err) {
  (void)err;
  nd_sketch_rows *g = to;
  for (size_t i = 0; i < n; i++) {
    memcpy(g->words + (size_t)position[i] * g->each, vector + i * g->each, g->each * 8);
    g->present[position[i] / 64] |= (uint64_t)1 << position[i] % 64;
  }
  return ND_OK;
}

nd_status nd_sketch_rows_gather(nd_sketch_rows *g, const nd_sketch_scan *scan, nd_error *err) {
  uint64_t n = scan->finder->store->documents;
  *g = (nd_sketch_rows){.each = scan->part->words};
  size_t bytes = (size_t)n * g->each * sizeof *g->words + 1;
  g->words = nd_malloc(bytes);
  g->present = nd_calloc((size_t)n / 64 + 1, sizeof *g->present);
  if (!g->words || !g->present) return nd_fail_memory(err, bytes);
  memset(g->words, 0xff, bytes); /* exact duplicates have no values */
  nd_sketch_scan again = *scan;
  return nd_sketch_scan_rows(&again, take_rows, g, err);
}

nd_status nd_sketch_scan_rows(void *context, nd_vector_take take, void *to, nd_error *err) {
  const nd_sketch_scan *q = context;
  const nd_finder *f = q->finder;
  const nd_store *s = f->store;
  const nd_row *r = &f->settings->row;
  const uint32_t each = q->part->words;
  size_t most = nd_store_most_docs(s);
  uint64_t *rows = nd_malloc(most * r->total * sizeof *rows);
  uint32_t *position = nd_malloc(most * sizeof *position);
  nd_status status = rows && position ? ND_OK : nd_fail_memory(err, most * r->total * sizeof *rows);
  for (size_t i = 0; i < s->block_n && status == ND_OK; i++) {
    size_t n = 0;
    status = nd_hooks_check(f->source->hooks, err);
    if (status == ND_OK) status = nd_store_rows(rows, s, i, err);
    for (uint32_t k = 0; status == ND_OK && k < s->blocks[i].head.docs; k++) {
      uint32_t d = s->blocks[i].first + k;
      if (f->out->same[d] != d) continue;
      /* Move the part to the front, over rows already read. */
      memmove(rows + n * each, rows + (size_t)k * r->total + q->part->at, each * sizeof *rows);
      position[n++] = nd_order_position(&f->out->order, d);
    }
    if (status == ND_OK && n) status = take(to, rows, position, n, err);
  }
  nd_free(rows);
  nd_free(position);
  return status;
}

static nd_status check_hooks(void *context, nd_error *err) {
  const nd_finder *f = context;
  return nd_hooks_check(f->source->hooks, err);
}

nd_status nd_find_close(nd_finder *f, const nd_keys *keys, nd_error *err) {
  nd_sketch_scan scan = {f, nd_row_get(&f->settings->row, keys->vector)};
  nd_sketch_rows g = {0};
  nd_hamming_stats stats = {0};
  nd_hamming_request request = {.n = f->store->documents,
                                .scan = nd_sketch_scan_rows,
                                .scan_context = &scan,
                                .memory = f->memory,
                                .dir = f->tmp,
                                .words = scan.part->words,
                                .distance = keys->distance,
                                .pieces = keys->pieces,
                                .split = nd_finder_split(f),
                                .threads = f->settings->threads,
                                .cap = f->settings->options->bucket_cap,
                                .check = check_hooks,
                                .check_context = f};
  nd_status status = ND_OK;
  if (nd_hamming_bytes(request.n, request.words) <= f->memory) {
    status = nd_sketch_rows_gather(&g, &scan, err);
    request.vectors = g.words;
    request.present = g.present;
  }
  if (status == ND_OK) status = nd_hamming_pairs(f->out->pairs, &stats, &request, err);
  f->out->buckets.hot += stats.hot;
  f->out->buckets.hot_documents += stats.hot_documents;
  nd_sketch_rows_clear(&g);
  return status;
}
