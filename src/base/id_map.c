/* Ids → numbers; see id_map.h. */
#include "base/id_map.h"

#include <xxhash.h>

#include "base/hash.h"

enum { FIRST_IDS = 512 }; /* before the table grows for the first time */

void nd_id_map_clear(nd_id_map *m) {
  nd_buf_clear(&m->text);
  nd_free(m->end);
  nd_slots_clear(&m->table);
  *m = (nd_id_map){0};
}

static uint64_t hash(nd_str id) {
  return XXH3_64bits_withSeed(id.p, id.n, nd_hash_secret());
}

static size_t slot_of(const nd_id_map *m, nd_str id) {
  const nd_slots *t = &m->table;
  size_t at = nd_slots_first(t, hash(id));
  while (t->slot[at] && !nd_str_eq(nd_id_map_id(m, t->slot[at] - 1), id)) at = nd_slots_next(t, at);
  return at;
}

nd_status nd_id_map_number(uint32_t *out, nd_id_map *m, nd_str id, nd_error *err) {
  if (nd_slots_is_small(&m->table, m->n + 1)) {
    ND_TRY(nd_slots_reset(&m->table, m->n + FIRST_IDS, err));
    for (uint32_t d = 0; d < m->n; d++) nd_slots_enter(&m->table, hash(nd_id_map_id(m, d)), d);
  }
  uint32_t *slot = &m->table.slot[slot_of(m, id)];
  if (!*slot) {
    /* untaken: more than 2^31 things */
    if (m->n >= UINT32_MAX - 1) return nd_fail(err, ND_ERR_LIMIT, "too many documents");
    ND_TRY(nd_array_grow(&m->end, &m->cap, m->n + 1, sizeof *m->end, err));
    ND_TRY(nd_buf_append(&m->text, id.p, id.n, err));
    m->end[m->n++] = m->text.n;
    *slot = (uint32_t)m->n;
  }
  *out = *slot - 1;
  return ND_OK;
}

uint32_t nd_id_map_find(const nd_id_map *m, nd_str id) {
  if (!m->n) return ND_NO_ID;
  /* A free slot holds 0, and ND_NO_ID is 0 - 1. */
  return m->table.slot[slot_of(m, id)] - 1;
}
