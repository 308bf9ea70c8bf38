/* --method join, allpairs, ppjoin, ppjoin+: exact joins of the documents' shingle
 * sets, or of their texts by edit distance. */
#ifndef ND_FIND_SETJOIN_H
#define ND_FIND_SETJOIN_H

#include "find/find.h"

/* Adds every pair that reaches the threshold to found->pairs, as positions.  What does not
 * fit `memory` bytes is joined in blocks, with the same result. */
nd_status nd_setjoin_pairs(nd_found *found, const nd_text_source *source, uint64_t memory,
                           const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
