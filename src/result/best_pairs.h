/* --top K: of all pairs, those that are among the K best of one of their two
 * documents. */
#ifndef ND_RESULT_BEST_PAIRS_H
#define ND_RESULT_BEST_PAIRS_H

#include "result/run_state.h"

/* Replaces j->confirmed.sorted by the chosen pairs.  Memory: 12 bytes × K a
 * document. */
nd_status nd_best_pairs(nd_run *j, uint32_t top, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
