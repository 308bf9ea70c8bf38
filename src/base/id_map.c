/* Ids → numbers; see id_map.h. */
#include "base/id_map.h"

#include <xxhash.h>

#include "base/hash.h"

void nd_id_map_clear(nd_id_map *m) {
  nd_buf_clear(&m->text);
  nd_free(m->end);
  nd_free(m->slot);
  *m = (nd_id_map){0};
}

static size_t place_of(const nd_id_map *m, nd_str id) {
  size_t at = (size_t)XXH3_64bits_withSeed(id.p, id.n, nd_hash_secret()) & (m->slots - 1);
  while (m->slot[at] && !nd_str_eq(nd_id_map_id(m, m->slot[at] - 1), id))
    at = (at + 1) & (m->slots - 1);
  return at;
}

static nd_status grow(nd_id_map *m, nd_error *err) {
  size_t slots = m->slots ? m->slots * 2 : 1024;
  uint32_t *fresh = nd_calloc(slots, sizeof *fresh);
  if (!fresh) return nd_fail_memory(err, slots * sizeof *fresh);
  nd_free(m->slot);
  m->slot = fresh;
  m->slots = slots;
  for (uint32_t d = 0; d < m->n; d++) m->slot[place_of(m, nd_id_map_id(m, d))] = d + 1;
  return ND_OK;
}

nd_status nd_id_map_number(uint32_t *out, nd_id_map *m, nd_str id, nd_error *err) {
  if (2 * (m->n + 1) > m->slots) ND_TRY(grow(m, err));
  size_t at = place_of(m, id);
  if (!m->slot[at]) {
    /* untaken: more than 2^31 things */
    if (m->n >= UINT32_MAX - 1) return nd_fail(err, ND_ERR_LIMIT, "too many documents");
    ND_TRY(nd_array_grow(&m->end, &m->cap, m->n + 1, sizeof *m->end, err));
    ND_TRY(nd_buf_append(&m->text, id.p, id.n, err));
    m->end[m->n++] = m->text.n;
    m->slot[at] = (uint32_t)m->n;
  }
  *out = m->slot[at] - 1;
  return ND_OK;
}

uint32_t nd_id_map_find(const nd_id_map *m, nd_str id) {
  if (!m->slots) return ND_NO_ID;
  uint32_t found = m->slot[place_of(m, id)];
  return found ? found - 1 : ND_NO_ID;
}
