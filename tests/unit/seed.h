/* The seed of a test's random cases: another one in every run, and printed.  Included after
 * cmocka.h. */
#ifndef SEED_H
#define SEED_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* NEARDUP_SEED repeats a run. */
static inline uint64_t test_seed(void) {
  const char *given = getenv("NEARDUP_SEED");
  uint64_t seed =
      given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
  print_message("seed %llu (NEARDUP_SEED repeats it)\n", (unsigned long long)seed);
  return seed;
}

#endif
