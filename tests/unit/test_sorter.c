/* The external sort against a stable sort in memory: spilled or not, unique or
 * not, read twice, filled by several threads, and with every allocation and
 * every system call failing in turn. */
#include <dirent.h>
#include <errno.h>
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

#include "base/io.h"
#include "base/rng.h"
#include "base/sorter.h"
#include "base/threads.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_sorter_XXXXXX";
static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return rmdir(dir); /* fails when a temporary file was left behind */
}

static int clear_hooks(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  nd_io_short(0);
  nd_mem_fail_at(0);
  return 0;
}

static int by_item(const void *x, const void *y) {
  const nd_item *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->value < b->value ? -1 : a->value > b->value;
}

/* Items whose value is the place they were added at. */
static nd_item *draw_items(size_t n, uint64_t keys) {
  nd_item *items = malloc((n + 1) * sizeof *items);
  for (size_t i = 0; i < n; i++) {
    uint64_t key = keys ? nd_rng_below(&rng, keys) : nd_rng_next(&rng);
    items[i] = (nd_item){key, i};
  }
  return items;
}

static size_t sort_naively(nd_item *items, size_t n, bool unique) {
  qsort(items, n, sizeof *items, by_item);
  if (!unique || n == 0) return n;
  size_t kept = 1;
  for (size_t i = 1; i < n; i++)
    if (items[i].key != items[kept - 1].key) items[kept++] = items[i];
  return kept;
}

static void add_in_pieces(nd_sorter *s, const nd_item *items, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t part = (size_t)nd_rng_below(&rng, 3000);
    if (part > n - i) part = n - i;
    ok(nd_sorter_add(s, items + i, part, &err));
    i += part;
  }
}

static void expect(nd_sorter *s, const nd_item *want, size_t n) {
  nd_item out[1500];
  size_t at = 0;
  for (;;) {
    size_t got, room = 1 + (size_t)nd_rng_below(&rng, 1500);
    ok(nd_sorter_next(&got, out, room, s, &err));
    if (got == 0) break;
    assert_true(got <= room && at + got <= n);
    assert_memory_equal(out, want + at, got * sizeof *out);
    at += got;
  }
  assert_int_equal(at, n);
  size_t got = 1;
  ok(nd_sorter_next(&got, out, 10, s, &err)); /* the end stays the end */
  assert_int_equal(got, 0);
}

static void sorts_like_memory(void **state) {
  (void)state;
  const size_t lengths[] = {0, 1, 2, 1000, 4095, 4096, 4097, 8192, 8193, 50000};
  const uint64_t keys[] = {0, 1, 10, 1000, 30000};
  const uint64_t memories[] = {0, 1 << 18, 1 << 26};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
      for (size_t m = 0; m < sizeof memories / sizeof *memories; m++) {
        for (int unique = 0; unique < 2; unique++) {
          size_t n = lengths[l];
          nd_item *items = draw_items(n, keys[k]);
          nd_sorter *s = NULL;
          ok(nd_sorter_new(&s, memories[m], dir, unique, &err));
          add_in_pieces(s, items, n);
          ok(nd_sorter_finish(s, &err));
          size_t want = sort_naively(items, n, unique);
          expect(s, items, want);
          ok(nd_sorter_rewind(s, &err));
          expect(s, items, want);
          if (memories[m] == 1 << 26) assert_int_equal(nd_sorter_spilled(s), 0);
          if (memories[m] == 0 && !unique && n > 4096)
            assert_int_equal(nd_sorter_spilled(s), n * sizeof(nd_item));
          nd_sorter_free(s);
          free(items);
        }
      }
    }
  }
}

