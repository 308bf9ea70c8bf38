/* A table of (key, row) in two flat arrays, 12 bytes per row, grouped by a hash of some
 * bits of the key: first into buckets, in one parallel pass over the rows, then within
 * each bucket in place.
 *
 *   key   u64 × rows    bucket 0 | bucket 1 | …    omitted if the caller has them
 *   row   u32 × rows
 *
 * Rows in a bucket are in their original order, for any number of threads. */
#ifndef ND_CANDIDATE_FLAT_TABLE_H
#define ND_CANDIDATE_FLAT_TABLE_H

#include "base/cpu.h"
#include "base/mem.h"

enum { ND_FLAT_BATCH = 1024, ND_FLAT_SPLIT_BITS = 11 };

typedef struct nd_flat {
  uint64_t *key;
  uint32_t *row;
  uint64_t room, n; /* capacity and number of rows */
  unsigned bits;    /* 2^bits buckets */
  uint64_t *start;  /* start of each bucket, and the end */
  uint64_t *count;  /* scratch: per chunk of rows and bucket */
  size_t start_cap, count_cap;
} nd_flat;

/* The bits of a key to hash, and odd multipliers. */
typedef struct nd_flat_hash {
  uint64_t mask, odd;
} nd_flat_hash;

ND_INLINE uint64_t nd_flat_hash_of(nd_flat_hash h, uint64_t key) {
  return (key & h.mask) * h.odd;
}

/* Returns the first `bits` (0 to 63) bits of a hash. */
ND_INLINE size_t nd_flat_slot(uint64_t hash, unsigned bits) {
  return (size_t)(hash >> 1 >> (63 - bits));
}

/* Writes the keys and rows that take part among the rows from `first` to first + count - 1
 * (count <= ND_FLAT_BATCH), in order; returns their number. */
typedef size_t (*nd_flat_source)(uint64_t *key, uint32_t *row, const void *context, uint64_t first,
                                 size_t count);

/* With keys = false the table has only rows, 4 bytes each. */
nd_status nd_flat_init(nd_flat *t, uint64_t rows, bool keys, nd_error *err) ND_MUST_CHECK;
void nd_flat_clear(nd_flat *t);

/* Fills the table from the source; the number of buckets follows from `rows`. */
nd_status nd_flat_fill(nd_flat *t, uint64_t rows, nd_flat_source source, const void *context,
                       nd_flat_hash hash, unsigned threads, nd_error *err) ND_MUST_CHECK;

/* Groups key[0 .. n) and row[0 .. n) by `bits` bits of the hash after the first `skip`, in
 * place; start has 2^bits + 1 elements, bits <= ND_FLAT_SPLIT_BITS. */
void nd_flat_split(uint64_t *key, uint32_t *row, size_t n, nd_flat_hash hash, unsigned skip,
                   unsigned bits, uint32_t *start);

/* Sorts by key, equal keys by row, in place. */
void nd_flat_sort(uint64_t *key, uint32_t *row, size_t n);

#endif
