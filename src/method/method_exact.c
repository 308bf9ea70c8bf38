/* --method exact: sort and merge of all shingles (find/exact.h). */
#include "find/exact.h"
#include "find/finder.h"
#include "settings/method.h"

static nd_status find_exact(nd_finder *f, nd_error *err) {
  return nd_exact_pairs(f->out, f->source, f->memory, f->tmp, err);
}

const nd_method nd_method_exact = {.name = "exact",
                                   .help = "every pair, by sorting and merging all shingles",
                                   .exact = ND_WAY_MERGE,
                                   .find = find_exact};
