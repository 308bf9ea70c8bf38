/* --method join, allpairs, ppjoin, ppjoin+: exact set joins (find/setjoin.h, join/join.h).
 *
 * All find the same pairs.  join compares blocks of sets; the others use prefix filters (Bayardo
 * et al. 2007; Xiao et al. 2011). */
#include "find/setjoin.h"
#include "settings/method.h"

static nd_status find_join(nd_finder *f, nd_error *err) {
  return nd_setjoin_pairs(f, ND_JOIN_BLOCKS, err);
}

static nd_status find_allpairs(nd_finder *f, nd_error *err) {
  return nd_setjoin_pairs(f, ND_JOIN_ALLPAIRS, err);
}

static nd_status find_ppjoin(nd_finder *f, nd_error *err) {
  return nd_setjoin_pairs(f, ND_JOIN_PPJOIN, err);
}

static nd_status find_ppjoin_plus(nd_finder *f, nd_error *err) {
  return nd_setjoin_pairs(f, ND_JOIN_PPJOIN_PLUS, err);
}

const nd_method nd_method_join = {.name = "join",
                                  .help = "every pair, by joining shingle sets in blocks",
                                  .exact = ND_WAY_JOIN,
                                  .find = find_join};

const nd_method nd_method_allpairs = {.name = "allpairs",
                                      .help = "every pair, by All-Pairs",
                                      .exact = ND_WAY_PREFIX_JOIN,
                                      .find = find_allpairs};

const nd_method nd_method_ppjoin = {.name = "ppjoin",
                                    .help = "every pair, by PPJoin",
                                    .exact = ND_WAY_PREFIX_JOIN,
                                    .find = find_ppjoin};

const nd_method nd_method_ppjoin_plus = {.name = "ppjoin+",
                                         .help = "every pair, by PPJoin+",
                                         .exact = ND_WAY_PREFIX_JOIN,
                                         .find = find_ppjoin_plus};
