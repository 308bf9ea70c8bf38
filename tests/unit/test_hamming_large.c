/* Pairs within a Hamming distance where much is in one place: parts that are larger than the
 * memory, buckets that are larger than what is fetched at once, orders that are bad to sort; and
 * one call of every place that fails while the vectors lie outside. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bits.h"
#include "base/hash.h"
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

static nd_status search(void *context) {
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

static nd_status stop_after(void *context, nd_error *e) {
  _Atomic uint64_t *left = context;
  return atomic_fetch_sub(left, 1) ? ND_OK : nd_fail(e, ND_ERR_CANCELLED, "stop");
}

static void every_place_far_away(void **state) {
  (void)state;
  enum { M = 9000 };
  uint64_t *v = malloc(M * 8);
  nd_rng rng = {13};
  size_t failures = 0;
  for (int shape = 0; shape < 3; shape++) { /* small parts, large ones, too few vectors for any */
    const bool parts = shape == 1;
    make(v, M, 1, parts ? 1 : 0.4, 3, &rng);
    for (size_t i = 0; i < M && parts; i++) v[i] = i & 1 ? v[i] | 0xffffffff : v[i] >> 32 << 32;
    for (size_t i = 0; i < M; i += 50) v[i] = v[0];
    nd_hamming_request inside = {
        .vectors = v, .n = shape < 2 ? M : 600, .words = 1, .distance = 1, .threads = 1};
    nd_hamming_stats stats;
    far_search f = {inside, ours(&inside, &stats)};
    f.request.vectors = NULL;
    f.request.scan = scan_vectors;
    f.request.scan_context = &inside;
    f.request.memory = 1;
    f.request.dir = "/tmp";
    failures += every_place_fails(search, &f);
    /* The question whether to go on is answered with no, the first time, the second, … */
    _Atomic uint64_t left;
    nd_status status = ND_ERR_CANCELLED;
    f.request.check = stop_after;
    f.request.check_context = &left;
    for (uint64_t nth = 0; status != ND_OK; nth = nth < 40 ? nth + 1 : nth * 2) {
      left = nth;
      status = search(&f);
      if (status != ND_OK) assert_int_equal(status, ND_ERR_CANCELLED);
    }
    free(f.want.items);
  }
  print_message("%zu failures\n", failures);
  assert_true(failures > 30);
  free(v);
}

/* Odd numbers have an inverse modulo 2^64. */
static uint64_t inverse_of(uint64_t odd) {
  uint64_t x = odd;
  for (int i = 0; i < 5; i++) x *= 2 - odd * x;
  return x;
}

/* Vectors that the hash of the parts does not tell apart, all in one part, however often it is
 * cut. */
static void parts_that_no_hash_cuts(void **state) {
  (void)state;
  enum { M = 4000 };
  const uint64_t odd = inverse_of(0xd1b54a32d192ed03u);
  uint64_t *v = malloc(M * 8);
  for (uint64_t i = 0; i < M; i++) v[i] = i / 2 * odd;
  nd_hamming_request r = {.vectors = v, .n = M, .words = 1, .distance = 0};
  assert_int_equal(compare(r, "one part"), M / 2);
  /* Pieces of one bit, behind which there are not as many pieces as errors. */
  nd_rng rng = {18};
  make(v, M, 1, 1, 0, &rng);
  r = (nd_hamming_request){
      .vectors = v, .n = 700, .words = 1, .distance = 63, .pieces = 64, .split = 1};
  assert_int_equal(compare(r, "pieces of one bit"), 699);
  free(v);
}

/* A hash of two words is the same for many vectors, which are different all the same. */
static void vectors_of_one_hash(void **state) {
  (void)state;
  enum { M = 1500 };
  uint64_t *v = malloc(M * 2 * 8);
  nd_rng rng = {16};
  for (size_t i = 0; i < M; i++) {
    const uint64_t word = i % 3 ? nd_rng_below(&rng, 40) : nd_rng_next(&rng);
    v[2 * i] = word;
    v[2 * i + 1] = nd_fold(0x2545f4914f6cdd1du ^ word, 0xa0761d6478bd642fu);
  }
  assert_true(nd_solve_piece(v, 0, 128) == nd_solve_piece(v + 2, 0, 128));
  nd_hamming_request r = {.vectors = v, .n = M, .words = 2, .distance = 1};
  assert_true(compare(r, "one hash") > M);
  free(v);
}

