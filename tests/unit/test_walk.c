/* Walking the inputs: sorted by bytes, links to files followed and to
 * directories not, what cannot be read reported, the output left out, and names
 * that can all be written side by side. */
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

#include "base/rng.h"
#include "every_place.h"
#include "input/walk.h"

static char top[] = "/tmp/nd_test_walk_XXXXXX";

/* A path below the test's own directory. */
static const char *at(const char *name) {
  static char path[8][600];
  static int turn;
  turn = (turn + 1) % 8;
  snprintf(path[turn], sizeof path[turn], "%s/%s", top, name);
  return path[turn];
}

static void make_dirs(const char *name) {
  ok(nd_io_mkdirs(at(name), &err));
}

static void make_file(const char *name, const char *text) {
  char parent[600];
  snprintf(parent, sizeof parent, "%s", at(name));
  *strrchr(parent, '/') = '\0';
  ok(nd_io_mkdirs(parent, &err));
  int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  close(fd);
}

static void make_link(const char *name, const char *target) {
  assert_int_equal(symlink(target, at(name)), 0);
}

static int setup(void **state) {
  (void)state;
  return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  nd_mem_fail_at(0);
  nd_io_fail_at(0, 0);
  char command[200];
  snprintf(command, sizeof command, "rm -rf '%s'", top);
  return system(command);
}

static int start_empty(void **state) {
  if (teardown(state) != 0) return -1;
  return mkdir(top, 0700);
}

/* The walk of these arguments (below `top`) gives exactly these files. */
typedef struct want {
  const char *path, *name;
} want;

