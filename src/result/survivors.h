/* Verified pairs and exact duplicates → the kept documents.  Clusters are built from verified pairs
 * only. */
#ifndef ND_RESULT_SURVIVORS_H
#define ND_RESULT_SURVIVORS_H

#include "cluster/clusters.h"
#include "result/run_state.h"

/* The order that the clustering followed; needed until exact duplicates are added. */
typedef struct nd_chooser {
  nd_run *job;
  nd_order centre_order; /* --keep centre: computed here */
  const nd_order *order;
  nd_sorter *pairs; /* by position; NULL: the verified pairs are used */
  /* Components found elsewhere: for each document, one member of its component, the same for all;
   * NULL: they are computed here. */
  const uint32_t *roots;
} nd_chooser;
void nd_chooser_clear(nd_chooser *c);

/* The three steps of nd_survivors, for a job whose texts are elsewhere.  The first clusters the
 * first occurrences ({0} is a fresh chooser; only `roots` may be set).  The second lists the pairs
 * of components (centre, member) without a value.  The third adds the exact duplicates. */
nd_status nd_survivors_group(nd_clusters *out, nd_chooser *c, nd_run *j, const char *tmp,
                             nd_error *err) ND_MUST_CHECK;
nd_status nd_survivors_missing(nd_item **items, size_t *n, const nd_clusters *c,
                               nd_error *err) ND_MUST_CHECK;
void nd_survivors_copies(nd_clusters *out, const nd_chooser *c);

/* Fills `out` for all documents: centre[d] is the document kept instead of d, and value[d] the
 * similarity of d to it. */
nd_status nd_survivors(nd_clusters *out, nd_run *j, const char *tmp, nd_error *err) ND_MUST_CHECK;

/* Adds to the summary the clusters of at least 2 documents, the largest size and the dropped
 * documents.  *size, owned: per kept document the size of its cluster, itself included; 0 for
 * dropped ones. */
nd_status nd_survivors_count(uint32_t **size, nd_summary *s, const nd_clusters *c,
                             nd_error *err) ND_MUST_CHECK;

#endif
