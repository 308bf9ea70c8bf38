/* Verified pairs and copies → who stays (DESIGN: clusters are built from
 * verified pairs only, after verification). */
#ifndef ND_RESULT_SURVIVORS_H
#define ND_RESULT_SURVIVORS_H

#include "cluster/clusters.h"
#include "result/run_state.h"

/* The order that the clustering followed; needed until the copies are added. */
typedef struct nd_chooser {
  nd_run *job;
  nd_order centre_order; /* --keep centre: made here */
  const nd_order *order;
  nd_sorter *pairs; /* by position; NULL: the confirmed ones serve */
  /* Components that were found elsewhere: a member of each document's, the same
   * for all of one; NULL: they are found here. */
  const uint32_t *roots;
} nd_chooser;
void nd_chooser_clear(nd_chooser *c);

/* The three steps of nd_survivors, for a job whose texts lie elsewhere: the
 * clusters of firsts ({0}, or only `roots` set, is a fresh chooser); the pairs (centre,
 * member) of components whose value no pair gave; the copies. */
nd_status nd_survivors_group(nd_clusters *out, nd_chooser *c, nd_run *j, const char *tmp,
                             nd_error *err) ND_MUST_CHECK;
nd_status nd_survivors_missing(nd_item **items, size_t *n, const nd_clusters *c,
                               nd_error *err) ND_MUST_CHECK;
void nd_survivors_copies(nd_clusters *out, const nd_chooser *c);

/* Fills `out` for all documents: centre[d] is the one kept in d's place, and
 * value[d] the overlap with it. */
nd_status nd_survivors(nd_clusters *out, nd_run *j, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
