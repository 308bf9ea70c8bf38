/* Verified pairs → clusters, and the kept member of each.
 *
 * Documents are numbered; `order` is the keep order (position 0 is preferred), NULL means by
 * number.
 *
 *   star        greedy in keep order: a document that is not assigned is kept, and its
 *               unassigned neighbours are assigned to it.  Every dropped document is
 *               therefore a verified near-duplicate of the one kept in its place.
 *   nearest     pairs with a reference collection, which is first in the order: a document is
 *               assigned to the most similar reference document, the first of several
 *   components  connected components (union-find), including chains.  The first in keep
 *               order is kept.
 *
 * Cost: one pass over the pairs; 4 bytes (star: 12) of memory per document. */
#ifndef ND_CLUSTER_CLUSTERS_H
#define ND_CLUSTER_CLUSTERS_H

#include "base/sorter.h"

typedef struct nd_clusters {
  uint32_t n;
  uint32_t *centre; /* per document: the one kept in its place; itself if kept */
  uint64_t *value;  /* per document: value of its pair with the centre, or 0 */
} nd_clusters;

nd_status nd_clusters_init(nd_clusters *c, uint32_t n, nd_error *err) ND_MUST_CHECK;
void nd_clusters_clear(nd_clusters *c);

/* `pairs`: keys are pairs of positions in keep order, position_a < position_b, ascending;
 * document[position] maps back (NULL: identity). */
nd_status nd_clusters_star(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                           nd_error *err) ND_MUST_CHECK;
/* Values are fractions; with `smaller`, lower values are more similar (edit). */
nd_status nd_clusters_nearest(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                              bool smaller, nd_error *err) ND_MUST_CHECK;
nd_status nd_clusters_components(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                                 nd_error *err) ND_MUST_CHECK;
/* The second half, for known components: centre[d] is any member, the same for all members. */
nd_status nd_clusters_label(nd_clusters *c, nd_sorter *pairs, const uint32_t *document,
                            nd_error *err) ND_MUST_CHECK;

#endif
