#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

uint64_t test_seed(void) {
  const char *given = getenv("NEARDUP_SEED");
  uint64_t seed =
      given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
  print_message("seed %llu (NEARDUP_SEED repeats it)\n", (unsigned long long)seed);
  return seed;
}
