/* What the steps that find candidates share: those of the methods (settings/method.h).
 *
 * A step adds candidates to found->pairs as pairs of positions (order.h),
 * the smaller one first, with the value ND_PAIR_FULL or ND_PAIR_STAR, from the
 * documents that are their own first (found->same); repeats are allowed. */
#ifndef ND_FIND_FINDER_H
#define ND_FIND_FINDER_H

#include "find/find.h"
#include "settings/method.h"

struct nd_finder {
  nd_found *out;
  const nd_store *store;
  const nd_settings *settings;
  const nd_text_source *source;
  const char *tmp;
  uint64_t spare; /* memory for all of a step's own things */
  uint64_t share; /* of one thread */
};

/* Finds by the method's keys: pairs documents with equal keys on all threads, kind by kind, then
 * those whose vectors differ in few bits.  Buckets above --bucket-cap become stars. */
nd_status nd_find_by_keys(nd_finder *f, nd_error *err) ND_MUST_CHECK;

/* The two halves of nd_find_by_keys. */
nd_status nd_find_equal_keys(nd_finder *f, const nd_keys *keys, nd_error *err) ND_MUST_CHECK;
nd_status nd_find_close(nd_finder *f, const nd_keys *keys, nd_error *err) ND_MUST_CHECK;

/* Finds documents of whose MinHash values, in a sketch of the row, enough are equal. */
nd_status nd_find_values(nd_finder *f, const nd_sketch *sketch, nd_error *err) ND_MUST_CHECK;

/* The first position that is not of the other collection, whose documents come first in the
 * wanted order; 0: there is none. */
static inline uint32_t nd_finder_split(const nd_finder *f) {
  return nd_source_has_other(f->source) ? (uint32_t)(f->store->documents - f->source->split) : 0;
}

/* Documents in the largest block. */
uint32_t nd_store_most_docs(const nd_store *s);

#endif
