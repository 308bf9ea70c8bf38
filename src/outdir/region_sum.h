/* The checksum of a file that threads write in regions, in any order.
 *
 * A checksum needs the bytes in order.  A thread whose region is the next in order adds its bytes
 * as it writes them; a region that was written too early is read again by the thread that finishes
 * the one before. */
#ifndef ND_OUTDIR_REGION_SUM_H
#define ND_OUTDIR_REGION_SUM_H

#include "base/mem.h"
#include "base/sum.h"

typedef struct nd_region_sum nd_region_sum;

/* For a file of n regions, which follow one another from its start. */
nd_status nd_region_sum_new(nd_region_sum **out, size_t n, nd_error *err) ND_MUST_CHECK;
void nd_region_sum_free(nd_region_sum *s); /* NULL is allowed */

/* Region i begins at `at` of the file and has `size` bytes.  Called for all before the first is
 * written. */
void nd_region_sum_place(nd_region_sum *s, size_t i, uint64_t at, uint64_t size);

/* The sum that the bytes of region i are to be added to as they are written; NULL: it is not yet
 * the next one.  Either way nd_region_sum_written follows, from the same thread. */
nd_sum *nd_region_sum_take(nd_region_sum *s, size_t i);

/* Region i is in the file `fd`; `added` is what take returned. */
nd_status nd_region_sum_written(nd_region_sum *s, size_t i, const nd_sum *added, int fd,
                                const char *path, nd_error *err) ND_MUST_CHECK;

/* Of all bytes, once all regions are written. */
uint64_t nd_region_sum_value(const nd_region_sum *s);

#endif
