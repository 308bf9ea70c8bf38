/* Divides both runs at the middle token of y, recursively; see suffix_filter.h.
 *
 * The distance allowed gives a window of x that must contain the token (Example 5), so only that
 * window is searched. */
#include "join/suffix_filter.h"

#include <stdbool.h>

static int64_t apart(uint32_t a, uint32_t b) {
  return a > b ? a - b : b - a;
}

int64_t nd_suffix_filter(nd_join_run_of x, nd_join_run_of y, int64_t most, uint32_t depth,
                         uint32_t maxdepth) {
  int64_t unequal = apart(x.n, y.n);
  if (depth > maxdepth || x.n == 0 || y.n == 0 || unequal > most) return unequal;
  const uint32_t middle = (y.n - 1) / 2, token = y.token[middle];
  const int64_t slack = (most - unequal) / 2;
  int64_t from = middle - slack - (x.n < y.n ? unequal : 0);
  int64_t to = middle + slack + (x.n < y.n ? 0 : unequal);
  if (from < 0) from = 0;
  if (to > (int64_t)x.n - 1) to = (int64_t)x.n - 1;
  /* Find the first token in the window that is not smaller.  The window is not empty: from is at
   * most x.n - 1. */
  uint32_t low = (uint32_t)from, high = (uint32_t)to + 1;
  while (low < high) {
    uint32_t half = low + (high - low) / 2;
    if (x.token[half] < token) {
      low = half + 1;
    } else {
      high = half;
    }
  }
  if (low == to + 1 && low < x.n) return most + 1;
  const bool there = low < x.n && x.token[low] == token;
  if (low == from && from > 0 && !there) return most + 1;

  nd_join_run_of xl = {x.token, low}, yl = {y.token, middle};
  nd_join_run_of xr = {x.token + low + there, x.n - low - there};
  nd_join_run_of yr = {y.token + middle + 1, y.n - middle - 1};
  const int64_t differs = !there;
  int64_t right = apart(xr.n, yr.n);
  int64_t distance = apart(xl.n, yl.n) + right + differs;
  if (distance > most) return distance;
  int64_t left = nd_suffix_filter(xl, yl, most - right - differs, depth + 1, maxdepth);
  distance = left + right + differs;
  if (distance > most) return distance;
  return left + differs + nd_suffix_filter(xr, yr, most - left - differs, depth + 1, maxdepth);
}