static void rewinds_from_the_middle(void **state) {
  (void)state;
  size_t n = 30000;
  nd_item *items = draw_items(n, 9000);
  for (int unique = 0; unique < 2; unique++) {
    nd_sorter *s = NULL;
    ok(nd_sorter_new(&s, 0, dir, unique, &err));
    add_in_pieces(s, items, n);
    ok(nd_sorter_finish(s, &err));
    nd_item *want = malloc(n * sizeof *want);
    memcpy(want, items, n * sizeof *want);
    size_t left = sort_naively(want, n, unique);
    for (int i = 0; i < 5; i++) {
      nd_item out[2000];
      size_t got;
      for (uint64_t reads = nd_rng_below(&rng, 6); reads; reads--)
        ok(nd_sorter_next(&got, out, 2000, s, &err));
      ok(nd_sorter_rewind(s, &err));
      expect(s, want, left);
      ok(nd_sorter_rewind(s, &err));
    }
    nd_sorter_free(s);
    free(want);
  }
  free(items);
}

/* Many runs: 200 of them through the smallest windows. */
typedef struct taken {
  nd_item items[20000];
  size_t n, stop_at;
} taken;

static nd_status take(void *context, nd_item *items, size_t n, nd_error *e) {
  taken *t = context;
  if (t->n >= t->stop_at) return nd_fail(e, ND_ERR_DATA, "enough");
  memcpy(t->items + t->n, items, n * sizeof *items);
  memset(items, 0xff, n * sizeof *items); /* the batch is the taker's */
  t->n += n;
  return ND_OK;
}

static void each_passes_every_item_again_and_again(void **state) {
  (void)state;
  static taken t;
  static nd_item want[20000];
  for (uint64_t memory = 1 << 16; memory <= 1 << 24; memory <<= 8) { /* runs; in memory */
    nd_sorter *s;
    ok(nd_sorter_new(&s, memory, dir, false, &err));
    for (size_t i = 0; i < 20000; i++)
      want[i] = (nd_item){nd_rng_below(&rng, 500), i}; /* by_item compares values, too */
    ok(nd_sorter_add(s, want, 20000, &err));
    qsort(want, 20000, sizeof *want, by_item);
    ok(nd_sorter_finish(s, &err));
    for (int pass = 0; pass < 3; pass++) {
      t = (taken){.stop_at = SIZE_MAX};
      ok(nd_sorter_each(s, take, &t, &err));
      assert_int_equal(t.n, 20000);
      assert_memory_equal(t.items, want, sizeof want);
    }
    t = (taken){.stop_at = 5000};
    assert_int_equal(nd_sorter_each(s, take, &t, &err), ND_ERR_DATA);
    nd_sorter_free(s);
  }
}

static nd_status sum_counts(void *context, nd_item last, uint64_t count, nd_error *e) {
  uint64_t *sum = context;
  (void)e;
  sum[0] += 1;
  sum[1] += count;
  sum[2] += last.key * 1000 + last.value;
  return ND_OK;
}

static void different_values_of_a_key_are_counted(void **state) {
  (void)state;
  const nd_item items[] = {{7, 2}, {7, 1}, {7, 2}, {0, 0}, {7, 2}, {9, 5}, {0, 0}, {9, 6}};
  uint64_t sum[3] = {0};
  nd_sorter *s;
  ok(nd_sorter_new(&s, 1 << 20, dir, false, &err));
  nd_sorter_by_value(s);
  ok(nd_sorter_finish(s, &err));
  ok(nd_sorter_count_values(s, sum_counts, sum, &err));
  assert_int_equal(sum[0], 0);
  nd_sorter_free(s);
  ok(nd_sorter_new(&s, 1 << 20, dir, false, &err));
  nd_sorter_by_value(s);
  ok(nd_sorter_add(s, items, 8, &err));
  ok(nd_sorter_finish(s, &err));
  ok(nd_sorter_count_values(s, sum_counts, sum, &err));
  assert_int_equal(sum[0], 3);         /* keys 0, 7, 9 */
  assert_int_equal(sum[1], 1 + 2 + 2); /* {0}, {1, 2}, {5, 6} */
  assert_int_equal(sum[2], 0 + 7002 + 9006);
  nd_sorter_free(s);
}

