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
#include "result/summary.h"
#include "settings/option_fields.h"
#include "store/workdir.h"
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
  nd_status status = nd_workdir_open(w, dir, &settings, false, &err);
  return status == ND_OK ? nd_workdir_agree(w, &settings, &walk, 7, &err) : status;
}

/* What a run leaves in its own place before the commit. */
static void make_results(const nd_workdir *w) {
  ok(nd_io_mkdirs(in(w->out, "kept"), &err));
  write_to(in(w->out, "kept/a.txt"), "kept");
  write_to(in(w->out, "pairs.tsv"), "");
  nd_json_out j = {.err = &err};
  char run[32], value[ND_OPTION_VALUE];
  snprintf(run, sizeof run, "%016llx", (unsigned long long)w->fingerprint);
  nd_json_put_begin(&j, NULL, '{');
  nd_json_put_string(&j, "neardup", nd_str_of(ND_VERSION));
  nd_json_put_string(&j, "run", nd_str_of(run));
  nd_json_put_begin(&j, "method", '{');
  nd_json_put_count(&j, "max_document_in_force", settings.input.max_document);
  nd_json_put_end(&j, '}');
  nd_json_put_begin(&j, "options", '{');
  for (const nd_option_row *i = nd_option_rows(); i->info.name; i++) {
    if (!(i->info.commands & ND_FOR_DEDUP)) continue;
    nd_settings_option(value, &settings, i);
    nd_json_put_string(&j, i->info.name, nd_str_of(value));
  }
  nd_json_put_end(&j, '}');
  nd_sums_put_origin(&j, true);
  nd_json_put_begin(&j, "files", '[');
  ok(nd_sums_put_tree(&j, w->out, NULL, &err));
  nd_json_put_end(&j, ']');
  nd_json_put_end(&j, '}');
  ok(nd_buf_append(&j.text, "", 1, &err));
  write_to(in(w->out, "summary.json"), j.text.p);
  nd_buf_clear(&j.text);
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
  ok(nd_workdir_open(&w, dir, &settings, false, &err));
  assert_true(there(in(dir, ".neardup/lock")));
  nd_workdir_close(&w);
  assert_false(there(dir));
  ok(nd_io_mkdirs(dir, &err)); /* the user's own empty directory stays */
  ok(nd_workdir_open(&w, dir, &settings, false, &err));
  nd_workdir_close(&w);
  assert_true(there(dir));
  assert_false(there(in(dir, ".neardup")));
}

static void one_at_a_time(void **state) {
  (void)state;
  nd_workdir first, second;
  ok(open_and_agree(&first));
  refused(nd_workdir_open(&second, dir, &settings, false, &err), "another run");
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
    nd_status status = nd_workdir_open(&w, dir, &settings, false, &err);
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
  refused(nd_workdir_open(&again, dir, &settings, false, &err), "another run");
  nd_workdir_close(&again);
  write_to(in(one.work, "blocks-1-0"), "of shard 1");
  strcpy(options.shard, "2/2");
  resolve();
  ok(open_and_agree(&two));
  assert_true(there(in(one.work, "blocks-1-0"))); /* the second one spares it */
  options.shard[0] = '\0';
  resolve();
  refused(nd_workdir_open(&all, dir, &settings, false, &err), "another run");
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
  ok(nd_workdir_open(&w, dir, &settings, false, &err));
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
  refused(nd_workdir_open(&w, dir, &settings, false, &err), "is not a result of neardup");
  nd_workdir_close(&w);
  ok(nd_remove_tree(in(dir, "summary.json"), &err));
  write_to(in(dir, "summary.json"), "{\n  \"neardup\": \"1\"\n}\n");
  assert_int_equal(truncate(in(dir, "summary.json"), 4096),
                   0); /* … nor is one that ends in zeros */
  refused(nd_workdir_open(&w, dir, &settings, false, &err), "is not a result of neardup");
  nd_workdir_close(&w);
  ok(nd_remove_tree(dir, &err));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    for (int never = 0; never < 2; never++) {
      ok(nd_io_mkdirs(dir, &err));
      write_to(in(dir, names[i]), "{\"mine\": 1}");
      strcpy(options.resume, never ? "never" : "auto");
      resolve();
      refused(nd_workdir_open(&w, dir, &settings, false, &err), "is not a result of neardup");
      nd_workdir_close(&w);
      assert_true(there(in(dir, names[i])));
      assert_false(there(in(dir, ".neardup")));
      ok(nd_remove_tree(dir, &err));
    }
  }
}

