/* Token sequences; see token_diff.h. */
#include "study/common/token_diff.h"

#include <math.h>
#include <stdlib.h>

void nd_token_diff_clear(nd_token_diff *t) {
  nd_free(t->scratch);
  *t = (nd_token_diff){0};
}

/* Myers' greedy algorithm: reach[k] is the farthest x on diagonal k = x − y with d
 * differences, for d = 0, 1 … */
nd_status nd_token_difference(uint32_t *out, nd_token_diff *t, const uint32_t *a, size_t n,
                              const uint32_t *b, size_t m, uint32_t most, nd_error *err) {
  while (n && m && a[0] == b[0]) a++, b++, n--, m--;
  while (n && m && a[n - 1] == b[m - 1]) n--, m--;
  if (n == 0 || m == 0) {
    size_t d = n + m;
    *out = d <= most ? (uint32_t)d : most + 1;
    return ND_OK;
  }
  size_t room = 2 * (size_t)most + 3;
  ND_TRY(nd_array_grow(&t->scratch, &t->cap, room, sizeof *t->scratch, err));
  int32_t *reach =
      (int32_t *)t->scratch + most + 1; /* from reach[-most-1] to reach[most+1]; -1: not reached */
  memset(t->scratch, 0xff, room * sizeof *t->scratch);
  for (int64_t d = 0; d <= (int64_t)most; d++) {
    for (int64_t k = -d; k <= d; k += 2) {
      int64_t x = d == 0 ? 0 : -1;
      if (k < d && reach[k + 1] >= 0 && reach[k + 1] - k <= (int64_t)m) x = reach[k + 1];
      if (k > -d && reach[k - 1] >= x && reach[k - 1] >= 0 && reach[k - 1] < (int64_t)n)
        x = (int64_t)reach[k - 1] + 1;
      for (; x >= 0 && x < (int64_t)n && x - k < (int64_t)m && a[x] == b[x - k];) x++;
      reach[k] = (int32_t)x;
      if (x == (int64_t)n && x - k == (int64_t)m) {
        *out = (uint32_t)d;
        return ND_OK;
      }
    }
  }
  *out = most + 1;
  return ND_OK;
}

static int by_value(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

nd_status nd_token_cosine(double *out, nd_token_diff *t, const uint32_t *a, size_t n,
                          const uint32_t *b, size_t m, nd_error *err) {
  *out = 0;
  if (n == 0 || m == 0) return ND_OK;
  ND_TRY(nd_array_grow(&t->scratch, &t->cap, n + m, sizeof *t->scratch, err));
  uint32_t *x = t->scratch, *y = t->scratch + n;
  memcpy(x, a, n * sizeof *x);
  memcpy(y, b, m * sizeof *y);
  qsort(x, n, sizeof *x, by_value);
  qsort(y, m, sizeof *y, by_value);
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0, k = 0; i < n || k < m;) {
    uint32_t token = k == m || (i < n && x[i] < y[k]) ? x[i] : y[k];
    double of_x = 0, of_y = 0;
    for (; i < n && x[i] == token; i++) of_x++;
    for (; k < m && y[k] == token; k++) of_y++;
    xx += of_x * of_x;
    yy += of_y * of_y;
    xy += of_x * of_y;
  }
  *out = xy / (sqrt(xx) * sqrt(yy));
  return ND_OK;
}