static void merges_many_runs(void **state) {
  (void)state;
  size_t n = 200 * 4096 + 17;
  nd_item *items = draw_items(n, 300000);
  nd_sorter *s = NULL;
  ok(nd_sorter_new(&s, 0, dir, false, &err));
  ok(nd_sorter_add(s, items, n, &err));
  ok(nd_sorter_finish(s, &err));
  nd_item *spare = malloc(n * sizeof *spare);
  nd_radix_items(items, spare, n);
  free(spare);
  expect(s, items, n);
  nd_sorter_free(s);
  free(items);
}

/* Few runs of a large buffer: windows have a largest size. */
static void merges_large_runs(void **state) {
  (void)state;
  size_t n = 300000;
  nd_item *items = draw_items(n, 0);
  nd_sorter *s = NULL;
  ok(nd_sorter_new(&s, 8 << 20, dir, false, &err)); /* 262,144 items */
  ok(nd_sorter_add(s, items, n, &err));
  ok(nd_sorter_finish(s, &err));
  assert_int_equal(nd_sorter_spilled(s), n * sizeof *items);
  expect(s, items, sort_naively(items, n, false));
  nd_sorter_free(s);
  free(items);
}

typedef struct crowd {
  nd_sorter *s;
  const nd_item *items;
  size_t n;
} crowd;
enum { SHARE = 701 };

static nd_status add_share(void *context, unsigned member, uint64_t job, nd_error *e) {
  (void)member;
  crowd *c = context;
  size_t first = job * SHARE, n = c->n - first < SHARE ? c->n - first : SHARE;
  return nd_sorter_add(c->s, c->items + first, n, e);
}

static void threads_add_together(void **state) {
  (void)state;
  size_t n = 60000;
  for (int unique = 0; unique < 2; unique++) {
    nd_item *items = draw_items(n, 20000);
    /* one value per key: which of two equal keys comes first depends on timing */
    for (size_t i = 0; i < n; i++) items[i].value = items[i].key * 3;
    crowd c = {NULL, items, n};
    ok(nd_sorter_new(&c.s, 1 << 17, dir, unique, &err));
    ok(nd_threads_run(4, (n + SHARE - 1) / SHARE, add_share, &c, &err));
    ok(nd_sorter_finish(c.s, &err));
    nd_item *want = malloc(n * sizeof *want);
    memcpy(want, items, n * sizeof *want);
    expect(c.s, want, sort_naively(want, n, unique));
    nd_sorter_free(c.s);
    free(want);
    free(items);
  }
}

/* Of equal keys the smallest value stays, wherever its run is. */
static void unique_keeps_the_smallest_value(void **state) {
  (void)state;
  size_t n = 40000;
  nd_item *items = draw_items(n, 9000);
  for (size_t i = 0; i < n; i++) items[i].value = nd_rng_below(&rng, 1000);
  nd_sorter *s = NULL;
  ok(nd_sorter_new(&s, 0, dir, true, &err));
  add_in_pieces(s, items, n);
  ok(nd_sorter_finish(s, &err));
  assert_true(nd_sorter_spilled(s) > 0);
  size_t want = sort_naively(items, n, true);
  expect(s, items, want);
  ok(nd_sorter_rewind(s, &err));
  expect(s, items, want);
  nd_sorter_free(s);
  free(items);
}

static void repeats_of_one_key_never_spill(void **state) {
  (void)state;
  nd_sorter *s = NULL;
  ok(nd_sorter_new(&s, 0, dir, true, &err));
  for (uint64_t i = 0; i < 100000; i++) {
    nd_item item = {i % 100, i};
    ok(nd_sorter_add(s, &item, 1, &err));
  }
  ok(nd_sorter_finish(s, &err));
  assert_int_equal(nd_sorter_spilled(s), 0);
  nd_item out[200];
  size_t got;
  ok(nd_sorter_next(&got, out, 200, s, &err));
  assert_int_equal(got, 100);
  for (uint64_t i = 0; i < 100; i++) {
    assert_int_equal(out[i].key, i);
    assert_int_equal(out[i].value, i); /* the smallest that came */
  }
  nd_sorter_free(s);
}

