/* What most unit tests begin with: an error to hand over, a status that must be fine, and random
 * numbers whose seed is printed.  Included after cmocka.h. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"

static nd_error err;

static inline void ok(nd_status status) {
  if (status != ND_OK) fail_msg("%s: %s", nd_status_name(status), err.message);
}

/* NEARDUP_SEED repeats a run. */
static inline void seed_rng(nd_rng *rng) {
  const char *seed = getenv("NEARDUP_SEED");
  rng->state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
  print_message("seed %llu (NEARDUP_SEED repeats it)\n", (unsigned long long)rng->state);
}

#endif
