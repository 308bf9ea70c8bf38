/* The door to the files: whole transfers over short and interrupted calls, every
 * call failing once, and the writer against a buffer in memory. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

#include "base/io.h"
#include "base/mem.h"
#include "base/writer.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_io_XXXXXX";

static const char *at(const char *name) {
  return path_in(dir, name);
}

static void refuses(nd_status got, nd_status want, const char *words) {
  assert_int_equal(got, want);
  assert_int_equal(err.status, want);
  if (!strstr(err.message, words)) fail_msg("'%s' lacks '%s'", err.message, words);
}

static int setup(void **state) {
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  return system(command);
}

static int clear_hooks(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  nd_io_short(0);
  nd_mem_fail_at(0);
  return 0;
}

static uint64_t rng;
static uint64_t draw(uint64_t below) {
  rng = rng * 6364136223846793005u + 1442695040888963407u;
  return (rng >> 33) % below;
}

static void write_file(const char *path, const void *p, size_t n) {
  int fd;
  ok(nd_io_open(&fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0666, &err));
  ok(nd_io_write_full(fd, p, n, path, &err));
  ok(nd_io_close(fd, path, &err));
}

static void file_is(const char *path, const void *p, size_t n) {
  nd_file_info info;
  ok(nd_io_stat(&info, path, &err));
  assert_int_equal(info.size, n);
  char *got = malloc(n + 1);
  int fd;
  ok(nd_io_open(&fd, path, O_RDONLY, 0, &err));
  ok(nd_io_read_full(fd, got, n, path, &err));
  ok(nd_io_close(fd, path, &err));
  assert_true(n == 0 || memcmp(got, p, n) == 0);
  free(got);
}

static void short_calls_transfer_everything(void **state) {
  (void)state;
  char data[1000], got[1000];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 7);
  size_t shorts[] = {0, 1, 3, 999};
  for (size_t i = 0; i < 4; i++) {
    nd_io_short(shorts[i]);
    int fd;
    const char *path = at("t");
    ok(nd_io_open(&fd, path, O_RDWR | O_CREAT | O_TRUNC, 0666, &err));
    ok(nd_io_write_full(fd, data, 500, path, &err));
    ok(nd_io_pwrite_full(fd, data + 500, 500, 500, path, &err));
    ok(nd_io_pread_full(fd, got, 1000, 0, path, &err));
    assert_memory_equal(got, data, 1000);
    memset(got, 0, sizeof got);
    assert_int_equal(lseek(fd, 10, SEEK_SET), 10);
    ok(nd_io_read_full(fd, got, 990, path, &err));
    assert_memory_equal(got, data + 10, 990);
    refuses(nd_io_read_full(fd, got, 1, path, &err), ND_ERR_DATA, "is shorter than expected");
    refuses(nd_io_pread_full(fd, got, 3, 998, path, &err), ND_ERR_DATA, "1 bytes are missing");
    size_t n = 7;
    ok(nd_io_read(&n, fd, got, 5, path, &err));
    assert_int_equal(n, 0);
    ok(nd_io_truncate(fd, 10, path, &err));
    ok(nd_io_fsync(fd, path, &err));
    ok(nd_io_close(fd, path, &err));
  }
  ok(nd_io_close(-1, "none", &err));
  refuses(nd_io_close(1 << 20, "gone", &err), ND_ERR_IO, "cannot close gone: Bad file descriptor");
}

static void messages_name_the_file_and_the_reason(void **state) {
  (void)state;
  int fd;
  nd_file_info info;
  refuses(nd_io_open(&fd, at("none"), O_RDONLY, 0, &err), ND_ERR_IO, "cannot open");
  refuses(nd_io_open(&fd, at("none/x"), O_WRONLY | O_CREAT, 0666, &err), ND_ERR_IO,
          "No such file or directory");
  refuses(nd_io_stat(&info, at("none"), &err), ND_ERR_IO, "none");
  ok(nd_io_probe(&info, at("none"), &err));
  assert_false(info.exists);
  ok(nd_io_probe(&info, dir, &err));
  assert_true(info.exists && info.directory && !info.regular);
  write_file(at("f"), "abc", 3);
  ok(nd_io_stat(&info, at("f"), &err));
  assert_true(info.exists && info.regular && !info.directory && info.size == 3);
  assert_true(llabs((long long)(info.mtime_ns / 1000000000) - (long long)time(NULL)) < 100);
  ok(nd_io_probe(&info, at("f/below"), &err));
  assert_false(info.exists);
  refuses(nd_io_rename(at("none"), at("x"), &err), ND_ERR_IO, "rename");
  ok(nd_io_rename(at("f"), at("g"), &err));
  ok(nd_io_fsync_dir(dir, &err));
  ok(nd_io_unlink(at("g"), &err));
  ok(nd_io_unlink(at("g"), &err));
  refuses(nd_io_unlink(dir, &err), ND_ERR_IO, "cannot remove");
  refuses(nd_io_fail(&err, "write", "DIR/x", ENOSPC), ND_ERR_IO,
          "cannot write DIR/x: No space left on device; free some space or choose another --tmp");
  refuses(nd_io_fail(&err, "open", "x", EMFILE), ND_ERR_IO, "ulimit -n");
  refuses(nd_io_fail(&err, "open", "x", EACCES), ND_ERR_IO, "permissions");
  refuses(nd_io_fail(&err, "open", "x", EROFS), ND_ERR_IO, "choose a writable directory");
  refuses(nd_io_fail(&err, "write", "x", EFBIG), ND_ERR_IO, "ulimit -f");
  refuses(nd_io_fail(&err, "read", "x", EIO), ND_ERR_IO, "disk");
  assert_int_equal(nd_io_fail(NULL, "read", "x", EIO), ND_ERR_IO);
}

static void makes_missing_parents_of_a_folder(void **state) {
  (void)state;
  nd_file_info info;
  ok(nd_io_mkdirs(at("a/b//c/"), &err));
  ok(nd_io_mkdirs(at("a/b/c"), &err));
  ok(nd_io_mkdirs("/", &err));
  ok(nd_io_stat(&info, at("a/b/c"), &err));
  assert_true(info.directory);
  write_file(at("a/file"), "", 0);
  refuses(nd_io_mkdirs(at("a/file"), &err), ND_ERR_IO, "a file of that name exists");
  assert_int_equal(nd_io_mkdirs(at("a/file/d"), &err), ND_ERR_IO);
  assert_int_equal(nd_io_mkdirs("", &err), ND_ERR_IO);
  nd_io_fail_at(1, EACCES);
  refuses(nd_io_mkdirs(at("q/r"), &err), ND_ERR_IO, "permissions");
  nd_io_fail_at(0, 0);
  nd_mem_fail_at(1);
  assert_int_equal(nd_io_mkdirs(at("q/r"), &err), ND_ERR_MEMORY);
}

static const char *made_meanwhile;
static void make_meanwhile(uint64_t nth) {
  if (nth == 1) assert_int_equal(mkdir(made_meanwhile, 0777), 0);
}

static void folders_made_by_others_meanwhile_are_taken(void **state) {
  (void)state;
  /* Another process makes it between our look and our call. */
  made_meanwhile = at("meanwhile");
  nd_io_watch(make_meanwhile);
  nd_io_fail_at(UINT64_MAX, EIO);
  ok(nd_io_mkdirs(made_meanwhile, &err));
  assert_int_equal(nd_io_count(), 1);
  nd_io_watch(NULL);
  clear_hooks(NULL);
  assert_int_equal(symlink("nowhere", at("dangling")), 0);
  refuses(nd_io_mkdirs(at("dangling"), &err), ND_ERR_IO, "a file of that name exists");
  /* The one with a random name. */
  char private[300], lost[300];
  snprintf(private, sizeof private, "%s/meanwhile/p-XXXXXX", dir);
  snprintf(lost, sizeof lost, "%s/none/p-XXXXXX", dir);
  ok(nd_io_make_private(private, dir, &err));
  assert_int_equal(access(private, W_OK), 0);
  refuses(nd_io_make_private(lost, "none", &err), ND_ERR_IO, "cannot make a directory in none");
  refuses(nd_io_remove_dir(at("meanwhile"), &err), ND_ERR_IO, "cannot remove");
  ok(nd_io_remove_dir(private, &err));
  ok(nd_io_remove_dir(private, &err)); /* it is gone already */
  ok(nd_io_remove_dir(at("meanwhile"), &err));
  DIR *d;
  refuses(nd_io_open_dir(&d, at("none"), &err), ND_ERR_IO, "cannot open");
  /* A file system that cannot sync directories. */
  nd_io_fail_at(2, EINVAL);
  ok(nd_io_fsync_dir(dir, &err));
  nd_io_fail_at(2, EIO);
  refuses(nd_io_fsync_dir(dir, &err), ND_ERR_IO, "cannot sync");
}