static void expect(const char *const *arguments, const char *avoid, const want *files,
                   const char *const *problems) {
  char paths[8][600], avoided[600] = "";
  const char *inputs[8];
  size_t n = 0;
  for (; arguments[n]; n++) {
    snprintf(paths[n], sizeof paths[n], "%s", at(arguments[n]));
    inputs[n] = paths[n];
  }
  if (avoid) snprintf(avoided, sizeof avoided, "%s", at(avoid));
  nd_walk w;
  ok(nd_walk_inputs(&w, inputs, n, avoid ? avoided : NULL, NULL, &err));
  size_t i = 0;
  for (; files[i].path; i++) {
    if (i >= w.n) fail_msg("%s is missing", files[i].path);
    assert_string_equal(w.files[i].path, at(files[i].path));
    assert_string_equal(w.files[i].real, at(files[i].path));
    assert_string_equal(w.files[i].name, files[i].name);
    struct stat st;
    assert_int_equal(stat(w.files[i].real, &st), 0);
    assert_int_equal(w.files[i].size, st.st_size);
    assert_int_equal(w.files[i].mtime_ns / 1000000000, st.st_mtim.tv_sec);
  }
  if (w.n != i) fail_msg("%s is too many", w.files[i].path);
  size_t p = 0;
  for (; problems && problems[p]; p++) {
    assert_true(p < w.problem_n);
    assert_string_equal(w.problems[p].path, at(problems[p]));
    assert_true(strlen(w.problems[p].reason) > 5);
  }
  assert_int_equal(w.problem_n, p);
  nd_walk_clear(&w);
  nd_walk_clear(&w); /* twice is harmless */
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FILES(...) ((const want[]){__VA_ARGS__{NULL, NULL}})

static void sorted_by_bytes(void **state) {
  (void)state;
  make_file("d/b", "1");
  make_file("d/a", "22");
  make_file("d/a.txt", "333");
  make_file("d/B", "");
  make_file("d/a-dir/z", "x");
  make_file("d/a-dir/deep/er/y", "x");
  make_file("d/\xc3\xa9", "x");
  make_file("d/.hidden", "x");
  make_file("d/with space", "x");
  make_dirs("d/empty");
  expect(LIST("d"), NULL,
         FILES({"d/.hidden", ".hidden"}, {"d/B", "B"}, {"d/a", "a"},
               {"d/a-dir/deep/er/y", "a-dir/deep/er/y"}, {"d/a-dir/z", "a-dir/z"},
               {"d/a.txt", "a.txt"}, {"d/b", "b"}, {"d/with space", "with space"},
               {"d/\xc3\xa9", "\xc3\xa9"}, ),
         NULL);
  expect(LIST("d/a-dir"), NULL, FILES({"d/a-dir/deep/er/y", "deep/er/y"}, {"d/a-dir/z", "z"}, ),
         NULL);
  expect(LIST("d/empty"), NULL, FILES(), NULL);
}

static void arguments_keep_their_order(void **state) {
  (void)state;
  make_file("z", "x");
  make_file("b/y", "x");
  make_file("a/x", "x");
  expect(LIST("z", "b", "a/x"), NULL, FILES({"z", "z"}, {"b/y", "y"}, {"a/x", "x"}, ), NULL);
  expect(LIST("a", "z", "b"), NULL, FILES({"a/x", "x"}, {"z", "z"}, {"b/y", "y"}, ), NULL);
}

static void a_slash_at_the_end(void **state) {
  (void)state;
  make_file("d/x", "x");
  const char *inputs[] = {at("d/")};
  nd_walk w;
  ok(nd_walk_inputs(&w, inputs, 1, NULL, NULL, &err));
  assert_int_equal(w.n, 1);
  assert_string_equal(w.files[0].path, at("d/x"));
  assert_string_equal(w.files[0].name, "x");
  nd_walk_clear(&w);
}

static void links_to_files_are_followed(void **state) {
  (void)state;
  make_file("d/real", "12345");
  make_file("outside/file", "123");
  make_link("d/to-file", "real");
  make_link("d/to-outside", "../outside/file");
  make_link("d/to-dir", "../outside");
  make_link("d/to-self", ".");
  make_link("d/to-parent", "..");
  make_link("d/broken", "nowhere");
  make_link("d/loop", "loop");
  expect(LIST("d"), NULL,
         FILES({"d/real", "real"}, {"d/to-file", "to-file"}, {"d/to-outside", "to-outside"}, ),
         LIST("d/broken", "d/loop"));
  /* an argument was named on purpose: a link to a directory is walked */
  expect(LIST("d/to-dir"), NULL, FILES({"d/to-dir/file", "file"}, ), NULL);
}

static void what_is_no_file(void **state) {
  (void)state;
  make_file("d/a", "x");
  assert_int_equal(mkfifo(at("d/pipe"), 0600), 0);
  expect(LIST("d"), NULL, FILES({"d/a", "a"}, ), LIST("d/pipe"));
  const char *inputs[] = {at("d/pipe")};
  nd_walk w;
  assert_int_equal(nd_walk_inputs(&w, inputs, 1, NULL, NULL, &err), ND_ERR_IO);
  assert_non_null(strstr(err.message, "name it -"));
  nd_walk_clear(&w);
}

static void what_may_not_be_read(void **state) {
  (void)state;
  if (geteuid() == 0) {
    print_message("skipped, root may read everything\n");
    skip();
  }
  make_file("d/a", "x");
  make_file("d/closed/b", "x");
  assert_int_equal(chmod(at("d/closed"), 0), 0);
  expect(LIST("d"), NULL, FILES({"d/a", "a"}, ), LIST("d/closed"));
  assert_int_equal(chmod(at("d/closed"), 0700), 0);
}

static void missing_arguments(void **state) {
  (void)state;
  nd_walk w;
  make_file("d/a", "x");
  const char *inputs[] = {at("d"), at("missing")};
  assert_int_equal(nd_walk_inputs(&w, inputs, 2, NULL, NULL, &err), ND_ERR_IO);
  assert_non_null(strstr(err.message, "missing"));
  nd_walk_clear(&w);
  const char *stdin_twice[] = {"-", "-"};
  assert_int_equal(nd_walk_inputs(&w, stdin_twice, 2, NULL, NULL, &err), ND_ERR_USAGE);
  nd_walk_clear(&w);
  ok(nd_walk_inputs(&w, inputs, 0, NULL, NULL, &err));
  assert_int_equal(w.n, 0);
  nd_walk_clear(&w);
}

static void the_output_is_left_out(void **state) {
  (void)state;
  make_file("d/a", "x");
  make_file("d/out/kept/a", "x");
  make_file("d/sub/out/b", "x");
  make_file("d/out2/c", "x");
  expect(LIST("d"), "d/out",
         FILES({"d/a", "a"}, {"d/out2/c", "out2/c"}, {"d/sub/out/b", "sub/out/b"}, ), NULL);
  expect(LIST("d"), "d/./sub/../out", /* however it is spelt */
         FILES({"d/a", "a"}, {"d/out2/c", "out2/c"}, {"d/sub/out/b", "sub/out/b"}, ), NULL);
  expect(LIST("d"), "not-there-yet",
         FILES({"d/a", "a"}, {"d/out/kept/a", "out/kept/a"}, {"d/out2/c", "out2/c"},
               {"d/sub/out/b", "sub/out/b"}, ),
         NULL);
}

static void names_that_clash_get_numbers(void **state) {
  (void)state;
  make_file("x/data", "1");
  make_file("y/data", "2");
  make_file("y/other", "3");
  expect(LIST("x", "y"), NULL,
         FILES({"x/data", "1/data"}, {"y/data", "2/data"}, {"y/other", "3/other"}, ), NULL);
  expect(LIST("x/data", "y/data"), NULL, FILES({"x/data", "1/data"}, {"y/data", "2/data"}, ), NULL);
  expect(LIST("x", "x"), NULL, FILES({"x/data", "1/data"}, {"x/data", "2/data"}, ), NULL);
  /* one name cannot be a file and a directory */
  make_file("z/data/part", "4");
  make_file("z/data-1", "5");
  make_file("z/data!", "6");
  expect(LIST("x/data", "z"), NULL,
         FILES({"x/data", "1/data"}, {"z/data/part", "2/data/part"}, {"z/data!", "3/data!"},
               {"z/data-1", "4/data-1"}, ),
         NULL);
  expect(LIST("z", "x"), NULL,
         FILES({"z/data/part", "1/data/part"}, {"z/data!", "2/data!"}, {"z/data-1", "3/data-1"},
               {"x/data", "4/data"}, ),
         NULL);
}

static void deep_directories(void **state) {
  (void)state;
  char path[4000];
  int n = snprintf(path, sizeof path, "%s/deep", top);
  assert_int_equal(mkdir(path, 0700), 0);
  for (int i = 0; i < 300; i++) {
    n += snprintf(path + n, sizeof path - (size_t)n, "/d");
    assert_int_equal(mkdir(path, 0700), 0);
  }
  const char *inputs[] = {at("deep")};
  nd_walk w;
  ok(nd_walk_inputs(&w, inputs, 1, NULL, NULL, &err));
  assert_int_equal(w.n, 0);
  assert_int_equal(w.problem_n, 1);
  assert_non_null(strstr(w.problems[0].reason, "deeper"));
  nd_walk_clear(&w);
}

/* Standard input becomes the file "in" with two lines; the descriptor it had comes back. */
static int two_lines_on_stdin(void) {
  make_file("in", "some\nlines\n");
  int saved = dup(STDIN_FILENO), fd = open(at("in"), O_RDONLY);
  assert_true(saved >= 0 && fd >= 0);
  dup2(fd, STDIN_FILENO);
  close(fd);
  return saved;
}

static void standard_input_is_spooled(void **state) {
  (void)state;
  char spool[600];
  snprintf(spool, sizeof spool, "%s", at("spool"));
  int saved = two_lines_on_stdin();
  const char *inputs[] = {"-", at("in")};
  nd_walk w;
  nd_status refused = nd_walk_inputs(&w, inputs, 1, NULL, NULL, &err);
  nd_walk_clear(&w);
  nd_status status = nd_walk_inputs(&w, inputs, 2, NULL, &(nd_spool){.path = spool}, &err);
  dup2(saved, STDIN_FILENO);
  close(saved);
  assert_int_equal(refused, ND_ERR_USAGE);
  ok(status);
  assert_int_equal(w.n, 2);
  assert_string_equal(w.files[0].path, "-");
  assert_string_equal(w.files[0].real, spool);
  assert_string_equal(w.files[0].name, "stdin");
  assert_int_equal(w.files[0].size, 11);
  assert_int_equal(w.files[0].mtime_ns, 0);
  assert_string_equal(w.files[1].name, "in");
  char text[20] = "";
  int fd = open(spool, O_RDONLY);
  assert_int_equal(read(fd, text, sizeof text), 11);
  close(fd);
  assert_string_equal(text, "some\nlines\n");
  nd_walk_clear(&w);
}

/* Standard input is this file, from its beginning. */
static nd_status spool_stdin(void *context) {
  const char *inputs[] = {"-"};
  nd_walk w;
  assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_SET), 0);
  nd_spool spool = {.path = context};
  nd_status status = nd_walk_inputs(&w, inputs, 1, NULL, &spool, &err);
  if (status == ND_OK) assert_int_equal(w.files[0].size, 11);
  nd_walk_clear(&w);
  return status;
}

