/* Open addressing; see list_table.h.  Slots hold hashes, as base/hash_table.h does not: most probes
 * end without a look at a list. */
#include "candidate/list_table.h"

#include "base/hash.h"

enum { FIRST_SLOTS = 1 << 8 };

void nd_list_table_clear(nd_list_table *t) {
  nd_free(t->slot);
  *t = (nd_list_table){0};
}

static nd_status grow(nd_list_table *t, nd_error *err) {
  const uint64_t slots = t->slots ? t->slots * 2 : FIRST_SLOTS;
  uint64_t *grown = nd_calloc(slots, sizeof *grown);
  if (!grown) return nd_fail_memory(err, slots * sizeof *grown);
  for (uint64_t i = 0; i < t->slots; i++) {
    if (!t->slot[i]) continue;
    uint64_t at = t->slot[i] >> 32 & (slots - 1);
    while (grown[at]) at = (at + 1) & (slots - 1);
    grown[at] = t->slot[i];
  }
  nd_free(t->slot);
  t->slot = grown;
  t->slots = slots;
  return ND_OK;
}

uint64_t nd_list_hash(const uint32_t *number, size_t n) {
  uint64_t h = n;
  for (size_t i = 0; i < n; i++) h = nd_fold(h ^ number[i], 0x9e3779b97f4a7c15u) + i;
  return nd_mix(h);
}

/* The end of a shorter list differs from every number. */
static bool same_list(const uint32_t *list, const uint32_t *number, size_t n) {
  size_t i = 0;
  while (i < n && list[i] == number[i]) i++;
  return i == n && list[n] == ND_LIST_END;
}

nd_status nd_list_find(uint32_t **head, uint64_t *at, nd_list_table *t, uint32_t *lists,
                       uint64_t hash, const uint32_t *number, size_t n, nd_error *err) {
  *head = NULL;
  if (t->used * 2 >= t->slots) ND_TRY(grow(t, err));
  for (*at = hash & (t->slots - 1); t->slot[*at]; *at = (*at + 1) & (t->slots - 1)) {
    if (t->slot[*at] >> 32 != hash) continue;
    uint32_t *list = lists + (uint32_t)t->slot[*at];
    if (list[0] == UINT32_MAX || !same_list(list + 1, number, n)) continue;
    *head = list;
    break;
  }
  return ND_OK;
}

void nd_list_enter(nd_list_table *t, uint64_t at, uint32_t *lists, uint32_t place, uint64_t hash,
                   uint32_t head, const uint32_t *number, size_t n) {
  uint32_t *list = lists + place;
  list[0] = head;
  memcpy(list + 1, number, n * sizeof *number);
  list[1 + n] = ND_LIST_END;
  t->slot[at] = hash << 32 | place;
  t->used++;
}
