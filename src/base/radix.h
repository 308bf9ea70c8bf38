/* Radix sorts over flat arrays.
 *
 * Least significant digit first, 11 bits a pass, passes whose digit is the same
 * everywhere skipped; stable.  `spare` is as large as `a`; the result is in `a`. */
#ifndef ND_BASE_RADIX_H
#define ND_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* A key and what it belongs to: the currency of the grouping steps. */
typedef struct nd_item {
  uint64_t key;
  uint64_t value;
} nd_item;

void nd_radix_u64(uint64_t *a, uint64_t *spare, size_t n);

/* Sorts by key; equal keys keep their order. */
void nd_radix_items(nd_item *a, nd_item *spare, size_t n);

/* Brings equal keys together, in their old order, without putting the groups in
 * any useful order: three passes instead of up to six.  Deterministic. */
void nd_radix_group(nd_item *a, nd_item *spare, size_t n);

#endif
