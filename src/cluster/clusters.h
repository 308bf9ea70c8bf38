/* Verified pairs → clusters, and the member of each that stays.
 *
 * Documents are numbered; `order` ranks them (position 0 is the most wanted),
 * NULL means by number.
 *
 *   star        greedy in that order: a document that no kept one has claimed
 *               is kept, and claims its neighbours.  Every dropped document is
 *               thus a verified near-duplicate of the one kept in its place.
 *   nearest     pairs between two collections, the one that stays first in the order: a
 *               document of the other goes to its nearest there, of equals to the first
 *   components  connected components (union-find); chains count.  The first
 *               in order stays.
 *
 * Cost: one pass over the pairs; memory 4 bytes (star: 12) a document. */
#ifndef ND_CLUSTER_CLUSTERS_H
#define ND_CLUSTER_CLUSTERS_H

#include "base/sorter.h"

typedef struct nd_clusters {
  uint32_t n;
  uint32_t *centre; /* per document: the one kept in its place; itself when kept */
  uint64_t *value;  /* per document: the pair's value with the centre; 0: no such pair was seen */
} nd_clusters;

nd_status nd_clusters_init(nd_clusters *c, uint32_t n, nd_error *err) ND_MUST_CHECK;
void nd_clusters_clear(nd_clusters *c);

/* `pairs`: keys are pairs of positions with position_a < position_b in
 * the wanted order, rising; `document[position]` maps back (NULL: identity). */
nd_status nd_clusters_star(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                           nd_error *err) ND_MUST_CHECK;
/* Values are packed fractions; `smaller` ones are nearer (edit). */
nd_status nd_clusters_nearest(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                              bool smaller, nd_error *err) ND_MUST_CHECK;
nd_status nd_clusters_components(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                                 nd_error *err) ND_MUST_CHECK;
/* The second half of it, when the components are known: centre[d] is any one
 * member, the same for all of them. */
nd_status nd_clusters_label(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                            nd_error *err) ND_MUST_CHECK;

#endif
