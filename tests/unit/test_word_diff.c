/* Differences: runs tile both sides, same runs are the same, the path is the
 * shortest where the search may be complete, and no input is slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <time.h>

#include "base/rng.h"
#include "similarity/word_diff.h"
#include "text/words.h"
#include "tools.h"

static void check(const nd_diff *d, const uint32_t *a, size_t n, const uint32_t *b, size_t m) {
  size_t at_a = 0, at_b = 0, same = 0;
  for (size_t i = 0; i < d->n; i++) {
    const nd_diff_run *r = &d->runs[i];
    assert_int_equal(r->a, at_a);
    assert_int_equal(r->b, at_b);
    assert_true(r->a_n + r->b_n > 0);
    if (i) assert_true(r->same != d->runs[i - 1].same);
    if (r->same) {
      assert_int_equal(r->a_n, r->b_n);
      assert_memory_equal(a + r->a, b + r->b, r->a_n * sizeof *a);
      same += r->a_n;
    }
    at_a += r->a_n;
    at_b += r->b_n;
  }
  assert_int_equal(at_a, n);
  assert_int_equal(at_b, m);
  assert_int_equal(same, d->same);
  assert_int_equal(n - same, d->only_a);
  assert_int_equal(m - same, d->only_b);
}

/* The longest common subsequence by the plain table. */
static uint32_t longest(const uint32_t *a, size_t n, const uint32_t *b, size_t m) {
  uint32_t *row = calloc(2 * (m + 1), sizeof *row), *old = row + m + 1, result;
  for (size_t i = 0; i < n; i++) {
    memcpy(old, row, (m + 1) * sizeof *row);
    for (size_t j = 0; j < m; j++)
      row[j + 1] = a[i] == b[j] ? old[j] + 1 : old[j + 1] > row[j] ? old[j + 1] : row[j];
  }
  result = row[m];
  free(row);
  return result;
}

static void shortest_paths(void **state) {
  (void)state;
  nd_rng rng = {404};
  nd_diff d = {0};
  for (int round = 0; round < 20000; round++) {
    uint32_t a[80], b[80];
    size_t n = (size_t)nd_rng_below(&rng, 80), m = (size_t)nd_rng_below(&rng, 80);
    uint32_t letters = 1 + (uint32_t)nd_rng_below(&rng, 30);
    for (size_t i = 0; i < n; i++) a[i] = (uint32_t)nd_rng_below(&rng, letters);
    for (size_t i = 0; i < m; i++)
      b[i] = round % 2 && i < n && nd_rng_below(&rng, 5) ? a[i]
                                                         : (uint32_t)nd_rng_below(&rng, letters);
    ok(nd_symbol_diff(&d, a, n, b, m, &err));
    check(&d, a, n, b, m);
    if (d.same != longest(a, n, b, m))
      fail_msg("round %d: %u the same, not %u", round, (unsigned)d.same, longest(a, n, b, m));
    nd_diff_join_islands(&d, 3);
    size_t at = 0;
    for (size_t i = 0; i < d.n; i++) at += d.runs[i].a_n;
    assert_int_equal(at, n);
  }
  nd_diff_clear(&d);
}

static void differing_words_are_counted(void **state) {
  (void)state;
  nd_str a = nd_str_of("the quick brown fox jumps over the lazy dog");
  nd_str b = nd_str_of("the quick red fox over the very lazy dog");
  uint32_t *ends[2] = {NULL, NULL};
  size_t n[2], cap[2] = {0, 0};
  ok(nd_token_ends(&ends[0], &n[0], &cap[0], a, &err));
  ok(nd_token_ends(&ends[1], &n[1], &cap[1], b, &err));
  nd_diff d = {0};
  ok(nd_word_diff(&d, a, ends[0], n[0], b, ends[1], n[1], &err));
  assert_int_equal(d.same, 7);
  assert_int_equal(d.only_a, 2);
  assert_int_equal(d.only_b, 2);
  assert_int_equal(d.runs[0].a_n, 2);
  ok(nd_word_diff(&d, a, ends[0], 0, b, ends[1], 0, &err));
  assert_int_equal(d.n, 0);
  nd_diff_clear(&d);
  nd_free(ends[0]);
  nd_free(ends[1]);
}

/* Texts of words are compared as their symbols are. */
static void words_are_symbols(void **state) {
  (void)state;
  nd_rng rng = {17};
  nd_diff d = {0};
  uint32_t *ends[2] = {NULL, NULL};
  size_t n[2], cap[2] = {0, 0};
  for (int round = 0; round < 5000; round++) {
    uint32_t s[2][60];
    nd_buf text[2] = {{0}, {0}};
    size_t want[2];
    for (int side = 0; side < 2; side++) {
      want[side] = (size_t)nd_rng_below(&rng, 60);
      for (size_t i = 0; i < want[side]; i++) {
        bool copied = side && i < want[0] && nd_rng_below(&rng, 8);
        s[side][i] = copied ? s[0][i] : (uint32_t)nd_rng_below(&rng, 9);
        ok(nd_buf_printf(&text[side], &err, i ? " w%u" : "w%u", s[side][i] * 111111));
      }
      ok(nd_token_ends(&ends[side], &n[side], &cap[side], nd_buf_str(&text[side]), &err));
      assert_int_equal(n[side], want[side]);
    }
    ok(nd_word_diff(&d, nd_buf_str(&text[0]), ends[0], n[0], nd_buf_str(&text[1]), ends[1], n[1],
                    &err));
    check(&d, s[0], n[0], s[1], n[1]);
    assert_int_equal(d.same, longest(s[0], n[0], s[1], n[1]));
    nd_buf_clear(&text[0]);
    nd_buf_clear(&text[1]);
  }
  nd_diff_clear(&d);
  nd_free(ends[0]);
  nd_free(ends[1]);
}

