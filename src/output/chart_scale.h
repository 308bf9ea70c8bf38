/* From numbers to places on an axis, and the ticks to write along it. */
#ifndef ND_OUTPUT_CHART_SCALE_H
#define ND_OUTPUT_CHART_SCALE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct nd_scale {
  double low, high; /* of the data, once fitted: of the axis */
  double from, to;  /* their places */
  bool log;         /* to base 10; only what is above 0 has a place */
  bool fixed;       /* the ends were given, and seen: ticks do not move them */
  bool base;        /* marks grow from the axis: 0 belongs to it */
  bool any;         /* a value was seen */
} nd_scale;

/* Has the value a place?  Not so: NaN, infinities, beyond 1e300, <= 0 on a log axis. */
bool nd_scale_takes(const nd_scale *s, double v);
/* Widens the scale to hold a value that it takes. */
void nd_scale_see(nd_scale *s, double v);
/* Rounds the ends outwards, to whole steps or decades. */
void nd_scale_fit(nd_scale *s);
double nd_scale_place(const nd_scale *s, double v);

enum { ND_TICKS = 24 };
/* At most ND_TICKS ticks, rising. */
size_t nd_scale_ticks(double *out, const nd_scale *s, unsigned about);

/* A short number for an axis: 0.25, 800, 12 k, 3.5 M, 1e-07. */
void nd_scale_write(char *out, size_t room, double v);

#endif
