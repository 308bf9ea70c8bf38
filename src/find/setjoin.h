/* --method join, allpairs, ppjoin, ppjoin+: exact joins of the documents' shingle
 * sets, or of their texts by edit distance. */
#ifndef ND_FIND_SETJOIN_H
#define ND_FIND_SETJOIN_H

#include "find/finder.h"
#include "join/join.h"

/* Adds every pair that reaches the threshold to the candidates.  If the documents do not fit the
 * finder's memory, they are joined in blocks, with the same result.  Texts are joined by the
 * nd_edit_method of the same number. */
nd_status nd_setjoin_pairs(nd_finder *f, nd_join_method method, nd_error *err) ND_MUST_CHECK;

#endif