static void islands_are_joined(void **state) {
  (void)state;
  uint32_t a[] = {1, 2, 3, 9, 4, 5, 6, 7, 7, 7}, b[] = {11, 12, 13, 9, 14, 15, 16, 7, 7, 7};
  nd_diff d = {0};
  ok(nd_symbol_diff(&d, a, 10, b, 10, &err));
  assert_int_equal(d.n, 4);
  nd_diff_join_islands(&d, 2);
  assert_int_equal(d.n, 2);
  assert_int_equal(d.runs[0].a_n, 7);
  assert_int_equal(d.same, 3);
  nd_diff_clear(&d);
}

/* Long documents with many changes, of which one has lost its beginning or has its parts in
 * another order: nearly all of what they share is found, though the path is longer than any
 * that is searched for to the end. */
static void long_documents(void **state) {
  (void)state;
  enum { N = 20000, LOST = 3000, CHANGES = 600 };
  uint32_t *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  nd_diff d = {0};
  nd_rng rng = {31};
  for (int kind = 0; kind < 3; kind++) {
    size_t m = kind == 1 ? N - LOST : N, want = kind == 2 ? N - LOST : m;
    for (size_t i = 0; i < N; i++) /* a few words are frequent */
      a[i] = (uint32_t)nd_rng_below(&rng, 1 + nd_rng_below(&rng, 3000));
    for (size_t i = 0; i < m; i++) {
      size_t from = kind == 1 ? i + LOST : kind == 2 ? (i + LOST) % N : i;
      b[i] = nd_rng_below(&rng, m) < CHANGES ? 5000 + (uint32_t)i : a[from];
    }
    ok(nd_symbol_diff(&d, a, N, b, m, &err));
    check(&d, a, N, b, m);
    if (d.same < want - CHANGES * 5 / 4)
      fail_msg("kind %d: only %u of about %u words the same", kind, (unsigned)d.same,
               (unsigned)(want - CHANGES));
  }
  nd_diff_clear(&d);
  free(a);
  free(b);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other programs do not count */
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Long documents without a word in common, with every word in common in another
 * order, and of two words: none may be quadratic (4e10 steps would take minutes). */
static void hostile_input_is_quick(void **state) {
  (void)state;
  enum { N = 200000 };
  uint32_t *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  nd_diff d = {0};
  nd_rng rng = {1};
  for (int kind = 0; kind < 4; kind++) {
    for (uint32_t i = 0; i < N; i++) {
      a[i] = kind == 0 ? i : kind == 1 ? i : (uint32_t)nd_rng_below(&rng, kind == 2 ? 2 : 50);
      b[i] = kind == 0   ? i + N
             : kind == 1 ? N - 1 - i
                         : (uint32_t)nd_rng_below(&rng, kind == 2 ? 2 : 50);
    }
    double begin = seconds();
    ok(nd_symbol_diff(&d, a, N, b, N, &err));
    double took = seconds() - begin;
    check(&d, a, N, b, N);
    if (took > 5) fail_msg("kind %d took %.1f s", kind, took);
  }
  nd_diff_clear(&d);
  free(a);
  free(b);
}

typedef struct two_lists {
  uint32_t a[3000], b[3000];
  nd_diff diff;
} two_lists;

static nd_status compare_lists(void *context) {
  two_lists *l = context;
  nd_diff d = {0};
  nd_status status = nd_symbol_diff(&d, l->a, 3000, l->b, 3000, &err);
  if (status == ND_OK) check(&d, l->a, 3000, l->b, 3000);
  nd_diff_clear(&d);
  if (status != ND_OK) return status;
  /* With room that is there already, too. */
  status = nd_symbol_diff(&l->diff, l->a, 3000, l->b, 3000, &err);
  if (status == ND_OK) check(&l->diff, l->a, 3000, l->b, 3000);
  return status;
}

/* So many changes that the documents are cut at what they have once: no memory, at any place. */
static void no_memory(void **state) {
  (void)state;
  static two_lists l;
  nd_rng rng = {32};
  for (size_t i = 0; i < 3000; i++) {
    l.a[i] = (uint32_t)nd_rng_below(&rng, 300);
    l.b[i] = nd_rng_below(&rng, 6) ? l.a[i] : (uint32_t)nd_rng_below(&rng, 300);
  }
  for (uint64_t nth = 1, failures = 0;; nth++) {
    nd_mem_strict(true);
    nd_mem_fail_at(nth);
    nd_status status = compare_lists(&l);
    nd_mem_fail_at(0);
    nd_mem_strict(false);
    if (status == ND_OK) {
      assert_true(failures > 100);
      break;
    }
    assert_int_equal(status, ND_ERR_MEMORY);
    failures++;
  }
  nd_diff_clear(&l.diff);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shortest_paths),    cmocka_unit_test(differing_words_are_counted),
      cmocka_unit_test(words_are_symbols), cmocka_unit_test(islands_are_joined),
      cmocka_unit_test(long_documents),    cmocka_unit_test(hostile_input_is_quick),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
