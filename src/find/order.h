/* The keep order: documents sorted by --keep, computed before candidates are generated.
 *
 * A position is an index into this order; 0 is the preferred document.  An oversized bucket is
 * compared with its preferred member, and pairs are verified in this order, so the choice of kept
 * documents does not depend on how pairs were found.  With --keep first, and centre, which is known
 * only later, the position of a document is its number and the arrays are NULL. */
#ifndef ND_FIND_ORDER_H
#define ND_FIND_ORDER_H

#include "store/store.h"

typedef struct nd_order {
  uint32_t *document; /* position → document */
  uint32_t *position; /* document → position */
  uint32_t *best;     /* first occurrence → the preferred one of its exact duplicates */
} nd_order;

/* Sorts documents by rank (smaller is better), then number.  `same` as in nd_found. */
nd_status nd_order_make(nd_order *out, const uint64_t *rank, const uint32_t *same, uint32_t n,
                        nd_error *err) ND_MUST_CHECK;
/* Sorts documents by the ranks in the store.  Documents from `split` on, the reference collection,
 * come before all others. */
nd_status nd_order_load(nd_order *out, const nd_store *store, const uint32_t *same, uint32_t split,
                        nd_error *err) ND_MUST_CHECK;
void nd_order_clear(nd_order *o);

/* Returns the position of a first occurrence and its exact duplicates. */
static inline uint32_t nd_order_position(const nd_order *o, uint32_t first) {
  return o->position ? o->position[o->best[first]] : first;
}
/* Returns the document at a position. */
static inline uint32_t nd_order_document(const nd_order *o, uint32_t position) {
  return o->document ? o->document[position] : position;
}

#endif