/* The work directory below --tmp has a new name for every run, which the output directory knows. */
static void work_under_tmp_is_found_again_and_given_up(void **state) {
  (void)state;
  nd_workdir w;
  char blocks[300], first[300];
  ok(nd_io_mkdirs(tmp, &err));
  strcpy(options.tmp, tmp);
  resolve();
  ok(open_and_agree(&w));
  snprintf(first, sizeof first, "%s", w.work);
  snprintf(blocks, sizeof blocks, "%s", in(w.work, "blocks-1-0"));
  write_to(blocks, "of this run");
  struct stat st;
  assert_int_equal(stat(first, &st), 0);
  assert_int_equal(st.st_mode & 07777, 0700);
  nd_workdir_close(&w);
  ok(open_and_agree(&w)); /* resumes */
  assert_string_equal(w.work, first);
  assert_true(there(blocks));
  nd_workdir_close(&w);
  options.tmp[0] = '\0';
  resolve();
  ok(open_and_agree(&w)); /* elsewhere: what was below --tmp is removed */
  assert_false(there(first));
  nd_workdir_close(&w);
  strcpy(options.tmp, tmp);
  resolve();
  ok(open_and_agree(&w));
  assert_string_not_equal(w.work, first);
  make_results(&w);
  ok(nd_workdir_commit(&w, &err));
  nd_workdir_close(&w);
  assert_int_equal(rmdir(tmp), 0); /* nothing is left there */
  expect_complete();
}

/* What others put in the place of our work directory is neither used nor removed. */
static void strangers_under_tmp_are_left_alone(void **state) {
  (void)state;
  nd_workdir w;
  char first[300];
  ok(nd_io_mkdirs(tmp, &err));
  ok(nd_io_mkdirs(in(base, "precious"), &err));
  write_to(in(base, "precious/file"), "stays");
  strcpy(options.tmp, tmp);
  resolve();
  ok(open_and_agree(&w));
  snprintf(first, sizeof first, "%s", w.work);
  nd_workdir_close(&w);
  assert_int_equal(rmdir(first), 0);
  assert_int_equal(symlink(in(base, "precious"), first), 0);
  ok(open_and_agree(&w));
  assert_string_not_equal(w.work, first);
  nd_workdir_close(&w);
  assert_true(there(first) && there(in(base, "precious/file")));
  ok(nd_remove_tree(in(base, "precious"), &err));
}

/* Whatever step of the commit fails: complete, or ready for another try. */
static void a_commit_that_fails(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    nd_workdir w;
    ok(open_and_agree(&w));
    make_results(&w);
    if (n % 2) write_to(in(w.work, "blocks-1"), "");
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
    assert_false(there(in(w.out, "kept"))); /* the old result stays until there is a new one */
    assert_true(there(in(dir, "kept/a.txt")) && there(in(dir, "summary.json")));
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
    if (apart) strcpy(options.tmp, tmp);
    resolve();
    settings.sample.plan.n = 1; /* its digest is part of the manifest */
    mkdir(tmp, 0777);
    snprintf(work, sizeof work, "%s", in(dir, ".neardup"));
    callers = 6; /* each step on its own, not on every way to it */
    assert_true(every_place_fails(begin_over, work) > 10);
    ok(nd_remove_tree(dir, &err));
  }
}