/* Nothing tells the vectors apart: there are none, or all are the same. */
static void nothing_to_cut(void **state) {
  (void)state;
  enum { M = 1500 };
  uint64_t *v = malloc(M * 8), present[M / 64 + 1] = {0};
  for (size_t i = 0; i < M; i++) v[i] = i * 0x9e3779b97f4a7c15u;
  nd_hamming_request r = {
      .vectors = v, .n = M, .words = 1, .distance = 3, .present = present, .split = 2};
  assert_int_equal(compare(r, "none"), 0);
  for (size_t i = 0; i < M; i++) v[i] = 7;
  r.present = NULL;
  assert_int_equal(compare(r, "all the same"), 2 * (M - 2));
  free(v);
}

/* Pieces hold a bit at least, and about the same share of what tells vectors apart. */
static void every_piece_holds_bits_that_differ(void **state) {
  (void)state;
  static const struct {
    uint64_t varies; /* bits in which half of the vectors differ */
    nd_region region;
    uint32_t pieces;
    bool can;
    uint16_t bound[6];
  } cases[] = {
      {UINT64_MAX, {0, 64, 3}, 4, true, {0, 16, 32, 48, 64}},
      {UINT64_MAX, {60, 64, 4}, 5, false, {0}}, /* fewer bits than pieces */
      {0, {0, 64, 3}, 4, false, {0}},           /* none tells anything */
      {0xff, {8, 64, 3}, 4, false, {0}},        /* none of the region does */
      {1ull << 63, {0, 64, 3}, 4, true, {0, 61, 62, 63, 64}},
      {1, {0, 64, 3}, 4, true, {0, 1, 2, 3, 64}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_bit_tally tally;
    uint16_t bound[6] = {0};
    nd_solve_tally_start(&tally);
    for (uint64_t k = 0; k < 2; k++) {
      const uint64_t vector = k ? cases[i].varies : 0;
      nd_solve_tally(&tally, &vector, 1);
    }
    assert_int_equal(nd_solve_cut(bound, &tally, cases[i].region, cases[i].pieces), cases[i].can);
    assert_memory_equal(bound, cases[i].bound, sizeof bound);
  }
}

/* A solver of one bucket, in which no two vectors are the same, with a new place for its pairs. */
static void start_solver(nd_solver *s, const nd_hamming_request *r, const nd_vector_set *set,
                         uint32_t *same, uint32_t *row) {
  s->request = r;
  s->same = same;
  s->set = set;
  s->match = nd_match_best();
  s->differ = nd_bits_differ_best(nd_cpu());
  s->out_n = 0;
  for (uint32_t i = 0; i < r->n; i++) row[i] = same[i] = i;
  ok(nd_sorter_new(&s->pairs, 4 << 20, "/tmp", false, &err));
}

static list pairs_of(nd_solver *s) {
  list got = {0};
  nd_item items[256];
  ok(nd_solve_flush(s, &err));
  ok(nd_sorter_finish(s->pairs, &err));
  for (size_t n = 1; n;) {
    ok(nd_sorter_next(&n, items, 256, s->pairs, &err));
    for (size_t i = 0; i < n; i++)
      push(&got, (uint32_t)(items[i].key >> 32), (uint32_t)items[i].key, (uint32_t)items[i].value);
  }
  nd_sorter_free(s->pairs);
  return got;
}

/* The same with a place for pairs that takes none. */
static void solve_in_vain(nd_solver *s, uint32_t *row, size_t n, nd_region region, bool bucket) {
  const unsigned depth = s->depth;
  nd_mem_fail_at(1);
  nd_status status =
      bucket ? nd_solve_bucket(s, row, n, 0, &err) : nd_solve(s, row, n, region, &err);
  if (status == ND_OK) status = nd_solve_flush(s, &err);
  nd_mem_fail_at(0);
  assert_int_equal(status, ND_ERR_MEMORY);
  nd_sorter_free(s->pairs);
  s->depth = depth;
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
    const nd_vector_set set = {v, NULL, M};
    for (unsigned depth = 0; depth < 2; depth++) {
      const nd_region all = {0, 64 * words, r.distance};
      s->depth = depth;
      s->level[0] = (nd_solve_level){.region = all, .pieces = 3, .bound = {0, 8, 30, 64}};
      s->level[0].bound[3] = (uint16_t)(64 * words);
      start_solver(s, &r, &set, same, row);
      solve_in_vain(s, row, M, all, depth);
      start_solver(s, &r, &set, same, row);
      ok(depth ? nd_solve_bucket(s, row, M, 0, &err) : nd_solve(s, row, M, all, &err));
      list got = pairs_of(s);
      same_list(&want, &got, "one bucket", r.distance);
      free(got.items);
    }
    free(want.items);
  }
  free(s);
  free(same);
  free(row);
  free(v);
}

