/* The seed of a test's random cases: another one in every run, and printed.  Included after
 * cmocka.h. */
#ifndef SEED_H
#define SEED_H

#include <stdint.h>

/* NEARDUP_SEED repeats a run. */
uint64_t test_seed(void);

#endif
