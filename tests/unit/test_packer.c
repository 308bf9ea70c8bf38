/* Packed files: read back by the streams and by the packers' own tools, the same
 * bytes however they were put, members where they were asked for. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/io.h"
#include "codec/packer.h"
#include "every_place.h"

static char dir[] = "/tmp/nd_test_packer_XXXXXX";

static const char *at(const char *name) {
  return path_in(dir, name);
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

static void new_seed(void) {
  rng = test_seed();
}

static nd_buf mixed(size_t n) {
  nd_buf b = {0};
  while (b.n < n) {
    bool noise = draw(4) == 0;
    for (size_t i = 0, length = draw(20000); i < length && b.n < n; i++) {
      char c = noise ? (char)draw(256) : "the quick brown fox\n"[draw(7) * draw(3)];
      ok(nd_buf_append(&b, &c, 1, &err));
    }
  }
  return b;
}

static nd_buf slurp(const char *path) {
  nd_buf b = {0};
  nd_file_info info;
  int fd;
  ok(nd_io_stat(&info, path, &err));
  ok(nd_buf_reserve(&b, (size_t)info.size, &err));
  ok(nd_io_open(&fd, path, O_RDONLY, 0, &err));
  ok(nd_io_read_full(fd, b.p, (size_t)info.size, path, &err));
  ok(nd_io_close(fd, path, &err));
  b.n = (size_t)info.size;
  return b;
}

/* Puts `plain` in random pieces; a member ends after each `member` bytes (0: never). */
static nd_status pack(const char *path, nd_packing packing, nd_str plain, size_t most,
                      size_t member) {
  nd_packer *p;
  ND_TRY(nd_packer_open(&p, path, packing, true, &err));
  size_t place = 0;
  nd_status status;
  while (place < plain.n) {
    size_t n = 1 + draw(most);
    if (n > plain.n - place) n = plain.n - place;
    if (member && n > member - place % member) n = member - place % member;
    ND_TRY_GOTO(nd_packer_put(p, plain.p + place, n, &err), fail);
    place += n;
    assert_int_equal(nd_packer_offset(p), place);
    if (member && place % member == 0) {
      ND_TRY_GOTO(nd_packer_member_end(p, &err), fail);
      ND_TRY_GOTO(nd_packer_member_end(p, &err), fail); /* no empty members */
    }
  }
  return nd_packer_close(p, false, &err);
fail:;
  nd_error again;
  assert_int_equal(nd_packer_put(p, "x", 1, &again), status);
  assert_string_equal(again.message, err.message);
  assert_int_equal(nd_packer_member_end(p, NULL), status);
  if (draw(2)) {
    nd_packer_abandon(p);
  } else {
    assert_int_equal(nd_packer_close(p, false, &err), status);
  }
  assert_int_equal(access(path, F_OK), -1);
  return status;
}

static uint64_t reads_back(const char *path, nd_packing packing, nd_str plain) {
  nd_stream *s;
  nd_str seen;
  ok(nd_stream_open(&s, path, &err));
  assert_int_equal(nd_stream_packing(s), packing);
  ok(nd_stream_peek(&seen, s, plain.n + 1, &err));
  assert_true(nd_str_eq(seen, plain));
  uint64_t members = nd_stream_members(s);
  nd_stream_close(s);
  return members;
}

static void test_round_trip(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = mixed(700000);
  size_t sizes[] = {0, 1, 100, 131072, 700000};
  size_t members[] = {0, 1000, 70000};
  for (nd_packing packing = ND_PACKING_NONE; packing <= ND_PACKING_ZSTD; packing++) {
    for (size_t i = 0; i < 5; i++) {
      for (size_t m = 0; m < 3; m++) {
        nd_str part = {plain.p, sizes[i]};
        ok(pack(at("a"), packing, part, 1 << 20, members[m]));
        uint64_t want = members[m] ? (part.n + members[m] - 1) / members[m] : part.n > 0;
        uint64_t got = reads_back(at("a"), packing, part);
        if (packing == ND_PACKING_GZIP) assert_int_equal(got, want ? want : 1);
        if (packing == ND_PACKING_ZSTD) assert_int_equal(got, want);
        /* The same bytes in other pieces give the same file. */
        nd_buf first = slurp(at("a"));
        ok(pack(at("b"), packing, part, 3000, members[m]));
        nd_buf second = slurp(at("b"));
        assert_true(nd_str_eq(nd_buf_str(&first), nd_buf_str(&second)));
        if (packing == ND_PACKING_NONE) assert_int_equal(first.n, part.n);
        if (packing != ND_PACKING_NONE) assert_true(first.n > 0);
        nd_buf_clear(&first);
        nd_buf_clear(&second);
      }
    }
  }
  nd_buf_clear(&plain);
}

/* Without records members are chunks; large members are packed as they come;
 * threads change nothing. */
