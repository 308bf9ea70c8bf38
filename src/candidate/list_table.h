/* A hash table of distinct lists of numbers in an array.
 *
 *     lists  [ head | n0 < n1 < n2 … | END ] …      head: set by the owner; UINT32_MAX: closed
 *     slot   hash << 32 | position of its head; 0: empty
 *
 * The array and its heads belong to the owner; position 0 is never a list. */
#ifndef ND_CANDIDATE_LIST_TABLE_H
#define ND_CANDIDATE_LIST_TABLE_H

#include "base/mem.h"

#define ND_LIST_END UINT32_MAX

typedef struct nd_list_table {
  uint64_t *slot;
  uint64_t slots, used;
} nd_list_table;

uint64_t nd_list_hash(const uint32_t *number, size_t n);

/* Returns the head of the open list with these numbers, or NULL; then *at is its slot until the
 * next call.  hash: 32 bits. */
nd_status nd_list_find(uint32_t **head, uint64_t *at, nd_list_table *t, uint32_t *lists,
                       uint64_t hash, const uint32_t *number, size_t n,
                       nd_error *err) ND_MUST_CHECK;

/* Writes a list at position `place` of the array and adds it to the table. */
void nd_list_enter(nd_list_table *t, uint64_t at, uint32_t *lists, uint32_t place, uint64_t hash,
                   uint32_t head, const uint32_t *number, size_t n);

void nd_list_table_clear(nd_list_table *t);

#endif
