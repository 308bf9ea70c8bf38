/* A set of 64-bit keys, built in ascending order and then read-only: shingles that are too
 * common, passages of a site.
 *
 * Within `memory` bytes it is a sorted array with an index of its first bits:
 *
 *   from index[key >> shift] to index[(key >> shift) + 1]   the range of the key
 *
 * A larger set is in a temporary file (already unlinked) in pages of 512 keys; memory then
 * holds the first key of every page and, per thread, the pages read last. */
#ifndef ND_FEATURE_SHINGLE_SET_H
#define ND_FEATURE_SHINGLE_SET_H

#include "base/mem.h"

typedef struct nd_shingle_set nd_shingle_set;

nd_status nd_shingle_set_new(nd_shingle_set **out, uint64_t memory, const char *dir,
                             nd_error *err) ND_MUST_CHECK;
void nd_shingle_set_free(nd_shingle_set *s); /* accepts NULL */

/* Adds a key; keys ascend from call to call. */
nd_status nd_shingle_set_add(nd_shingle_set *s, uint64_t key, nd_error *err) ND_MUST_CHECK;
/* Call after the last key; then several threads may read the set. */
nd_status nd_shingle_set_finish(nd_shingle_set *s, nd_error *err) ND_MUST_CHECK;
uint64_t nd_shingle_set_size(const nd_shingle_set *s);

/* Scratch, per thread.  {0} is empty. */
typedef struct nd_shingle_probe {
  uint64_t *page; /* cached pages of the file */
  uint64_t *number;
} nd_shingle_probe;
void nd_shingle_probe_clear(nd_shingle_probe *p);

nd_status nd_shingle_set_has(bool *out, const nd_shingle_set *s, nd_shingle_probe *p, uint64_t key,
                             nd_error *err) ND_MUST_CHECK;

#endif
