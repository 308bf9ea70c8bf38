/* Pairs within a Hamming distance: the same as by comparing all with all, for
 * random and crowded vectors, every distance, any number of threads. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bits.h"
#include "base/io.h"
#include "candidate/flat_table.h"
#include "candidate/hamming_match.h"
#include "hamming_cases.h"

enum { N = 1400 };

static void random_vectors_every_distance(void **state) {
  (void)state;
  uint64_t *v = malloc(N * 8);
  nd_rng rng = {1};
  for (uint32_t k = 0; k <= 16; k++) {
    make(v, N, 1, 0.8, 2 * k + 2, &rng);
    compare((nd_hamming_request){.vectors = v, .n = N, .words = 1, .distance = k}, "random");
  }
  free(v);
}

static void crowded_vectors_every_distance(void **state) {
  (void)state;
  uint64_t *v = malloc(N * 8);
  nd_rng rng = {2};
  size_t found = 0;
  for (uint32_t k = 0; k <= 16; k++) {
    make(v, N, 1, 0.001, 12, &rng); /* a few clusters that drift apart */
    found +=
        compare((nd_hamming_request){.vectors = v, .n = N, .words = 1, .distance = k}, "drift");
    for (size_t i = 0; i < N; i++) { /* all around one point */
      v[i] = 0x123456789abcdef;
      for (uint64_t f = nd_rng_below(&rng, 14 + k); f; f--) flip(v + i, 64, &rng);
    }
    found += compare((nd_hamming_request){.vectors = v, .n = N, .words = 1, .distance = k}, "ball");
    if (k > 6) continue;
    for (size_t i = 0; i < N; i++) v[i] = nd_rng_below(&rng, 1 << 14) << 20; /* few bits vary */
    found +=
        compare((nd_hamming_request){.vectors = v, .n = N, .words = 1, .distance = k}, "narrow");
    for (size_t i = 0; i < N; i++) v[i] = nd_rng_next(&rng) & 0xffff00000000ffff;
    compare((nd_hamming_request){.vectors = v, .n = N, .words = 1, .distance = k}, "two ends");
  }
  assert_true(found > 10000);
  free(v);
}

static void small_numbers(void **state) {
  (void)state;
  uint64_t v[300];
  nd_rng rng = {3};
  for (size_t n = 0; n < 300; n += n < 20 ? 1 : 93) {
    for (uint32_t k = 0; k <= 63; k += k < 4 ? 1 : 7) {
      make(v, n, 1, 0.4, 5, &rng);
      compare((nd_hamming_request){.vectors = v, .n = n, .words = 1, .distance = k}, "small");
    }
  }
}

static void wide_vectors(void **state) {
  (void)state;
  enum { M = 500 };
  uint64_t *v = malloc(M * 16 * 8);
  nd_rng rng = {4};
  const uint32_t widths[] = {2, 6, 16};
  const uint32_t distances[] = {0, 3, 12, 29, 100};
  size_t found = 0;
  for (size_t w = 0; w < 3; w++) {
    for (size_t d = 0; d < 5; d++) {
      nd_hamming_request r = {.vectors = v, .n = M, .words = widths[w], .distance = distances[d]};
      make(v, M, widths[w], 0.5, 2 * distances[d] + 2, &rng);
      found += compare(r, "wide");
      r.pieces = 12;
      compare(r, "wide, 12 pieces");
      make(v, M, widths[w], 0.003, 16, &rng);
      found += compare(r, "wide, crowded, 12 pieces");
      r.pieces = 0;
      compare(r, "wide, crowded");
    }
  }
  assert_true(found > 3000);
  free(v);
}

/* More vectors than one bucket holds, so that tables are made. */
static void wide_tables(void **state) {
  (void)state;
  enum { M = 3000 };
  uint64_t *v = malloc(M * 6 * 8);
  nd_rng rng = {5};
  make(v, M, 6, 0.7, 24, &rng);
  nd_hamming_request r = {.vectors = v, .n = M, .words = 6, .distance = 12};
  assert_true(compare(r, "384 bits") > 300);
  r.pieces = 12;
  compare(r, "384 bits, 12 pieces");
  free(v);
}

