/* Pairs within a Hamming distance where much is in one place: parts that are larger than the
 * memory, buckets that are larger than what is fetched at once, orders that are bad to sort; and
 * one call of every place that fails while the vectors lie outside. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bits.h"
#include "candidate/flat_table.h"
#include "candidate/hamming_match.h"
#include "candidate/hamming_solve.h"
#include "every_place.h"
#include "hamming_cases.h"

/* The order that makes quicksort with the median of the first, the middle and the last one
 * quadratic: an element's value is only chosen when it must be, and then as large as can be
 * (McIlroy 1999).  This is nd_flat_sort, on numbers of elements. */
static uint64_t adverse[3000];
static uint64_t solid;
static size_t candidate;

static bool adversary(size_t x, size_t y) {
  const uint64_t gas = UINT64_MAX;
  if (adverse[x] == gas && adverse[y] == gas) adverse[x == candidate ? x : y] = solid++;
  if (adverse[x] == gas)
    candidate = x;
  else if (adverse[y] == gas)
    candidate = y;
  return adverse[x] < adverse[y];
}

static void exchange(size_t *p, size_t a, size_t b) {
  size_t x = p[a];
  p[a] = p[b];
  p[b] = x;
}

static void sort_adversely(size_t *p, size_t n) {
  while (n > 24) {
    size_t mid = n / 2, i = 0, j = n - 1;
    if (adversary(p[mid], p[0])) exchange(p, mid, 0);
    if (adversary(p[n - 1], p[0])) exchange(p, n - 1, 0);
    if (adversary(p[n - 1], p[mid])) exchange(p, n - 1, mid);
    for (size_t pivot = p[mid];;) {
      do i++;
      while (adversary(p[i], pivot));
      do j--;
      while (adversary(pivot, p[j]));
      if (i >= j) break;
      exchange(p, i, j);
    }
    sort_adversely(p, i < n - i ? i : 0);
    if (i < n - i)
      p += i, n -= i;
    else
      sort_adversely(p + i, n - i), n = i;
  }
}

static void a_bad_order_is_sorted(void **state) {
  (void)state;
  enum { M = sizeof adverse / sizeof *adverse };
  size_t order[M];
  uint64_t key[M];
  uint32_t row[M];
  for (size_t i = 0; i < M; i++) order[i] = i, adverse[i] = UINT64_MAX;
  sort_adversely(order, M);
  for (size_t i = 0; i < M; i++) key[i] = adverse[i], row[i] = (uint32_t)(i * 7 % M);
  nd_flat_sort(key, row, M);
  for (size_t i = 1; i < M; i++)
    assert_true(key[i - 1] < key[i] || (key[i - 1] == key[i] && row[i - 1] < row[i]));
  uint64_t rows = 0;
  for (size_t i = 0; i < M; i++) rows += row[i];
  assert_int_equal(rows, (uint64_t)M * (M - 1) / 2);
}

/* One half of the bits says as much as a single one: of the parts by it, each is larger than the
 * memory, and is cut again. */
static void parts_are_cut_again(void **state) {
  (void)state;
  enum { M = 12000 };
  uint64_t *v = malloc(M * 2 * 8);
  nd_rng rng = {12};
  for (uint32_t words = 1; words <= 2; words++) {
    const uint64_t low = words == 1 ? 0xffffffff : UINT64_MAX;
    for (size_t i = 0; i < M; i++) {
      uint64_t *x = v + i * words;
      for (uint32_t w = 0; w < words; w++) x[w] = nd_rng_next(&rng);
      if (i % 4 == 3) memcpy(x, x - words, words * 8), flip(x, 64 * words, &rng);
      if (i % 4 != 3) x[0] = nd_rng_below(&rng, 2) ? x[0] | low : x[0] & ~low;
    }
    nd_hamming_request r = {.vectors = v, .n = M, .words = words, .distance = 1};
    assert_true(compare(r, "parts") >= M / 5);
  }
  free(v);
}

typedef struct far_search {
  nd_hamming_request request;
  list want;
} far_search;

