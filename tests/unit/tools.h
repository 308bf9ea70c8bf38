/* What most unit tests begin with: an error to hand over, a status that must be fine, a sink,
 * paths, and random numbers whose seed is printed.  Included after cmocka.h. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "seed.h"

extern nd_error err;

void ok(nd_status status);

/* A sink that looks at nothing. */
nd_status forget(void *context, const char *bytes, size_t n, nd_error *e);

/* A name in a folder; four of them are valid at a time. */
const char *path_in(const char *folder, const char *name);

void seed_rng(nd_rng *rng);

#endif