/* The work directory was removed by hand: another one is made. */
static void an_emptied_tmp_is_no_obstacle(void **state) {
  (void)state;
  nd_workdir w;
  ok(nd_io_mkdirs(tmp, &err));
  strcpy(options.tmp, tmp);
  resolve();
  ok(open_and_agree(&w));
  char work[300];
  snprintf(work, sizeof work, "%s", w.work);
  nd_workdir_close(&w);
  ok(nd_remove_tree(work, &err));
  ok(open_and_agree(&w));
  assert_true(there(w.work));
  assert_string_not_equal(w.work, work);
  nd_workdir_close(&w);
}

/* With --force a result is written beside what is there; nothing else is touched. */
static void force_writes_beside_the_files_of_others(void **state) {
  (void)state;
  nd_workdir w;
  ok(nd_io_mkdirs(in(dir, "mine"), &err));
  write_to(in(dir, "mine/file"), "stays");
  write_to(in(dir, "pairs.tsv"), "is replaced");
  options.force = 1;
  resolve();
  finish();
  assert_true(there(in(dir, "mine/file")) && there(in(dir, "kept/a.txt")));
  struct stat st;
  assert_int_equal(stat(in(dir, "pairs.tsv"), &st), 0);
  assert_int_equal(st.st_size, 0);
  ok(nd_remove_tree(dir, &err));
  ok(nd_io_mkdirs(in(dir, "kept"), &err)); /* a directory is never replaced */
  write_to(in(dir, "kept/file"), "stays");
  refused(open_and_agree(&w), "kept is in the way");
  nd_workdir_close(&w);
  assert_true(there(in(dir, "kept/file")));
}

/* A new result replaces the files of the old one, and those only. */
static void a_new_result_replaces_the_old_one(void **state) {
  (void)state;
  nd_workdir w;
  finish();
  write_to(in(dir, "notes"), "of the user");
  write_to(in(dir, "kept/a.txt"), "edited");
  strcpy(options.resume, "never");
  resolve();
  ok(open_and_agree(&w));
  assert_false(w.complete);
  make_results(&w);
  assert_int_equal(rename(in(w.out, "kept/a.txt"), in(w.out, "kept/b.txt")), 0);
  assert_true(there(in(dir, "kept/a.txt"))); /* until the commit */
  ok(nd_workdir_commit(&w, &err));
  nd_workdir_close(&w);
  assert_true(there(in(dir, "kept/b.txt")) && there(in(dir, "notes")));
  assert_false(there(in(dir, "kept/a.txt")) || there(in(dir, ".neardup")));
}

/* A result is complete only while its files are what it lists. */
static void changed_files_are_noticed(void **state) {
  (void)state;
  nd_workdir w;
  finish();
  write_to(in(dir, "kept/a.txt"), "longer than it was");
  refused(open_and_agree(&w), "kept/a.txt has another size");
  nd_workdir_close(&w);
  assert_int_equal(unlink(in(dir, "kept/a.txt")), 0);
  refused(open_and_agree(&w), "kept/a.txt is missing");
  nd_workdir_close(&w);
  write_to(in(dir, "kept/a.txt"), "kepT"); /* the same size: seen where contents are read */
  expect_complete();
  char text[20000];
  FILE *f = fopen(in(dir, "summary.json"), "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  char *boot = strstr(text, "\"boot\": \"");
  assert_non_null(boot);
  boot[9] ^= 1; /* as after a restart */
  write_to(in(dir, "summary.json"), text);
  refused(open_and_agree(&w), "kept/a.txt has other contents");
  nd_workdir_close(&w);
  write_to(in(dir, "kept/a.txt"), "kept");
  expect_complete();
}

