/* The order in which documents are wanted (--keep), before anything is paired.
 *
 * A position is a place in that order: 0 is the most wanted document.  Hot
 * buckets hang on their most wanted member and pairs are verified in this
 * order, so that what is kept does not depend on how it was found.
 * With --keep first (and centre, which is known only later) a position is the
 * document's number, and the arrays are NULL. */
#ifndef ND_FIND_ORDER_H
#define ND_FIND_ORDER_H

#include "store/store.h"

typedef struct nd_order {
  uint32_t *document; /* position → document */
  uint32_t *position; /* document → position */
  uint32_t *best;     /* first of a group of copies → the most wanted of them */
} nd_order;

/* From ranks (smaller is better, ties by number).  `same` as in nd_found. */
nd_status nd_order_make(nd_order *out, const uint64_t *rank, const uint32_t *same, uint32_t n,
                        nd_error *err) ND_MUST_CHECK;
/* From the ranks in the store.  Documents from `split` on, those of the other
 * collection, come before all others. */
nd_status nd_order_load(nd_order *out, const nd_store *store, const uint32_t *same, uint32_t split,
                        nd_error *err) ND_MUST_CHECK;
void nd_order_clear(nd_order *o);

/* The position that stands for a first and its copies. */
static inline uint32_t nd_order_position(const nd_order *o, uint32_t first) {
  return o->position ? o->position[o->best[first]] : first;
}
/* A document at a position. */
static inline uint32_t nd_order_document(const nd_order *o, uint32_t position) {
  return o->document ? o->document[position] : position;
}

#endif
