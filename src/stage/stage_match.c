/* Distributed search for exact duplicates; see neardup/stage.h.
 *
 * Digests are hashes, so equal shares of their range are equal amounts of work.  A partition
 * receives all items with its keys, from every block. */
#include "base/radix.h"
#include "stage/stage_work.h"

static const uint64_t high_mask = ~(uint64_t)UINT32_MAX;

nd_status nd_stage_digests(nd_spread *digests, nd_spread *ids, nd_stage *s,
                           const nd_stored_block *block, nd_error *err) {
  const uint32_t first = block->first;
  nd_image i;
  ND_TRY(nd_image_open(&i, s, block->image, err));
  const uint64_t *digest = nd_image_wide(&i, ND_COL_DIGEST); /* low, high */
  const uint64_t *id = nd_image_wide(&i, ND_COL_ID_HASH);
  const uint32_t *shingles = nd_image_narrow(&i, ND_COL_SHINGLES);
  for (uint32_t d = 0; d < i.head.docs; d++) {
    uint64_t low = digest[2 * d], high = digest[2 * d + 1];
    if (shingles[d])
      ND_TRY(nd_spread_add(digests, nd_share_of(low, nd_spread_partitions(digests)), low,
                           (high & high_mask) | (first + d), err));
    if (id[d])
      ND_TRY(
          nd_spread_add(ids, nd_share_of(id[d], nd_spread_partitions(ids)), id[d], first + d, err));
  }
  return ND_OK;
}

void nd_group_items(nd_stage *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint64_t key = s->items[i].key;
    s->items[i].key = s->items[i].value;
    s->items[i].value = key;
  }
  nd_radix_items(s->items, s->scratch, n);
  for (size_t i = 0; i < n; i++) {
    uint64_t key = s->items[i].value;
    s->items[i].value = s->items[i].key;
    s->items[i].key = key;
  }
  nd_radix_items(s->items, s->scratch, n);
}

nd_status nd_stage_copies(nd_str *pairs, nd_stage *s, const nd_str *runs, size_t n, nd_error *err) {
  size_t total, kept = 0;
  ND_TRY(nd_runs_load(&total, s, runs, n, err));
  /* Sorts by key, then by the rest of the digest, then by number. */
  nd_group_items(s, total);
  nd_item first = {0};
  bool have = false;
  uint64_t *found = (uint64_t *)(void *)s->scratch;
  for (size_t i = 0; i < total; i++) {
    nd_item at = s->items[i];
    /* untaken: colliding 64-bit hashes */
    if (have && at.key == first.key && (at.value & high_mask) == (first.value & high_mask)) {
      found[kept++] = nd_pair_key((uint32_t)at.value, (uint32_t)first.value);
    } else {
      first = at;
      have = true;
    }
  }
  nd_radix_u64(found, (uint64_t *)(void *)s->items, kept);
  s->out.n = 0;
  for (size_t i = 0; i < kept; i++) {
    uint32_t pair[2] = {nd_pair_of(found[i]).a, nd_pair_of(found[i]).b};
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
