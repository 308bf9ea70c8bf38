/* Files copied without some of their parts, plain and packed, against the bytes in memory; then
 * with damage, with cuts beyond the end, and with every call failing. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "codec/stream.h"
#include "every_place.h"
#include "output/cut.h"

enum { MOST_CUTS = 40 };

static char dir[] = "/tmp/nd_test_cut_XXXXXX";
static nd_rng rng;

static const char *at(const char *name) {
  return path_in(dir, name);
}

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  unlink(at("in"));
  unlink(at("out"));
  return rmdir(dir);
}

static void write_file(const char *path, const void *p, size_t n) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(n ? fwrite(p, 1, n, f) : 0, n);
  assert_int_equal(fclose(f), 0);
}

/* All that can be read, and how many members there were. */
static uint64_t read_back(nd_buf *out, const char *path) {
  nd_stream *s;
  nd_str seen;
  ok(nd_stream_open(&s, path, &err));
  out->n = 0;
  do {
    ok(nd_stream_peek(&seen, s, 1 << 16, &err));
    ok(nd_buf_append(out, seen.p, seen.n, &err));
    nd_stream_skip(s, seen.n);
  } while (seen.n);
  uint64_t members = nd_stream_members(s);
  nd_stream_close(s);
  return members;
}

static void pack(nd_buf *out, nd_packing packing, nd_str plain) {
  ok(nd_buf_reserve(out, ZSTD_compressBound(plain.n) + 1000, &err));
  char *to = out->p + out->n;
  if (packing == ND_PACKING_NONE) {
    ok(nd_buf_append(out, plain.p, plain.n, &err));
  } else if (packing == ND_PACKING_ZSTD) {
    out->n += ZSTD_compress(to, out->cap - out->n, plain.p, plain.n, 1);
  } else {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)plain.p,
                  .avail_in = (unsigned)plain.n,
                  .next_out = (Bytef *)to,
                  .avail_out = (unsigned)(out->cap - out->n)};
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += z.total_out;
    deflateEnd(&z);
  }
}

static nd_buf words(size_t n) {
  nd_buf b = {0};
  ok(nd_buf_reserve(&b, n + 8, &err));
  for (; b.n < n; b.n += 8)
    memcpy(b.p + b.n, &"the quick brown fox jumps over it"[nd_rng_below(&rng, 25)], 8);
  b.n = n;
  return b;
}

/* Rising parts of n bytes; some touch. */
static size_t draw_cuts(nd_cut *cuts, size_t n) {
  size_t count = nd_rng_below(&rng, MOST_CUTS), end = 0, k = 0;
  for (size_t i = 0; i < count; i++) {
    size_t from = end + nd_rng_below(&rng, 3) * nd_rng_below(&rng, n / 20 + 2);
    size_t length = nd_rng_below(&rng, n / 20 + 2);
    if (from + length > n) break;
    cuts[k++] = (nd_cut){from, length};
    end = from + length;
  }
  return k;
}

static void naive(nd_buf *out, nd_str in, const nd_cut *cuts, size_t n) {
  size_t from = 0;
  out->n = 0;
  for (size_t i = 0; i < n; i++) {
    ok(nd_buf_append(out, in.p + from, cuts[i].offset - from, &err));
    from = cuts[i].offset + cuts[i].length;
  }
  ok(nd_buf_append(out, in.p + from, in.n - from, &err));
}

static void same(const nd_buf *got, const nd_buf *want) {
  assert_int_equal(got->n, want->n);
  assert_true(want->n == 0 || memcmp(got->p, want->p, want->n) == 0);
}

static void plain_files(void **state) {
  (void)state;
  nd_buf got = {0}, want = {0};
  for (int round = 0; round < 60; round++) {
    nd_buf in = words(round % 20 ? nd_rng_below(&rng, 5000) : 1200000);
    nd_cut cuts[MOST_CUTS];
    size_t n = draw_cuts(cuts, in.n);
    write_file(at("in"), in.p, in.n);
    int from = open(at("in"), O_RDONLY), to = open(at("out"), O_RDWR | O_CREAT | O_TRUNC, 0666);
    assert_true(from >= 0 && to >= 0);
    ok(nd_cut_plain(from, "in", to, "out", 0, in.n, 0, cuts, n, NULL, &err));
    close(from);
    close(to);
    naive(&want, nd_buf_str(&in), cuts, n);
    read_back(&got, at("out"));
    same(&got, &want);
    nd_buf_clear(&in);
  }
  nd_buf_clear(&got);
  nd_buf_clear(&want);
}