static void test_gzip_threads(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = mixed(12 << 20);
  nd_buf files[2][2] = {{{0}}};
  for (int records = 0; records < 2; records++) {
    for (int i = 0; i < 2; i++) {
      nd_packer *p;
      ok(nd_packer_open(&p, at("t"), ND_PACKING_GZIP, records, &err));
      nd_packer_threads(p, i ? 3 : 1);
      size_t place = 0;
      while (place < plain.n) {
        size_t n = 1 + draw(300000);
        if (n > plain.n - place) n = plain.n - place;
        ok(nd_packer_put(p, plain.p + place, n, &err));
        place += n;
      }
      ok(nd_packer_close(p, false, &err));
      uint64_t got = reads_back(at("t"), ND_PACKING_GZIP, nd_buf_str(&plain));
      assert_int_equal(got, records ? 1 : 48);
      files[records][i] = slurp(at("t"));
    }
    assert_true(nd_str_eq(nd_buf_str(&files[records][0]), nd_buf_str(&files[records][1])));
  }
  /* Members of 1000 bytes, one of 9 MiB, then 1000 again. */
  nd_packer *p;
  uint64_t members = 0;
  ok(nd_packer_open(&p, at("t"), ND_PACKING_GZIP, true, &err));
  nd_packer_threads(p, 2);
  for (size_t place = 0; place < plain.n; members++) {
    size_t n = place == 500000 ? 9 << 20 : 1000;
    if (n > plain.n - place) n = plain.n - place;
    ok(nd_packer_put(p, plain.p + place, n, &err));
    ok(nd_packer_member_end(p, &err));
    place += n;
  }
  ok(nd_packer_close(p, false, &err));
  assert_int_equal(reads_back(at("t"), ND_PACKING_GZIP, nd_buf_str(&plain)), members);
  for (int i = 0; i < 4; i++) nd_buf_clear(&files[i / 2][i % 2]);
  nd_buf_clear(&plain);
}

static void test_gzip_header(void **state) {
  (void)state;
  ok(pack(at("a"), ND_PACKING_GZIP, nd_str_of("ab"), 2, 1));
  nd_buf b = slurp(at("a"));
  const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255};
  assert_memory_equal(b.p, head, 10);
  assert_memory_equal(b.p + b.n / 2, head, 10); /* the second member's too */
  nd_buf_clear(&b);
  /* zlib's own reader agrees. */
  gzFile f = gzopen(at("a"), "rb");
  char got[8];
  assert_int_equal(gzread(f, got, 8), 2);
  assert_memory_equal(got, "ab", 2);
  gzclose(f);
}

static void copied_ranges_pack_alike(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = mixed(500000);
  ok(pack(at("source"), ND_PACKING_NONE, nd_buf_str(&plain), 100000, 0));
  int in;
  ok(nd_io_open(&in, at("source"), O_RDONLY, 0, &err));
  for (nd_packing packing = ND_PACKING_NONE; packing <= ND_PACKING_ZSTD; packing++) {
    nd_packer *p;
    ok(nd_packer_open(&p, at("a"), packing, true, &err));
    ok(nd_packer_put(p, plain.p, 10, &err));
    ok(nd_packer_copy(p, in, 10, plain.n - 11, "source", &err));
    ok(nd_packer_copy(p, in, plain.n - 1, 1, "source", &err));
    ok(nd_packer_copy(p, in, plain.n, 0, "source", &err));
    assert_int_equal(nd_packer_offset(p), plain.n);
    ok(nd_packer_close(p, true, &err));
    reads_back(at("a"), packing, nd_buf_str(&plain));
    ok(nd_packer_open(&p, at("a"), packing, true, &err));
    assert_int_equal(nd_packer_copy(p, in, plain.n - 5, 6, "source", &err), ND_ERR_DATA);
    assert_non_null(strstr(err.message, "source is shorter"));
    assert_int_equal(nd_packer_copy(p, in, 0, 1, "source", &err), ND_ERR_DATA);
    assert_int_equal(nd_packer_close(p, false, &err), ND_ERR_DATA);
    assert_int_equal(access(at("a"), F_OK), -1);
  }
  close(in);
  nd_buf_clear(&plain);
}