static nd_status all_calls(void) {
  int fd = -1, out = -1;
  char buf[8];
  size_t got;
  nd_file_info info;
  nd_status status;
  const char *path = at("calls");
  ND_TRY_GOTO(nd_io_open(&fd, path, O_RDWR | O_CREAT | O_TRUNC, 0666, &err), done);
  ND_TRY_GOTO(nd_io_write_full(fd, "12345678", 8, path, &err), done);
  ND_TRY_GOTO(nd_io_pwrite_full(fd, "ab", 2, 8, path, &err), done);
  ND_TRY_GOTO(nd_io_pread(&got, fd, buf, 8, 2, path, &err), done);
  ND_TRY_GOTO(nd_io_truncate(fd, 9, path, &err), done);
  ND_TRY_GOTO(nd_io_fsync(fd, path, &err), done);
  ND_TRY_GOTO(nd_io_fstat(&info, fd, path, &err), done);
  ND_TRY_GOTO(nd_io_read(&got, fd, buf, 8, path, &err), done);
  ND_TRY_GOTO(nd_io_open(&out, at("calls2"), O_RDWR | O_CREAT | O_TRUNC, 0666, &err), done);
  ND_TRY_GOTO(nd_io_copy_range(fd, 0, out, 9, path, "calls2", &err), done);
  ND_TRY_GOTO(nd_io_rename(at("calls2"), at("calls3"), &err), done);
  ND_TRY_GOTO(nd_io_stat(&info, at("calls3"), &err), done);
  ND_TRY_GOTO(nd_io_probe(&info, at("calls3"), &err), done);
  ND_TRY_GOTO(nd_io_fsync_dir(dir, &err), done);
  ND_TRY_GOTO(nd_io_unlink(at("calls3"), &err), done);
  status = nd_io_close(fd, path, &err);
  fd = -1;
done:
  if (fd >= 0) close(fd);
  if (out >= 0) close(out);
  return status;
}

