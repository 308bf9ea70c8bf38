/* The states of an output directory: empty, unfinished, complete, somebody
 * else's; and a commit that fails at any of its steps. */
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

#include "every_place.h"
#include "pipeline/workdir.h"
#include "tools.h"

static char base[] = "/tmp/nd_test_workdir_XXXXXX";
static char dir[80], tmp[80];
static nd_options options;
static nd_settings settings;
static nd_input_file file = {"a.txt", "a.txt", "a.txt", 100, 12345};
static nd_walk walk = {.files = &file, .n = 1};

static void refused(nd_status status, const char *word) {
  assert_int_equal(status, ND_ERR_STATE);
  if (!strstr(err.message, word)) fail_msg("no \"%s\" in: %s", word, err.message);
}

static const char *in(const char *folder, const char *name) {
  static char path[4][400];
  static int next;
  char *p = path[next++ & 3];
  snprintf(p, sizeof path[0], "%s/%s", folder, name);
  return p;
}

static bool there(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0;
}

static void write_to(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  if (!f) fail_msg("%s cannot be made", path);
  fputs(text, f);
  fclose(f);
}

static void resolve(void) {
  ok(nd_settings_resolve(&settings, &options, &err));
}

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(base)) return -1;
  snprintf(dir, sizeof dir, "%s/out", base);
  snprintf(tmp, sizeof tmp, "%s/tmp", base);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  return rmdir(base); /* fails when something was left behind */
}

static int begin(void **state) {
  (void)state;
  nd_options_init(&options);
  resolve();
  file.size = 100;
  file.mtime_ns = 12345;
  return 0;
}

static int clean(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  ok(nd_remove_tree(dir, &err));
  ok(nd_remove_tree(tmp, &err));
  return 0;
}

static nd_status open_and_agree(nd_workdir *w) {
  nd_status status = nd_workdir_open(w, dir, &settings, &err);
  return status == ND_OK ? nd_workdir_agree(w, &settings, &walk, 7, &err) : status;
}

/* What a run leaves in its own place before the commit. */
static void make_results(const nd_workdir *w) {
  ok(nd_io_mkdirs(in(w->out, "kept"), &err));
  write_to(in(w->out, "kept/a.txt"), "kept");
  write_to(in(w->out, "pairs.tsv"), "");
  char text[200];
  snprintf(text, sizeof text, "{\n  \"neardup\": \"1\",\n  \"run\": \"%016llx\"\n}\n",
           (unsigned long long)w->fingerprint);
  write_to(in(w->out, "summary.json"), text);
}

static void finish(void) {
  nd_workdir w;
  ok(open_and_agree(&w));
  assert_false(w.complete);
  make_results(&w);
  ok(nd_workdir_commit(&w, &err));
  nd_workdir_close(&w);
}

static void expect_complete(void) {
  nd_workdir w;
  ok(open_and_agree(&w));
  assert_true(w.complete);
  nd_workdir_close(&w);
  assert_true(there(in(dir, "kept/a.txt")) && there(in(dir, "summary.json")));
  assert_false(there(in(dir, ".neardup")));
}

static void a_run_from_begin_to_end(void **state) {
  (void)state;
  finish();
  expect_complete();
  expect_complete(); /* looking changes nothing */
}

static void what_was_not_begun_leaves_no_trace(void **state) {
  (void)state;
  nd_workdir w;
  ok(nd_workdir_open(&w, dir, &settings, &err));
  assert_true(there(in(dir, ".neardup/lock")));
  nd_workdir_close(&w);
  assert_false(there(dir));
  ok(nd_io_mkdirs(dir, &err)); /* the user's own empty directory stays */
  ok(nd_workdir_open(&w, dir, &settings, &err));
  nd_workdir_close(&w);
  assert_true(there(dir));
  assert_false(there(in(dir, ".neardup")));
}

static void one_at_a_time(void **state) {
  (void)state;
  nd_workdir first, second;
  ok(open_and_agree(&first));
  refused(nd_workdir_open(&second, dir, &settings, &err), "another run");
  nd_workdir_close(&second);
  assert_true(there(in(dir, ".neardup/manifest")));
  nd_workdir_close(&first);
  ok(open_and_agree(&second));
  nd_workdir_close(&second);
}

