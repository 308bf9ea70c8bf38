/* Radix sorts against the C library's sort, on keys of many shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/radix.h"
#include "base/rng.h"
#include "seed.h"

static nd_rng rng;

static int setup(void **state) {
  (void)state;
  rng.state = test_seed();
  return 0;
}

static int by_u64(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

/* The value is the old place, so (key, value) is the stable order. */
static int by_item(const void *x, const void *y) {
  const nd_item *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->value < b->value ? -1 : a->value > b->value;
}

enum { SHAPES = 10 };
static uint64_t draw_key(int shape, size_t i) {
  uint64_t x = nd_rng_next(&rng);
  switch (shape) {
    case 0: return x;
    case 1: return x & 3;
    case 2: return x << 33;       /* low digits all equal */
    case 3: return (x & 7) << 61; /* only the top bits */
    case 4: return UINT64_MAX - (x & 1);
    case 5: return i;                  /* sorted */
    case 6: return UINT64_MAX - i;     /* backwards */
    case 7: return 42;                 /* all equal */
    case 8: return (x & 15) << 40 | 7; /* groups that differ only above bit 33 */
    default: return x >> nd_rng_below(&rng, 64);
  }
}

static const size_t lengths[] = {0, 1, 2, 3, 47, 48, 49, 50, 100, 1000, 2047, 2048, 20000, 60000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void sorts_numbers(void **state) {
  (void)state;
  for (size_t l = 0; l < LENGTHS; l++) {
    for (int shape = 0; shape < SHAPES; shape++) {
      size_t n = lengths[l];
      uint64_t *a = malloc((n + 1) * 8), *naive = malloc((n + 1) * 8), *spare = malloc((n + 1) * 8);
      for (size_t i = 0; i < n; i++) a[i] = naive[i] = draw_key(shape, i);
      qsort(naive, n, 8, by_u64);
      nd_radix_u64(a, spare, n);
      assert_memory_equal(a, naive, n * 8);
      free(a);
      free(naive);
      free(spare);
    }
  }
}

static void sorts_items_stably(void **state) {
  (void)state;
  for (size_t l = 0; l < LENGTHS; l++) {
    for (int shape = 0; shape < SHAPES; shape++) {
      size_t n = lengths[l], bytes = (n + 1) * sizeof(nd_item);
      nd_item *a = malloc(bytes), *naive = malloc(bytes), *spare = malloc(bytes);
      for (size_t i = 0; i < n; i++) a[i] = naive[i] = (nd_item){draw_key(shape, i), i};
      qsort(naive, n, sizeof *naive, by_item);
      nd_radix_items(a, spare, n);
      assert_memory_equal(a, naive, n * sizeof *a);
      free(a);
      free(naive);
      free(spare);
    }
  }
}

/* Groups: nothing lost, equal keys together, in their old order; two runs agree. */
static void groups_items(void **state) {
  (void)state;
  for (size_t l = 0; l < LENGTHS; l++) {
    for (int shape = 0; shape < SHAPES; shape++) {
      size_t n = lengths[l], bytes = (n + 1) * sizeof(nd_item);
      nd_item *a = malloc(bytes), *again = malloc(bytes), *naive = malloc(bytes);
      nd_item *spare = malloc(bytes);
      for (size_t i = 0; i < n; i++) {
        a[i] = again[i] = naive[i] = (nd_item){draw_key(shape, i), i};
      }
      nd_radix_group(a, spare, n);
      nd_radix_group(again, spare, n);
      assert_memory_equal(a, again, n * sizeof *a);
      size_t groups = n ? 1 : 0, distinct = n ? 1 : 0;
      for (size_t i = 1; i < n; i++) {
        if (a[i].key == a[i - 1].key)
          assert_true(a[i].value > a[i - 1].value);
        else
          groups++;
      }
      qsort(naive, n, sizeof *naive, by_item);
      for (size_t i = 1; i < n; i++) distinct += naive[i].key != naive[i - 1].key;
      assert_int_equal(groups, distinct);
      qsort(a, n, sizeof *a, by_item);
      assert_memory_equal(a, naive, n * sizeof *a);
      free(a);
      free(again);
      free(naive);
      free(spare);
    }
  }
}

/* Keys chosen so that every group of equal low bits is mixed: still near linear. */
static void hostile_groups_stay_fast(void **state) {
  (void)state;
  enum { N = 1 << 19 };
  nd_item *a = malloc(N * sizeof *a), *spare = malloc(N * sizeof *spare);
  for (size_t i = 0; i < N; i++) a[i] = (nd_item){i % (N / 49) | (nd_rng_next(&rng) << 40), i};
  clock_t begin = clock();
  nd_radix_group(a, spare, N);
  for (size_t i = 0; i < N; i++) a[i] = (nd_item){nd_rng_next(&rng) << 33, i};
  nd_radix_group(a, spare, N);
  assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
  for (size_t i = 1; i < N; i++) assert_true(a[i - 1].key <= a[i].key);
  free(a);
  free(spare);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorts_numbers), cmocka_unit_test(sorts_items_stably),
      cmocka_unit_test(groups_items), cmocka_unit_test(hostile_groups_stay_fast)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