/* With p pieces every pair of fewer than p differing bits is found. */
static void guaranteed_distance(void **state) {
  (void)state;
  assert_int_equal(nd_hamming_guaranteed(12), 11);
  enum { M = 5000 };
  uint64_t *v = malloc(M * 6 * 8);
  nd_rng rng = {6};
  make(v, M, 6, 0.5, 14, &rng);
  nd_hamming_stats stats;
  nd_hamming_request r = {.vectors = v, .n = M, .words = 6, .distance = 11};
  list complete = ours(&r, &stats);
  r.pieces = 12;
  list cut = ours(&r, &stats);
  same_list(&complete, &cut, "12 pieces", 11);
  r.distance = 14;
  list more = ours(&r, &stats);
  assert_true(more.n > cut.n);
  free(more.items);
  /* One bit in each piece: beyond what is promised, and only the complete way finds it. */
  for (uint32_t w = 0; w < 6; w++) v[6 + w] = v[w] ^ 0x0000000100000001u;
  r.n = 2;
  list missed = ours(&r, &stats);
  assert_int_equal(missed.n, 0);
  r.pieces = 0;
  list found = ours(&r, &stats);
  assert_int_equal(found.n, 1);
  assert_int_equal(found.items[0].value, 12);
  free(found.items);
  free(complete.items);
  free(cut.items);
  free(v);
}

static void absent_and_split(void **state) {
  (void)state;
  uint64_t *v = malloc(N * 8), present[N / 64 + 1];
  nd_rng rng = {7};
  make(v, N, 1, 0.5, 4, &rng);
  for (size_t i = 0; i <= N / 64; i++) present[i] = nd_rng_next(&rng) | nd_rng_next(&rng);
  nd_hamming_request r = {
      .vectors = v, .n = N, .words = 1, .distance = 3, .present = present, .split = N / 3};
  assert_true(compare(r, "split") > 100);
  r.split = 0;
  compare(r, "some absent");
  free(v);
}

/* A hot group of equal vectors: every member keeps an edge to the first. */
static void capped_bucket_keeps_edges_to_its_first(void **state) {
  (void)state;
  uint64_t v[1000];
  for (size_t i = 0; i < 1000; i++) v[i] = i < 300 ? 77 : i < 305 ? 79 : (uint64_t)i << 40;
  nd_hamming_request r = {
      .vectors = v, .n = 1000, .words = 1, .distance = 1, .cap = 10, .threads = 1};
  nd_hamming_stats stats;
  list got = ours(&r, &stats);
  size_t star = 0, across = 0, within = 0;
  for (size_t i = 0; i < got.n; i++) {
    uint32_t a = (uint32_t)(got.items[i].key >> 32), b = (uint32_t)got.items[i].key;
    if (a < 300 && b < 300) {
      assert_int_equal(a, 0);
      star++;
    } else if (a < 300 && b < 305) {
      across++;
      assert_int_equal(got.items[i].value, 1);
    } else if (b < 305) {
      within++;
    }
  }
  assert_int_equal(star, 299);
  assert_int_equal(within, 10);
  assert_int_equal(across, 300 + 5 - 1);
  assert_int_equal(stats.hot, 1);
  assert_int_equal(stats.hot_documents, 300);
  assert_int_equal(stats.left_out, 300 * 299 / 2 - 299 + 300 * 5 - 304);
  free(got.items);
  r.cap = 0;
  compare(r, "no cap");
}

static void every_level_matches(void **state) {
  (void)state;
  size_t count;
  const nd_match *kernel = nd_match_kernels(&count);
  nd_rng rng = {8};
  uint64_t v[200];
  uint32_t want[208], got[208];
  for (int round = 0; round < 400; round++) {
    size_t n = (size_t)nd_rng_below(&rng, 200), hits = 0;
    uint64_t x = nd_rng_next(&rng);
    uint32_t k = (uint32_t)nd_rng_below(&rng, 64);
    for (size_t i = 0; i < n; i++) {
      v[i] = x;
      for (uint64_t f = nd_rng_below(&rng, 64); f; f--) flip(v + i, 64, &rng);
      if (naive_distance(v + i, &x, 1) <= k) want[hits++] = (uint32_t)i;
    }
    for (size_t l = 0; l < count; l++) {
      assert_int_equal(kernel[l](got, v, n, x, k), hits);
      assert_memory_equal(got, want, hits * sizeof *got);
    }
  }
  print_message("%zu levels\n", count);
  for (int round = 0; round < 200; round++) {
    uint32_t words = 1 + (uint32_t)nd_rng_below(&rng, 16);
    for (uint32_t w = 0; w < 32; w++) v[w] = round % 3 ? nd_rng_next(&rng) : ~(uint64_t)0;
    for (int level = 0; level <= (int)nd_cpu(); level++)
      assert_int_equal(nd_bits_differ_best((nd_cpu_level)level)(v, v + 16, words),
                       naive_distance(v, v + 16, words));
    assert_int_equal(nd_hamming_distance(v, v + 16, words), naive_distance(v, v + 16, words));
  }
}

