/* Memory limits of control groups; see cgroups(7) and cgroup-v2.rst of the kernel.
 *
 * /proc/self/cgroup names the group in each hierarchy, "4:memory:/a/b" (version 1)
 * or "0::/a/b" (version 2).  /proc/self/mountinfo tells where a hierarchy is
 * mounted and which group its mount shows: a container may see no more than its
 * own.  A limit of any group above ours holds as well. */
#include "base/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"

/* More is never needed of a file with a limit, and no mount table of a sane machine is longer. */
enum { LONGEST_FILE = 1 << 20 };

/* A small text file; false where there is none. */
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

/* Is `word` one of these, which commas separate? */
static bool lists(const char *words, const char *word) {
  size_t n = strlen(word);
  for (const char *p = words; *p; p += strcspn(p, ","), p += *p == ',')
    if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0')) return true;
  return false;
}

/* The group of this process in the hierarchy of the memory controller (version 1) or in the
 * unified one (version 2); NULL: none.  `text` is that of /proc/self/cgroup, and is cut. */
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
  const char *shows, *place; /* a group, and the folder that shows it */
} mount;

/* "36 35 0:30 SHOWS PLACE OPTIONS [TAG...] - TYPE SOURCE OPTIONS" */
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

/* The limits of a group and of those above it, as far as this mount shows them. */
static void lower_by_groups(uint64_t *limit, const char *root, mount m, const char *group,
                            bool unified, nd_buf *text) {
  size_t shown = strcmp(m.shows, "/") == 0 ? 0 : strlen(m.shows);
  /* A group outside of what is mounted: its mount shows the limits that hold here. */
  bool below = strncmp(group, m.shows, shown) == 0 && (group[shown] == '/' || !group[shown]);
  char folder[PATH_MAX];
  int top = snprintf(folder, sizeof folder, "%s%s", root, m.place);
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
