/* Monotonic time in seconds. */
#ifndef ND_BASE_CLOCK_H
#define ND_BASE_CLOCK_H

#include <time.h>

#include "base/cpu.h"

/* Seconds since an arbitrary moment. */
ND_INLINE double nd_clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