/* Compared all with all: no cut helps, or there were enough of them. */
static void buckets_that_are_not_cut(void **state) {
  (void)state;
  enum { LARGE = ND_SOLVE_KEYS + 1000 };
  static const struct {
    uint32_t words, n, bits, distance, split;
    unsigned depth;
  } cases[] = {{1, 1500, 11, 11, 3, 0}, /* as many bits as errors: they make no pieces */
               {2, 1500, 11, 11, 3, 0},
               {1, 600, 64, 2, 0, ND_SOLVE_DEPTH},
               {2, 600, 64, 2, 0, ND_SOLVE_DEPTH},
               {1, LARGE, 64, 15, 0, 0}, /* pieces of four bits save nothing */
               {1, LARGE, 64, 15, 0, ND_SOLVE_DEPTH}};
  uint64_t *v = malloc(LARGE * 2 * 8);
  uint32_t *same = malloc(LARGE * 4), *row = malloc(LARGE * 4);
  nd_solver *s = calloc(1, sizeof *s);
  list want = {0};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const uint32_t words = cases[k].words, n = cases[k].n, bits = cases[k].bits;
    nd_rng rng = {17};
    for (size_t i = 0; i < n; i++) {
      uint64_t *x = v + i * words;
      memset(x, 0, words * 8);
      x[0] = bits < 64 ? i << (64 - bits) : nd_rng_next(&rng);
      if (bits == 64 && i % 2) x[0] = *(x - words) ^ (uint64_t)1 << nd_rng_below(&rng, 64);
    }
    nd_hamming_request r = {.vectors = v,
                            .n = n,
                            .words = words,
                            .distance = cases[k].distance,
                            .split = cases[k].split,
                            .threads = 1};
    if (k == 0 || n != cases[k - 1].n || words != cases[k - 1].words) {
      nd_hamming_stats stats;
      free(want.items);
      want = ours(&r, &stats);
      assert_true(want.n >= n / 2);
      assert_int_equal(stats.vectors, n);
    }
    const nd_vector_set set = {v, NULL, n};
    const nd_region region = {64 - bits, 64, r.distance};
    s->depth = cases[k].depth;
    for (unsigned d = 0; d < s->depth; d++) s->level[d] = (nd_solve_level){.pieces = 1};
    start_solver(s, &r, &set, same, row);
    solve_in_vain(s, row, n, region, false);
    start_solver(s, &r, &set, same, row);
    s->stats.compared = 0;
    ok(nd_solve(s, row, n, region, &err));
    if (words == 1) assert_int_equal(s->stats.compared, (uint64_t)n * (n - 1) / 2);
    list got = pairs_of(s);
    same_list(&want, &got, "not cut", r.distance);
    free(got.items);
  }
  free(want.items);
  free(s);
  free(same);
  free(row);
  free(v);
}

