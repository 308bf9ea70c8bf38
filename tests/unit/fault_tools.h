/* What the tests of failures share: results, descriptors, time, the order of
 * trying, and what a failed clean-up leaves behind. */
#ifndef FAULT_TOOLS_H
#define FAULT_TOOLS_H

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "naive_corpus.h"
#include "pipeline/workdir.h"

/* All files below a folder but those with times in them, by name. */
static inline void gather(nd_buf *out, const char *folder) {
  struct dirent **names;
  int n = scandir(folder, &names, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char path[600];
    struct stat st;
    const char *name = names[i]->d_name;
    assert_true(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    bool plain =
        name[0] != '.' && strcmp(name, "summary.json") != 0 && strcmp(name, "report.html") != 0;
    if (plain && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
      gather(out, path);
    } else if (plain) {
      FILE *f = fopen(path, "rb");
      char part[4096];
      ok(nd_buf_append(out, name, strlen(name), &err));
      for (size_t got; f && (got = fread(part, 1, sizeof part, f)) > 0;)
        ok(nd_buf_append(out, part, got, &err));
      if (f) fclose(f);
    }
    free(names[i]);
  }
  if (n >= 0) free(names);
}

/* Prints the seed, and makes a folder below TMPDIR: a file system in memory makes tests of
 * failures much faster. */
static inline bool begin_folder(char *out, size_t room, const char *name) {
  const char *seed = getenv("NEARDUP_SEED"), *base = getenv("TMPDIR");
  rng.state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
  print_message("seed %llu (NEARDUP_SEED repeats it)\n", (unsigned long long)rng.state);
  snprintf(out, room, "%s/nd_test_%s_XXXXXX", base && base[0] ? base : "/tmp", name);
  return mkdtemp(out) != NULL;
}

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
    char left[600];
    if (strncmp(e->d_name, "neardup-", 8) != 0) continue;
    snprintf(left, sizeof left, "%s/%s", folder, e->d_name);
    status = nd_remove_tree(left, error);
    rewinddir(d); /* what was not seen yet may have moved up */
  }
  if (d) closedir(d);
  return status;
}

/* The first call of every place, told by who called whom: the addresses next to it on the
 * stack.  A place that one operation has shown is not tried by the others. */
enum { MOST_PLACES = 1 << 17, NEXT = 8 };
static uint64_t place_hash[MOST_PLACES]; /* open addressing; 0: free */
static uint64_t place_call[MOST_PLACES], place_kind;
static size_t place_n, places_known;
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void note_place(uint64_t nth) {
  void *stack[NEXT];
  int n = backtrace(stack, NEXT);
  uint64_t hash = place_kind;
  for (int i = 0; i < n; i++) hash = (hash ^ (uintptr_t)stack[i]) * 0x9e3779b97f4a7c15u;
  hash |= 1;
  pthread_mutex_lock(&places_lock);
  size_t at = (size_t)(hash >> 40) % MOST_PLACES;
  while (place_hash[at] && place_hash[at] != hash) at = (at + 1) % MOST_PLACES;
  if (!place_hash[at]) {
    assert_true(++places_known < MOST_PLACES / 2);
    place_hash[at] = hash;
    place_call[place_n++] = nth;
  }
  pthread_mutex_unlock(&places_lock);
}

/* The names in a folder but those of the list (which ends with NULL), for a message; "" if
 * there are none. */
static inline const char *left_behind(const char *folder, const char *const *known) {
  static char names[1000];
  size_t n = 0;
  DIR *d = opendir(folder);
  names[0] = '\0';
  for (struct dirent *e; d && (e = readdir(d));) {
    bool expected = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    for (size_t i = 0; known[i]; i++) expected |= strcmp(e->d_name, known[i]) == 0;
    if (expected) continue;
    int more = snprintf(names + n, sizeof names - n, " %s", e->d_name);
    if (more < 0 || (size_t)more >= sizeof names - n) break;
    n += (size_t)more;
  }
  if (d) closedir(d);
  return names;
}

/* A test's folder is empty at its end: says in TAP what is not so, for a group's teardown has no
 * other voice. */
static inline int remove_folder(const char *folder) {
  static const char *const nothing[] = {NULL};
  if (rmdir(folder) == 0) return 0;
  const char *why = strerror(errno);
  printf("not ok - the folder of the tests is not empty:%s (%s: %s)\n",
         left_behind(folder, nothing), folder, why);
  fflush(stdout);
  return -1;
}

#endif