/* The run before ours goes away between our opening the lock file and locking it; another one may
 * have begun since. */
static bool begins_again;
static void end_meanwhile(uint64_t nth) {
  const char *lock = in(dir, ".neardup/lock");
  int kept = errno;
  (void)nth;
  if (unlink(lock) == 0 && begins_again) {
    write_to(in(dir, "other"), "");
    assert_int_equal(rename(in(dir, "other"), lock), 0);
  }
  errno = kept;
}

static void the_lock_is_gone(void **state) {
  (void)state;
  nd_workdir w;
  for (int i = 0; i < 2; i++) {
    begins_again = i;
    nd_io_watch(end_meanwhile);
    nd_io_fail_at(UINT64_MAX, 0);
    nd_status status = nd_workdir_open(&w, dir, &settings, &err);
    nd_io_watch(NULL);
    nd_io_fail_at(0, 0);
    refused(status, "has just finished");
    nd_workdir_close(&w);
    ok(nd_remove_tree(dir, &err));
  }
}

static void shards_side_by_side(void **state) {
  (void)state;
  nd_workdir one, two, again, all;
  strcpy(options.shard, "1/2");
  resolve();
  ok(open_and_agree(&one));
  refused(nd_workdir_open(&again, dir, &settings, &err), "another run");
  nd_workdir_close(&again);
  write_to(in(one.work, "blocks-1-0"), "of shard 1");
  strcpy(options.shard, "2/2");
  resolve();
  ok(open_and_agree(&two));
  assert_true(there(in(one.work, "blocks-1-0"))); /* the second one spares it */
  options.shard[0] = '\0';
  resolve();
  refused(nd_workdir_open(&all, dir, &settings, &err), "another run");
  nd_workdir_close(&all);
  nd_workdir_close(&one);
  nd_workdir_close(&two);
  ok(open_and_agree(&all));
  assert_true(there(in(all.work, "blocks-1-0")));
  nd_workdir_close(&all);
}

static void differences_are_named(void **state) {
  (void)state;
  nd_workdir w;
  ok(open_and_agree(&w));
  write_to(in(w.work, "blocks-1-0"), "precious");
  nd_workdir_close(&w);

  options.threads = 3; /* no difference */
  options.memory = 1 << 30;
  strcpy(options.progress, "none");
  resolve();
  ok(open_and_agree(&w));
  nd_workdir_close(&w);

  ok(nd_options_set(&options, "threshold", "0.75", &err));
  resolve();
  refused(open_and_agree(&w), "--threshold 0.8");
  assert_non_null(strstr(err.message, "--threshold 0.75"));
  nd_workdir_close(&w);
  ok(nd_options_set(&options, "threshold", "0.8", &err));
  resolve();

  file.size = 101;
  refused(open_and_agree(&w), "a.txt: 100 bytes");
  nd_workdir_close(&w);
  file.size = 100;
  file.mtime_ns++;
  refused(open_and_agree(&w), "changed at 12345]");
  nd_workdir_close(&w);
  file.mtime_ns--;
  ok(nd_workdir_open(&w, dir, &settings, &err));
  refused(nd_workdir_agree(&w, &settings, &walk, 8, &err), "shares of the input");
  nd_workdir_close(&w);
  walk.n = 0;
  refused(open_and_agree(&w), "a.txt");
  nd_workdir_close(&w);
  walk.n = 1;
  assert_true(there(in(dir, ".neardup/blocks-1-0")));

  ok(nd_options_set(&options, "threshold", "0.75", &err));
  strcpy(options.resume, "never");
  resolve();
  ok(open_and_agree(&w));
  assert_false(there(in(dir, ".neardup/blocks-1-0")));
  nd_workdir_close(&w);
}

/* Only so much of a long line is shown. */
static void long_differences(void **state) {
  (void)state;
  nd_workdir w;
  char one[500], two[500];
  memset(one, 'a', sizeof one - 1);
  one[sizeof one - 1] = '\0';
  memcpy(two, one, sizeof two);
  two[400] = 'b';
  file.path = one;
  ok(open_and_agree(&w));
  nd_workdir_close(&w);
  file.path = two;
  refused(open_and_agree(&w), "another run: there [aaaa");
  nd_workdir_close(&w);
  assert_null(strstr(err.message, "ab"));
  assert_true(strlen(err.message) < 1000);
  file.path = "a.txt";
}

