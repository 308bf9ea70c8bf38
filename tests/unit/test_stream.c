/* Streams: plain files, opening, the window, failing calls, real files. */
#include "stream_tools.h"

static void plain_bytes_pass_unchanged(void **state) {
  (void)state;
  size_t sizes[] = {0, 1, 2, 3, 4, 5, 65536, 262143, 262144, 262145, 262152, 262153, 1000000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    nd_buf b = words(sizes[i]);
    unpacks_to(&b, &b);
    nd_stream *s = open_way(A_FILE, &b);
    assert_int_equal(nd_stream_packing(s), ND_PACKING_NONE);
    assert_int_equal(nd_stream_members(s), 0);
    assert_int_equal(nd_stream_packed_offset(s), 0);
    nd_stream_close(s);
    nd_buf_clear(&b);
  }
  const char *near[] = {"\x1f", "\x1f\x8c\x08", "\x28\xb5\x2f", "\x28\xb5\x2f\xfe", "\x50\x2a\x4d"};
  for (size_t i = 0; i < 5; i++) {
    nd_buf b = {0};
    add(&b, near[i], strlen(near[i]));
    unpacks_to(&b, &b);
    nd_buf_clear(&b);
  }
  nd_stream_close(NULL);
}

static void test_open_failures(void **state) {
  (void)state;
  nd_stream *s;
  assert_int_equal(nd_stream_open(&s, at("none"), &err), ND_ERR_IO);
  assert_null(s);
  says("cannot open");
  says("No such file");
  assert_int_equal(nd_stream_open(&s, stream_dir, &err), ND_ERR_IO);
  says("it is a directory");
  if (getuid() != 0) {
    write_bytes(at("secret"), "x", 1);
    chmod(at("secret"), 0);
    assert_int_equal(nd_stream_open(&s, at("secret"), &err), ND_ERR_IO);
    says("check its permissions");
  }
}

static void standard_input_starts_where_it_stands(void **state) {
  (void)state;
  int saved = dup(0);
  write_bytes(at("in"), "skipped,seen", 12);
  int fd = open(at("in"), O_RDONLY);
  assert_int_equal(lseek(fd, 8, SEEK_SET), 8);
  dup2(fd, 0);
  close(fd);
  nd_stream *s;
  nd_buf got;
  ok(nd_stream_open(&s, "-", &err));
  assert_string_equal(nd_stream_name(s), "-");
  ok(drain(&got, s, 1));
  assert_int_equal(nd_stream_packed_offset(s), 4);
  nd_stream_close(s);
  assert_int_equal(got.n, 4);
  assert_memory_equal(got.p, "seen", 4);
  assert_int_equal(lseek(0, 0, SEEK_CUR), 8); /* still open */
  nd_buf_clear(&got);
  dup2(saved, 0);
  close(saved);
}
/* ---- the window ---- */

static void pack_three(nd_buf packed[3], const nd_buf *plain) {
  memset(packed, 0, 3 * sizeof packed[0]);
  add(&packed[ND_PACKING_NONE], plain->p, plain->n);
  add_gzip(&packed[ND_PACKING_GZIP], plain->p, plain->n / 3, 6, Z_DEFAULT_STRATEGY, NULL);
  add_gzip(&packed[ND_PACKING_GZIP], plain->p + plain->n / 3, plain->n - plain->n / 3, 1,
           Z_DEFAULT_STRATEGY, NULL);
  add_zstd(&packed[ND_PACKING_ZSTD], plain->p, plain->n / 3, 0, NULL);
  add_zstd(&packed[ND_PACKING_ZSTD], plain->p + plain->n / 3, plain->n - plain->n / 3, 0, NULL);
}

