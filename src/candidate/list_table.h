/* Lists of numbers, each known once: which of the lists in an array is this one?
 *
 *     lists  [ head | n0 < n1 < n2 … | END ] …      head: the owner's; UINT32_MAX: closed
 *     slot   hash << 32 | where its head is; 0: empty
 *
 * The array and its heads are the owner's; place 0 of it is never a list. */
#ifndef ND_CANDIDATE_LIST_TABLE_H
#define ND_CANDIDATE_LIST_TABLE_H

#include "base/mem.h"

#define ND_LIST_END UINT32_MAX

typedef struct nd_list_table {
  uint64_t *slot;
  uint64_t slots, used;
} nd_list_table;

uint64_t nd_list_hash(const uint32_t *number, size_t n);

/* The head of the list with these numbers that is not closed, or NULL; then *at is the slot
 * for it, until the next call.  hash: 32 bits. */
nd_status nd_list_find(uint32_t **head, uint64_t *at, nd_list_table *t, uint32_t *lists,
                       uint64_t hash, const uint32_t *number, size_t n,
                       nd_error *err) ND_MUST_CHECK;

/* Writes a list at `place` of the array and enters it. */
void nd_list_enter(nd_list_table *t, uint64_t at, uint32_t *lists, uint32_t place, uint64_t hash,
                   uint32_t head, const uint32_t *number, size_t n);

void nd_list_table_clear(nd_list_table *t);

#endif
