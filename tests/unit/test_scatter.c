/* Scattering by key: nothing is lost, equal keys come back together, in memory and not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/rng.h"
#include "base/threads.h"
#include "candidate/scatter.h"

static int by_item(const void *a, const void *b) {
  const nd_item *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

typedef struct adding {
  nd_scatter *scatter;
  nd_item *items;
  size_t n, each;
} adding;

static nd_status add_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  adding *a = context;
  size_t from = job * a->each, to = from + a->each < a->n ? from + a->each : a->n;
  qsort(a->items + from, to - from, sizeof *a->items, by_item);
  return nd_scatter_add(a->scatter, a->items + from, to - from, err);
}

/* Takes everything in slices; the same items as were added, equal keys side by side. */
static void check(nd_item *items, size_t n, unsigned bits, uint64_t memory, unsigned slice_bits,
                  uint64_t seed) {
  adding a = {.items = items, .n = n, .each = 1 + seed % 700};
  assert_int_equal(nd_scatter_new(&a.scatter, bits, memory, "/tmp", NULL), ND_OK);
  assert_int_equal(nd_threads_run(3, (n + a.each - 1) / a.each, add_job, &a, NULL), ND_OK);
  nd_item *got = malloc((n + 1) * sizeof *got);
  size_t have = 0;
  nd_gathered g = {0};
  for (uint32_t part = 0; part < 1u << bits; part++) {
    size_t before = have;
    uint64_t count = nd_scatter_count(a.scatter, part);
    for (uint32_t slice = 0; slice < 1u << slice_bits; slice++) {
      assert_int_equal(nd_scatter_take(&g, a.scatter, part, slice, slice_bits, NULL), ND_OK);
      for (size_t i = 0; i < g.n; i++) {
        assert_int_equal(g.items[i].key >> (64 - bits), part);
        assert_true(have < n);
        got[have++] = g.items[i];
      }
      for (size_t i = 0; i < g.n; i++) { /* a key that ended does not begin again */
        if (i == 0 || g.items[i].key == g.items[i - 1].key) continue;
        for (size_t k = 0; k + 1 < i && n < 500; k++) {
          assert_true(g.items[k].key != g.items[i].key);
        }
      }
    }
    assert_int_equal(have - before, count);
    nd_scatter_drop(a.scatter, part);
  }
  assert_int_equal(have, n);
  qsort(got, n, sizeof *got, by_item);
  qsort(items, n, sizeof *items, by_item);
  if (n) assert_memory_equal(got, items, n * sizeof *got);
  free(got);
  nd_gathered_clear(&g);
  nd_scatter_free(a.scatter);
}

static void equal_keys_come_back_together(void **state) {
  (void)state;
  print_message("seeds 1 to 60\n");
  for (uint64_t seed = 1; seed <= 60; seed++) {
    nd_rng rng = {seed};
    size_t n = nd_rng_below(&rng, seed % 4 ? 400 : 30000);
    uint64_t keys = 1 + nd_rng_below(&rng, 2 * n + 1);
    nd_item *items = malloc((n + 1) * sizeof *items);
    for (size_t i = 0; i < n; i++)
      items[i] = (nd_item){nd_mix(nd_rng_below(&rng, keys)), nd_rng_next(&rng)};
    unsigned bits = 1 + (unsigned)nd_rng_below(&rng, 6);
    check(items, n, bits, seed % 2 ? 0 : 1 << 30, (unsigned)nd_rng_below(&rng, 5), seed);
    free(items);
  }
}

/* A full disk, and memory that fails: an error, never a wrong answer. */
static void full_disk_and_no_memory_are_errors(void **state) {
  (void)state;
  enum { N = 20000 };
  nd_item *items = malloc(N * sizeof *items);
  for (int what = 0; what < 2; what++) {
    for (uint64_t nth = 1, failed = 1; failed; nth += 1 + nth / 64) {
      for (size_t i = 0; i < N; i++) items[i] = (nd_item){nd_mix(i), i};
      nd_scatter *s = NULL;
      nd_error err = {0};
      if (what)
        nd_io_fail_at(nth, ENOSPC);
      else
        nd_mem_fail_at(nth);
      nd_status status = nd_scatter_new(&s, 4, 0, "/tmp", &err);
      adding a = {s, items, N, N};
      nd_gathered g = {0};
      if (status == ND_OK) status = add_job(&a, 0, 0, &err);
      for (uint32_t part = 0; part < 16 && status == ND_OK; part++) {
        status = nd_scatter_take(&g, s, part, 0, 0, &err);
        if (status == ND_OK) assert_int_equal(g.n, nd_scatter_count(s, part));
      }
      nd_gathered_clear(&g);
      failed = what ? nd_io_count() >= nth : nd_mem_count() >= nth;
      nd_io_fail_at(0, 0);
      nd_mem_fail_at(0);
      if (failed) assert_int_equal(status, what ? ND_ERR_IO : ND_ERR_MEMORY);
      if (failed && what) assert_non_null(strstr(err.message, "No space left"));
      nd_scatter_free(s);
    }
  }
  free(items);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equal_keys_come_back_together),
                                     cmocka_unit_test(full_disk_and_no_memory_are_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
