/* Near-duplicates of documents within a collection, from a list of pairs or clusters. */
#ifndef ND_STUDY_COMMON_NEAR_H
#define ND_STUDY_COMMON_NEAR_H

#include "study/common/list.h"

typedef struct nd_near {
  const nd_list *list; /* borrowed */
  uint32_t documents;
  uint64_t *begin; /* pairs: the neighbours of d are other[begin[d]] to other[begin[d + 1] - 1] */
  uint32_t *other; /* neighbours */
  int64_t *value;  /* resemblance per neighbour, in billionths */
  uint32_t *stamp; /* scratch: per document, the last collection it was in */
  uint32_t *place; /* scratch: per document or cluster, its index */
  uint32_t *mark;  /* scratch: per cluster, the last collection that has it */
  uint32_t last;   /* number of collections so far */
} nd_near;

/* Builds the index for documents numbered below `documents`. */
nd_status nd_near_init(nd_near *n, const nd_list *list, uint32_t documents,
                       nd_error *err) ND_MUST_CHECK;
void nd_near_clear(nd_near *n);

/* Sets best[i] to the largest resemblance of document[i] to another of the m distinct
 * documents, or to -1 if there is none; within a cluster it is 1. */
void nd_near_best(int64_t *best, nd_near *n, const uint32_t *document, size_t m);

/* Sets first[i] to the smallest k such that document[i] is among the first k documents
 * and has a near-duplicate (at least `threshold`) among them, or to SIZE_MAX. */
void nd_near_first(size_t *first, nd_near *n, const uint32_t *document, size_t m,
                   int64_t threshold);

/* Sets keep[i] to 0 if a kept document before i is a near-duplicate of document[i]. */
void nd_near_filter(uint8_t *keep, nd_near *n, const uint32_t *document, size_t m,
                    int64_t threshold);

#endif
