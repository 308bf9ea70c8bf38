/* What the tests of failures share: descriptors, time, the order of trying, and
 * what a failed clean-up leaves behind. */
#ifndef FAULT_TOOLS_H
#define FAULT_TOOLS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "pipeline/workdir.h"

static inline size_t open_files(void) {
  size_t n = 0;
  DIR *d = opendir("/proc/self/fd");
  if (!d) return 0;
  while (readdir(d)) n++;
  closedir(d);
  return n;
}

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Numbers 1 … n in random order. */
static inline uint64_t *shuffled(uint64_t n, nd_rng *random) {
  uint64_t *p = malloc((n + 1) * sizeof *p);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t j = nd_rng_below(random, i + 1);
    p[i] = p[j];
    p[j] = i + 1;
  }
  return p;
}

/* Only a clean-up that failed itself leaves a temporary folder. */
static inline nd_status remove_left_behind(const char *folder, nd_error *error) {
  nd_status status = ND_OK;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && status == ND_OK && (e = readdir(d));) {
    char left[400];
    if (strncmp(e->d_name, "neardup-", 8) != 0) continue;
    snprintf(left, sizeof left, "%s/%s", folder, e->d_name);
    status = nd_remove_tree(left, error);
  }
  if (d) closedir(d);
  return status;
}

#endif
