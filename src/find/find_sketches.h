/* Rows of sketches for the steps that need those of all documents: in memory, or read
 * from the store again and again. */
#ifndef ND_FIND_FIND_SKETCHES_H
#define ND_FIND_FIND_SKETCHES_H

#include "candidate/hamming.h"
#include "find/finder.h"

/* Which sketches: the context of nd_sketch_scan_rows. */
typedef struct nd_sketch_scan {
  const nd_finder *finder;
  const nd_row_part *part;
} nd_sketch_scan;

/* An nd_vector_scan of an nd_sketch_scan: the part's words of every document that is its own first,
 * and its position. */
nd_status nd_sketch_scan_rows(void *context, nd_vector_take take, void *to,
                              nd_error *err) ND_MUST_CHECK;

/* The same in memory. */
typedef struct nd_sketch_rows {
  uint64_t *words;   /* `each` per position; all bits set where nothing is */
  uint64_t *present; /* a bit per position */
  uint32_t each;
} nd_sketch_rows;

nd_status nd_sketch_rows_gather(nd_sketch_rows *g, const nd_sketch_scan *scan,
                                nd_error *err) ND_MUST_CHECK;
void nd_sketch_rows_clear(nd_sketch_rows *g);

#endif
