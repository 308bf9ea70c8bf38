/* The table of shares; see budget.h. */
#include "settings/budget.h"

typedef struct part {
  uint8_t num, den;
} part;

static const part parts[ND_SHARES] = {
    [ND_SHARE_DOCUMENT] = {1, 8},     [ND_SHARE_IDS] = {1, 16},
    [ND_SHARE_PREPASS] = {1, 2},      [ND_SHARE_PREPASS_PAGES] = {1, 16},
    [ND_SHARE_SHINGLE_SET] = {1, 8},  [ND_SHARE_EQUALS] = {1, 4},
    [ND_SHARE_FIND_LEAST] = {1, 4},   [ND_SHARE_PAIRS] = {1, 8},
    [ND_SHARE_EXPANDED] = {1, 4},     [ND_SHARE_PREPARED] = {1, 8},
    [ND_SHARE_REPORT] = {1, 16},      [ND_SHARE_TRIALS] = {1, 2},
    [ND_SHARE_STAGE_SET] = {1, 4},    [ND_SHARE_STAGE_BUCKETS] = {1, 2},
    [ND_SHARE_STAGE_PAIRS] = {1, 4},  [ND_SHARE_FIND_STEP] = {1, 2},
    [ND_SHARE_FIND_PAIRS] = {1, 4},   [ND_SHARE_EXACT_SLICES] = {1, 8},
    [ND_SHARE_EXACT_ITEMS] = {3, 8},  [ND_SHARE_TRIAL_ITEMS] = {1, 4},
    [ND_SHARE_EXACT_COUNTS] = {1, 4}, [ND_SHARE_TRIAL_LISTS] = {1, 2},
    [ND_SHARE_JOIN] = {1, 2},         [ND_SHARE_VALUES] = {1, 2},
};

/* Bytes per document that stay in memory while candidates are found: the location of its text, its
 * first occurrence, its last star, its cluster. */
enum { DOCUMENT_BYTES = 20 };

uint64_t nd_budget(uint64_t memory, nd_share share) {
  return memory / parts[share].den * parts[share].num;
}

uint64_t nd_budget_find(uint64_t memory, uint64_t documents) {
  const uint64_t fixed = documents * DOCUMENT_BYTES;
  const uint64_t least = nd_budget(memory, ND_SHARE_FIND_LEAST);
  return memory > fixed + least ? memory - fixed : least;
}
