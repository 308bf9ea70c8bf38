/* Power laws; see power_law.h. */
#include "study/common/power_law.h"

#include <math.h>

double nd_power_law_slope(const uint64_t *count, size_t most) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t d = 1; d <= most; d++) {
    if (!count[d]) continue;
    double x = log((double)d), y = log((double)count[d]);
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return n >= 2 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : NAN; /* the x are distinct */
}

double nd_power_law_likely(const uint64_t *count, size_t most) {
  double n = 0, sum = 0;
  for (size_t d = 1; d <= most; d++) {
    if (!count[d]) continue;
    n += (double)count[d];
    sum += (double)count[d] * log((double)d / 0.5);
  }
  return n > 0 ? 1 + n / sum : NAN;
}
