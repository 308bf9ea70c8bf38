#include "fault_tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/workdir.h"

void gather(nd_buf *out, const char *folder) {
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

bool begin_folder(char *out, size_t room, const char *name) {
  const char *base = getenv("TMPDIR");
  rng.state = test_seed();
  snprintf(out, room, "%s/nd_test_%s_XXXXXX", base && base[0] ? base : "/tmp", name);
  return mkdtemp(out) != NULL;
}

size_t open_files(void) {
  size_t n = 0;
  DIR *d = opendir("/proc/self/fd");
  if (!d) return 0;
  while (readdir(d)) n++;
  closedir(d);
  return n;
}

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t *shuffled(uint64_t n, nd_rng *random) {
  uint64_t *p = malloc((n + 1) * sizeof *p);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t j = nd_rng_below(random, i + 1);
    p[i] = p[j];
    p[j] = i + 1;
  }
  return p;
}

nd_status remove_left_behind(const char *folder, nd_error *error) {
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

const char *left_behind(const char *folder, const char *const *known) {
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

int remove_folder(const char *folder) {
  static const char *const nothing[] = {NULL};
  if (rmdir(folder) == 0) return 0;
  const char *why = strerror(errno);
  printf("not ok - the folder of the tests is not empty:%s (%s: %s)\n",
         left_behind(folder, nothing), folder, why);
  fflush(stdout);
  return -1;
}