static void test_every_call_fails(void **state) {
  (void)state;
  nd_io_fail_at(UINT64_MAX, EIO);
  ok(all_calls());
  uint64_t calls = nd_io_count();
  assert_true(calls >= 16);
  for (uint64_t i = 1; i <= calls; i++) {
    nd_io_fail_at(i, EIO);
    refuses(all_calls(), ND_ERR_IO, "cannot ");
    nd_io_fail_at(i, ENOSPC);
    refuses(all_calls(), ND_ERR_IO, "free some space");
  }
  /* Interrupted calls go on, but for those that the system never interrupts. */
  for (uint64_t i = 1; i <= calls; i++) {
    nd_io_fail_at(i, EINTR);
    nd_status status = all_calls();
    if (i <= 6 || i == 8 || i == 9 || i == calls) ok(status);
    if (status != ND_OK) refuses(status, ND_ERR_IO, "Interrupted");
  }
  char buf[8];
  int fd;
  ok(nd_io_open(&fd, at("calls"), O_RDONLY, 0, &err));
  nd_io_fail_at(1, EIO);
  refuses(nd_io_read_full(fd, buf, 8, "calls", &err), ND_ERR_IO, "cannot read calls");
  nd_io_fail_at(1, EIO);
  refuses(nd_io_pread_full(fd, buf, 8, 0, "calls", &err), ND_ERR_IO, "cannot read calls");
  clear_hooks(NULL);
  ok(nd_io_close(fd, "calls", &err));
}