static void spooling_fails_cleanly(void **state) {
  (void)state;
  char spool[600];
  snprintf(spool, sizeof spool, "%s", at("spool"));
  int saved = two_lines_on_stdin();
  size_t failures = every_place_fails(spool_stdin, spool);
  dup2(saved, STDIN_FILENO);
  close(saved);
  assert_true(failures >= 10);
}

/* A folder on another file system may have the number of the output's. */
static void the_output_is_elsewhere(void **state) {
  (void)state;
  char other[] = "/dev/shm/nd_test_walk_XXXXXX", below[60];
  if (!mkdtemp(other)) {
    print_message("skipped, no other file system\n");
    skip();
  }
  snprintf(below, sizeof below, "%s/below", other);
  assert_int_equal(mkdir(below, 0777), 0);
  make_dirs("out");
  const char *inputs[] = {other};
  nd_walk w;
  nd_status status = nd_walk_inputs(&w, inputs, 1, at("out"), NULL, &err);
  assert_true(w.n == 0 && w.problem_n == 0);
  nd_walk_clear(&w);
  rmdir(below);
  rmdir(other);
  ok(status);
}

static void every_fault_is_reported(void **state) {
  (void)state;
  make_file("d/a", "x");
  make_file("d/b/c", "x");
  make_file("e/a", "x");
  make_link("d/broken", "nowhere");
  char d[600], e[600];
  snprintf(d, sizeof d, "%s", at("d"));
  snprintf(e, sizeof e, "%s", at("e"));
  const char *inputs[] = {d, e};
  bool hit = true;
  for (uint64_t nth = 1; hit; nth++) {
    nd_walk w;
    nd_mem_fail_at(nth);
    nd_status status = nd_walk_inputs(&w, inputs, 2, NULL, NULL, &err);
    hit = nd_mem_count() >= nth;
    nd_mem_fail_at(0);
    assert_int_equal(status, hit ? ND_ERR_MEMORY : ND_OK);
    nd_walk_clear(&w);
  }
  hit = true;
  for (uint64_t nth = 1; hit; nth++) { /* an error, or one more problem; never silence */
    nd_walk w;
    nd_io_fail_at(nth, EIO);
    nd_status status = nd_walk_inputs(&w, inputs, 2, NULL, NULL, &err);
    hit = nd_io_count() >= nth;
    nd_io_fail_at(0, 0);
    bool said = false; /* a folder that cannot be opened is one problem for all in it */
    for (size_t i = 0; i < w.problem_n; i++) said |= !strstr(w.problems[i].path, "broken");
    if (status == ND_OK) assert_true(said || w.n + w.problem_n == 4);
    if (!hit) assert_int_equal(w.problem_n, 1);
    nd_walk_clear(&w);
  }
}

