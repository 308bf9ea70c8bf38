/* Copies and candidates apart; see neardup/stage.h.
 *
 * Keys are hashes, so equal shares of their range are equal work.  A place gets
 * all items with its keys, from every block; there they are grouped as one
 * machine groups them. */
#include "base/radix.h"
#include "candidate/buckets.h"
#include "pipeline/stage_work.h"

static const uint64_t high_mask = ~(uint64_t)UINT32_MAX;

nd_status nd_stage_digests(nd_spread *digests, nd_spread *ids, nd_stage *s, nd_str image,
                           uint32_t first, nd_error *err) {
  nd_image i;
  ND_TRY(nd_image_open(&i, s, image, err));
  const uint64_t *digest = nd_image_wide(&i, ND_COL_DIGEST); /* low, high */
  const uint64_t *id = nd_image_wide(&i, ND_COL_ID_HASH);
  const uint32_t *shingles = nd_image_narrow(&i, ND_COL_SHINGLES);
  for (uint32_t d = 0; d < i.head.docs; d++) {
    uint64_t low = digest[2 * d], high = digest[2 * d + 1];
    if (shingles[d])
      ND_TRY(nd_spread_add(digests, nd_share_of(low, nd_spread_places(digests)), low,
                           (high & high_mask) | (first + d), err));
    if (id[d])
      ND_TRY(nd_spread_add(ids, nd_share_of(id[d], nd_spread_places(ids)), id[d], first + d, err));
  }
  return ND_OK;
}

void nd_group_items(nd_stage *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint64_t key = s->items[i].key;
    s->items[i].key = s->items[i].value;
    s->items[i].value = key;
  }
  nd_radix_items(s->items, s->spare, n);
  for (size_t i = 0; i < n; i++) {
    uint64_t key = s->items[i].value;
    s->items[i].value = s->items[i].key;
    s->items[i].key = key;
  }
  nd_radix_items(s->items, s->spare, n);
}

nd_status nd_stage_copies(nd_str *pairs, nd_stage *s, const nd_str *runs, size_t n, nd_error *err) {
  size_t total, kept = 0;
  ND_TRY(nd_runs_load(&total, s, runs, n, err));
  /* By key, then the rest of the digest, then the number. */
  nd_group_items(s, total);
  nd_item first = {0};
  bool have = false;
  uint64_t *found = (uint64_t *)(void *)s->spare;
  for (size_t i = 0; i < total; i++) {
    nd_item at = s->items[i];
    if (have && at.key == first.key && (at.value & high_mask) == (first.value & high_mask)) {
      found[kept++] = (at.value & UINT32_MAX) << 32 | (first.value & UINT32_MAX);
    } else {
      first = at;
      have = true;
    }
  }
  nd_radix_u64(found, (uint64_t *)(void *)s->items, kept);
  s->out.n = 0;
  for (size_t i = 0; i < kept; i++) {
    uint32_t pair[2] = {(uint32_t)(found[i] >> 32), (uint32_t)found[i]};
    ND_TRY(nd_buf_append(&s->out, pair, sizeof pair, err));
  }
  *pairs = nd_buf_str(&s->out);
  return ND_OK;
}

nd_status nd_stage_repeated(nd_str *documents, nd_stage *s, const nd_str *runs, size_t n,
                            nd_error *err) {
  size_t total;
  ND_TRY(nd_runs_load(&total, s, runs, n, err));
  nd_group_items(s, total);
  s->out.n = 0;
  for (size_t i = 1; i < total; i++) {
    if (s->items[i].key != s->items[i - 1].key) continue;
    uint32_t document = (uint32_t)s->items[i].value;
    ND_TRY(nd_buf_append(&s->out, &document, sizeof document, err));
  }
  *documents = nd_buf_str(&s->out);
  return ND_OK;
}

nd_status nd_stage_bands(nd_spread *out, nd_stage *s, nd_str image, uint32_t first,
                         const uint32_t *position, uint32_t ranges, nd_error *err) {
  nd_image i;
  ND_TRY(nd_image_open(&i, s, image, err));
  const uint64_t *keys = nd_image_wide(&i, ND_COL_BANDS);
  const uint32_t *shingles = nd_image_narrow(&i, ND_COL_SHINGLES);
  uint32_t n = i.head.docs;
  for (uint32_t band = 0; band < i.head.bands; band++, keys += n) {
    for (uint32_t d = 0; d < n; d++) {
      uint32_t at = position ? position[d] : shingles[d] ? first + d : UINT32_MAX;
      if (at == UINT32_MAX) continue;
      ND_TRY(nd_spread_add(out, band * ranges + nd_share_of(keys[d], ranges), keys[d], at, err));
    }
  }
  return ND_OK;
}

static nd_status spread_edges(nd_spread *edges, nd_sorter *pairs, uint64_t positions,
                              nd_error *err) {
  nd_item items[1 << 10];
  uint32_t places = nd_spread_places(edges);
  ND_TRY(nd_sorter_finish(pairs, err));
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, sizeof items / sizeof *items, pairs, err));
    if (n == 0) return ND_OK;
    for (size_t i = 0; i < n; i++) {
      uint32_t place = (uint32_t)((items[i].key >> 32) * places / positions);
      ND_TRY(nd_spread_add(edges, place, items[i].key, items[i].value, err));
    }
  }
}

nd_status nd_stage_group(nd_spread *edges, nd_stage_buckets *stats, nd_stage *s, const nd_str *runs,
                         size_t n, uint64_t positions, nd_error *err) {
  size_t total;
  nd_grouper *g = NULL;
  nd_sorter *pairs = NULL;
  nd_bucket_stats seen = {0};
  const char *tmp = s->options.tmp[0] ? s->options.tmp : "/tmp";
  uint64_t memory = s->settings.memory;
  ND_TRY(nd_runs_load(&total, s, runs, n, err));
  nd_status status = nd_grouper_new(&g, total, memory / 2, tmp, err);
  if (status == ND_OK) nd_grouper_by_value(g);
  for (size_t i = 0; i < total && status == ND_OK; i++)
    status = nd_grouper_add(g, s->items[i].key, s->items[i].value, err);
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  if (status == ND_OK) status = nd_sorter_new(&pairs, memory / 4, tmp, true, err);
  if (status == ND_OK)
    status = nd_buckets_pairs(pairs, &seen, g, s->options.bucket_cap, 0, NULL, err);
  if (status == ND_OK) status = spread_edges(edges, pairs, positions, err);
  nd_sorter_free(pairs);
  nd_grouper_free(g);
  stats->buckets += seen.buckets;
  stats->hot += seen.hot;
  stats->hot_documents += seen.hot_documents;
  if (seen.largest > stats->largest) stats->largest = seen.largest;
  return status;
}