static void test_copy_range(void **state) {
  (void)state;
  size_t n = 700000;
  char *data = malloc(n);
  for (size_t i = 0; i < n; i++) data[i] = (char)(i ^ i >> 9);
  write_file(at("in"), data, n);
  int in;
  ok(nd_io_open(&in, at("in"), O_RDONLY, 0, &err));
  int errors[] = {0, EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EINTR};
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    for (uint64_t nth = 1; nth <= 3; nth += 2) {
      int out;
      ok(nd_io_open(&out, at("out"), O_WRONLY | O_CREAT | O_TRUNC, 0666, &err));
      nd_io_short(nth == 3 ? 100000 : 0); /* so that the third call is still a copy */
      if (errors[i]) nd_io_fail_at(nth, errors[i]);
      ok(nd_io_copy_range(in, 5, out, n - 5, "in", "out", &err));
      clear_hooks(NULL);
      ok(nd_io_close(out, "out", &err));
      file_is(at("out"), data + 5, n - 5);
    }
  }
  int out;
  ok(nd_io_open(&out, at("out"), O_WRONLY | O_CREAT | O_TRUNC, 0666, &err));
  refuses(nd_io_copy_range(in, n - 10, out, 11, "in", "out", &err), ND_ERR_DATA, "in is shorter");
  nd_io_fail_at(1, ENOSPC);
  refuses(nd_io_copy_range(in, 0, out, 11, "in", "out", &err), ND_ERR_IO, "cannot write out");
  write_file(at("other"), data, 10); /* read-only: neither the kernel nor we can write it */
  int other;
  ok(nd_io_open(&other, at("other"), O_RDONLY, 0, &err));
  refuses(nd_io_copy_range(in, 0, other, n, "in", "other", &err), ND_ERR_IO, "cannot write other");
  close(other);
  nd_io_fail_at(1, EXDEV);
  nd_mem_fail_at(1);
  assert_int_equal(nd_io_copy_range(in, 0, out, 11, "in", "out", &err), ND_ERR_MEMORY);
  clear_hooks(NULL);
  close(in);
  close(out);
  free(data);
}

/* Random puts and copies; the same bytes in memory. */
static void writer_run(uint64_t seed, size_t total) {
  rng = seed;
  size_t pool_n = 3 << 20;
  char *pool = malloc(pool_n), *want = malloc(total + pool_n);
  for (size_t i = 0; i < pool_n; i++) pool[i] = (char)draw(256);
  write_file(at("pool"), pool, pool_n);
  int in;
  ok(nd_io_open(&in, at("pool"), O_RDONLY, 0, &err));
  nd_writer *w;
  ok(nd_writer_open(&w, at("w"), &err));
  size_t n = 0;
  while (n < total) {
    size_t most = draw(10) == 0 ? pool_n : draw(3) == 0 ? 300000 : 500;
    size_t length = draw(most + 1);
    size_t from = draw(pool_n - length + 1);
    if (draw(3) == 0) {
      ok(nd_writer_copy(w, in, from, length, "pool", &err));
    } else {
      ok(nd_writer_put(w, pool + from, length, &err));
    }
    if (draw(50) == 0) ok(nd_writer_flush(w, &err));
    memcpy(want + n, pool + from, length);
    n += length;
    assert_int_equal(nd_writer_offset(w), n);
  }
  ok(nd_writer_close(w, draw(2), &err));
  close(in);
  file_is(at("w"), want, n);
  struct stat st;
  assert_int_equal(stat(at("w"), &st), 0);
  assert_true((uint64_t)st.st_blocks * 512 <= n + (1 << 18)); /* the reserve was given back */
  free(pool);
  free(want);
}

static void writer_agrees_with_a_buffer(void **state) {
  (void)state;
  uint64_t seed = test_seed();
  writer_run(seed, 0);
  writer_run(seed + 1, 5000);
  writer_run(seed + 2, 20 << 20);
  nd_io_short(50000);
  writer_run(seed + 3, 3 << 20);
}

static void test_writer_empty(void **state) {
  (void)state;
  nd_writer *w;
  write_file(at("w"), "old", 3);
  ok(nd_writer_open(&w, at("w"), &err));
  ok(nd_writer_put(w, NULL, 0, &err));
  ok(nd_writer_close(w, true, &err));
  file_is(at("w"), "", 0);
  ok(nd_writer_open(&w, at("w"), &err));
  nd_writer_abandon(w);
  nd_writer_abandon(NULL);
  assert_int_equal(access(at("w"), F_OK), -1);
  assert_int_equal(nd_writer_open(&w, dir, &err), ND_ERR_IO);
  assert_null(w);
}

