/* overlap: |A ∩ B|, the number of shingles that two documents share. */
#include "similarity/similarity.h"

static bool reaches(nd_overlap o, nd_decimal t) {
  return (unsigned __int128)o.common * t.den >= t.num;
}

static uint64_t value(nd_overlap o) {
  return nd_fraction_pack(o.common, 1);
}

static void bounds(nd_set_bounds *b) {
  b->fixed = b->num;
  b->unit = 1;
}

const nd_similarity nd_similarity_overlap = {
    .name = "overlap",
    .help = "number of shared shingles",
    .counts = true,
    .ways = ND_WAY_MERGE | ND_WAY_JOIN | ND_WAY_PREFIX_JOIN,
    .reaches = reaches,
    .value = value,
    .bounds = bounds,
};
