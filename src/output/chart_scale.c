/* Axes: linear ones with steps of 1, 2 or 5 times a power of ten; logarithmic ones with a tick per
 * decade (or at 1, 2 and 5 of each if there are few). */
#include "output/chart_scale.h"

#include <math.h>
#include <stdio.h>

static const double beyond = 1e300;

bool nd_scale_takes(const nd_scale *s, double v) {
  if (!isfinite(v) || fabs(v) > beyond) return false;
  return !s->log || v > 1 / beyond;
}

void nd_scale_see(nd_scale *s, double v) {
  if (!nd_scale_takes(s, v) || s->fixed) return;
  if (!s->any || v < s->low) s->low = v;
  if (!s->any || v > s->high) s->high = v;
  s->any = true;
}

static double step_of(double range, unsigned about) {
  double raw = range / about;
  double power = pow(10, floor(log10(raw)));
  double share = raw / power;
  return (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10) * power;
}

static void fit_log(nd_scale *s) {
  if (!s->any) {
    s->low = 1;
    s->high = 10;
  }
  if (s->fixed) return;
  double low = pow(10, floor(log10(s->low) + 1e-9)), high = pow(10, ceil(log10(s->high) - 1e-9));
  /* A bar of the lowest value needs some length, too. */
  if (s->base && s->low < low * 1.5) low /= 2;
  s->low = low;
  s->high = high > low ? high : low * 10;
}

void nd_scale_fit(nd_scale *s) {
  if (s->log) {
    fit_log(s);
    return;
  }
  if (!s->any) {
    s->low = 0;
    s->high = 1;
  }
  if (s->base && s->low > 0 && !s->fixed) s->low = 0;
  if (s->base && s->high < 0 && !s->fixed) s->high = 0;
  double range = s->high - s->low, size = fmax(fabs(s->low), fabs(s->high));
  if (!(range > size * 1e-12) || range < 1e-290) {
    double more = size > 1e-280 ? size / 10 : 1;
    if (s->low != 0 || !s->base) s->low -= more;
    s->high += more;
    range = s->high - s->low;
  }
  if (s->fixed) return;
  double step = step_of(range, 5);
  s->low = floor(s->low / step + 1e-9) * step;
  s->high = ceil(s->high / step - 1e-9) * step;
}

double nd_scale_position(const nd_scale *s, double v) {
  double share = s->log ? (log10(v) - log10(s->low)) / (log10(s->high) - log10(s->low))
                        : (v - s->low) / (s->high - s->low);
  share = share < 0 ? 0 : share > 1 ? 1 : share;
  return s->from + share * (s->to - s->from);
}

static size_t log_ticks(double *out, const nd_scale *s) {
  int first = (int)floor(log10(s->low) - 1e-9), last = (int)ceil(log10(s->high) + 1e-9);
  int decades = last - first, every = (decades + 9) / 10; /* both are at least 1 */
  bool fine = decades <= 3;
  size_t n = 0;
  for (int d = first; d <= last; d += every) { /* at most four decades if fine, else eleven */
    static const double parts[3] = {1, 2, 5};
    for (int i = 0; i < (fine ? 3 : 1); i++) {
      double v = parts[i] * pow(10, d);
      if (v >= s->low * (1 - 1e-9) && v <= s->high * (1 + 1e-9)) out[n++] = v;
    }
  }
  return n;
}

size_t nd_scale_ticks(double *out, const nd_scale *s, unsigned about) {
  if (s->log) return log_ticks(out, s);
  double step = step_of(s->high - s->low, about);
  double first = ceil(s->low / step - 1e-9);
  size_t n = 0;
  for (double i = first; n < ND_TICKS && i * step <= s->high + step * 1e-9; i += 1) {
    double v = i * step;
    out[n++] = fabs(v) < step * 1e-9 ? 0 : v; /* avoids -0 */
  }
  return n;
}

void nd_scale_write(char *out, size_t room, double v) {
  double a = fabs(v);
  if (a >= 1e15 || (a > 0 && a < 1e-4))
    snprintf(out, room, "%.3g", v);
  else if (a >= 1e12)
    snprintf(out, room, "%.6g\xc2\xa0T", v / 1e12);
  else if (a >= 1e9)
    snprintf(out, room, "%.6g\xc2\xa0G", v / 1e9);
  else if (a >= 1e6)
    snprintf(out, room, "%.6g\xc2\xa0M", v / 1e6);
  else if (a >= 1e4)
    snprintf(out, room, "%.6g\xc2\xa0k", v / 1e3);
  else
    snprintf(out, room, "%.6g", v);
}
