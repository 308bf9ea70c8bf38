/* What the steps that propose pairs share; see methods.h for the table of
 * them.
 *
 * A step adds candidates to found->pairs as pairs of positions (order.h),
 * the smaller one first, with the value ND_PAIR_FULL or ND_PAIR_STAR, from the
 * documents that are their own first (found->same); repeats are allowed. */
#ifndef ND_FIND_FINDER_H
#define ND_FIND_FINDER_H

#include "find/find.h"
#include "settings/methods.h"

struct nd_finder {
  nd_found *out;
  const nd_store *store;
  const nd_settings *settings;
  const nd_text_source *source;
  const char *tmp;
  uint64_t spare; /* memory for all of a step's own things */
  uint64_t share; /* of one thread */
};

nd_status nd_find_bands(nd_finder *f, nd_error *err) ND_MUST_CHECK;
nd_status nd_find_values(nd_finder *f, nd_error *err) ND_MUST_CHECK;
nd_status nd_find_supershingles(nd_finder *f, nd_error *err) ND_MUST_CHECK;
nd_status nd_find_projections(nd_finder *f, nd_error *err) ND_MUST_CHECK;
nd_status nd_find_simhashes(nd_finder *f, nd_error *err) ND_MUST_CHECK;

/* One of several jobs of a step that pairs documents with equal keys: fills one
 * key per document of a block. */
typedef nd_status (*nd_find_keys)(uint64_t *keys, const nd_finder *f, size_t block, uint32_t job,
                                  uint64_t *scratch, nd_error *err);

/* Pairs documents with equal keys, job by job, on all threads.  Buckets above
 * --bucket-cap become stars. */
nd_status nd_find_equal_keys(nd_finder *f, uint32_t jobs, nd_find_keys keys,
                             nd_error *err) ND_MUST_CHECK;

/* Mega-shingles: how many kinds there are, and the keys of some rows of sketches for one. */
uint32_t nd_mega_jobs(const nd_settings *s);
void nd_mega_keys(uint64_t *keys, const nd_settings *s, const uint64_t *rows, uint32_t docs,
                  uint32_t job);

/* The first position that is not of the other collection, whose documents come first in the
 * wanted order; 0: there is none. */
static inline uint32_t nd_finder_split(const nd_finder *f) {
  return nd_source_has_other(f->source) ? (uint32_t)(f->store->documents - f->source->split) : 0;
}

/* Documents in the largest block. */
uint32_t nd_store_most_docs(const nd_store *s);

#endif
