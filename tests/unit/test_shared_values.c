/* Pairs that share values: the counts of the plain double loop, hot values as stars,
 * the same for any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "candidate/shared_values.h"
#include "sketch/supershingle.h"
#include "tools.h"

typedef struct list {
  nd_item *items;
  size_t n;
} list;

static list ours(const nd_shared_request *r, nd_bucket_stats *stats) {
  nd_sorter *sorter;
  ok(nd_sorter_new(&sorter, 4 << 20, "/tmp", true, &err));
  nd_sorter_sum(sorter);
  ok(nd_shared_pairs(sorter, stats, r, &err));
  ok(nd_sorter_finish(sorter, &err));
  list out = {malloc(1000000 * sizeof *out.items), 0};
  for (size_t got = 1; got;) {
    ok(nd_sorter_next(&got, out.items + out.n, 1000, sorter, &err));
    out.n += got;
    assert_true(out.n < 990000);
  }
  nd_sorter_free(sorter);
  return out;
}

/* Rows that share some of their values with an earlier one. */
static uint64_t *make(uint64_t n, uint32_t places, nd_rng *rng) {
  uint64_t *v = malloc(n * places * 8);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t from = nd_rng_below(rng, i + 1);
    for (uint32_t p = 0; p < places; p++) {
      bool copy = i && from != i && nd_rng_below(rng, 3);
      v[i * places + p] = copy ? v[from * places + p] : nd_rng_next(rng);
    }
    if (nd_rng_below(rng, 20) == 0) memset(v + i * places, 0xff, places * 8); /* no shingles */
  }
  return v;
}

/* Every pair with at least `needed` agreeing places is there; with needed = 1 the
 * sums are the counts. */
static void compare(const nd_shared_request *request, const nd_rows *rows) {
  nd_shared_request r = *request;
  nd_bucket_stats one, two;
  r.threads = 1;
  list got = ours(&r, &one);
  r.threads = 3;
  list again = ours(&r, &two);
  assert_int_equal(got.n, again.n);
  assert_memory_equal(got.items, again.items, got.n * sizeof *got.items);
  assert_memory_equal(&one, &two, sizeof one);
  size_t at = 0;
  uint64_t edges = 0;
  for (uint64_t i = 0; i < r.n; i++) {
    for (uint64_t j = i + 1; j < r.n; j++) {
      uint32_t a = r.number ? r.number[i] : (uint32_t)i, b = r.number ? r.number[j] : (uint32_t)j;
      uint32_t agree = nd_rows_agree(rows, i, j), seen = 0;
      for (uint32_t p = 0; p + r.needed <= r.places; p++) {
        uint64_t x = r.value(r.context, i, p);
        seen += x != UINT64_MAX && x == r.value(r.context, j, p);
      }
      if (r.split && (a >= r.split || b < r.split)) continue;
      edges += seen;
      uint64_t key = (uint64_t)a << 32 | b;
      bool listed = at < got.n && got.items[at].key == key;
      if (agree >= r.needed && r.value == nd_rows_value) assert_true(listed);
      assert_int_equal(listed, seen > 0);
      if (listed) assert_int_equal(got.items[at++].value, seen);
    }
  }
  assert_int_equal(at, got.n);
  assert_int_equal(edges, one.edges);
  assert_true(got.n > 50);
  free(got.items);
  free(again.items);
}

static void counts_are_those_of_a_double_loop(void **state) {
  (void)state;
  nd_rng rng = {1};
  const uint32_t places[] = {1, 6, 84};
  for (size_t k = 0; k < 3; k++) {
    uint64_t n = 700;
    uint64_t *v = make(n, places[k], &rng);
    uint32_t *number = malloc(n * 4);
    for (uint32_t i = 0, x = 0; i < n; i++) number[i] = x += 1 + (uint32_t)nd_rng_below(&rng, 4);
    nd_rows rows = {v, places[k]};
    nd_shared_request r = {
        .value = nd_rows_value, .context = &rows, .n = n, .places = places[k], .needed = 1};
    compare(&r, &rows);
    r.number = number;
    compare(&r, &rows);
    r.split = number[n / 2];
    compare(&r, &rows);
    r.needed = places[k] / 2 + 1;
    compare(&r, &rows);
    free(v);
    free(number);
  }
}

/* Two of six super-shingles: mega-shingles give exactly those pairs. */
static void megas_are_two_of_six(void **state) {
  (void)state;
  nd_rng rng = {2};
  uint64_t n = 600, *v = make(n, 6, &rng);
  nd_rows rows = {v, 6};
  nd_shared_request r = {
      .value = nd_rows_mega, .context = &rows, .n = n, .places = nd_mega_count(6), .needed = 1};
  compare(&r, &rows);
  nd_bucket_stats stats;
  list got = ours(&r, &stats);
  size_t at = 0;
  for (uint64_t i = 0; i < n; i++) {
    for (uint64_t j = i + 1; j < n; j++) {
      if (nd_rows_agree(&rows, i, j) < 2) continue;
      assert_true(at < got.n);
      assert_int_equal(got.items[at++].key, i << 32 | j);
    }
  }
  assert_int_equal(at, got.n);
  free(got.items);
  free(v);
}