static void a_complete_one_is_not_replaced(void **state) {
  (void)state;
  nd_workdir w;
  finish();
  file.mtime_ns++;
  refused(open_and_agree(&w), "another run");
  nd_workdir_close(&w);
  file.mtime_ns--;
  expect_complete();
  strcpy(options.resume, "never");
  resolve();
  finish();
}

static void somebody_elses_is_refused(void **state) {
  (void)state;
  nd_workdir w;
  static const char *const names[] = {"notes", "summary.json", "pairs.tsv"};
  ok(nd_io_mkdirs(in(dir, "summary.json"), &err)); /* a folder is none of ours, … */
  refused(nd_workdir_open(&w, dir, &settings, &err), "no result of neardup");
  nd_workdir_close(&w);
  ok(nd_remove_tree(in(dir, "summary.json"), &err));
  write_to(in(dir, "summary.json"), "\"neardup\": ");
  assert_int_equal(truncate(in(dir, "summary.json"), 2 << 20), 0); /* … nor is a large file */
  refused(nd_workdir_open(&w, dir, &settings, &err), "no result of neardup");
  nd_workdir_close(&w);
  ok(nd_remove_tree(dir, &err));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    for (int never = 0; never < 2; never++) {
      ok(nd_io_mkdirs(dir, &err));
      write_to(in(dir, names[i]), "{\"mine\": 1}");
      strcpy(options.resume, never ? "never" : "auto");
      resolve();
      refused(nd_workdir_open(&w, dir, &settings, &err), "no result of neardup");
      nd_workdir_close(&w);
      assert_true(there(in(dir, names[i])));
      assert_false(there(in(dir, ".neardup")));
      ok(nd_remove_tree(dir, &err));
    }
  }
}

/* Blocks under --tmp that belong to another run are not taken for ours. */
static void stale_blocks_under_tmp(void **state) {
  (void)state;
  nd_workdir w;
  ok(nd_io_mkdirs(tmp, &err));
  strcpy(options.tmp, tmp);
  ok(nd_options_set(&options, "threshold", "0.6", &err));
  resolve();
  ok(open_and_agree(&w)); /* run A under tmp … */
  char blocks[300];
  snprintf(blocks, sizeof blocks, "%s", in(w.work, "blocks-1-0"));
  write_to(blocks, "of run A");
  nd_workdir_close(&w);
  assert_true(there(blocks));
  ok(open_and_agree(&w)); /* … which resumes … */
  nd_workdir_close(&w);
  assert_true(there(blocks));
  ok(nd_remove_tree(dir, &err)); /* … is given up … */
  options.tmp[0] = '\0';
  ok(nd_options_set(&options, "threshold", "0.7", &err));
  resolve();
  ok(open_and_agree(&w)); /* … run B elsewhere … */
  nd_workdir_close(&w);
  strcpy(options.tmp, tmp);
  resolve();
  ok(open_and_agree(&w)); /* … and B under tmp */
  assert_false(there(blocks));
  make_results(&w);
  ok(nd_workdir_commit(&w, &err));
  nd_workdir_close(&w);
  assert_int_equal(rmdir(tmp), 0); /* nothing is left there */
  expect_complete();
  assert_int_equal(rmdir(tmp), 0); /* made again to look, then removed */
}

/* Whatever step of the commit fails: complete, or ready for another try. */
static void a_commit_that_fails(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    nd_workdir w;
    ok(open_and_agree(&w));
    make_results(&w);
    nd_io_fail_at(n, EIO);
    nd_status status = nd_workdir_commit(&w, &err);
    nd_io_fail_at(0, 0);
    nd_workdir_close(&w);
    if (status == ND_OK) {
      expect_complete();
      assert_true(n > 6);
      break;
    }
    assert_int_equal(status, ND_ERR_IO);
    ok(open_and_agree(&w));
    if (w.complete) {
      nd_workdir_close(&w);
      expect_complete();
    } else { /* nothing of it passes for a result */
      assert_false(there(in(dir, "summary.json")));
      assert_false(there(in(dir, "kept")));
      make_results(&w);
      ok(nd_workdir_commit(&w, &err));
      nd_workdir_close(&w);
      expect_complete();
    }
    ok(nd_remove_tree(dir, &err));
  }
}

