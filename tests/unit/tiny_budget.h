/* Stands in for src/settings/budget.c in the program that includes it: while memory is strict
 * (base/mem.h), whatever sorts has room for a few items only and goes to disk, and counting takes
 * several rounds. */
#ifndef TINY_BUDGET_H
#define TINY_BUDGET_H

#include "base/mem.h"
#include "settings/budget.h"

uint64_t nd_budget(uint64_t memory, nd_share share) {
  switch (share) {
    case ND_SHARE_EXACT_COUNTS: return nd_mem_is_strict() ? 0 : memory / 4;
    case ND_SHARE_PREPASS:
    case ND_SHARE_PREPASS_PAGES:
    case ND_SHARE_PAIRS:
    case ND_SHARE_EXPANDED:
    case ND_SHARE_REPORT:
    case ND_SHARE_STAGE_PAIRS:
    case ND_SHARE_FIND_PAIRS:
    case ND_SHARE_VALUES: return nd_mem_is_strict() ? 256 : memory / 8;
    default: return memory / 8;
  }
}

uint64_t nd_budget_find(uint64_t memory, uint64_t documents) {
  (void)documents;
  return memory;
}

#endif
