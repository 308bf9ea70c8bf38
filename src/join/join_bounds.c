/* Bounds of the set joins; see join_bounds.h. */
#include "join/join_bounds.h"

#include <math.h>

typedef unsigned __int128 wide;

static uint64_t ceil_wide(wide a, wide b) {
  return (uint64_t)((a + b - 1) / b);
}

/* a * 2^32 / b rounded up, for signed a. */
static int64_t slope(__int128 a, __int128 b) {
  __int128 scaled = a * (INT64_C(1) << 32);
  __int128 q = scaled / b;
  return (int64_t)(q + (scaled % b > 0));
}

nd_status nd_join_bounds_init(nd_join_bounds *out, nd_join_similarity similarity, uint64_t num,
                              uint64_t den, nd_error *err) {
  *out = (nd_join_bounds){.similarity = similarity, .num = num, .den = den};
  if (num == 0 || den == 0) {
    return nd_fail(err, ND_ERR_USAGE, "a join needs a threshold above 0");
  }
  if (num > UINT32_MAX || den > UINT32_MAX) {
    return nd_fail(err, ND_ERR_USAGE, "the threshold has too many digits");
  }
  if (similarity == ND_JOIN_OVERLAP ? den != 1 : num > den) {
    return nd_fail(err, ND_ERR_USAGE,
                   similarity == ND_JOIN_OVERLAP
                       ? "an overlap threshold is a whole number of common tokens"
                       : "the threshold is above 1, which no pair can reach");
  }
  const __int128 n = num, d = den;
  switch (similarity) {
    case ND_JOIN_JACCARD: out->slope_x = out->slope_y = slope(d - n, d + n); break;
    /* |x| + |y| - 2t sqrt(|x||y|) is convex in |y|, so its chord from |y| = t²|x| to |y| = |x|
     * bounds it from above; the slope of that chord is the same for every |x|. */
    case ND_JOIN_COSINE:
      out->slope_x = slope((d - n) * (d + 2 * n), d * (d + n));
      out->slope_y = slope(d - n, d + n);
      break;
    case ND_JOIN_CONTAINMENT:
      out->slope_x = slope(1, 1);
      out->slope_y = slope(d - 2 * n, d);
      break;
    case ND_JOIN_OVERLAP:
      out->slope_x = out->slope_y = slope(1, 1);
      out->base = slope(2 * n, 1);
      break;
  }
  return ND_OK;
}

/* c is enough for cosine: c² den² >= num² x y.  c, x, y < 2^32. */
static bool cosine_enough(const nd_join_bounds *b, uint64_t c, uint64_t x, uint64_t y) {
  return (wide)(c * b->den) * (c * b->den) >= (wide)(b->num * b->num) * (x * y);
}

uint64_t nd_join_overlap_cosine(const nd_join_bounds *b, uint64_t x, uint64_t y) {
  /* Rounding is far below one, so the estimate is at most the number wanted, and near. */
  double near = (double)b->num / (double)b->den * sqrt((double)x * (double)y);
  uint64_t c = (uint64_t)near;
  while (!cosine_enough(b, c, x, y)) c++;
  return c;
}

uint64_t nd_join_min_size(const nd_join_bounds *b, uint64_t x) {
  switch (b->similarity) {
    case ND_JOIN_JACCARD: return nd_join_ceil(b->num * x, b->den);
    case ND_JOIN_COSINE: return ceil_wide((wide)(b->num * b->num) * x, (wide)b->den * b->den);
    case ND_JOIN_OVERLAP: return b->num;
    case ND_JOIN_CONTAINMENT: break;
  }
  return 1;
}

uint64_t nd_join_max_size(const nd_join_bounds *b, uint64_t x, uint64_t rest) {
  uint64_t y = x;
  switch (b->similarity) {
    case ND_JOIN_JACCARD:
      y = rest * (b->num + b->den) / b->num - x; /* in the prefix rest >= num x / den */
      break;
    case ND_JOIN_COSINE: {
      wide most = (wide)(rest * b->den) * (rest * b->den) / ((wide)(b->num * b->num) * x);
      y = most > x ? x : (uint64_t)most;
      break;
    }
    case ND_JOIN_OVERLAP: break; /* in the prefix the rest is large enough for any */
    case ND_JOIN_CONTAINMENT: y = rest * b->den / b->num; break;
  }
  return y < x ? y : x;
}

uint64_t nd_join_probe_prefix(const nd_join_bounds *b, uint64_t size) {
  uint64_t least = nd_join_min_size(b, size);
  return least <= size && size ? size - least + 1 : 0;
}

uint64_t nd_join_index_prefix(const nd_join_bounds *b, uint64_t size) {
  uint64_t needed = nd_join_overlap(b, size, size);
  return needed <= size && size ? size - needed + 1 : 0;
}
