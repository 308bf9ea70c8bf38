/* Context of a method that finds candidates (nd_method.find in settings/method.h).
 *
 * A method adds candidates among first occurrences (found->same) to found->pairs: pairs of
 * positions (order.h), the smaller one first, with the value ND_PAIR_FULL or ND_PAIR_STAR.  It may
 * add a pair more than once. */
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
  uint64_t memory; /* for the tables of the method, all threads together */
  uint64_t memory_per_thread;
};

/* Finds by the method's keys: pairs documents with equal keys on all threads, kind by kind, then
 * those whose vectors differ in few bits.  Buckets above --bucket-cap become stars. */
nd_status nd_find_by_keys(nd_finder *f, nd_error *err) ND_MUST_CHECK;

/* The two halves of nd_find_by_keys. */
nd_status nd_find_equal_keys(nd_finder *f, const nd_keys *keys, nd_error *err) ND_MUST_CHECK;
nd_status nd_find_close(nd_finder *f, const nd_keys *keys, nd_error *err) ND_MUST_CHECK;

/* Finds documents that share enough MinHash values of a sketch of the row. */
nd_status nd_find_values(nd_finder *f, const nd_sketch *sketch, nd_error *err) ND_MUST_CHECK;

/* Returns the number of documents in the reference collection, which come first in the keep order;
 * 0 without a reference collection. */
static inline uint32_t nd_finder_split(const nd_finder *f) {
  return nd_source_has_other(f->source) ? (uint32_t)(f->store->documents - f->source->split) : 0;
}

/* Returns the number of documents in the largest block. */
uint32_t nd_store_most_docs(const nd_store *s);

#endif
