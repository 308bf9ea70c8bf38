/* Radix sorts over flat arrays.
 *
 * Stable, least significant digit first, 11 bits per pass; a pass whose digit is constant is
 * skipped.  `scratch` is as large as `a`; the result is in `a`. */
#ifndef ND_BASE_RADIX_H
#define ND_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/pair.h"

/* A key and its payload: the unit of the sorting and grouping steps. */
typedef struct nd_item {
  uint64_t key;
  uint64_t value;
} nd_item;

void nd_radix_u64(uint64_t *a, uint64_t *scratch, size_t n);

/* Sorts by key; the sort is stable. */
void nd_radix_items(nd_item *a, nd_item *scratch, size_t n);

/* Makes equal keys adjacent, in their original order, but leaves the order of the groups
 * unspecified: three passes instead of up to six.  Deterministic. */
void nd_radix_group(nd_item *a, nd_item *scratch, size_t n);

#endif
