/* The keys by which documents are grouped in a distributed run (see neardup/stage.h).
 *
 * Every method that generates candidates from sketches has kinds of keys, and documents that share
 * a key are sent to the same partition:
 *
 *   bands, mega-shingles   the key is a hash; documents with equal keys form a bucket
 *   pieces of bit vectors  documents that share a piece are sent with their vectors, and searched
 *                          like all documents on one machine
 *
 * Two vectors within the distance share at least one of distance + 1 pieces.  So the partitions
 * find exactly the pairs that a search on one machine finds.  Equal vectors share all pieces, so
 * their groups are complete in every partition. */
#include "base/hash.h"
#include "candidate/buckets.h"
#include "candidate/hamming.h"
#include "find/finder.h"
#include "stage/stage_work.h"
#include "store/workdir.h"

nd_stage_plan nd_stage_plan_of(const nd_settings *s) {
  nd_stage_plan p = {0};
  if (s->candidates->keys) s->candidates->keys(&p.keys, s);
  if (!p.keys.vector) return p;
  p.vector = nd_row_find(&s->row, p.keys.vector);
  p.pieces = p.keys.pieces ? p.keys.pieces : p.keys.distance + 1;
  return p;
}

/* Hashes the value of a piece. */
static uint64_t piece_key(const uint64_t *vector, const nd_stage_plan *p, uint32_t piece) {
  uint64_t bits = 64 * (uint64_t)p->vector->words, h = piece;
  uint64_t begin = bits * piece / p->pieces, end = bits * (piece + 1) / p->pieces;
  for (uint64_t w = begin / 64; w * 64 < end; w++) {
    uint64_t word = vector[w];
    if (begin > w * 64) word &= ~UINT64_C(0) << (begin - w * 64);
    if (end < w * 64 + 64) word &= ~(~UINT64_C(0) << (end - w * 64));
    h = nd_mix(h ^ word) + w;
  }
  return nd_mix(h);
}

/* Adds a vector as consecutive values: the position, then the index of the word. */
static nd_status add_pieces(nd_spread *out, const nd_stage *s, const nd_image *i,
                            const nd_stage_plan *p, const uint32_t *position, uint32_t ranges,
                            nd_error *err) {
  const nd_row *r = &s->settings.row;
  const uint64_t *rows = nd_image_wide(i, ND_COL_SKETCH);
  for (uint32_t d = 0; d < i->head.docs; d++) {
    if (position[d] == UINT32_MAX) continue;
    const uint64_t *vector = rows + (size_t)d * r->total + p->vector->at;
    for (uint32_t k = 0; k < p->pieces; k++) {
      uint32_t partition =
          (p->keys.buckets + k) * ranges + nd_share_of(piece_key(vector, p, k), ranges);
      for (uint32_t w = 0; w < p->vector->words; w++) {
        uint64_t value = p->vector->words == 1 ? position[d] : nd_pair_key(position[d], w);
        ND_TRY(nd_spread_add(out, partition, vector[w], value, err));
      }
    }
  }
  return ND_OK;
}

static nd_status add_buckets(nd_spread *out, nd_stage *s, const nd_image *i, const nd_stage_plan *p,
                             const uint32_t *position, uint32_t ranges, nd_error *err) {
  const uint64_t *keys = nd_image_wide(i, ND_COL_BANDS);
  uint32_t n = i->head.docs;
  ND_TRY(nd_array_grow(&s->items, &s->item_cap, n, sizeof *s->items, err));
  uint64_t *made = (uint64_t *)(void *)s->items;
  for (uint32_t kind = 0; kind < p->keys.buckets; kind++, keys += n) {
    const uint64_t *key = keys;
    if (p->keys.make) {
      p->keys.make(made, &s->settings, nd_image_wide(i, ND_COL_SKETCH), n, kind);
      key = made;
    }
    for (uint32_t d = 0; d < n; d++) {
      if (position[d] == UINT32_MAX) continue;
      ND_TRY(nd_spread_add(out, kind * ranges + nd_share_of(key[d], ranges), key[d], position[d],
                           err));
    }
  }
  return ND_OK;
}

nd_status nd_stage_keys(nd_spread *out, nd_stage *s, const nd_keys_request *request,
                        nd_error *err) {
  const nd_str image = request->image;
  const uint32_t *position = request->position, ranges = request->ranges;
  nd_image i;
  ND_TRY(nd_image_open(&i, s, image, err));
  nd_stage_plan p = nd_stage_plan_of(&s->settings);
  if ((uint64_t)(p.keys.buckets + p.pieces) * ranges > nd_spread_partitions(out))
    return nd_fail(err, ND_ERR_USAGE, "%u kinds of keys in %u ranges need more than %u partitions",
                   p.keys.buckets + p.pieces, ranges, nd_spread_partitions(out));
  ND_TRY(add_buckets(out, s, &i, &p, position, ranges, err));
  return p.pieces ? add_pieces(out, s, &i, &p, position, ranges, err) : ND_OK;
}

/* ---- candidates of one partition ------------------------------------------------- */

/* Emits edges by their first position; `of` maps numbers to positions (NULL: they are positions).
 * One byte suffices to mark star edges. */
typedef struct edge_spread {
  nd_spread *edges;
  const uint32_t *of;
  uint64_t positions;
} edge_spread;