static void full_disk_and_no_memory_are_errors(void **state) {
  (void)state;
  new_seed();
  nd_packer *p;
  nd_buf plain = mixed(3 << 20);
  nd_packer_abandon(NULL);
  assert_int_equal(nd_packer_open(&p, at("none/a"), ND_PACKING_GZIP, true, &err), ND_ERR_IO);
  assert_null(p);
  for (nd_packing packing = ND_PACKING_NONE; packing <= ND_PACKING_ZSTD; packing++) {
    int failures = 0;
    for (uint64_t nth = 1;; nth++) {
      nd_io_fail_at(nth, ENOSPC);
      nd_status status = pack(at("a"), packing, nd_buf_str(&plain), 1 << 20, 1 << 20);
      bool reached = nd_io_count() >= nth;
      nd_io_fail_at(0, 0);
      if (!reached) break;
      if (status == ND_OK) { /* only the reserve was refused */
        reads_back(at("a"), packing, nd_buf_str(&plain));
      } else {
        failures++;
        assert_int_equal(status, ND_ERR_IO);
        assert_non_null(strstr(err.message, "free some space"));
      }
    }
    assert_true(failures >= 3);
    for (uint64_t nth = 1;; nth++) {
      nd_mem_fail_at(nth);
      nd_status status = pack(at("b"), packing, (nd_str){plain.p, 1000}, 1000, 100);
      bool reached = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      if (!reached) break;
      assert_int_equal(status, ND_ERR_MEMORY);
    }
    nd_io_short(1000);
    ok(pack(at("a"), packing, nd_buf_str(&plain), 1 << 20, 0));
    nd_io_short(0);
    reads_back(at("a"), packing, nd_buf_str(&plain));
  }
  nd_buf_clear(&plain);
}

/* Members of a gzip file: small ones, and one that is packed as it comes. */
typedef struct members {
  nd_buf bytes;
  size_t small, large;
} members;

static nd_status pack_members(void *context) {
  const members *m = context;
  nd_packer *p;
  nd_status status = nd_packer_open(&p, at("m"), ND_PACKING_GZIP, true, &err);
  if (status != ND_OK) return status;
  if (m->small) status = nd_packer_put(p, m->bytes.p, m->small, &err);
  if (status == ND_OK) status = nd_packer_put(p, NULL, 0, &err); /* nothing */
  if (status == ND_OK) status = nd_packer_member_end(p, &err);
  if (status == ND_OK) status = nd_packer_put(p, m->bytes.p + m->small, m->large, &err);
  if (status != ND_OK) {
    nd_packer_abandon(p);
    return status;
  }
  return nd_packer_close(p, false, &err);
}

static void test_members_fail(void **state) {
  (void)state;
  new_seed();
  enum { MIB = 1 << 20 };
  const size_t n = 6 * MIB; /* the writes of what comes after a large one began, too */
  members m = {0};
  ok(nd_buf_reserve(&m.bytes, n, &err));
  memset(m.bytes.p, 'x', n);
  static const size_t sizes[][2] = {{0, 0}, {100, 1000}, {1000, 4 * MIB + 100000}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    m.small = sizes[i][0], m.large = sizes[i][1];
    assert_true(every_place_fails(pack_members, &m) >= 4);
    reads_back(at("m"), ND_PACKING_GZIP, (nd_str){m.bytes.p, m.small + m.large});
  }
  /* What cannot be packed is written as it comes: each of the writes fails. */
  for (size_t i = 0; i + 8 <= n; i += 8) {
    uint64_t noise = rng = rng * 6364136223846793005u + 1442695040888963407u;
    noise ^= noise >> 29;
    memcpy(m.bytes.p + i, &noise, 8);
  }
  m.small = 1000, m.large = n - 1000;
  int failures = 0;
  for (uint64_t nth = 1;; nth++) {
    nd_io_fail_at(nth, ENOSPC);
    nd_status status = pack_members(&m);
    bool reached = nd_io_count() >= nth;
    nd_io_fail_at(0, 0);
    if (!reached) break;
    if (status != ND_OK) assert_int_equal(status, ND_ERR_IO);
    failures += status != ND_OK;
  }
  assert_true(failures >= 5);
  nd_buf_clear(&m.bytes);
}

static nd_status copy_packed(void *context) {
  const int in = *(const int *)context;
  nd_packer *p;
  nd_status status = nd_packer_open(&p, at("c"), ND_PACKING_ZSTD, false, &err);
  if (status != ND_OK) return status;
  status = nd_packer_copy(p, in, 0, 300000, "in", &err);
  if (status == ND_OK) return nd_packer_close(p, false, &err);
  nd_packer_abandon(p);
  return status;
}

static void test_copies_fail(void **state) {
  (void)state;
  int in = open(at("zeros"), O_RDWR | O_CREAT | O_TRUNC, 0666);
  assert_true(in >= 0 && ftruncate(in, 300000) == 0);
  assert_true(every_place_fails(copy_packed, &in) >= 6);
  close(in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_round_trip, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_threads, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_header, clear_hooks),
      cmocka_unit_test_teardown(copied_ranges_pack_alike, clear_hooks),
      cmocka_unit_test_teardown(full_disk_and_no_memory_are_errors, clear_hooks),
      cmocka_unit_test_teardown(test_members_fail, clear_hooks),
      cmocka_unit_test_teardown(test_copies_fail, clear_hooks),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
