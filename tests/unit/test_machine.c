/* The memory that control groups leave: both versions, limits of groups above, containers that see
 * their own group only, and files that are not as they should be. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/machine.h"
#include "tools.h"

static char top[] = "/tmp/nd_test_machine_XXXXXX";
static uint64_t machine; /* without any limit */

#define MIB ((uint64_t)1 << 20)
#define V1_MOUNT "36 30 0:31 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"
#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define OTHER_MOUNTS                                                             \
  "21 1 252:0 / / rw,relatime - ext4 /dev/root rw\n"                             \
  "35 30 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\nshort\n\n" \
  "40 1 0:50 / - tmpfs\n"

static void put(const char *name, const char *text) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", top, name);
  *strrchr(path, '/') = '\0';
  ok(nd_io_mkdirs(path, &err));
  path[strlen(path)] = '/';
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  close(fd);
}

static void set_up(const char *groups, const char *mounts) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", top);
  assert_int_equal(system(command), 0);
  put("proc/self/cgroup", groups);
  put("proc/self/mountinfo", mounts);
}

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(top)) return -1;
  machine = nd_machine_memory(top);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", top);
  return system(command);
}

static void without_groups(void **state) {
  (void)state;
  assert_true(machine >= 64 * MIB);
  assert_true(nd_machine_memory("") <= machine);
  assert_true(nd_machine_memory("") > 0);
}

static void version_1(void **state) {
  (void)state;
  set_up("5:cpu,cpuacct:/elsewhere\n4:memory:/a/b\n0::/\n", OTHER_MOUNTS V1_MOUNT);
  assert_int_equal(nd_machine_memory(top), machine); /* no files */
  put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  assert_int_equal(nd_machine_memory(top), machine);
  put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "41943040\n");
  assert_int_equal(nd_machine_memory(top), 40 * MIB);
  put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "31457280\n"); /* the one above is lower */
  assert_int_equal(nd_machine_memory(top), 30 * MIB);
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "20971520\n");
  assert_int_equal(nd_machine_memory(top), 20 * MIB);
  put("sys/fs/cgroup/memory/a/c/memory.limit_in_bytes", "1\n"); /* not ours */
  put("sys/fs/cgroup/memory/a/b/memory.max", "1\n");            /* not of this version */
  assert_int_equal(nd_machine_memory(top), 20 * MIB);
}

static void version_2(void **state) {
  (void)state;
  set_up("0::/user.slice/run.scope\n", OTHER_MOUNTS V2_MOUNT);
  put("sys/fs/cgroup/user.slice/run.scope/memory.max", "max\n");
  put("sys/fs/cgroup/user.slice/memory.max", "max\n");
  assert_int_equal(nd_machine_memory(top), machine);
  put("sys/fs/cgroup/user.slice/memory.max", "52428800\n");
  assert_int_equal(nd_machine_memory(top), 50 * MIB);
  put("sys/fs/cgroup/user.slice/run.scope/memory.high", "41943040\n");
  assert_int_equal(nd_machine_memory(top), 40 * MIB);
  put("sys/fs/cgroup/user.slice/run.scope/memory.max", "31457280\n");
  assert_int_equal(nd_machine_memory(top), 30 * MIB);
}

/* Version 1 for memory beside an empty version 2, as systemd calls hybrid. */
static void both_versions(void **state) {
  (void)state;
  set_up("7:name=systemd:/s\n4:hugetlb,memory:/a\n0::/u\n", V2_MOUNT V1_MOUNT);
  put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "41943040\n");
  assert_int_equal(nd_machine_memory(top), 40 * MIB);
  put("sys/fs/cgroup/u/memory.max", "31457280\n");
  assert_int_equal(nd_machine_memory(top), 30 * MIB);
}

static void containers_see_the_limits_of_their_group(void **state) {
  (void)state;
  /* The group's name is that of the host; the mount shows it, or one above it, as its root. */
  set_up("4:memory:/docker/abc\n",
         "36 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "41943040\n");
  assert_int_equal(nd_machine_memory(top), 40 * MIB);
  put("proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  put("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "20971520\n");
  assert_int_equal(nd_machine_memory(top), 20 * MIB);
  /* Names that only begin alike, and groups that lie outside of what is shown. */
  put("proc/self/cgroup", "4:memory:/docker/abcd/inner\n");
  assert_int_equal(nd_machine_memory(top), 40 * MIB);
  put("proc/self/cgroup", "4:memory:/../../elsewhere\n");
  assert_int_equal(nd_machine_memory(top), 40 * MIB);
}

static void odd_files(void **state) {
  (void)state;
  set_up("garbage\n4:memory\n:\n::\n4:notmemory:/a\n4:memory2,cpu:/a\n", V1_MOUNT V2_MOUNT);
  put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n");
  assert_int_equal(nd_machine_memory(top), machine);
  put("proc/self/cgroup", "4:cpu,memory:/a\n");
  assert_int_equal(nd_machine_memory(top), 1 * MIB);
  put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "");
  assert_int_equal(nd_machine_memory(top), machine);
  put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "none\n");
  assert_int_equal(nd_machine_memory(top), machine);
  put("proc/self/mountinfo", "");
  assert_int_equal(nd_machine_memory(top), machine);
  put("proc/self/cgroup", "");
  assert_int_equal(nd_machine_memory(top), machine);
  /* Names at and beyond the longest path. */
  static char line[9000] = "0::/";
  memset(line + 4, 'x', sizeof line - 5);
  set_up(line, V2_MOUNT);
  assert_int_equal(nd_machine_memory(top), machine);
  assert_int_equal(nd_machine_memory(line), machine);
}

/* Memory or files that fail make no limit, and nothing worse. */
static void failing_files_set_no_limit(void **state) {
  (void)state;
  set_up("0::/a/b\n", V2_MOUNT);
  put("sys/fs/cgroup/a/b/memory.max", "41943040\n");
  bool hit = true;
  for (uint64_t nth = 1; hit; nth++) {
    nd_io_fail_at(nth, EIO);
    uint64_t memory = nd_machine_memory(top);
    hit = nd_io_count() >= nth;
    nd_io_fail_at(0, 0);
    assert_true(memory == machine || memory == 40 * MIB);
  }
  hit = true;
  for (uint64_t nth = 1; hit; nth++) {
    nd_mem_fail_at(nth);
    uint64_t memory = nd_machine_memory(top);
    hit = nd_mem_count() >= nth;
    nd_mem_fail_at(0);
    assert_true(memory == machine || memory == 40 * MIB);
  }
  assert_int_equal(nd_machine_memory(top), 40 * MIB);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(without_groups),
                                     cmocka_unit_test(version_1),
                                     cmocka_unit_test(version_2),
                                     cmocka_unit_test(both_versions),
                                     cmocka_unit_test(containers_see_the_limits_of_their_group),
                                     cmocka_unit_test(odd_files),
                                     cmocka_unit_test(failing_files_set_no_limit)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
