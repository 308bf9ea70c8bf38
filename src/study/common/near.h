/* Near-duplicates of documents, from a list of pairs or of clusters: who is near
 * whom, and what of it lies inside a collection of documents. */
#ifndef ND_STUDY_COMMON_NEAR_H
#define ND_STUDY_COMMON_NEAR_H

#include "study/common/list.h"

typedef struct nd_near {
  const nd_list *list; /* borrowed */
  uint32_t documents;
  uint64_t *begin; /* pairs: the neighbours of d are other[begin[d] … begin[d + 1] - 1] */
  uint32_t *other; /* … */
  int64_t *value;  /* … and their resemblance, in billionths */
  uint32_t *stamp; /* scratch: per document, the last collection it was in */
  uint32_t *place; /* scratch: per document or cluster */
  uint32_t *mark;  /* scratch: per cluster, the last collection that has it */
  uint32_t last;   /* collections so far */
} nd_near;

/* Of documents numbered below `documents`. */
nd_status nd_near_init(nd_near *n, const nd_list *list, uint32_t documents,
                       nd_error *err) ND_MUST_CHECK;
void nd_near_clear(nd_near *n);

/* best[i]: the largest resemblance of document[i] to another of the m different
 * documents, -1 when it has none; inside a cluster it is 1. */
void nd_near_best(int64_t *best, nd_near *n, const uint32_t *document, size_t m);

/* first[i]: the smallest k such that document[i] has a near-duplicate (from
 * `threshold` on) among the first k documents, itself included; SIZE_MAX: none. */
void nd_near_first(size_t *first, nd_near *n, const uint32_t *document, size_t m,
                   int64_t threshold);

/* keep[i] = 0 where a kept document before i is a near-duplicate of document[i]. */
void nd_near_filter(uint8_t *keep, nd_near *n, const uint32_t *document, size_t m,
                    int64_t threshold);

#endif