/* An unfinished run with all that may be there, in plain calls: these do not fail. */
static void leave_behind(const char *work) {
  static const char *const folders[] = {"", ".neardup", ".neardup/out", ".neardup/out/kept",
                                        "kept"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) mkdir(in(dir, folders[i]), 0777);
  write_to(in(dir, "kept/a.txt"), "kept");
  write_to(in(dir, "summary.json"), "{\"neardup\": \"1\"}");
  write_to(in(dir, ".neardup/out/kept/a.txt"), "kept");
  write_to(in(dir, ".neardup/manifest"), "of another run");
  mkdir(work, 0777);
  write_to(in(work, "blocks-1-0"), "old");
  write_to(in(work, "blocks-1-1"), "old");
}

static nd_status begin_over(void *context) {
  nd_workdir w;
  leave_behind(context);
  nd_status status = open_and_agree(&w);
  if (status == ND_OK) {
    assert_false(there(in(w.work, "blocks-1-0")) || there(in(w.work, "blocks-1-1")));
    assert_false(there(in(w.work, "out")) || there(in(dir, "kept")));
  }
  nd_workdir_close(&w);
  return status;
}

/* Beginning over: whatever call fails, that is said, and the next try does it. */
static void beginning_over_fails(void **state) {
  (void)state;
  char work[300];
  strcpy(options.resume, "never");
  for (int apart = 0; apart < 2; apart++) {
    nd_workdir w;
    if (apart) strcpy(options.tmp, tmp);
    resolve();
    settings.sample.plan.n = 1; /* its digest is part of the manifest */
    mkdir(tmp, 0777);
    ok(nd_workdir_open(&w, dir, &settings, &err));
    snprintf(work, sizeof work, "%s", w.work);
    nd_workdir_close(&w);
    callers = 6; /* each step on its own, not on every way to it */
    assert_true(every_place_fails(begin_over, work) > 10);
    ok(nd_remove_tree(dir, &err));
  }
}

/* The blocks under --tmp are gone, and with them the manifest beside them. */
static void an_emptied_tmp(void **state) {
  (void)state;
  nd_workdir w;
  ok(nd_io_mkdirs(tmp, &err));
  strcpy(options.tmp, tmp);
  resolve();
  ok(open_and_agree(&w));
  char work[300];
  snprintf(work, sizeof work, "%s", w.work);
  nd_workdir_close(&w);
  assert_true(there(in(work, "manifest")));
  ok(nd_remove_tree(work, &err));
  ok(open_and_agree(&w));
  assert_true(there(in(work, "manifest")));
  nd_workdir_close(&w);
}

static void removing_does_not_follow_links(void **state) {
  (void)state;
  ok(nd_io_mkdirs(in(dir, "a/b"), &err));
  ok(nd_io_mkdirs(tmp, &err));
  write_to(in(tmp, "precious"), "stays");
  assert_int_equal(symlink(tmp, in(dir, "a/link")), 0);
  assert_int_equal(symlink("nowhere", in(dir, "a/b/broken")), 0);
  ok(nd_remove_tree(dir, &err));
  assert_false(there(dir));
  assert_true(there(in(tmp, "precious")));
  ok(nd_remove_tree(in(base, "missing"), &err));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, clean)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_run_from_begin_to_end),
      TEST(what_was_not_begun_leaves_no_trace),
      TEST(one_at_a_time),
      TEST(the_lock_is_gone),
      TEST(shards_side_by_side),
      TEST(differences_are_named),
      TEST(long_differences),
      TEST(a_complete_one_is_not_replaced),
      TEST(somebody_elses_is_refused),
      TEST(stale_blocks_under_tmp),
      TEST(a_commit_that_fails),
      TEST(beginning_over_fails),
      TEST(an_emptied_tmp),
      TEST(removing_does_not_follow_links),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