/* A file at once, also one that is larger than the buffer and finds no room for all of it. */
static void test_writer_file(void **state) {
  (void)state;
  enum { BYTES = 3 << 20 };
  char *zeros = calloc(1, BYTES);
  assert_non_null(zeros);
  const nd_str small = nd_str_of("all of it"), large = {zeros, BYTES};
  ok(nd_writer_file(at("w"), small, false, &err));
  file_is(at("w"), small.p, small.n);
  for (uint64_t nth = 1;; nth++) {
    nd_io_fail_at(nth, ENOSPC);
    nd_status status = nd_writer_file(at("w"), large, true, &err);
    const bool all = nd_io_count() < nth;
    nd_io_fail_at(0, 0);
    /* Room that cannot be set aside is no failure, and one to close leaves all of it there. */
    const bool there = access(at("w"), F_OK) == 0;
    assert_true(status == ND_ERR_IO || (status == ND_OK && there));
    if (there && nth > 1) file_is(at("w"), large.p, large.n);
    if (all) break;
    assert_true(nth < 50);
  }
  free(zeros);
}

/* Space is set aside in growing steps, up to a largest one. */
static void test_writer_reserve(void **state) {
  (void)state;
  enum { MIB = 1 << 20, LARGEST = 32 };
  const size_t n = (LARGEST + 4) * (size_t)MIB;
  char *zeros = calloc(1, n);
  nd_writer *w;
  struct stat st;
  ok(nd_writer_open(&w, at("w"), &err));
  nd_io_fail_at(1, EINTR); /* a step that is interrupted comes with the next block */
  ok(nd_writer_put(w, zeros, MIB + 1, &err));
  assert_int_equal(nd_io_count(), 2);
  nd_io_fail_at(0, 0);
  ok(nd_writer_put(w, zeros, n, &err));
  ok(nd_writer_put(w, zeros, 2 * MIB, &err));
  ok(nd_writer_flush(w, &err));
  assert_int_equal(stat(at("w"), &st), 0);
  assert_int_equal(st.st_size, n + 3 * MIB + 1);
  assert_true((size_t)st.st_blocks * 512 <= n + (LARGEST + 4) * (size_t)MIB);
  ok(nd_writer_close(w, false, &err));
  assert_int_equal(stat(at("w"), &st), 0);
  assert_int_equal(st.st_size, n + 3 * MIB + 1);
  unlink(at("w"));
  free(zeros);
}

static nd_status writer_job(const char *big, size_t n, int in) {
  nd_writer *w;
  ND_TRY(nd_writer_open(&w, at("job"), &err));
  nd_status status = ND_OK;
  for (int i = 0; i < 3 && status == ND_OK; i++) {
    status = nd_writer_put(w, big, n, &err);
    if (status == ND_OK) status = nd_writer_copy(w, in, 1, n - 1, "pool", &err);
  }
  if (status != ND_OK) {
    nd_error again;
    assert_int_equal(nd_writer_put(w, big, 1, &again), status);
    assert_string_equal(again.message, err.message);
    assert_int_equal(nd_writer_flush(w, NULL), status);
    assert_int_equal(nd_writer_copy(w, in, 0, 1, "pool", NULL), status);
    nd_writer_abandon(w);
    assert_int_equal(access(at("job"), F_OK), -1);
    return status;
  }
  return nd_writer_close(w, true, &err);
}

static void test_writer_failures(void **state) {
  (void)state;
  size_t n = 1500000;
  char *big = calloc(1, n);
  write_file(at("pool"), big, n);
  int in;
  ok(nd_io_open(&in, at("pool"), O_RDONLY, 0, &err));
  nd_io_fail_at(UINT64_MAX, EIO);
  ok(writer_job(big, n, in));
  uint64_t calls = nd_io_count();
  int failures = 0, passes = 0;
  for (uint64_t i = 1; i <= calls; i++) {
    nd_io_fail_at(i, ENOSPC);
    nd_status status = writer_job(big, n, in);
    nd_io_fail_at(0, 0);
    if (status == ND_OK) { /* the reserve was refused: plain writes do it */
      passes++;
      nd_file_info info;
      ok(nd_io_stat(&info, at("job"), &err));
      assert_int_equal(info.size, 6 * n - 3);
    } else {
      failures++;
      refuses(status, ND_ERR_IO, "No space left on device");
    }
  }
  assert_true(failures >= 8);
#if defined(__linux__)
  assert_true(passes >= 2);
#endif
  for (uint64_t i = 1; i <= 2; i++) {
    nd_mem_fail_at(i);
    assert_int_equal(writer_job(big, n, in), ND_ERR_MEMORY);
  }
  clear_hooks(NULL);
  /* The source is shorter than promised. */
  nd_writer *w;
  ok(nd_writer_open(&w, at("w"), &err));
  refuses(nd_writer_copy(w, in, 1, n, "pool", &err), ND_ERR_DATA, "pool is shorter");
  refuses(nd_writer_close(w, false, &err), ND_ERR_DATA, "pool is shorter");
  assert_int_equal(access(at("w"), F_OK), -1);
  close(in);
  /* A device that is full; it must survive. */
  if (access("/dev/full", W_OK) == 0) {
    ok(nd_writer_open(&w, "/dev/full", &err));
    refuses(nd_writer_put(w, big, n, &err), ND_ERR_IO, "cannot write /dev/full: No space left");
    nd_writer_abandon(w);
    assert_int_equal(access("/dev/full", W_OK), 0);
  }
  free(big);
}