static nd_status search_far(void *context) {
  const far_search *f = context;
  nd_sorter *sorter;
  nd_hamming_stats stats;
  ND_TRY(nd_sorter_new(&sorter, 1 << 16, "/tmp", false, &err));
  nd_status status = nd_hamming_pairs(sorter, &stats, &f->request, &err);
  if (status == ND_OK) status = nd_sorter_finish(sorter, &err);
  nd_item items[256];
  size_t n = 1, all = 0;
  while (status == ND_OK && n) {
    status = nd_sorter_next(&n, items, 256, sorter, &err);
    for (size_t i = 0; i < n && status == ND_OK; i++, all++)
      assert_int_equal(items[i].key, f->want.items[all].key);
  }
  nd_sorter_free(sorter);
  if (status == ND_OK) assert_int_equal(all, f->want.n);
  return status;
}

static void every_place_far_away(void **state) {
  (void)state;
  enum { M = 9000 };
  uint64_t *v = malloc(M * 8);
  nd_rng rng = {13};
  size_t failures = 0;
  for (int parts = 0; parts < 2; parts++) {
    make(v, M, 1, parts ? 1 : 0.4, 3, &rng);
    for (size_t i = 0; i < M && parts; i++) v[i] = i & 1 ? v[i] | 0xffffffff : v[i] >> 32 << 32;
    for (size_t i = 0; i < M; i += 50) v[i] = v[0];
    nd_hamming_request inside = {.vectors = v, .n = M, .words = 1, .distance = 1, .threads = 1};
    nd_hamming_stats stats;
    far_search f = {inside, ours(&inside, &stats)};
    f.request.vectors = NULL;
    f.request.scan = scan_vectors;
    f.request.scan_context = &inside;
    f.request.memory = 1;
    f.request.dir = "/tmp";
    failures += every_place_fails(search_far, &f);
    free(f.want.items);
  }
  print_message("%zu failures\n", failures);
  assert_true(failures > 30);
  free(v);
}

/* More rows than keys are fetched at once, solved in one bucket: what the search finds. */
static void one_large_bucket(void **state) {
  (void)state;
  enum { M = ND_SOLVE_KEYS + 3000 };
  uint64_t *v = malloc(M * 2 * 8);
  uint32_t *same = malloc(M * 4), *row = malloc(M * 4);
  nd_solver *s = calloc(1, sizeof *s);
  nd_rng rng = {14};
  for (uint32_t words = 1; words <= 2; words++) {
    for (size_t i = 0; i < M; i++) {
      uint64_t *x = v + i * words;
      for (uint32_t w = 0; w < words; w++) x[w] = nd_rng_next(&rng);
      if (i % 3 == 2) memcpy(x, x - words, words * 8), x[0] ^= (uint64_t)0x100 << i % 50;
      x[0] &= ~(uint64_t)0xff; /* the piece that all share */
    }
    nd_hamming_request r = {.vectors = v, .n = M, .words = words, .distance = 2, .threads = 1};
    nd_hamming_stats stats;
    list want = ours(&r, &stats);
    assert_true(want.n >= M / 3);
    assert_int_equal(stats.vectors, M);
    nd_vector_set set = {v, NULL, M};
    for (unsigned depth = 0; depth < 2; depth++) {
      list got = {0};
      s->request = &r;
      s->same = same;
      s->set = &set;
      s->match = nd_match_best();
      s->differ = nd_bits_differ_best(nd_cpu());
      s->depth = depth;
      nd_region all = {0, 64 * words, r.distance};
      s->level[0] = (nd_solve_level){.region = all, .pieces = 3, .bound = {0, 8, 30, 64}};
      s->level[0].bound[3] = (uint16_t)(64 * words);
      ok(nd_sorter_new(&s->pairs, 4 << 20, "/tmp", false, &err));
      for (uint32_t i = 0; i < M; i++) row[i] = same[i] = i;
      ok(depth ? nd_solve_bucket(s, row, M, 0, &err) : nd_solve(s, row, M, all, &err));
      ok(nd_solve_flush(s, &err));
      ok(nd_sorter_finish(s->pairs, &err));
      nd_item items[256];
      for (size_t n = 1; n;) {
        ok(nd_sorter_next(&n, items, 256, s->pairs, &err));
        for (size_t i = 0; i < n; i++)
          push(&got, (uint32_t)(items[i].key >> 32), (uint32_t)items[i].key,
               (uint32_t)items[i].value);
      }
      same_list(&want, &got, "one bucket", r.distance);
      nd_sorter_free(s->pairs);
      free(got.items);
    }
    free(want.items);
  }
  free(s);
  free(same);
  free(row);
  free(v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bad_order_is_sorted), cmocka_unit_test(parts_are_cut_again),
      cmocka_unit_test(every_place_far_away), cmocka_unit_test(one_large_bucket)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
