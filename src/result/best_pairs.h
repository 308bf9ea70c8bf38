/* --top K: selects the pairs that are among the K best of at least one of their documents. */
#ifndef ND_RESULT_BEST_PAIRS_H
#define ND_RESULT_BEST_PAIRS_H

#include "result/run_state.h"

/* Replaces j->verified.sorted by the selected pairs.  Memory: 12 bytes × K per document. */
nd_status nd_best_pairs(nd_run *j, uint32_t top, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
