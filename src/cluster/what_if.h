/* Numbers of documents that clustering would drop at every higher threshold.
 *
 *   star        one pass over the pairs, with a bit per document and threshold: dropped.  Pairs
 *               ascend by position, so the bits of the first document of a pair are final.  The
 *               second one is dropped at the thresholds that the pair reaches and at which the
 *               first one is kept.
 *   components  from the most similar pairs down: every pair that joins two components drops
 *               one more document. */
#ifndef ND_CLUSTER_WHAT_IF_H
#define ND_CLUSTER_WHAT_IF_H

#include "base/sorter.h"

enum { ND_WHAT_IF_STEPS = 101 }; /* 0.00, 0.01 … 1.00 */
enum { ND_WHAT_IF_BYTES = 16 };  /* upper bound on memory per document */

typedef struct nd_what_if {
  nd_sorter *pairs; /* as for nd_clusters_star; values are fractions */
  uint32_t n;       /* documents are positions below n */
  unsigned low;     /* the lowest threshold, in hundredths */
  bool every;       /* pairs below `low` count there too */
} nd_what_if;

/* Sets dropped[t], for t hundredths from `low`, to the number of documents dropped.  Takes 8
 * bytes per document, or 16 if `low` is below 38. */
nd_status nd_what_if_star(uint64_t dropped[ND_WHAT_IF_STEPS], const nd_what_if *w,
                          nd_error *err) ND_MUST_CHECK;
/* Likewise.  Takes 4 bytes per document, and `memory` for sorting the pairs again. */
nd_status nd_what_if_components(uint64_t dropped[ND_WHAT_IF_STEPS], const nd_what_if *w,
                                uint64_t memory, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
