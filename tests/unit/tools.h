/* What most unit tests begin with: an error to hand over, a status that must be fine, a sink,
 * paths, and random numbers whose seed is printed.  Included after cmocka.h. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "seed.h"

static nd_error err;

static inline void ok(nd_status status) {
  if (status != ND_OK) fail_msg("%s: %s", nd_status_name(status), err.message);
}

/* A sink that looks at nothing. */
static inline nd_status forget(void *context, const char *bytes, size_t n, nd_error *e) {
  (void)context;
  (void)bytes;
  (void)n;
  (void)e;
  return ND_OK;
}

/* A name in a folder; four of them are valid at a time. */
static inline const char *path_in(const char *folder, const char *name) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static inline void seed_rng(nd_rng *rng) {
  rng->state = test_seed();
}

#endif
