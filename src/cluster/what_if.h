/* What clustering would drop at every higher threshold.
 *
 *   star        in one pass over the pairs: each document has a bit per threshold, dropped
 *               there.  Pairs rise by position, so when a pair comes, it is settled where its
 *               first document is kept; there, and where the pair reaches the threshold, the
 *               second one goes.
 *   components  from the most similar pairs down: every pair that joins two components drops
 *               one document more. */
#ifndef ND_CLUSTER_WHAT_IF_H
#define ND_CLUSTER_WHAT_IF_H

#include "base/sorter.h"

enum { ND_WHAT_IF_STEPS = 101 }; /* 0.00, 0.01 … 1.00 */
enum { ND_WHAT_IF_BYTES = 16 };  /* the most memory per document */

typedef struct nd_what_if {
  nd_sorter *pairs; /* as for nd_clusters_star; values are packed fractions */
  uint32_t n;       /* documents are positions below it */
  unsigned low;     /* hundredths: the lowest threshold */
  bool every;       /* a pair below that counts there, too */
} nd_what_if;

/* dropped[t] for t hundredths, from low on: documents dropped there.  Memory 8 bytes a
 * document, or 16 where `low` is below 38. */
nd_status nd_what_if_star(uint64_t dropped[ND_WHAT_IF_STEPS], const nd_what_if *w,
                          nd_error *err) ND_MUST_CHECK;
/* Memory 4 bytes a document, and `memory` for sorting the pairs again. */
nd_status nd_what_if_components(uint64_t dropped[ND_WHAT_IF_STEPS], const nd_what_if *w,
                                uint64_t memory, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