static void test_random_walk(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = words(3000000), packed[3];
  pack_three(packed, &plain);
  for (int run = 0; run < 12; run++) {
    nd_stream *s = open_way(run % 2 ? A_FILE : MEMORY, &packed[run % 3]);
    assert_int_equal(nd_stream_packing(s), run % 3);
    if (run >= 6) nd_io_short(1 + draw(100000));
    size_t place = 0;
    uint64_t sum = 0;
    while (place < plain.n) {
      size_t most = draw(30) == 0 ? 2000000 : draw(4) == 0 ? 100000 : 50;
      size_t want = draw(most), left = plain.n - place;
      if (draw(20) == 0) {
        if (want > left) want = left;
        ok(nd_stream_advance(s, want, &err));
        place += want;
        continue;
      }
      nd_str seen;
      ok(nd_stream_peek(&seen, s, want, &err));
      assert_true(seen.n >= (want < left ? want : left) && seen.n <= left);
      assert_memory_equal(seen.p, plain.p + place, seen.n < 5000 ? seen.n : 5000);
      if (seen.n) assert_int_equal(seen.p[seen.n - 1], plain.p[place + seen.n - 1]);
      for (size_t i = 0; i < ND_SLACK; i++) sum += (unsigned char)seen.p[seen.n + i];
      size_t step = draw(seen.n + 1);
      nd_stream_skip(s, step);
      place += step;
      assert_int_equal(nd_stream_offset(s), place);
    }
    assert_true(sum != 1);
    nd_str seen;
    ok(nd_stream_peek(&seen, s, 1, &err));
    assert_int_equal(seen.n, 0);
    nd_stream_close(s);
    nd_io_short(0);
  }
  for (int i = 0; i < 3; i++) nd_buf_clear(&packed[i]);
  nd_buf_clear(&plain);
}

/* Large wants with small steps: the work must not be want × steps. */
static void test_large_want_small_steps(void **state) {
  (void)state;
  nd_buf plain = words(6000000), packed[3];
  pack_three(packed, &plain);
  for (int i = 0; i < 3; i++) {
    nd_stream *s = open_way(A_FILE, &packed[i]);
    nd_str seen;
    size_t steps = 0;
    for (;; steps++) {
      ok(nd_stream_peek(&seen, s, 1000000, &err));
      if (seen.n == 0) break;
      nd_stream_skip(s, seen.n < 16 ? seen.n : 16);
    }
    assert_int_equal(steps, plain.n / 16);
    nd_stream_close(s);
    nd_buf_clear(&packed[i]);
  }
  /* A huge want of a small file claims no memory for what is not there. */
  nd_stream *s = open_way(MEMORY, &plain);
  nd_str seen;
  ok(nd_stream_peek(&seen, s, SIZE_MAX, &err));
  assert_int_equal(seen.n, plain.n);
  nd_stream_close(s);
  nd_buf_clear(&plain);
}

static void advancing_skips_bytes_in_any_packing(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = words(2000000), packed[3];
  pack_three(packed, &plain);
  for (int i = 0; i < 3; i++) {
    for (int far = 0; far < 2; far++) {
      nd_stream *s = open_way(far ? A_FILE : MEMORY, &packed[i]);
      nd_str seen;
      ok(nd_stream_peek(&seen, s, 100, &err));
      ok(nd_stream_advance(s, 1700001, &err));
      assert_int_equal(nd_stream_offset(s), 1700001);
      ok(nd_stream_peek(&seen, s, 50, &err));
      assert_memory_equal(seen.p, plain.p + 1700001, 50);
      ok(nd_stream_advance(s, 0, &err));
      assert_int_equal(nd_stream_advance(s, far ? UINT64_MAX : 300000, &err), ND_ERR_DATA);
      says("shorter than expected: it ends at byte 2000000");
      assert_int_equal(nd_stream_offset(s), 2000000);
      ok(nd_stream_peek(&seen, s, 1, &err));
      assert_int_equal(seen.n, 0);
      nd_stream_close(s);
    }
    if (i == 0) continue;
    packed[i].n -= 3;
    nd_stream *s = open_way(A_FILE, &packed[i]);
    assert_int_equal(nd_stream_advance(s, 2000001, &err), ND_ERR_DATA);
    says("truncated");
    assert_int_equal(nd_stream_offset(s), 2000000);
    nd_stream_close(s);
  }
  for (int i = 0; i < 3; i++) nd_buf_clear(&packed[i]);
  nd_buf_clear(&plain);
  /* A sparse terabyte is not read. */
  write_bytes(at("sparse"), "x", 1);
  if (truncate(at("sparse"), (off_t)1 << 40) == 0) {
    nd_stream *s;
    nd_str seen;
    ok(nd_stream_open(&s, at("sparse"), &err));
    ok(nd_stream_advance(s, ((uint64_t)1 << 40) - 7, &err));
    ok(nd_stream_peek(&seen, s, 100, &err));
    assert_int_equal(seen.n, 7);
    assert_int_equal(nd_stream_packed_offset(s), ((uint64_t)1 << 40) - 7);
    nd_stream_close(s);
  }
  unlink(at("sparse"));
}

