/* Bounded edit distance against the plain table of Wagner and Fischer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "similarity/edit_distance.h"
#include "tools.h"

static nd_rng rng;
static nd_edit_scratch scratch;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nd_mem_fail_at(0);
  nd_edit_scratch_clear(&scratch);
  return 0;
}

static uint32_t naive(const uint32_t *a, size_t m, const uint32_t *b, size_t n) {
  uint32_t *row = malloc((n + 1) * sizeof *row);
  for (size_t j = 0; j <= n; j++) row[j] = (uint32_t)j;
  for (size_t i = 1; i <= m; i++) {
    uint32_t diagonal = row[0];
    row[0] = (uint32_t)i;
    for (size_t j = 1; j <= n; j++) {
      uint32_t best = diagonal + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = best;
    }
  }
  uint32_t d = row[n];
  free(row);
  return d;
}

enum { LONGEST = 400 };

static const char *const points[] = {
    "a", "b", "c", "d", "\xc3\xa9", "\xc3\xa8", "\xe4\xb8\xad", "\xe4\xb8\xae", "\xf0\x9d\x94\xa0"};

typedef struct string {
  char utf8[4 * LONGEST * 2];
  uint32_t symbol[LONGEST * 2];
  size_t bytes, n;
} string;

static void encode(string *s) {
  s->bytes = 0;
  for (size_t i = 0; i < s->n; i++) {
    size_t k = strlen(points[s->symbol[i]]);
    memcpy(s->utf8 + s->bytes, points[s->symbol[i]], k);
    s->bytes += k;
  }
}

static void draw(string *s, size_t longest, uint32_t alphabet) {
  s->n = nd_rng_below(&rng, longest + 1);
  for (size_t i = 0; i < s->n; i++) s->symbol[i] = (uint32_t)nd_rng_below(&rng, alphabet);
  encode(s);
}

static void mutate(string *out, const string *s, size_t edits, uint32_t alphabet) {
  *out = *s;
  while (edits--) {
    uint32_t c = (uint32_t)nd_rng_below(&rng, alphabet);
    size_t at = nd_rng_below(&rng, out->n + 1);
    switch (nd_rng_below(&rng, 3)) {
      case 0:
        if (out->n >= LONGEST * 2 - 1) break;
        memmove(out->symbol + at + 1, out->symbol + at, (out->n - at) * sizeof *out->symbol);
        out->symbol[at] = c;
        out->n++;
        break;
      case 1:
        if (at == out->n) break;
        memmove(out->symbol + at, out->symbol + at + 1, (out->n - at - 1) * sizeof *out->symbol);
        out->n--;
        break;
      default:
        if (at < out->n) out->symbol[at] = c;
    }
  }
  encode(out);
}

static void check(const string *a, const string *b, uint32_t tau, uint32_t d) {
  uint32_t got;
  nd_str x = {a->utf8, a->bytes}, y = {b->utf8, b->bytes};
  ok(nd_edit_distance(&got, &scratch, x, y, tau, &err));
  assert_int_equal(got, d <= tau ? d : tau + 1);
  ok(nd_edit_distance(&got, &scratch, y, x, tau, &err));
  assert_int_equal(got, d <= tau ? d : tau + 1);
}

static void agrees(int rounds, size_t longest, uint32_t most) {
  static string a, b;
  for (int round = 0; round < rounds; round++) {
    uint32_t alphabet = round % 2 ? 9 : 1 + (uint32_t)nd_rng_below(&rng, 4);
    draw(&a, longest, alphabet);
    if (round % 4)
      mutate(&b, &a, nd_rng_below(&rng, most + 3), alphabet);
    else
      draw(&b, longest, alphabet);
    uint32_t d = naive(a.symbol, a.n, b.symbol, b.n);
    check(&a, &b, (uint32_t)nd_rng_below(&rng, most + 1), d);
    if (d) check(&a, &b, d - 1, d);
    check(&a, &b, d, d);
    check(&a, &b, d + 1, d);
  }
}

static void short_strings(void **state) {
  (void)state;
  agrees(20000, 12, 8);
}

static void one_word(void **state) {
  (void)state;
  agrees(3000, 150, 30);
  agrees(1000, LONGEST, 63);
}

static void many_words(void **state) {
  (void)state;
  agrees(300, LONGEST, 300);
}

static void known_distances_hold_at_every_bound(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    uint32_t distance;
  } cases[] = {{"", "", 0},
               {"", "abc", 3},
               {"kitten", "sitting", 3},
               {"intention", "execution", 5},
               {"na\xc3\xafve", "naive", 1},
               {"\xc3\xa9", "\xc3\xa8", 1},      /* one code point, though one byte is equal */
               {"a\xff", "a\xfe", 1},            /* bytes that are not UTF-8 */
               {"\xff", "\xc3\xbf", 1},          /* … are no code point */
               {"\xe4\xb8", "\xe4\xb8\xad", 2}}; /* a cut code point: two bytes */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static const uint32_t tau[] = {0, 1, 2, 3, 4, 5, 20, 64, 1000, UINT32_MAX - 1, UINT32_MAX};
    for (size_t k = 0; k < sizeof tau / sizeof *tau; k++) {
      uint32_t got, d = cases[i].distance;
      ok(nd_edit_distance(&got, &scratch, nd_str_of(cases[i].a), nd_str_of(cases[i].b), tau[k],
                          &err));
      assert_int_equal(got, d <= tau[k] ? d : tau[k] + 1);
    }
  }
}