/* The whole life of a sorter; *sum is a checksum of what came out. */
static nd_status live(const nd_item *items, size_t n, bool unique, uint64_t *sum, nd_error *e) {
  nd_sorter *s = NULL;
  nd_item *out = malloc(1000 * sizeof *out);
  nd_status status = nd_sorter_new(&s, 0, dir, unique, e);
  for (size_t i = 0; i < n && status == ND_OK; i += 1000)
    status = nd_sorter_add(s, items + i, n - i < 1000 ? n - i : 1000, e);
  if (status == ND_OK) status = nd_sorter_finish(s, e);
  for (int pass = 0; pass < 2 && status == ND_OK; pass++) {
    *sum = 0;
    if (pass) status = nd_sorter_rewind(s, e);
    for (size_t got = 1; got && status == ND_OK;) {
      status = nd_sorter_next(&got, out, 1000, s, e);
      for (size_t i = 0; status == ND_OK && i < got; i++)
        *sum = nd_mix(*sum + out[i].key) + out[i].value;
    }
  }
  nd_sorter_free(s);
  free(out);
  return status;
}

/* A refused unlink leaves the name of a temporary file behind. */
static void remove_left_names(void) {
  DIR *d = opendir(dir);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) unlinkat(dirfd(d), e->d_name, 0);
  closedir(d);
}

static void every_fault_is_reported(void **state) {
  (void)state;
  size_t n = 20000;
  nd_item *items = draw_items(n, 15000);
  for (int unique = 0; unique < 2; unique++) {
    uint64_t want, sum = 0;
    ok(live(items, n, unique, &want, &err));
    for (uint64_t nth = 1;; nth++) {
      nd_mem_fail_at(nth);
      nd_error e = {0};
      nd_status status = live(items, n, unique, &sum, &e);
      bool hit = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      if (!hit) {
        assert_int_equal(status, ND_OK);
        assert_int_equal(sum, want);
        break;
      }
      assert_int_equal(status, ND_ERR_MEMORY);
      assert_int_equal(e.status, ND_ERR_MEMORY);
    }
    uint64_t calls = 0;
    for (uint64_t nth = 1;; nth++) {
      nd_io_fail_at(nth, ENOSPC);
      nd_error e = {0};
      nd_status status = live(items, n, unique, &sum, &e);
      bool hit = nd_io_count() >= nth;
      nd_io_fail_at(0, 0);
      if (!hit) {
        assert_int_equal(status, ND_OK);
        assert_int_equal(sum, want);
        break;
      }
      calls++;
      assert_int_equal(status, ND_ERR_IO);
      assert_non_null(strstr(e.message, "--tmp"));
      remove_left_names();
    }
    assert_true(calls > 10);
    nd_io_short(1000); /* short reads and writes change nothing */
    ok(live(items, n, unique, &sum, &err));
    nd_io_short(0);
    assert_int_equal(sum, want);
  }
  free(items);
}

static void a_missing_directory_is_named(void **state) {
  (void)state;
  nd_item *items = draw_items(5000, 0);
  nd_sorter *s = NULL;
  nd_status status = nd_sorter_new(&s, 0, "/nonexistent/of/tests", false, &err);
  if (status == ND_OK) status = nd_sorter_add(s, items, 5000, &err);
  assert_int_equal(status, ND_ERR_IO);
  assert_non_null(strstr(err.message, "/nonexistent/of/tests"));
  nd_sorter_free(s);
  nd_sorter_free(NULL);
  free(items);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorts_like_memory),
      cmocka_unit_test(rewinds_from_the_middle),
      cmocka_unit_test(each_passes_every_item_again_and_again),
      cmocka_unit_test(different_values_of_a_key_are_counted),
      cmocka_unit_test(merges_many_runs),
      cmocka_unit_test(merges_large_runs),
      cmocka_unit_test(threads_add_together),
      cmocka_unit_test(unique_keeps_the_smallest_value),
      cmocka_unit_test(repeats_of_one_key_never_spill),
      cmocka_unit_test_teardown(every_fault_is_reported, clear_hooks),
      cmocka_unit_test(a_missing_directory_is_named)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
