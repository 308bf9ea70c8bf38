/* Output files: complete or not there; what exists is replaced only when that was asked for; what
 * fails, is cancelled or was overtaken leaves what was there before. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "every_place.h"
#include "outdir/output_file.h"
#include "settings/option_fields.h"

static char top[] = "/tmp/nd_test_output_XXXXXX";
static nd_options options;

static int teardown(void **state) {
  (void)state;
  char command[200];
  snprintf(command, sizeof command, "rm -rf '%s'", top);
  return chdir("/") == 0 ? system(command) : -1;
}

static int setup(void **state) {
  (void)state;
  nd_options_init(&options);
  umask(022);
  return mkdtemp(top) && chdir(top) == 0 ? 0 : -1;
}

/* A folder of its own for every test. */
static int start_empty(void **state) {
  (void)state;
  nd_options_init(&options);
  return system("find . -mindepth 1 -delete");
}

static void put_file(const char *name, const char *text) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  close(fd);
}

static void expect_file(const char *name, const char *text) {
  char found[200] = "";
  int fd = open(name, O_RDONLY);
  if (fd < 0) fail_msg("%s is not there", name);
  assert_true(read(fd, found, sizeof found - 1) >= 0);
  close(fd);
  assert_string_equal(found, text);
}

static size_t entries(void) {
  size_t n = 0;
  DIR *d = opendir(".");
  for (struct dirent *e; (e = readdir(d));) n++;
  closedir(d);
  return n - 2;
}

static nd_status open_as(nd_output **out, const char *path, nd_output_kind kind) {
  const nd_output_request request = {.path = path, .kind = kind};
  err = (nd_error){0};
  return nd_output_open(out, &request, &options, &err);
}

/* Writes "neardup-plan new", as two parts. */
static nd_status write_plan(const char *path) {
  nd_output *o = NULL;
  ND_TRY(open_as(&o, path, ND_OUTPUT_PLAN));
  nd_sink sink = nd_output_sink(o);
  nd_status status = sink.write(sink.context, "neardup-plan", 12, &err);
  if (status == ND_OK) status = nd_output_put(o, " new", 4, &err);
  if (status == ND_OK) assert_int_equal(nd_output_offset(o), 16);
  return nd_output_close(o, status, &err);
}

#define MARK "<html><meta name=\"generator\" content=\"neardup 0\">"

static void what_may_be_replaced(void **state) {
  (void)state;
  static const char *const texts[] = {"", "neardup-plan old", "neardupS", MARK, "somebody's"};
  for (int force = 0; force < 2; force++) {
    for (int never = 0; never < 2; never++) {
      for (size_t i = 0; i < 5; i++) {
        put_file("plan", texts[i]);
        options.force = force;
        strcpy(options.resume, never ? "never" : "auto");
        nd_status status = write_plan("plan");
        bool may = i == 0 || (i == 1 ? never : force);
        assert_int_equal(status, may ? ND_OK : ND_ERR_STATE);
        expect_file("plan", may ? "neardup-plan new" : texts[i]);
        if (!may) assert_non_null(strstr(err.message, i == 1 ? "--resume never" : "--force"));
        assert_int_equal(entries(), 1);
      }
    }
  }
  const nd_output_kind kinds[] = {ND_OUTPUT_PLAN, ND_OUTPUT_SKETCHES, ND_OUTPUT_PAGE};
  for (int i = 0; i < 3; i++) {
    nd_output *o = NULL;
    put_file("it", texts[i + 1]);
    options.force = 0;
    strcpy(options.resume, "never");
    ok(open_as(&o, "it", kinds[i]));
    assert_int_equal(nd_output_close(o, ND_ERR_CANCELLED, &err), ND_ERR_CANCELLED);
    expect_file("it", texts[i + 1]);
    assert_int_equal(open_as(&o, "it", kinds[(i + 1) % 3]), ND_ERR_STATE);
  }
}