/* Each pair in turn is the one that is not taken any more: alone, or of groups of equal vectors,
 * hot or not. */
static void every_pair_fails(void **state) {
  (void)state;
  enum { VECTORS = 600, MOST = VECTORS * 4 };
  static uint64_t v[MOST * 2];
  static uint32_t same[MOST], row[MOST];
  static nd_solver s;
  for (int shape = 0; shape < 6; shape++) {
    const uint32_t words = 1 + (uint32_t)shape % 2, n = shape < 4 ? 40 : VECTORS;
    const uint32_t each = shape < 4 ? 3 : 1, last = n * each;
    nd_rng rng = {(uint64_t)shape};
    memset(v, 0, sizeof v);
    for (uint32_t i = 0; i < last; i++) { /* the members of a vector lie n apart */
      v[i * words] = i < n ? nd_rng_next(&rng) << 8 : v[(i - n) * words];
      if (i < n && i % 2) v[i * words] = v[(i - 1) * words] ^ 256u << i % 20;
    }
    nd_hamming_request r = {.n = n, .words = words, .distance = 2, .cap = shape / 2 == 1 ? 2 : 0};
    const nd_vector_set set = {v, NULL, last};
    const nd_region all = {0, 64 * words, r.distance};
    nd_status status = ND_ERR_MEMORY;
    for (uint64_t nth = 1; status != ND_OK; nth += shape < 4 ? 1 : 7) {
      start_solver(&s, &r, &set, same, row);
      for (uint32_t i = 0; i < last; i++)
        same[i] = i < n ? last - n + i : i - n; /* the one before; the first one's is the last */
      s.depth = 0;
      s.stats.pairs = 0;
      s.out_n = ND_SOLVE_BATCH - (size_t)nth;
      memset(s.out, 0, sizeof s.out);
      nd_mem_fail_at(1);
      status = nd_solve(&s, row, n, all, &err);
      nd_mem_fail_at(0);
      if (status != ND_OK) assert_int_equal(status, ND_ERR_MEMORY);
      assert_true(status == ND_OK ? s.stats.pairs < nth : s.stats.pairs == nth);
      nd_sorter_free(s.pairs);
    }
    assert_true(s.stats.pairs >= n / 2);
    /* The second run of a range. */
    start_solver(&s, &r, &set, same, row);
    s.depth = 0;
    s.out_n = ND_SOLVE_BATCH - 1;
    for (uint32_t i = 0; i < n; i++) row[i] = i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1;
    nd_mem_fail_at(1);
    assert_int_equal(nd_solve_range(&s, row, 0, n / 2, n / 2, n, &err), ND_ERR_MEMORY);
    nd_mem_fail_at(0);
    nd_sorter_free(s.pairs);
    /* A bucket of those that share eight bits. */
    start_solver(&s, &r, &set, same, row);
    s.depth = 1;
    s.level[0] = (nd_solve_level){.region = all, .pieces = 3, .bound = {0, 8, 30, 64}};
    s.out_n = ND_SOLVE_BATCH - 1;
    nd_mem_fail_at(1);
    assert_int_equal(nd_solve_bucket(&s, row, n, 0, &err), ND_ERR_MEMORY);
    nd_mem_fail_at(0);
    nd_sorter_free(s.pairs);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_bad_order_is_sorted),
                                     cmocka_unit_test(parts_are_cut_again),
                                     cmocka_unit_test(every_place_far_away),
                                     cmocka_unit_test(every_pair_fails),
                                     cmocka_unit_test(parts_that_no_hash_cuts),
                                     cmocka_unit_test(vectors_of_one_hash),
                                     cmocka_unit_test(nothing_to_cut),
                                     cmocka_unit_test(every_piece_holds_bits_that_differ),
                                     cmocka_unit_test(one_large_bucket),
                                     cmocka_unit_test(buckets_that_are_not_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