static void many_files(void **state) {
  (void)state;
  nd_rng rng = {51};
  make_dirs("many");
  char names[2000][40];
  int n = 0;
  while (n < 2000) {
    snprintf(names[n], sizeof names[n], "many/%llx",
             (unsigned long long)nd_rng_below(&rng, 1 << 20));
    bool twice = access(at(names[n]), F_OK) == 0;
    if (!twice) make_file(names[n++], "");
  }
  const char *inputs[] = {at("many")};
  nd_walk w;
  ok(nd_walk_inputs(&w, inputs, 1, NULL, NULL, &err));
  assert_int_equal(w.n, 2000);
  for (size_t i = 1; i < w.n; i++) assert_true(strcmp(w.files[i - 1].path, w.files[i].path) < 0);
  nd_walk_clear(&w);
}

#define TEST(f) cmocka_unit_test_setup(f, start_empty)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(sorted_by_bytes),
                                     TEST(arguments_keep_their_order),
                                     TEST(a_slash_at_the_end),
                                     TEST(links_to_files_are_followed),
                                     TEST(what_is_no_file),
                                     TEST(what_may_not_be_read),
                                     TEST(missing_arguments),
                                     TEST(the_output_is_left_out),
                                     TEST(names_that_clash_get_numbers),
                                     TEST(deep_directories),
                                     TEST(standard_input_is_spooled),
                                     TEST(spooling_fails_cleanly),
                                     TEST(the_output_is_elsewhere),
                                     TEST(every_fault_is_reported),
                                     TEST(many_files)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
