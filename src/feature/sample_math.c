/* Effect of sampling on a pair, as formulas.
 *
 * Under mod-n sampling with a good hash each of the |A ∪ B| shingles is kept
 * with probability p = 1/n, so the numbers of common and of differing shingles kept
 * are independent and binomial:
 *
 *   C ~ Bin(|A ∩ B|, p)    D ~ Bin(|A ∪ B| - |A ∩ B|, p)
 *   hit = P( C / (C + D) >= t,  C + D > 0 )
 *
 * The expected precision of a trial (Ye 2008, section 5) over a list of pairs is
 * the sum of hit over the pairs with r >= t, divided by the sum over all. */
#include <math.h>

#include "feature/sample.h"

double nd_binomial_log(uint32_t k, uint32_t n, double p) {
  if (k > n) return -INFINITY;
  if (p <= 0) return k == 0 ? 0 : -INFINITY;
  if (p >= 1) return k == n ? 0 : -INFINITY;
  return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) + k * log(p) +
         (n - k) * log1p(-p);
}

/* The range of 9 standard deviations, which has nearly all of the probability. */
static void window(uint32_t *low, uint32_t *high, uint32_t n, double p) {
  double mean = n * p, width = 9 * sqrt(mean * (1 - p)) + 9;
  *low = mean > width ? (uint32_t)(mean - width) : 0;
  *high = mean + width < n ? (uint32_t)(mean + width) : n;
}

double nd_sample_hit(uint32_t common, uint32_t joint, double p, nd_decimal t) {
  if (common > joint || joint == 0 || t.den == 0) return 0;
  if (p >= 1) return (unsigned __int128)common * t.den >= (unsigned __int128)joint * t.num;
  uint32_t differing = joint - common, d_low, d_high, c_low, c_high;
  window(&d_low, &d_high, differing, p);
  window(&c_low, &c_high, common, p);
  double odds = p / (1 - p);
  double sum = 0, tail = 1, c_term = exp(nd_binomial_log(c_low, common, p));
  double d_term = exp(nd_binomial_log(d_low, differing, p));
  uint32_t c = c_low; /* tail = P(C >= c) */
  for (uint32_t d = d_low;; d++) {
    /* C den >= (C + d) num, that is C (den - num) >= d num */
    uint64_t rest = t.den - t.num;
    uint64_t need = rest ? ((uint64_t)d * t.num + rest - 1) / rest : d ? UINT64_MAX : 0;
    if (need == 0) need = 1; /* two empty samples are not a hit */
    if (need > c_high) break;
    while (c < need) {
      tail -= c_term;
      c_term *= (double)(common - c) / (c + 1.0) * odds;
      c++;
    }
    sum += d_term * (tail > 0 ? tail : 0);
    if (d == d_high) break;
    d_term *= (double)(differing - d) / (d + 1.0) * odds;
  }
  return sum < 1 ? sum : 1;
}

double nd_wilson_bound(double hits, double n, double z, bool upper) {
  if (n <= 0) return upper ? 1 : 0;
  double share = hits / n, z2 = z * z;
  double centre = share + z2 / (2 * n);
  double width = z * sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  double bound = (centre + (upper ? width : -width)) / (1 + z2 / n);
  return fmin(1, fmax(0, bound)); /* rounding may exceed the range */
}
