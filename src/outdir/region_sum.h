/* The checksum of a file whose regions are written by several threads, in any order.
 *
 * A checksum needs the bytes in order.  The thread that writes the next region adds its bytes as it
 * writes them.  A region that was written too early is read again by the thread that finishes the
 * preceding one. */
#ifndef ND_OUTDIR_REGION_SUM_H
#define ND_OUTDIR_REGION_SUM_H

#include "base/mem.h"
#include "base/sum.h"

typedef struct nd_region_sum nd_region_sum;

/* Creates the checksum of a file of n consecutive regions. */
nd_status nd_region_sum_new(nd_region_sum **out, size_t n, nd_error *err) ND_MUST_CHECK;
void nd_region_sum_free(nd_region_sum *s); /* NULL is allowed */

/* Declares that region i has `size` bytes at offset `at`.  Must be called for all regions before
 * the first is written. */
void nd_region_sum_place(nd_region_sum *s, size_t i, uint64_t at, uint64_t size);

/* Returns the sum to add the bytes of region i to as they are written, or NULL if it is not the
 * next region.  In both cases the same thread must then call nd_region_sum_written. */
nd_sum *nd_region_sum_take(nd_region_sum *s, size_t i);

/* Declares that region i has been written to `fd`; `added` is the result of take. */
nd_status nd_region_sum_written(nd_region_sum *s, size_t i, const nd_sum *added, int fd,
                                const char *path, nd_error *err) ND_MUST_CHECK;

/* Returns the checksum of the file, once all regions are written. */
uint64_t nd_region_sum_value(const nd_region_sum *s);

#endif
