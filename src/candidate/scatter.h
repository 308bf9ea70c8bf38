/* Out-of-core grouping by key: items are dealt out to parts by the top bits of their keys,
 * each part is brought together again in memory.
 *
 * Keys must be spread evenly (hash them).  Many threads may add; what does not fit the
 * memory goes to a temporary file, part by part, each buffer that is full.  Items of a part
 * come back in no order that may be relied on. */
#ifndef ND_CANDIDATE_SCATTER_H
#define ND_CANDIDATE_SCATTER_H

#include "base/mem.h"
#include "base/radix.h"

typedef struct nd_scatter nd_scatter;

/* 2^bits parts; `memory` bytes for the buffers of all. */
nd_status nd_scatter_new(nd_scatter **out, unsigned bits, uint64_t memory, const char *dir,
                         nd_error *err) ND_MUST_CHECK;
void nd_scatter_free(nd_scatter *s);

/* Items in rising order of keys. */
nd_status nd_scatter_add(nd_scatter *s, const nd_item *items, size_t n,
                         nd_error *err) ND_MUST_CHECK;

/* How many items a part has. */
uint64_t nd_scatter_count(const nd_scatter *s, uint32_t number);

/* Items of one thread, readable and writable; {0} is empty. */
typedef struct nd_gathered {
  nd_item *items, *spare; /* spare is as large, for sorting */
  size_t n, cap;
} nd_gathered;

void nd_gathered_clear(nd_gathered *g);

/* The items of a part whose next `slice_bits` bits are `slice` (a large part is taken in
 * slices); brought together by key. */
nd_status nd_scatter_take(nd_gathered *out, nd_scatter *s, uint32_t number, uint32_t slice,
                          unsigned slice_bits, nd_error *err) ND_MUST_CHECK;

/* A part that is done with gives its memory back. */
void nd_scatter_drop(nd_scatter *s, uint32_t number);

#endif