static int by_key(const void *a, const void *b) {
  const nd_item *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

static void flat_tables_sort(void **state) {
  (void)state;
  nd_rng rng = {9};
  for (int round = 0; round < 60; round++) {
    size_t n = 1 + (size_t)nd_rng_below(&rng, 3000);
    uint64_t *key = malloc(n * 8), range = 1 + nd_rng_below(&rng, round % 2 ? 10 : UINT64_MAX - 1);
    uint32_t *row = malloc(n * 4), start[(1 << 6) + 1];
    nd_item *want = malloc(n * sizeof *want);
    for (size_t i = 0; i < n; i++) {
      key[i] = round % 5 == 4 ? i / 2 : nd_rng_below(&rng, range);
      row[i] = (uint32_t)(n - i);
      want[i] = (nd_item){key[i], row[i]};
    }
    nd_flat_hash hash = {0xffff0, 0x9e3779b97f4a7c15u};
    nd_flat_split(key, row, n, hash, 3, 6, start);
    assert_int_equal(start[64], n);
    for (size_t b = 0; b < 64; b++) {
      for (size_t i = start[b]; i < start[b + 1]; i++)
        assert_int_equal(nd_flat_slot(nd_flat_hash_of(hash, key[i]) << 3, 6), b);
    }
    nd_flat_sort(key, row, n);
    qsort(want, n, sizeof *want, by_key);
    for (size_t i = 0; i < n; i++) {
      assert_int_equal(key[i], want[i].key);
      assert_int_equal(row[i], want[i].value);
    }
    free(key);
    free(row);
    free(want);
  }
}

static nd_status stop_at_once(void *context, nd_error *e) {
  (void)context;
  return nd_fail(e, ND_ERR_CANCELLED, "stop");
}

static void limits_and_faults(void **state) {
  (void)state;
  uint64_t *v = malloc(N * 8);
  nd_rng rng = {10};
  make(v, N, 1, 0.9, 4, &rng);
  nd_sorter *sorter;
  nd_hamming_stats stats;
  ok(nd_sorter_new(&sorter, 1 << 20, "/tmp", false, &err));
  nd_hamming_request r = {.vectors = v, .n = N, .words = 1, .distance = 64};
  assert_int_equal(nd_hamming_pairs(sorter, &stats, &r, &err), ND_ERR_USAGE);
  r.distance = 3;
  r.pieces = 65;
  assert_int_equal(nd_hamming_pairs(sorter, &stats, &r, &err), ND_ERR_USAGE);
  r.pieces = 0;
  r.words = 17;
  assert_int_equal(nd_hamming_pairs(sorter, &stats, &r, &err), ND_ERR_LIMIT);
  r.words = 1;
  r.check = stop_at_once;
  assert_int_equal(nd_hamming_pairs(sorter, &stats, &r, &err), ND_ERR_CANCELLED);
  r.check = NULL;
  for (uint64_t nth = 1;; nth++) {
    nd_mem_fail_at(nth);
    nd_status status = nd_hamming_pairs(sorter, &stats, &r, &err);
    nd_mem_fail_at(0);
    if (status == ND_OK) break;
    assert_int_equal(status, ND_ERR_MEMORY);
    assert_true(nth < 100);
  }
  /* From outside of the memory, crowded, so that parts are cut again. */
  make(v, N, 1, 0.001, 12, &rng);
  nd_hamming_request inside = {.vectors = v, .n = N, .words = 1};
  r = (nd_hamming_request){.n = N,
                           .scan = scan_vectors,
                           .scan_context = &inside,
                           .memory = 1,
                           .dir = "/tmp",
                           .words = 1,
                           .distance = 3};
  for (int io = 0; io < 2; io++) {
    for (uint64_t nth = 1;; nth += 1 + nth / 8) {
      if (io)
        nd_io_fail_at(nth, ENOSPC);
      else
        nd_mem_fail_at(nth);
      nd_status status = nd_hamming_pairs(sorter, &stats, &r, &err);
      nd_io_fail_at(0, 0);
      nd_mem_fail_at(0);
      if (status == ND_OK) break;
      assert_int_equal(status, io ? ND_ERR_IO : ND_ERR_MEMORY);
    }
  }
  r.check = stop_at_once;
  assert_int_equal(nd_hamming_pairs(sorter, &stats, &r, &err), ND_ERR_CANCELLED);
  nd_sorter_free(sorter);
  free(v);
}

/* Buckets of more vectors than are fetched at once: one around which all crowd, and one
 * vector that nearly all documents have. */
static void large_buckets(void **state) {
  (void)state;
  enum { M = 150000 };
  uint64_t *v = malloc(M * 8);
  nd_rng rng = {11};
  for (size_t i = 0; i < M; i++) v[i] = nd_rng_next(&rng) & 0xfffffffffff0ffffu;
  for (size_t i = 0; i < M; i += 3) v[i] = v[nd_rng_below(&rng, i + 1)] ^ (uint64_t)1 << i % 64;
  nd_hamming_request r = {.vectors = v, .n = M, .words = 1, .distance = 0, .threads = 2};
  nd_hamming_stats stats;
  list near = ours(&r, &stats);
  r.distance = 1;
  list more = ours(&r, &stats);
  assert_true(more.n > M / 4 && more.n > near.n);
  /* All share most pieces: 12 bits vary. */
  for (size_t i = 0; i < M; i++) v[i] = (nd_rng_next(&rng) & 0xfff) << 50;
  r.cap = 10;
  list crowded = ours(&r, &stats);
  assert_int_equal(stats.vectors, 4096);
  nd_hamming_request far = r;
  far.vectors = NULL;
  far.scan = scan_vectors;
  far.scan_context = &r;
  far.memory = 1 << 20;
  far.dir = "/tmp";
  nd_hamming_stats outside;
  list same = ours(&far, &outside);
  same_list(&crowded, &same, "crowded", 1);
  outside.compared = stats.compared;
  assert_memory_equal(&stats, &outside, sizeof stats);
  free(same.items);
  /* One vector has nearly all documents. */
  for (size_t i = 0; i < M; i++) v[i] = i % 50 ? 5 : nd_rng_next(&rng);
  list hot = ours(&r, &stats);
  assert_int_equal(stats.hot, 1);
  assert_int_equal(stats.hot_documents, M - M / 50);
  assert_true(hot.n >= M - M / 50 - 1);
  far.memory = 1 << 16;
  same = ours(&far, &outside);
  same_list(&hot, &same, "hot", 1);
  free(same.items);
  /* Many of few vectors each, all in one bucket of equal hashes. */
  r.distance = 0;
  for (uint64_t kinds = 100; kinds <= 150; kinds += 50) {
    for (size_t i = 0; i < M; i++)
      v[i] = (i % kinds) * 0xf1de83e19937733du; /* odd's inverse: small hashes */
    list few = ours(&r, &stats);
    assert_int_equal(stats.vectors, kinds);
    assert_int_equal(few.n, M - kinds);
    free(few.items);
  }
  /* The last had to fetch more keys than there is room for. */
  for (uint64_t nth = 1, status = ND_ERR_MEMORY; status != ND_OK; nth++) {
    nd_sorter *sorter;
    ok(nd_sorter_new(&sorter, 4 << 20, "/tmp", false, &err));
    nd_mem_fail_at(nth);
    status = nd_hamming_pairs(sorter, &stats, &r, &err);
    nd_mem_fail_at(0);
    if (status != ND_OK) assert_int_equal(status, ND_ERR_MEMORY);
    nd_sorter_free(sorter);
  }
  free(hot.items);
  free(crowded.items);
  free(near.items);
  free(more.items);
  free(v);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_vectors_every_distance),
                                     cmocka_unit_test(crowded_vectors_every_distance),
                                     cmocka_unit_test(small_numbers),
                                     cmocka_unit_test(wide_vectors),
                                     cmocka_unit_test(wide_tables),
                                     cmocka_unit_test(guaranteed_distance),
                                     cmocka_unit_test(absent_and_split),
                                     cmocka_unit_test(capped_bucket_keeps_edges_to_its_first),
                                     cmocka_unit_test(every_level_matches),
                                     cmocka_unit_test(flat_tables_sort),
                                     cmocka_unit_test(limits_and_faults),
                                     cmocka_unit_test(large_buckets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