/* Advancing and looking ahead where the file is not what it was, or no file. */
static void test_odd_files(void **state) {
  (void)state;
  enum { BLOCK = 1 << 18 };
  nd_buf plain = words(5 * BLOCK);
  nd_str seen;
  char ahead[10];
  size_t got;
  /* A pipe, and bytes in memory: no looking ahead, but advancing. */
  nd_buf few = {plain.p, 600000, 600000};
  for (int memory = 0; memory < 2; memory++) {
    nd_stream *s = open_way(memory ? MEMORY : PIPE, &few);
    assert_false(nd_stream_glimpse(&got, s, 100, ahead, sizeof ahead));
    assert_int_equal(got, 0);
    ok(nd_stream_advance(s, 590000, &err));
    ok(nd_stream_peek(&seen, s, 10, &err));
    assert_memory_equal(seen.p, plain.p + 590000, 10);
    nd_stream_skip(s, SIZE_MAX); /* no further than what is seen */
    assert_int_equal(nd_stream_offset(s), 600000);
    assert_int_equal(nd_stream_advance(s, 2 * BLOCK, &err), ND_ERR_DATA);
    nd_stream_close(s);
  }
  nd_buf packed = {0};
  add_gzip(&packed, plain.p, plain.n, 1, Z_DEFAULT_STRATEGY, NULL);
  nd_stream *s = open_way(A_FILE, &packed);
  assert_false(nd_stream_glimpse(&got, s, 100, ahead, sizeof ahead));
  nd_stream_close(s);
  nd_buf_clear(&packed);
  write_bytes(at("odd"), plain.p, plain.n);
  ok(nd_stream_open(&s, at("odd"), &err));
  assert_true(nd_stream_glimpse(&got, s, plain.n - 4, ahead, sizeof ahead));
  assert_int_equal(got, 4);
  assert_memory_equal(ahead, plain.p + plain.n - 4, 4);
  nd_io_fail_at(1, EIO);
  assert_false(nd_stream_glimpse(&got, s, plain.n - 4, ahead, sizeof ahead));
  /* How long the file is cannot be asked. */
  nd_io_fail_at(1, EIO);
  assert_int_equal(nd_stream_advance(s, 3 * BLOCK, &err), ND_ERR_IO);
  nd_io_fail_at(0, 0);
  nd_stream_close(s);
  /* Less than a block is read, and what could not be read once stays so. */
  ok(nd_stream_open(&s, at("odd"), &err));
  ok(nd_stream_peek(&seen, s, 1, &err));
  ok(nd_stream_advance(s, seen.n + 100, &err));
  assert_int_equal(nd_stream_offset(s), seen.n + 100);
  nd_io_fail_at(1, EIO);
  assert_int_equal(nd_stream_peek(&seen, s, 4 * BLOCK, &err), ND_ERR_IO);
  nd_io_fail_at(0, 0);
  assert_int_equal(nd_stream_advance(s, 4 * BLOCK, &err), ND_ERR_IO);
  nd_stream_close(s);
  /* The file becomes shorter than what was read, and than what was promised. */
  ok(nd_stream_open(&s, at("odd"), &err));
  assert_int_equal(truncate(at("odd"), 100), 0);
  assert_int_equal(nd_stream_advance(s, 4 * BLOCK, &err), ND_ERR_DATA);
  says("shorter than expected");
  ok(nd_stream_peek(&seen, s, 1, &err));
  assert_int_equal(seen.n, 0);
  assert_int_equal(nd_stream_advance(s, 4 * BLOCK, &err), ND_ERR_DATA); /* at the end */
  nd_stream_close(s);
  nd_buf_clear(&plain);
}

/* ---- failing calls ---- */

static nd_status whole_job(const char *path, nd_str memory, uint64_t *bytes) {
  nd_stream *s;
  nd_str seen;
  nd_status status =
      path ? nd_stream_open(&s, path, &err) : nd_stream_open_memory(&s, memory, "memory", &err);
  if (status != ND_OK) {
    assert_null(s);
    return status;
  }
  do { /* makes the window grow */
    status = nd_stream_peek(&seen, s, 700000, &err);
    nd_stream_skip(s, seen.n);
  } while (status == ND_OK && seen.n > 0);
  *bytes = nd_stream_offset(s);
  nd_stream_close(s);
  return status;
}

