/* containment: |A ∩ B| / min(|A|, |B|), the share of the smaller document that is in the larger
 * one. */
#include "similarity/similarity.h"

static uint32_t smaller(nd_overlap o) {
  const uint64_t right = (uint64_t)o.joint - o.left + o.common;
  return o.left < right ? o.left : (uint32_t)right;
}

static bool reaches(nd_overlap o, nd_decimal t) {
  return (unsigned __int128)o.common * t.den >= (unsigned __int128)smaller(o) * t.num;
}

static uint64_t value(nd_overlap o) {
  return nd_fraction_pack(o.common, smaller(o));
}

static void bounds(nd_set_bounds *b) {
  b->per_y = b->num;
  b->unit = b->den;
}

/* Not for the prefix joins, which filter by size: sizes do not bound containment. */
const nd_similarity nd_similarity_containment = {
    .name = "containment",
    .help = "shared shingles divided by those of the smaller document",
    .standard = {8, 10},
    .ways = ND_WAY_MERGE | ND_WAY_JOIN,
    .reaches = reaches,
    .value = value,
    .bounds = bounds,
};
