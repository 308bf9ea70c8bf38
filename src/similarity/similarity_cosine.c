/* cosine: |A ∩ B| / √(|A| |B|). */
#include <math.h>

#include "similarity/similarity.h"

typedef unsigned __int128 wide;

/* c / √(ab) >= n/d  ⇔  c²d² >= n²ab; each side fits 128 bits. */
static bool reaches(nd_overlap o, nd_decimal t) {
  const uint64_t right = (uint64_t)o.joint - o.left + o.common;
  const wide c = (wide)o.common * t.den, n = (wide)t.num;
  const wide limit = n * n;
  return c * c >= limit * o.left * right;
}

static uint64_t value(nd_overlap o) {
  const double billion = 1e9;
  const uint64_t right = (uint64_t)o.joint - o.left + o.common;
  const double x = o.joint ? o.common / sqrt((double)o.left * (double)right) : 0;
  return nd_fraction_pack((uint32_t)llround((x < 1 ? x : 1) * billion), (uint32_t)billion);
}

/* c² den² >= num² x y.  c, x, y < 2^32. */
static bool enough(const nd_set_bounds *b, uint64_t c, uint64_t x, uint64_t y) {
  return (wide)(c * b->den) * (c * b->den) >= (wide)(b->num * b->num) * (x * y);
}

static uint64_t needed(const nd_set_bounds *b, uint64_t x, uint64_t y) {
  /* Rounding errors are far below 1, so the truncated estimate is at most the result: count up. */
  const double near = (double)b->num / (double)b->den * sqrt((double)x * (double)y);
  uint64_t c = (uint64_t)near;
  while (!enough(b, c, x, y)) c++;
  return c;
}

static uint64_t min_size(const nd_set_bounds *b, uint64_t x) {
  const wide whole = (wide)b->den * b->den;
  return (uint64_t)(((wide)(b->num * b->num) * x + whole - 1) / whole);
}

static uint64_t max_size(const nd_set_bounds *b, uint64_t x, uint64_t rest) {
  const wide most = (wide)(rest * b->den) * (rest * b->den) / ((wide)(b->num * b->num) * x);
  return most > x ? x : (uint64_t)most;
}

/* |x| + |y| - 2t sqrt(|x||y|) is convex in |y|, so its chord from |y| = t²|x| to |y| = |x|
 * bounds it from above; the slope of that chord is the same for every |x|. */
static void bounds(nd_set_bounds *b) {
  static const nd_set_curve curve = {needed, min_size, max_size};
  const __int128 n = b->num, d = b->den;
  b->curve = &curve;
  b->slope_x = nd_set_slope((d - n) * (d + 2 * n), d * (d + n));
  b->slope_y = nd_set_slope(d - n, d + n);
}

const nd_similarity nd_similarity_cosine = {
    .name = "cosine",
    .help = "shared shingles divided by the geometric mean of both numbers",
    .standard = {8, 10},
    .ways = ND_WAY_MERGE | ND_WAY_JOIN | ND_WAY_PREFIX_JOIN,
    .reaches = reaches,
    .value = value,
    .bounds = bounds,
};
