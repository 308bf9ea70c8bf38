/* Hash tables: open addressing with linear probing, at most half full.
 *
 * A slot holds the number of an entry + 1; 0 is free.  Entries, with keys of any type, lie in
 * arrays of the owner, who numbers them in order of first appearance: neither hash nor size of a
 * table shows in a result.  Where input is hostile, hash with a salt (nd_hash_salted).
 *
 *   uint32_t e;  // an entry, if *slot is not 0
 *   size_t at = nd_slots_first(t, hash);
 *   while ((e = t->slot[at]) && key[e - 1] != wanted) at = nd_slots_next(t, at);
 *   if (!e) t->slot[at] = ++n;
 */
#ifndef ND_BASE_HASH_TABLE_H
#define ND_BASE_HASH_TABLE_H

#include "base/cpu.h"
#include "base/mem.h"

/* {0} has no slots: reserve before probing. */
typedef struct nd_slots {
  uint32_t *slot;
  size_t slots; /* a power of two */
  size_t cap;
} nd_slots;

/* Makes all slots free, as many as `entries` need; keeps the memory. */
nd_status nd_slots_reset(nd_slots *t, size_t entries, nd_error *err) ND_MUST_CHECK;

/* Returns true if the table must be reset before it has so many entries. */
static inline bool nd_slots_is_small(const nd_slots *t, size_t entries) {
  return 2 * entries > t->slots;
}

ND_INLINE size_t nd_slots_first(const nd_slots *t, uint64_t hash) {
  return (size_t)hash & (t->slots - 1);
}

ND_INLINE size_t nd_slots_next(const nd_slots *t, size_t at) {
  return (at + 1) & (t->slots - 1);
}

/* Enters an entry that the table does not have. */
static inline void nd_slots_enter(nd_slots *t, uint64_t hash, uint32_t number) {
  size_t at = nd_slots_first(t, hash);
  while (t->slot[at]) at = nd_slots_next(t, at);
  t->slot[at] = number + 1;
}

static inline void nd_slots_clear(nd_slots *t) {
  nd_free(t->slot);
  *t = (nd_slots){0};
}

#endif
