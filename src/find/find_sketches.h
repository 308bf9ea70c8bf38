/* Sketches of all documents, in memory or read from the store for each pass. */
#ifndef ND_FIND_FIND_SKETCHES_H
#define ND_FIND_FIND_SKETCHES_H

#include "candidate/hamming.h"
#include "find/finder.h"

/* The sketch to scan: the context of nd_sketch_scan_rows. */
typedef struct nd_sketch_scan {
  const nd_finder *finder;
  const nd_row_part *part;
} nd_sketch_scan;

/* An nd_vector_scan: gives the part's words and the position of every first occurrence. */
nd_status nd_sketch_scan_rows(void *context, nd_vector_take take, void *to,
                              nd_error *err) ND_MUST_CHECK;

/* Sketches in memory. */
typedef struct nd_sketch_rows {
  uint64_t *words;   /* `each` per position; all bits are set if there is no sketch */
  uint64_t *present; /* a bit per position */
  uint32_t each;
} nd_sketch_rows;

nd_status nd_sketch_rows_gather(nd_sketch_rows *g, const nd_sketch_scan *scan,
                                nd_error *err) ND_MUST_CHECK;
void nd_sketch_rows_clear(nd_sketch_rows *g);

#endif
