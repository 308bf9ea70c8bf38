/* Bounds of the set joins; see set_bounds.h. */
#include "similarity/set_bounds.h"

#include "similarity/similarity.h"

int64_t nd_set_slope(__int128 a, __int128 b) {
  __int128 scaled = a * (INT64_C(1) << 32);
  __int128 q = scaled / b;
  return (int64_t)(q + (scaled % b > 0));
}

/* Derives the distance allowed: |x| + |y| minus twice the overlap needed. */
static void derive_slopes(nd_set_bounds *b) {
  const __int128 unit = b->unit;
  b->slope_x = nd_set_slope(unit - 2 * (__int128)b->per_x, unit);
  b->slope_y = nd_set_slope(unit - 2 * (__int128)b->per_y, unit);
  b->base = (int64_t)(2 * (__int128)b->fixed * (INT64_C(1) << 32) / unit);
}

nd_status nd_set_bounds_init(nd_set_bounds *out, const nd_similarity *similarity, uint64_t num,
                             uint64_t den, nd_error *err) {
  *out = (nd_set_bounds){.num = num, .den = den};
  if (num == 0 || den == 0) {
    return nd_fail(err, ND_ERR_USAGE, "a join needs a threshold above 0");
  }
  if (num > UINT32_MAX || den > UINT32_MAX) { /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_USAGE, "the threshold has too many digits");
  }
  if (similarity->counts ? den != 1 : num > den) {
    return nd_fail(err, ND_ERR_USAGE,
                   similarity->counts ? "the threshold is a whole number of common tokens"
                                      : "the threshold is above 1, which no pair can reach");
  }
  similarity->bounds(out);
  if (!out->curve) derive_slopes(out);
  return ND_OK;
}

uint64_t nd_set_min_size(const nd_set_bounds *b, uint64_t x) {
  if (b->curve) return b->curve->min_size(b, x);
  /* needed(x, y) <= y, solved for y. */
  const uint64_t units = b->per_x * x + b->fixed;
  return units ? nd_set_ceil(units, b->unit - b->per_y) : 1;
}

uint64_t nd_set_max_size(const nd_set_bounds *b, uint64_t x, uint64_t rest) {
  if (b->curve) return b->curve->max_size(b, x, rest);
  /* needed(x, y) <= rest, solved for y. */
  const uint64_t least = b->per_x * x + b->fixed, units = rest * b->unit;
  if (units < least) return 0;
  const uint64_t y = b->per_y ? (units - least) / b->per_y : x;
  return y < x ? y : x;
}

uint64_t nd_set_probe_prefix(const nd_set_bounds *b, uint64_t size) {
  uint64_t least = nd_set_min_size(b, size);
  return least <= size && size ? size - least + 1 : 0;
}

uint64_t nd_set_index_prefix(const nd_set_bounds *b, uint64_t size) {
  uint64_t needed = nd_set_needed(b, size, size);
  return needed <= size && size ? size - needed + 1 : 0;
}
