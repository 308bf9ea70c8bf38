#include "tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

nd_error err;

void ok(nd_status status) {
  if (status != ND_OK) fail_msg("%s: %s", nd_status_name(status), err.message);
}

nd_status forget(void *context, const char *bytes, size_t n, nd_error *e) {
  (void)context;
  (void)bytes;
  (void)n;
  (void)e;
  return ND_OK;
}

const char *path_in(const char *folder, const char *name) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

void seed_rng(nd_rng *rng) {
  rng->state = test_seed();
}