/* Who holds a lock, and what the system may answer. */
static void lock_is_shared_or_exclusive(void **state) {
  (void)state;
  int one, two;
  bool got = false;
  ok(nd_io_open(&one, at("lock"), O_RDWR | O_CREAT, 0600, &err));
  ok(nd_io_open(&two, at("lock"), O_RDWR, 0, &err));
  ok(nd_io_lock(&got, one, true, false, "lock", &err));
  assert_true(got);
  ok(nd_io_lock(&got, two, true, false, "lock", &err)); /* shared by both */
  assert_true(got);
  ok(nd_io_lock(&got, two, false, false, "lock", &err));
  assert_false(got);
  close(one);
  nd_io_fail_at(1, EINTR);
  ok(nd_io_lock(&got, two, false, true, "lock", &err)); /* tried again */
  assert_true(got);
  nd_io_fail_at(1, ENOLCK);
  refuses(nd_io_lock(&got, two, false, true, "the lock", &err), ND_ERR_IO, "lock the lock");
  assert_false(got);
  nd_io_fail_at(0, 0);
  close(two);
}

static void test_real_path(void **state) {
  (void)state;
  char real[PATH_MAX], again[PATH_MAX];
  ok(nd_io_real_path(real, dir, &err));
  assert_int_equal(symlink(dir, at("link")), 0);
  ok(nd_io_real_path(again, at("link/."), &err));
  assert_string_equal(real, again);
  refuses(nd_io_real_path(real, at("missing"), &err), ND_ERR_IO, "missing");
  nd_io_fail_at(1, EIO);
  refuses(nd_io_real_path(real, dir, &err), ND_ERR_IO, "cannot access");
  nd_io_fail_at(0, 0);
}

/* The longest path fits, one more byte does not; what to do stands at the end of the message. */
static void path_of_the_longest_length_fits(void **state) {
  (void)state;
  static char path[PATH_MAX];
  memset(path, 'd', sizeof path - 1);
  ok(nd_io_check_length("dir", 10, "name", &err));
  ok(nd_io_check_length("", 0, path, &err));
  assert_int_equal(nd_io_check_length(path, 1, "", &err), ND_ERR_IO);
  assert_int_equal(nd_io_check_length(path, 0, path, &err), ND_ERR_IO);
  assert_non_null(strstr(err.message, "too long"));
  assert_non_null(strstr(err.message, "shorter output directory"));
  path[sizeof path - 1 - 11] = '\0';
  ok(nd_io_check_length(path, 7, "name", &err));
  assert_int_equal(nd_io_check_length(path, 8, "name", &err), ND_ERR_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(short_calls_transfer_everything, clear_hooks),
      cmocka_unit_test_teardown(messages_name_the_file_and_the_reason, clear_hooks),
      cmocka_unit_test_teardown(makes_missing_parents_of_a_folder, clear_hooks),
      cmocka_unit_test_teardown(folders_made_by_others_meanwhile_are_taken, clear_hooks),
      cmocka_unit_test_teardown(test_every_call_fails, clear_hooks),
      cmocka_unit_test_teardown(test_copy_range, clear_hooks),
      cmocka_unit_test_teardown(path_of_the_longest_length_fits, clear_hooks),
      cmocka_unit_test_teardown(lock_is_shared_or_exclusive, clear_hooks),
      cmocka_unit_test_teardown(test_real_path, clear_hooks),
      cmocka_unit_test_teardown(writer_agrees_with_a_buffer, clear_hooks),
      cmocka_unit_test_teardown(test_writer_empty, clear_hooks),
      cmocka_unit_test_teardown(test_writer_file, clear_hooks),
      cmocka_unit_test_teardown(test_writer_reserve, clear_hooks),
      cmocka_unit_test_teardown(test_writer_failures, clear_hooks),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
