/* jaccard: |A ∩ B| / |A ∪ B|, the resemblance (Broder 1997). */
#include "similarity/similarity.h"

static bool reaches(nd_overlap o, nd_decimal t) {
  return nd_overlap_reaches(o, t.num, t.den);
}

static uint64_t value(nd_overlap o) {
  return nd_fraction_pack(o.common, o.joint);
}

/* c / (x + y - c) >= n/d  ⇔  c >= n (x + y) / (n + d) */
static void bounds(nd_set_bounds *b) {
  b->per_x = b->per_y = b->num;
  b->unit = b->num + b->den;
}

const nd_similarity nd_similarity_jaccard = {
    .name = "jaccard",
    .help = "shared shingles divided by all shingles of the two documents",
    .standard = {8, 10},
    .ways = ND_WAY_SKETCHES | ND_WAY_MERGE | ND_WAY_JOIN | ND_WAY_PREFIX_JOIN,
    .reaches = reaches,
    .value = value,
    .bounds = bounds,
};
