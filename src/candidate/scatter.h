/* Out-of-core grouping by key: items are partitioned by the top bits of their keys, and each
 * part is grouped in memory.
 *
 * Keys must be spread evenly (hash them).  Several threads may add; items that do not fit the
 * memory go to a temporary file, a full buffer of a part at a time.  The order of the items of
 * a part is unspecified. */
#ifndef ND_CANDIDATE_SCATTER_H
#define ND_CANDIDATE_SCATTER_H

#include "base/mem.h"
#include "base/radix.h"

typedef struct nd_scatter nd_scatter;

/* 2^bits parts; `memory` bytes for all buffers. */
nd_status nd_scatter_new(nd_scatter **out, unsigned bits, uint64_t memory, const char *dir,
                         nd_error *err) ND_MUST_CHECK;
void nd_scatter_free(nd_scatter *s);

/* Adds items in ascending order of keys. */
nd_status nd_scatter_add(nd_scatter *s, const nd_item *items, size_t n,
                         nd_error *err) ND_MUST_CHECK;

/* Returns the number of items in a part. */
uint64_t nd_scatter_count(const nd_scatter *s, uint32_t number);

/* Items of a thread, readable and writable; {0} is empty. */
typedef struct nd_gathered {
  nd_item *items, *spare; /* spare is as large, for sorting */
  size_t n, cap;
} nd_gathered;

void nd_gathered_clear(nd_gathered *g);

/* Reads the items of a part whose next `slice_bits` bits are `slice` (for a large part),
 * grouped by key. */
nd_status nd_scatter_take(nd_gathered *out, nd_scatter *s, uint32_t number, uint32_t slice,
                          unsigned slice_bits, nd_error *err) ND_MUST_CHECK;

/* Frees the memory of a part. */
void nd_scatter_drop(nd_scatter *s, uint32_t number);

#endif