static void packed_files(void **state) {
  (void)state;
  nd_buf got = {0}, want = {0}, packed = {0};
  for (int round = 0; round < 60; round++) {
    nd_packing packing = (nd_packing)(round % 3);
    nd_buf in = words(1 + (round % 20 ? nd_rng_below(&rng, 5000) : 1200000));
    nd_cut cuts[MOST_CUTS];
    uint64_t splits[MOST_CUTS], bytes;
    size_t n = draw_cuts(cuts, in.n), split_n = nd_rng_below(&rng, MOST_CUTS);
    for (size_t i = 0; i < split_n; i++) /* also inside what is cut away */
      splits[i] = (i ? splits[i - 1] : 0) + nd_rng_below(&rng, in.n / MOST_CUTS + 1);
    packed.n = 0;
    pack(&packed, packing, nd_buf_str(&in));
    write_file(at("in"), packed.p, packed.n);
    nd_cutter *c;
    ok(nd_cutter_open(&c, at("in"), at("out"), true, 2, &err));
    size_t half = n / 2, split_half = 0; /* in two calls */
    uint64_t middle = half ? cuts[half - 1].offset + cuts[half - 1].length : 0;
    while (split_half < split_n && splits[split_half] < middle) split_half++;
    ok(nd_cutter_apply(c, cuts, half, splits, split_half, &err));
    ok(nd_cutter_apply(c, cuts + half, n - half, splits + split_half, split_n - split_half, &err));
    ok(nd_cutter_close(&bytes, c, &err));
    naive(&want, nd_buf_str(&in), cuts, n);
    uint64_t members = read_back(&got, at("out"));
    same(&got, &want);
    assert_int_equal(bytes, want.n);
    if (packing == ND_PACKING_NONE) assert_int_equal(members, 0);
    nd_buf_clear(&in);
  }
  nd_buf_clear(&got);
  nd_buf_clear(&want);
  nd_buf_clear(&packed);
}

/* Three members, the middle one damaged; cuts in the first and last, one beyond the end. */
typedef struct damaged {
  nd_buf want;
  bool abandoned, within; /* only the first cut */
} damaged;

static nd_status cut_damaged(void *context) {
  const damaged *d = context;
  static const nd_cut cuts[] = {{10, 20}, {4990, 20}, {1 << 20, 5}};
  static const uint64_t splits[] = {15, 100, 2000, 9000, 1 << 21};
  nd_cutter *c;
  uint64_t bytes;
  nd_status status = nd_cutter_open(&c, at("in"), at("out"), true, 1, &err);
  if (status != ND_OK) return status;
  status = nd_cutter_apply(c, cuts, d->within ? 1 : 3, splits, d->within ? 2 : 5, &err);
  if (status != ND_OK || d->abandoned) {
    nd_cutter_abandon(c);
    assert_int_equal(access(at("out"), F_OK), -1);
    return status;
  }
  status = nd_cutter_close(&bytes, c, &err);
  if (status == ND_OK && !d->within) assert_int_equal(bytes, d->want.n);
  return status;
}

static void damaged_files_are_cut_or_fail_cleanly(void **state) {
  (void)state;
  nd_cutter_abandon(NULL);
  for (nd_packing packing = ND_PACKING_GZIP; packing <= ND_PACKING_ZSTD; packing++) {
    nd_buf in[3] = {words(5000), words(4000), words(6000)}, packed = {0}, all = {0}, got = {0};
    damaged d = {0};
    size_t second = 0;
    for (int i = 0; i < 3; i++) {
      if (i == 1) second = packed.n;
      pack(&packed, packing, nd_buf_str(&in[i]));
      if (i != 1) ok(nd_buf_append(&all, in[i].p, in[i].n, &err));
      nd_buf_clear(&in[i]);
    }
    packed.p[second + 1] ^= 1; /* no member any more; what follows has its offsets */
    write_file(at("in"), packed.p, packed.n);
    naive(&d.want, nd_buf_str(&all), (nd_cut[]){{10, 20}, {4990, 20}}, 2);
    ok(cut_damaged(&d));
    read_back(&got, at("out"));
    same(&got, &d.want);
    assert_true(every_place_fails(cut_damaged, &d) >= 10);
    nd_io_short(700); /* so that there is something to read until the end */
    bool reached = true;
    d.within = true;
    for (uint64_t nth = 1; reached; nth++) {
      nd_io_fail_at(nth, EIO);
      nd_status status = cut_damaged(&d);
      reached = nd_io_count() >= nth;
      nd_io_fail_at(0, 0);
      if (status != ND_OK) assert_int_equal(status, ND_ERR_IO);
    }
    nd_io_short(0);
    d.abandoned = true;
    ok(cut_damaged(&d));
    nd_buf_clear(&packed);
    nd_buf_clear(&all);
    nd_buf_clear(&got);
    nd_buf_clear(&d.want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plain_files), cmocka_unit_test(packed_files),
                                     cmocka_unit_test(damaged_files_are_cut_or_fail_cleanly)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