static void new_files(void **state) {
  (void)state;
  struct stat st;
  ok(write_plan("plan"));
  expect_file("plan", "neardup-plan new");
  assert_int_equal(stat("plan", &st), 0);
  assert_int_equal(st.st_mode & 0777, 0644);
  assert_int_equal(chmod("plan", 0600), 0); /* which the new one keeps */
  strcpy(options.resume, "never");
  strcpy(options.sync, "no");
  ok(write_plan("./plan"));
  assert_int_equal(stat("plan", &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  assert_int_equal(entries(), 1);
}

static void folders_and_loose_links_are_refused(void **state) {
  (void)state;
  assert_int_equal(mkdir("folder", 0755), 0);
  put_file("file", "x");
  options.force = 1;
  assert_int_equal(write_plan("folder"), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "folder is a directory"));
  assert_int_equal(write_plan("missing/plan"), ND_ERR_IO);
  assert_non_null(strstr(err.message, "missing does not exist"));
  assert_int_equal(write_plan("file/plan"), ND_ERR_IO);
  assert_non_null(strstr(err.message, "is a file"));
  assert_int_equal(symlink("nowhere", "loose"), 0);
  assert_int_equal(write_plan("loose"), ND_ERR_USAGE);
  assert_int_equal(entries(), 3);
  /* A link stays one, and what it leads to is replaced. */
  assert_int_equal(symlink("../file", "folder/link"), 0);
  ok(write_plan("folder/link"));
  expect_file("file", "neardup-plan new");
  struct stat st;
  assert_int_equal(lstat("folder/link", &st), 0);
  assert_true(S_ISLNK(st.st_mode));
}

static void devices_are_written_in_place(void **state) {
  (void)state;
  ok(write_plan("/dev/null"));
  assert_int_equal(write_plan("/dev/full"), ND_ERR_IO);
  nd_output *o = NULL;
  ok(open_as(&o, "/dev/null", ND_OUTPUT_SKETCHES));
  assert_int_equal(nd_output_head(o, "x", 1, &err), ND_ERR_USAGE);
  assert_int_equal(nd_output_close(o, ND_ERR_USAGE, &err), ND_ERR_USAGE);
  /* What a descriptor leads to is written on, not over. */
  put_file("log", "before ");
  int fd = open("log", O_WRONLY | O_APPEND);
  char name[40];
  snprintf(name, sizeof name, "/dev/fd/%d", fd);
  ok(write_plan(name));
  close(fd);
  expect_file("log", "before neardup-plan new");
  assert_int_equal(write_plan(name), ND_ERR_IO);
  assert_int_equal(entries(), 1);
}

static void head_is_written_last(void **state) {
  (void)state;
  nd_output *o = NULL;
  char long_head[100] = "";
  ok(open_as(&o, "it", ND_OUTPUT_SKETCHES));
  ok(nd_output_put(o, "........ body", 13, &err));
  assert_int_equal(nd_output_head(o, long_head, sizeof long_head, &err), ND_ERR_LIMIT);
  ok(nd_output_head(o, "neardupS", 8, &err));
  ok(nd_output_close(o, ND_OK, &err));
  expect_file("it", "neardupS body");
}

/* Another program writes to the place while we work. */
static void file_changed_meanwhile_is_left_alone(void **state) {
  (void)state;
  nd_output *o = NULL;
  ok(open_as(&o, "plan", ND_OUTPUT_PLAN));
  put_file("plan", "another's");
  assert_int_equal(nd_output_close(o, ND_OK, &err), ND_ERR_STATE);
  assert_non_null(strstr(err.message, "changed by another program"));
  expect_file("plan", "another's");
  options.force = 1;
  ok(open_as(&o, "plan", ND_OUTPUT_PLAN));
  put_file("plan", "another's again");
  assert_int_equal(nd_output_close(o, ND_OK, &err), ND_ERR_STATE);
  expect_file("plan", "another's again");
  assert_int_equal(entries(), 1);
}

static nd_status replace(void *context) {
  (void)context;
  put_file("plan", "neardup-plan old");
  return write_plan("plan");
}

static void failures_leave_the_old_file(void **state) {
  (void)state;
  strcpy(options.resume, "never");
  assert_true(every_place_fails(replace, NULL) > 15);
  assert_int_equal(entries(), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(what_may_be_replaced, start_empty),
      cmocka_unit_test_setup(new_files, start_empty),
      cmocka_unit_test_setup(folders_and_loose_links_are_refused, start_empty),
      cmocka_unit_test_setup(devices_are_written_in_place, start_empty),
      cmocka_unit_test_setup(head_is_written_last, start_empty),
      cmocka_unit_test_setup(file_changed_meanwhile_is_left_alone, start_empty),
      cmocka_unit_test_setup(failures_leave_the_old_file, start_empty),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