static void hot_values_are_stars(void **state) {
  (void)state;
  enum { N = 5000, HOT = 3000 };
  uint64_t v[N];
  for (uint64_t i = 0; i < N; i++) v[i] = i < HOT ? 7 : i < HOT + 50 ? 8 : i;
  nd_rows rows = {v, 1};
  nd_shared_request r = {
      .value = nd_rows_value, .context = &rows, .n = N, .places = 1, .needed = 1, .cap = 50};
  nd_bucket_stats stats;
  list got = ours(&r, &stats);
  assert_int_equal(got.n, HOT - 1 + 50 * 49 / 2);
  for (size_t i = 0; i < HOT - 1; i++) assert_int_equal(got.items[i].key, i + 1);
  assert_int_equal(stats.hot, 1);
  assert_int_equal(stats.hot_documents, HOT);
  assert_int_equal(stats.largest, HOT);
  assert_int_equal(stats.buckets, 2);
  free(got.items);
}

static void more_than_one_bucket(void **state) {
  (void)state;
  enum { N = 60000 };
  uint64_t *v = malloc(N * 8);
  nd_rng rng = {3};
  for (size_t i = 0; i < N; i++) v[i] = nd_mix(nd_rng_below(&rng, N));
  nd_rows rows = {v, 1};
  nd_shared_request r = {
      .value = nd_rows_value, .context = &rows, .n = N, .places = 1, .needed = 1};
  nd_bucket_stats stats;
  for (unsigned threads = 1; threads <= 2; threads++) {
    r.threads = threads;
    list got = ours(&r, &stats);
    for (size_t i = 0; i < got.n; i++)
      assert_int_equal(v[got.items[i].key >> 32], v[got.items[i].key & UINT32_MAX]);
    uint64_t *sorted = malloc(2 * N * 8), pairs = 0;
    memcpy(sorted, v, N * 8);
    nd_radix_u64(sorted, sorted + N, N);
    for (size_t i = 0, run = 0; i < N; i++) {
      run = i && sorted[i] == sorted[i - 1] ? run + 1 : 0;
      pairs += run;
    }
    assert_int_equal(got.n, pairs);
    free(sorted);
    free(got.items);
  }
  free(v);
}

static void limits_and_faults(void **state) {
  (void)state;
  enum { N = 100 }; /* more pairs than a thread holds back */
  uint64_t v[N];
  for (size_t i = 0; i < N; i++) v[i] = 1;
  nd_rows rows = {v, 1};
  nd_shared_request r = {
      .value = nd_rows_value, .context = &rows, .n = N, .places = 1, .needed = 2};
  nd_bucket_stats stats;
  nd_sorter *sorter;
  ok(nd_sorter_new(&sorter, 1 << 20, "/tmp", true, &err));
  assert_int_equal(nd_shared_pairs(sorter, &stats, &r, &err), ND_ERR_USAGE);
  r.needed = 0;
  assert_int_equal(nd_shared_pairs(sorter, &stats, &r, &err), ND_ERR_USAGE);
  r.needed = 1;
  for (uint64_t nth = 1;; nth++) {
    nd_mem_fail_at(nth);
    nd_status status = nd_shared_pairs(sorter, &stats, &r, &err);
    nd_mem_fail_at(0);
    if (status == ND_OK) break;
    assert_int_equal(status, ND_ERR_MEMORY);
    assert_true(nth < 50);
  }
  r.n = 1;
  ok(nd_shared_pairs(sorter, &stats, &r, &err));
  assert_int_equal(stats.edges, 0);
  nd_sorter_free(sorter);
}

static uint64_t unmix(uint64_t x) { /* nd_mix is a bijection */
  uint64_t inverse[2] = {0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu};
  for (int i = 0; i < 2; i++) {
    const uint64_t odd = inverse[i];
    for (int k = 0; k < 5; k++) inverse[i] *= 2 - odd * inverse[i];
  }
  x ^= x >> 31 ^ x >> 62;
  x *= inverse[1];
  x ^= x >> 27 ^ x >> 54;
  x *= inverse[0];
  return x ^ x >> 30 ^ x >> 60;
}

/* All ones mean that there is no value: a mega-shingle is never that. */
static void a_value_is_never_none(void **state) {
  (void)state;
  assert_int_equal(nd_mix(unmix(12345)), 12345);
  uint64_t super[2] = {77, 0};
  super[1] = unmix(UINT64_MAX) - nd_fold(super[0] ^ nd_mix(1), 0xa0761d6478bd642fu);
  assert_int_equal(nd_mega(super, 2, 0), UINT64_MAX - 1);
  super[1]--;
  assert_int_equal(nd_mega(super, 2, 0), nd_mix(unmix(UINT64_MAX) - 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_those_of_a_double_loop),
                                     cmocka_unit_test(megas_are_two_of_six),
                                     cmocka_unit_test(hot_values_are_stars),
                                     cmocka_unit_test(more_than_one_bucket),
                                     cmocka_unit_test(limits_and_faults),
                                     cmocka_unit_test(a_value_is_never_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