/* Standard input is not what an old result was made from. */
static void pipes_match_no_result(void **state) {
  (void)state;
  nd_workdir w;
  finish();
  refused(nd_workdir_open(&w, dir, &settings, true, &err), "standard input cannot be compared");
  nd_workdir_close(&w);
  expect_complete();
  strcpy(options.resume, "never");
  resolve();
  ok(nd_workdir_open(&w, dir, &settings, true, &err));
  nd_workdir_close(&w);
  strcpy(options.resume, "auto");
  resolve();
  expect_complete();
}

/* Nor does it start over on the work of a run that had files. */
static void pipes_do_not_discard_other_work(void **state) {
  (void)state;
  nd_workdir w;
  ok(open_and_agree(&w));
  write_to(in(w.work, "blocks-1-0"), "precious");
  nd_workdir_close(&w);
  file.path = "-";
  refused(open_and_agree(&w), "a.txt: 100 bytes");
  nd_workdir_close(&w);
  assert_true(there(in(dir, ".neardup/blocks-1-0")));
  ok(nd_remove_tree(dir, &err));
  ok(open_and_agree(&w)); /* its own cannot be compared, and goes */
  write_to(in(w.work, "blocks-1-0"), "of the pipe");
  nd_workdir_close(&w);
  ok(open_and_agree(&w));
  assert_false(there(in(w.work, "blocks-1-0")));
  nd_workdir_close(&w);
  file.path = "a.txt";
}

/* The option that differs is named for complete results, too. */
static void options_of_a_complete_result_are_named(void **state) {
  (void)state;
  nd_workdir w;
  finish();
  ok(nd_options_set(&options, "threshold", "0.75", &err));
  resolve();
  refused(open_and_agree(&w), "there [--threshold 0.8], now [--threshold 0.75]");
  nd_workdir_close(&w);
  ok(nd_options_set(&options, "threshold", "0.8", &err));
  ok(nd_options_set(&options, "memory", "64M", &err));
  resolve();
  refused(open_and_agree(&w), "--max-document (at most an eighth of --memory)");
  nd_workdir_close(&w);
  ok(nd_options_set(&options, "memory", "0", &err));
  resolve();
  expect_complete();
}

/* .neardup of somebody else, or a link in its place, is not used. */
static void a_strange_work_directory_is_refused(void **state) {
  (void)state;
  nd_workdir w;
  ok(nd_io_mkdirs(dir, &err));
  ok(nd_io_mkdirs(tmp, &err));
  assert_int_equal(symlink(tmp, in(dir, ".neardup")), 0);
  refused(nd_workdir_open(&w, dir, &settings, false, &err), "not a directory of neardup's");
  nd_workdir_close(&w);
  assert_int_equal(unlink(in(dir, ".neardup")), 0);
  ok(nd_io_mkdirs(in(dir, ".neardup"), &err));
  assert_int_equal(chmod(in(dir, ".neardup"), 0777), 0);
  refused(nd_workdir_open(&w, dir, &settings, false, &err), "can be changed by other users");
  nd_workdir_close(&w);
  if (geteuid() != 0) return;
  assert_int_equal(chmod(in(dir, ".neardup"), 0700), 0);
  assert_int_equal(chown(in(dir, ".neardup"), 12345, 12345), 0);
  refused(nd_workdir_open(&w, dir, &settings, false, &err), "another user (id 12345)");
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
      TEST(work_under_tmp_is_found_again_and_given_up),
      TEST(strangers_under_tmp_are_left_alone),
      TEST(force_writes_beside_the_files_of_others),
      TEST(a_new_result_replaces_the_old_one),
      TEST(changed_files_are_noticed),
      TEST(pipes_match_no_result),
      TEST(pipes_do_not_discard_other_work),
      TEST(options_of_a_complete_result_are_named),
      TEST(a_strange_work_directory_is_refused),
      TEST(a_commit_that_fails),
      TEST(beginning_over_fails),
      TEST(an_emptied_tmp_is_no_obstacle),
      TEST(removing_does_not_follow_links),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