static void test_failing_calls(void **state) {
  (void)state;
  nd_buf plain = words(1500000), packed[3];
  pack_three(packed, &plain);
  for (int i = 0; i < 6; i++) {
    nd_buf *b = &packed[i % 3];
    if (i >= 3 && i % 3) b->n -= 2; /* truncated: gzip's second engine takes part */
    nd_status want = i >= 3 && i % 3 ? ND_ERR_DATA : ND_OK;
    write_bytes(at("job"), b->p, b->n);
    for (int memory = 0; memory < 2; memory++) {
      uint64_t bytes;
      const char *path = memory ? NULL : at("job");
      for (uint64_t nth = 1;; nth++) {
        nd_mem_fail_at(nth);
        nd_status status = whole_job(path, nd_buf_str(b), &bytes);
        bool reached = nd_mem_count() >= nth;
        nd_mem_fail_at(0);
        if (!reached) {
          assert_int_equal(status, want);
          assert_int_equal(bytes, plain.n);
          assert_true(nth > 2);
          break;
        }
        assert_int_equal(status, ND_ERR_MEMORY);
      }
      for (uint64_t nth = 1; !memory; nth++) {
        nd_io_fail_at(nth, EIO);
        nd_status status = whole_job(path, nd_buf_str(b), &bytes);
        bool reached = nd_io_count() >= nth;
        nd_io_fail_at(nth, EINTR);
        if (!reached) break;
        assert_int_equal(status, ND_ERR_IO);
        says("cannot ");
        says(at("job"));
        if (nth != 2) assert_int_equal(whole_job(path, nd_buf_str(b), &bytes), want);
        nd_io_fail_at(0, 0);
      }
      nd_io_fail_at(0, 0);
    }
  }
  for (int i = 0; i < 3; i++) nd_buf_clear(&packed[i]);
  nd_buf_clear(&plain);
}

/* ---- real files ---- */

static void check_real(const char *path, const char *name) {
  nd_stream *s;
  nd_buf got;
  ok(nd_stream_open(&s, path, &err));
  nd_packing packing = nd_stream_packing(s);
  nd_status status = drain(&got, s, 1);
  nd_stream_close(s);
  bool broken = !strcmp(name, "clipped.warc.gz") || !strcmp(name, "invalid-truncated.gz") ||
                !strcmp(name, "invalid-compression.gz") || !strcmp(name, "invalid-entries.gz") ||
                !strcmp(name, "double-single-inflate-error.gz");
  if (status != (broken ? ND_ERR_DATA : ND_OK)) fail_msg("%s: %s", path, err.message);
  if (!broken && packing == ND_PACKING_GZIP) {
    gzFile f = gzopen(path, "rb");
    char *want = malloc(got.n + 1);
    assert_int_equal(gzread(f, want, (unsigned)got.n + 1), got.n);
    assert_memory_equal(want, got.p, got.n);
    gzclose(f);
    free(want);
  }
  nd_buf_clear(&got);
}

static void real_files_are_read_alike_every_way(void **state) {
  (void)state;
  const char *data = getenv("NEARDUP_DATA");
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  char path[2000];
  snprintf(path, sizeof path, "%s/warc-fixtures", data);
  DIR *top = opendir(path);
  assert_non_null(top);
  int files = 0;
  for (struct dirent *e; (e = readdir(top));) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/warc-fixtures/%s", data, e->d_name);
    DIR *sub = opendir(path);
    if (!sub) continue;
    for (struct dirent *f; (f = readdir(sub));) {
      if (f->d_name[0] == '.') continue;
      snprintf(path, sizeof path, "%s/warc-fixtures/%s/%s", data, e->d_name, f->d_name);
      check_real(path, f->d_name);
      files++;
    }
    closedir(sub);
  }
  closedir(top);
  print_message("%d files\n", files);
  assert_true(files > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(plain_bytes_pass_unchanged, clear_hooks),
      cmocka_unit_test_teardown(test_open_failures, clear_hooks),
      cmocka_unit_test_teardown(standard_input_starts_where_it_stands, clear_hooks),
      cmocka_unit_test_teardown(test_random_walk, clear_hooks),
      cmocka_unit_test_teardown(test_large_want_small_steps, clear_hooks),
      cmocka_unit_test_teardown(advancing_skips_bytes_in_any_packing, clear_hooks),
      cmocka_unit_test_teardown(test_odd_files, clear_hooks),
      cmocka_unit_test_teardown(test_failing_calls, clear_hooks),
      cmocka_unit_test_teardown(real_files_are_read_alike_every_way, clear_hooks),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
