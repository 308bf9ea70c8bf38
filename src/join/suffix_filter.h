/* The suffix filter of PPJoin+ (Xiao et al. 2008, Algorithms 3 and 4). */
#ifndef ND_JOIN_SUFFIX_FILTER_H
#define ND_JOIN_SUFFIX_FILTER_H

#include "neardup/status.h"

/* A run of ascending tokens. */
typedef struct nd_join_run_of {
  const uint32_t *token;
  uint32_t n;
} nd_join_run_of;

/* Returns a lower bound of the Hamming distance of x and y, or any number above `most` if the
 * distance is larger.  `depth` counts from 1 to `maxdepth`. */
int64_t nd_suffix_filter(nd_join_run_of x, nd_join_run_of y, int64_t most, uint32_t depth,
                         uint32_t maxdepth);

#endif
