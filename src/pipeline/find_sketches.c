/* Pairs of close sketches: bits that differ in few places, min values of which
 * many agree.
 *
 * The sketches of all documents are held in memory, in the wanted order
 * (order.h), so that a row's place in the list of positions is its number. */
#include "candidate/hamming.h"
#include "candidate/shared_values.h"
#include "pipeline/finder.h"

typedef struct gathered {
  uint64_t *words;    /* `each` per document that is its own first */
  uint32_t *position; /* rising */
  uint64_t n;
  uint32_t each;
} gathered;

static void gathered_clear(gathered *g) {
  nd_free(g->words);
  nd_free(g->position);
}

/* position → place among the positions in use; by way of g->position, which is
 * filled at the same time. */
static nd_status number_positions(gathered *g, uint32_t **place, const nd_finder *f,
                                  nd_error *err) {
  uint64_t n = f->store->documents;
  const uint32_t *same = f->out->same;
  g->position = nd_malloc(n * sizeof *g->position);
  uint32_t *at = *place = nd_calloc(n, sizeof *at);
  if (!g->position || !at) return nd_fail_memory(err, n * sizeof *at);
  for (uint32_t d = 0; d < n; d++)
    if (same[d] == d) at[nd_order_position(&f->out->order, d)] = 1;
  for (uint32_t p = 0; p < n; p++) {
    if (!at[p]) continue;
    g->position[g->n] = p;
    at[p] = (uint32_t)g->n++;
  }
  return ND_OK;
}

static nd_status gather_rows(gathered *g, const uint32_t *place, const nd_finder *f, nd_part part,
                             nd_error *err) {
  const nd_store *s = f->store;
  const nd_row *r = &f->settings->row;
  size_t most = (size_t)nd_store_most_docs(s) * r->total * sizeof(uint64_t);
  uint64_t *rows = nd_malloc(most);
  if (!rows) return nd_fail_memory(err, most);
  nd_status status = ND_OK;
  for (size_t i = 0; i < s->block_n && status == ND_OK; i++) {
    status = nd_store_rows(rows, s, i, err);
    for (uint32_t k = 0; status == ND_OK && k < s->blocks[i].head.docs; k++) {
      uint32_t d = s->blocks[i].first + k;
      if (f->out->same[d] != d) continue;
      uint64_t to = place[nd_order_position(&f->out->order, d)];
      memcpy(g->words + to * g->each, rows + (size_t)k * r->total + r->at[part], g->each * 8);
    }
  }
  nd_free(rows);
  return status;
}

static nd_status gather(gathered *g, const nd_finder *f, nd_part part, nd_error *err) {
  *g = (gathered){.each = f->settings->row.words[part]};
  uint32_t *place = NULL;
  nd_status status = number_positions(g, &place, f, err);
  size_t bytes = (size_t)g->n * g->each * sizeof *g->words;
  if (status == ND_OK) {
    g->words = nd_malloc(bytes);
    status = g->words ? gather_rows(g, place, f, part, err) : nd_fail_memory(err, bytes);
  }
  nd_free(place);
  return status;
}

/* In the wanted order the other collection's documents come first. */
static uint32_t split_of(const nd_finder *f) {
  return nd_source_has_other(f->source) ? (uint32_t)(f->store->documents - f->source->split) : 0;
}

static nd_status find_close(nd_finder *f, nd_part part, uint32_t distance, uint32_t pieces,
                            nd_error *err) {
  gathered g;
  nd_hamming_stats stats = {0};
  nd_status status = gather(&g, f, part, err);
  if (status == ND_OK) {
    nd_hamming_request request = {.vectors = g.words,
                                  .n = g.n,
                                  .number = g.position,
                                  .words = g.each,
                                  .distance = distance,
                                  .pieces = pieces,
                                  .split = split_of(f),
                                  .threads = f->settings->threads,
                                  .cap = f->settings->options->bucket_cap};
    status = nd_hamming_pairs(f->out->pairs, &stats, &request, err);
  }
  f->out->buckets.hot += stats.hot;
  f->out->buckets.hot_documents += stats.hot_documents;
  gathered_clear(&g);
  return status;
}

nd_status nd_find_simhashes(nd_finder *f, nd_error *err) {
  return find_close(f, ND_PART_SIMHASH, f->settings->hamming, 0, err);
}

nd_status nd_find_projections(nd_finder *f, nd_error *err) {
  const nd_settings *s = f->settings;
  return find_close(f, ND_PART_PROJECTION, s->distance, s->pieces, err);
}

/* --- min values ----------------------------------------------------------------- */
enum { ROOM = 1 << 12 };

/* Of the pairs that share a value, those that share enough of them. */
static nd_status keep_agreeing(nd_finder *f, nd_sorter *from, const gathered *g, uint32_t needed,
                               nd_error *err) {
  nd_rows rows = {g->words, g->each};
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  uint32_t *place = nd_malloc(f->store->documents * sizeof *place);
  nd_status status = items && place ? ND_OK : nd_fail_memory(err, ROOM * sizeof *items);
  for (uint64_t i = 0; status == ND_OK && i < g->n; i++) place[g->position[i]] = (uint32_t)i;
  while (status == ND_OK) {
    size_t n = 0, kept = 0;
    status = nd_sorter_next(&n, items, ROOM, from, err);
    if (status != ND_OK || n == 0) break;
    for (size_t i = 0; i < n; i++) {
      uint32_t a = place[items[i].key >> 32], b = place[(uint32_t)items[i].key];
      if (nd_rows_agree(&rows, a, b) >= needed)
        items[kept++] = (nd_item){items[i].key, ND_PAIR_FULL};
    }
    status = nd_sorter_add(f->out->pairs, items, kept, err);
  }
  nd_free(items);
  nd_free(place);
  return status;
}

/* Every pair that shares a value is counted (Williams, Giles 2013, section 3.2). */
nd_status nd_find_values(nd_finder *f, nd_error *err) {
  const nd_settings *s = f->settings;
  uint32_t k = s->permutations;
  /* The smallest number of values whose share reaches the threshold. */
  uint64_t least = ((uint64_t)k * s->threshold.num + s->threshold.den - 1) / s->threshold.den;
  uint32_t needed = least < 1 ? 1 : (uint32_t)least;
  gathered g;
  nd_sorter *shared = NULL;
  nd_status status = gather(&g, f, ND_PART_MINHASH, err);
  if (status == ND_OK) status = nd_sorter_new(&shared, f->spare / 2, f->tmp, true, err);
  if (status == ND_OK) {
    nd_sorter_sum(shared);
    nd_rows rows = {g.words, g.each};
    nd_shared_request request = {.value = nd_rows_value,
                                 .context = &rows,
                                 .n = g.n,
                                 .number = g.position,
                                 .places = k,
                                 .needed = needed,
                                 .split = split_of(f),
                                 .cap = s->options->bucket_cap,
                                 .threads = s->threads};
    status = nd_shared_pairs(shared, &f->out->buckets, &request, err);
  }
  if (status == ND_OK) status = nd_sorter_finish(shared, err);
  if (status == ND_OK) status = keep_agreeing(f, shared, &g, needed, err);
  nd_sorter_free(shared);
  gathered_clear(&g);
  return status;
}
