/* Maps values to positions on an axis, and chooses the ticks. */
#ifndef ND_OUTPUT_CHART_SCALE_H
#define ND_OUTPUT_CHART_SCALE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct nd_scale {
  double low, high; /* of the data; after nd_scale_fit, of the axis */
  double from, to;  /* positions of low and high */
  bool log;         /* base 10; only positive values have a position */
  bool fixed;       /* the ends were given: fitting does not move them */
  bool base;        /* bars grow from the axis, so it includes 0 */
  bool any;         /* at least one value was seen */
} nd_scale;

/* Returns true if the value has a position: not NaN, infinite, beyond 1e300, or <= 0 on a log
 * axis. */
bool nd_scale_takes(const nd_scale *s, double v);
/* Widens the scale to include a value that has a position. */
void nd_scale_see(nd_scale *s, double v);
/* Rounds the ends outwards to full steps or decades. */
void nd_scale_fit(nd_scale *s);
/* Returns the position of a value. */
double nd_scale_position(const nd_scale *s, double v);

enum { ND_TICKS = 24 };
/* Computes at most ND_TICKS ticks, ascending. */
size_t nd_scale_ticks(double *out, const nd_scale *s, unsigned about);

/* Formats a number for an axis: 0.25, 800, 12 k, 3.5 M, 1e-07. */
void nd_scale_write(char *out, size_t room, double v);

#endif
