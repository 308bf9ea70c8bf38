/* Memory limits of control groups; see cgroups(7) and cgroup-v2.rst of the kernel.
 *
 * /proc/self/cgroup names the group in each hierarchy, "4:memory:/a/b" (version 1) or "0::/a/b"
 * (version 2).  /proc/self/mountinfo says where a hierarchy is mounted and which group the mount
 * shows: a container may see only its own.  The limit of every ancestor group applies as well. */
#include "base/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"

/* Enough for a limit file and for the mount table of any real machine. */
enum { LONGEST_FILE = 1 << 20 };

/* Reads a small text file; false if it cannot. */
static bool read_file(nd_buf *out, const char *path) {
  int fd = -1;
  out->n = 0;
  bool read = nd_io_open(&fd, path, O_RDONLY, 0, NULL) == ND_OK;
  for (size_t got = 1; read && got && out->n < LONGEST_FILE; out->n += got)
    read = nd_buf_reserve(out, 4096, NULL) == ND_OK &&
           nd_io_read(&got, fd, out->p + out->n, 4095, path, NULL) == ND_OK;
  if (fd >= 0) close(fd);
  if (read) out->p[out->n] = '\0';
  return read;
}

static void lower(uint64_t *limit, const char *folder, const char *name, nd_buf *text) {
  char path[PATH_MAX];
  int n = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (n < 0 || (size_t)n >= sizeof path || !read_file(text, path)) return;
  char *end;
  unsigned long long bytes = strtoull(text->p, &end, 10); /* or "max" */
  if (end != text->p && bytes < *limit) *limit = bytes;
}

/* Returns true if `word` is in the comma-separated list `words`. */
static bool lists(const char *words, const char *word) {
  size_t n = strlen(word);
  for (const char *p = words; *p; p += strcspn(p, ","), p += *p == ',')
    if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0')) return true;
  return false;
}

/* Returns this process's group in the memory controller's hierarchy (version 1) or in the unified
 * one (version 2); NULL if it is in none.  `text` is /proc/self/cgroup and is modified. */
static const char *find_group(char *text, bool unified) {
  char *rest;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *controllers++ = *group++ = '\0';
    if (unified ? strcmp(line, "0") == 0 && !*controllers : lists(controllers, "memory"))
      return group;
  }
  return NULL;
}

typedef struct mount {
  const char *shows, *mounted; /* a group, and the directory where it is mounted */
} mount;

/* "36 35 0:30 SHOWS MOUNTED OPTIONS [TAG...] - TYPE SOURCE OPTIONS" */
static bool parse_mount(mount *out, char *line, bool unified) {
  char *fields[5], *tail = strstr(line, " - "), *rest = NULL;
  if (!tail) return false;
  *tail = '\0';
  for (int i = 0; i < 5; i++) {
    fields[i] = strtok_r(i ? NULL : line, " ", &rest);
    if (!fields[i]) return false;
  }
  const char *type = strtok_r(tail + 3, " ", &rest), *source = strtok_r(NULL, " ", &rest);
  const char *options = strtok_r(NULL, " ", &rest);
  if (!type || !source || strcmp(type, unified ? "cgroup2" : "cgroup") != 0) return false;
  *out = (mount){fields[3], fields[4]};
  return unified || (options && lists(options, "memory"));
}

/* Applies the limits of a group and its ancestors, as far as this mount shows them. */
static void lower_by_groups(uint64_t *limit, const char *root, mount m, const char *group,
                            bool unified, nd_buf *text) {
  size_t shown = strcmp(m.shows, "/") == 0 ? 0 : strlen(m.shows);
  /* If our group is outside the mounted subtree, the mount point itself shows the limits that
   * apply. */
  bool below = strncmp(group, m.shows, shown) == 0 && (group[shown] == '/' || !group[shown]);
  char folder[PATH_MAX];
  int top = snprintf(folder, sizeof folder, "%s%s", root, m.mounted);
  if (top < 0 || (size_t)top >= sizeof folder) return;
  int n = snprintf(folder + top, sizeof folder - (size_t)top, "%s", below ? group + shown : "");
  if (n < 0 || (size_t)top + (size_t)n >= sizeof folder) return;
  for (;;) {
    lower(limit, folder, unified ? "memory.max" : "memory.limit_in_bytes", text);
    if (unified) lower(limit, folder, "memory.high", text);
    char *slash = strrchr(folder + top, '/');
    if (!slash) return;
    *slash = '\0';
  }
}

static void lower_by_version(uint64_t *limit, const char *root, bool unified) {
  char path[PATH_MAX];
  nd_buf groups = {0}, mounts = {0}, text = {0};
  const char *group = NULL;
  int n = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if (n > 0 && (size_t)n < sizeof path && read_file(&groups, path))
    group = find_group(groups.p, unified);
  n = snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
  if (group && n > 0 && (size_t)n < sizeof path && read_file(&mounts, path)) {
    char *rest;
    mount m;
    for (char *line = strtok_r(mounts.p, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
      if (parse_mount(&m, line, unified)) lower_by_groups(limit, root, m, group, unified, &text);
  }
  nd_buf_clear(&groups);
  nd_buf_clear(&mounts);
  nd_buf_clear(&text);
}

uint64_t nd_machine_memory(const char *root) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  uint64_t limit = UINT64_C(2) << 30;
  if (pages > 0 && size > 0) limit = (uint64_t)pages * (uint64_t)size;
  lower_by_version(&limit, root, false);
  lower_by_version(&limit, root, true);
  return limit;
}
