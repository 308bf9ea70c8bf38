/* A set of 64-bit keys, built once in rising order and then only asked: the
 * shingles that are too common, the passages of a site.
 *
 * Within `memory` bytes it is a sorted array with an index of its first bits:
 *
 *   index[key >> shift] … index[(key >> shift) + 1]   where the key would lie
 *
 * A larger one goes to a temporary file (which has no name any more) in pages of
 * 512 keys; memory then holds the first key of every page, and a probe, one per
 * thread, the pages that it read last. */
#ifndef ND_FEATURE_SHINGLE_SET_H
#define ND_FEATURE_SHINGLE_SET_H

#include "base/mem.h"

typedef struct nd_shingle_set nd_shingle_set;

nd_status nd_shingle_set_new(nd_shingle_set **out, uint64_t memory, const char *dir,
                             nd_error *err) ND_MUST_CHECK;
void nd_shingle_set_free(nd_shingle_set *s); /* NULL is allowed */

/* Keys rise from call to call. */
nd_status nd_shingle_set_add(nd_shingle_set *s, uint64_t key, nd_error *err) ND_MUST_CHECK;
/* After the last one; the set may then be read by several threads. */
nd_status nd_shingle_set_finish(nd_shingle_set *s, nd_error *err) ND_MUST_CHECK;
uint64_t nd_shingle_set_size(const nd_shingle_set *s);

/* Scratch of one thread.  {0} is an empty one. */
typedef struct nd_shingle_probe {
  uint64_t *page; /* pages of the file, by number modulo a few */
  uint64_t *number;
} nd_shingle_probe;
void nd_shingle_probe_clear(nd_shingle_probe *p);

nd_status nd_shingle_set_has(bool *out, const nd_shingle_set *s, nd_shingle_probe *p, uint64_t key,
                             nd_error *err) ND_MUST_CHECK;

#endif