static nd_status spread_some(void *context, nd_item *items, size_t n, nd_error *err) {
  const edge_spread *s = context;
  const uint64_t partitions = nd_spread_partitions(s->edges);
  for (size_t i = 0; i < n; i++) {
    nd_pair p = nd_pair_of(items[i].key);
    if (s->of) p = (nd_pair){s->of[p.a], s->of[p.b]};
    uint64_t star = items[i].value == ND_PAIR_STAR ? ND_STAGE_STAR : ND_STAGE_FULL;
    ND_TRY(nd_spread_add(s->edges, (uint32_t)(p.a * partitions / s->positions),
                         nd_pair_key(p.a, p.b), star, err));
  }
  return ND_OK;
}

static nd_status spread_edges(nd_spread *edges, nd_sorter *pairs, const uint32_t *of,
                              uint64_t positions, nd_error *err) {
  edge_spread s = {edges, of, positions};
  ND_TRY(nd_sorter_finish(pairs, err));
  return nd_sorter_each(pairs, spread_some, &s, err);
}

static nd_status group_buckets(nd_sorter *pairs, nd_bucket_stats *seen, nd_stage *s, size_t total,
                               const char *tmp, nd_error *err) {
  nd_grouper *g = NULL;
  nd_status status =
      nd_grouper_new(&g, total, nd_budget(s->settings.memory, ND_SHARE_STAGE_BUCKETS), tmp, err);
  if (status == ND_OK) nd_grouper_by_value(g);
  for (size_t i = 0; i < total && status == ND_OK; i++)
    status = nd_grouper_add(g, s->items[i].key, s->items[i].value, err);
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  if (status == ND_OK)
    status = nd_buckets_pairs(pairs, seen, g, s->options.bucket_cap, 0, NULL, err);
  nd_grouper_free(g);
  return status;
}

/* Collects the vectors of s->items in order of position. */
static nd_status gather(uint64_t *vectors, uint32_t *of, size_t *n, nd_stage *s, size_t total,
                        uint32_t words, uint64_t positions, nd_error *err) {
  for (size_t i = 0; i < total; i++) s->items[i] = (nd_item){s->items[i].value, s->items[i].key};
  nd_radix_items(s->items, s->scratch, total);
  *n = total / words;
  for (size_t i = 0; i < total; i++) {
    uint64_t position = words == 1 ? s->items[i].key : s->items[i].key >> 32;
    uint64_t word = words == 1 ? 0 : (uint32_t)s->items[i].key;
    bool whole =
        word == i % words && position < positions && total % words == 0 &&
        (i % words == 0 ? i == 0 || position > of[i / words - 1] : position == of[i / words]);
    if (!whole) return nd_fail(err, ND_ERR_DATA, "the vectors of a partition are incomplete");
    of[i / words] = (uint32_t)position;
    vectors[i] = s->items[i].value;
  }
  return ND_OK;
}

static nd_status group_pieces(nd_sorter *pairs, nd_bucket_stats *seen, const uint64_t *vectors,
                              size_t n, const nd_stage *s, const nd_stage_plan *p, bool count,
                              const char *tmp, nd_error *err) {
  nd_hamming_stats stats;
  nd_hamming_request request = {.n = n,
                                .vectors = vectors,
                                .memory = nd_budget(s->settings.memory, ND_SHARE_STAGE_PAIRS),
                                .dir = tmp,
                                .words = p->vector->words,
                                .distance = p->keys.distance,
                                .pieces = p->keys.pieces,
                                .threads = 1,
                                .cap = s->options.bucket_cap};
  ND_TRY(nd_hamming_pairs(pairs, &stats, &request, err));
  if (!count) return ND_OK; /* groups of equal vectors recur with every piece */
  seen->hot += stats.hot;
  seen->hot_documents += stats.hot_documents;
  return ND_OK;
}

nd_status nd_stage_group(nd_spread *edges, nd_stage_buckets *stats, nd_stage *s,
                         const nd_group_request *request, nd_error *err) {
  const uint32_t kind = request->kind;
  const nd_str *runs = request->runs.run;
  const size_t n = request->runs.n;
  const uint64_t positions = request->positions;
  size_t total, rows = 0;
  nd_sorter *pairs = NULL;
  nd_bucket_stats seen = {0};
  uint64_t *vectors = NULL;
  uint32_t *of = NULL;
  nd_stage_plan p = nd_stage_plan_of(&s->settings);
  const char *tmp = nd_workdir_tmp(s->options.tmp);
  if (kind >= p.keys.buckets + p.pieces)
    return nd_fail(err, ND_ERR_USAGE, "the method has %u kinds of keys, no kind %u",
                   p.keys.buckets + p.pieces, kind);
  ND_TRY(nd_runs_load(&total, s, runs, n, err));
  nd_status status =
      nd_sorter_new(&pairs, nd_budget(s->settings.memory, ND_SHARE_STAGE_PAIRS), tmp, true, err);
  if (status == ND_OK && kind < p.keys.buckets) {
    status = group_buckets(pairs, &seen, s, total, tmp, err);
  } else if (status == ND_OK && p.vector) {
    vectors = nd_malloc((total + 1) * sizeof *vectors);
    of = nd_malloc((total + 1) * sizeof *of);
    if (!vectors || !of) status = nd_fail_memory(err, total * sizeof *vectors);
    if (status == ND_OK)
      status = gather(vectors, of, &rows, s, total, p.vector->words, positions, err);
    if (status == ND_OK)
      status = group_pieces(pairs, &seen, vectors, rows, s, &p, kind == p.keys.buckets, tmp, err);
  }
  if (status == ND_OK) status = spread_edges(edges, pairs, of, positions, err);
  nd_sorter_free(pairs);
  nd_free(vectors);
  nd_free(of);
  stats->buckets += seen.buckets;
  stats->hot += seen.hot;
  stats->hot_documents += seen.hot_documents;
  if (seen.largest > stats->largest) stats->largest = seen.largest;
  return status;
}