/* Long strings: the walk ends early, or stays narrow. */
static void long_strings(void **state) {
  (void)state;
  enum { N = 1000000 };
  char *a = malloc(N), *b = malloc(N);
  for (size_t i = 0; i < N; i++) a[i] = "acgt"[nd_rng_below(&rng, 4)];
  memcpy(b, a, N);
  for (int i = 0; i < 50; i++) b[(size_t)i * (N / 50) + 7] = 'x';
  uint32_t got;
  nd_str x = {a, N}, y = {b, N};
  ok(nd_edit_distance(&got, &scratch, x, y, 50, &err));
  assert_int_equal(got, 50);
  ok(nd_edit_distance(&got, &scratch, x, y, 100000, &err));
  assert_int_equal(got, 50);
  ok(nd_edit_distance(&got, &scratch, x, y, 49, &err));
  assert_int_equal(got, 50);
  for (size_t i = 0; i < N; i++) b[i] = "acgt"[nd_rng_below(&rng, 4)];
  ok(nd_edit_distance(&got, &scratch, x, y, 1000, &err));
  assert_int_equal(got, 1001);
  free(a);
  free(b);
}

static void memory_faults(void **state) {
  (void)state;
  char a[500], b[500];
  memset(a, 'a', sizeof a);
  memset(b, 'b', sizeof b);
  for (uint64_t nth = 1;; nth++) {
    nd_edit_scratch s = {0};
    uint32_t got;
    nd_mem_fail_at(nth);
    nd_status status = nd_edit_distance(&got, &s, (nd_str){a, 500}, (nd_str){b, 500}, 300, &err);
    bool hit = nd_mem_count() >= nth;
    nd_mem_fail_at(0);
    if (hit) assert_int_equal(status, ND_ERR_MEMORY);
    ok(nd_edit_distance(&got, &s, (nd_str){a, 500}, (nd_str){b, 500}, 300, &err));
    assert_int_equal(got, 301);
    nd_edit_scratch_clear(&s);
    if (!hit) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_strings), cmocka_unit_test(one_word),
      cmocka_unit_test(many_words),    cmocka_unit_test(known_distances_hold_at_every_bound),
      cmocka_unit_test(long_strings),  cmocka_unit_test(memory_faults)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
