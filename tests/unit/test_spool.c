/* Standard input in a file: whole, bounded, private, and given up as soon as the caller asks. */
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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "every_place.h"
#include "input/line_list.h"
#include "input/spool.h"

static char top[] = "/tmp/nd_test_spool_XXXXXX";
static char path[100], other[100];
static int saved = -1;

static int setup(void **state) {
  (void)state;
  saved = dup(STDIN_FILENO);
  if (!mkdtemp(top)) return -1;
  snprintf(path, sizeof path, "%s/stdin", top);
  snprintf(other, sizeof other, "%s/other", top);
  return saved < 0;
}

static int clean(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  dup2(saved, STDIN_FILENO);
  unlink(path);
  unlink(other);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  close(saved);
  return rmdir(top);
}

/* Standard input becomes a pipe with these bytes; what is returned writes more. */
static int pipe_on_stdin(const char *bytes) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  assert_int_equal(write(ends[1], bytes, strlen(bytes)), strlen(bytes));
  return ends[1];
}

static bool is_there(const char *file) {
  struct stat st;
  return lstat(file, &st) == 0;
}

static int count_down(void *context) {
  int *left = context;
  return --*left < 0;
}

static void stops_when_asked(void **state) {
  (void)state;
  const char *texts[] = {"", "a line\n"};
  for (size_t i = 0; i < 2; i++) {
    int left = 3, writer = pipe_on_stdin(texts[i]); /* stays open: there is no end */
    nd_hooks hooks = {.context = &left, .cancelled = count_down};
    nd_spool spool = {.path = path, .hooks = &hooks};
    nd_file_info info;
    assert_int_equal(nd_spool_stdin(&info, &spool, &err), ND_ERR_CANCELLED);
    assert_false(is_there(path));
    close(writer);
  }
}

static nd_status no_line(void *context, nd_str line, uint64_t number, nd_error *e) {
  (void)context, (void)line, (void)number, (void)e;
  return ND_OK;
}

/* Of standard input, and of a named pipe that nobody has opened yet. */
static void lists_stop_when_asked(void **state) {
  (void)state;
  int left = 3, writer = pipe_on_stdin("a\tb\t1\n");
  nd_hooks hooks = {.context = &left, .cancelled = count_down};
  assert_int_equal(nd_line_list_read("-", &hooks, no_line, NULL, &err), ND_ERR_CANCELLED);
  close(writer);
  left = 3;
  assert_int_equal(mkfifo(other, 0600), 0);
  assert_int_equal(nd_line_list_read(other, &hooks, no_line, NULL, &err), ND_ERR_CANCELLED);
}

static void waits_without_hooks(void **state) {
  (void)state;
  nd_hooks silent = {0};
  const nd_hooks *hooks[] = {NULL, &silent};
  for (size_t i = 0; i < 2; i++) {
    close(pipe_on_stdin("two\nlines\n"));
    nd_spool spool = {.path = path, .hooks = hooks[i]};
    nd_file_info info;
    ok(nd_spool_stdin(&info, &spool, &err));
    assert_int_equal(info.size, 10);
  }
}

static void holds_the_bound(void **state) {
  (void)state;
  nd_file_info info;
  nd_spool spool = {.path = path, .most = 10};
  close(pipe_on_stdin("two\nlines\n"));
  ok(nd_spool_stdin(&info, &spool, &err));
  assert_int_equal(info.size, 10);
  spool.most = 9;
  close(pipe_on_stdin("two\nlines\n"));
  assert_int_equal(nd_spool_stdin(&info, &spool, &err), ND_ERR_LIMIT);
  assert_non_null(strstr(err.message, path));
  assert_non_null(strstr(err.message, "--max-stdin allows, 9 bytes"));
  assert_false(is_there(path));
}

static void is_private_and_new(void **state) {
  (void)state;
  int fd = open(other, O_WRONLY | O_CREAT | O_EXCL, 0644);
  assert_int_equal(write(fd, "precious", 8), 8);
  close(fd);
  assert_int_equal(symlink(other, path), 0);
  close(pipe_on_stdin("bytes"));
  nd_spool spool = {.path = path};
  nd_file_info info;
  mode_t mask = umask(0);
  ok(nd_spool_stdin(&info, &spool, &err));
  umask(mask);
  struct stat st;
  assert_int_equal(lstat(path, &st), 0);
  assert_true(S_ISREG(st.st_mode));
  assert_int_equal(st.st_mode & 0777, 0600);
  assert_int_equal(stat(other, &st), 0);
  assert_int_equal(st.st_size, 8);
}

/* Every call in turn finds the disk full: a message, and no file. */
static void full_disk(void **state) {
  (void)state;
  size_t failures = 0;
  for (uint64_t nth = 1;; nth++) {
    close(pipe_on_stdin("bytes"));
    nd_spool spool = {.path = path};
    nd_file_info info;
    nd_io_fail_at(nth, ENOSPC);
    nd_status status = nd_spool_stdin(&info, &spool, &err);
    bool reached = nd_io_count() >= nth;
    nd_io_fail_at(0, 0);
    if (!reached) break;
    if (status == ND_OK) continue; /* advice */
    failures++;
    assert_int_equal(status, ND_ERR_IO);
    assert_non_null(strstr(err.message, "No space left on device; free some space or choose"));
    assert_false(is_there(path));
  }
  assert_true(failures >= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(stops_when_asked, clean),
      cmocka_unit_test_teardown(lists_stop_when_asked, clean),
      cmocka_unit_test_teardown(waits_without_hooks, clean),
      cmocka_unit_test_teardown(holds_the_bound, clean),
      cmocka_unit_test_teardown(is_private_and_new, clean),
      cmocka_unit_test_teardown(full_disk, clean),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
