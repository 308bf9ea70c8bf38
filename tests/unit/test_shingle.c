/* Shingles against strings cut out one by one: the same runs of bytes in the
 * same order, and fingerprints that are equal exactly where the bytes are. */
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

#include "base/rng.h"
#include "feature/shingle.h"
#include "text/words.h"
#include "tools.h"

static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return 0;
}

static int clear_hooks(void **state) {
  (void)state;
  nd_mem_fail_at(0);
  return 0;
}

/* ---- the naive version: (begin, end) of every shingle, byte by byte ---- */

typedef struct place {
  uint32_t begin, end;
} place;

/* The byte after `count` code points from `at` on, or SIZE_MAX. */
static size_t skip_points(nd_str text, size_t at, size_t count) {
  for (; count; count--) {
    if (at >= text.n) return SIZE_MAX;
    for (at++; at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80; at++) {
    }
  }
  return at;
}

static size_t cut_naively(place *out, const nd_tokens *t, nd_shingle_spec spec) {
  nd_str text = nd_buf_str(&t->text);
  size_t n = 0;
  if (t->count == 0) return 0;
  if (spec.kind == ND_SHINGLE_WORDS) {
    for (size_t i = 0; i + spec.size <= t->count; i++) {
      nd_str first = nd_token(t, i), last = nd_token(t, i + spec.size - 1);
      out[n++] = (place){(uint32_t)(first.p - text.p), (uint32_t)(last.p + last.n - text.p)};
    }
  } else if (spec.kind == ND_SHINGLE_CHARS) {
    for (size_t at = 0; at < text.n; at = skip_points(text, at, 1)) {
      size_t end = skip_points(text, at, spec.size);
      if (end != SIZE_MAX) out[n++] = (place){(uint32_t)at, (uint32_t)end};
    }
  } else {
    for (size_t i = 0; i < t->count; i++) {
      size_t at = (size_t)(nd_token(t, i).p - text.p), end = skip_points(text, at, spec.size);
      if (end != SIZE_MAX) out[n++] = (place){(uint32_t)at, (uint32_t)end};
    }
  }
  if (n == 0) out[n++] = (place){0, (uint32_t)text.n}; /* too short: all of it */
  return n;
}

/* ---- texts ---- */

static const char *const letters[] = {"a", "b", "c", "\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9d\x94\xb8",
                                      "0"};

static void draw_text(nd_tokens *t, size_t tokens, int alphabet, int longest) {
  nd_buf b = {0};
  for (size_t i = 0; i < tokens; i++) {
    if (i) ok(nd_buf_append(&b, " ", 1, &err));
    uint64_t n = 1 + nd_rng_below(&rng, (uint64_t)longest);
    if (longest > 1 && nd_rng_below(&rng, 20) == 0) n += 30; /* longer than a short hash */
    for (uint64_t j = 0; j < n; j++) {
      const char *letter = letters[nd_rng_below(&rng, (uint64_t)alphabet)];
      ok(nd_buf_append(&b, letter, strlen(letter), &err));
    }
  }
  ok(nd_tokens_from_text(t, nd_buf_str(&b), &err));
  nd_buf_clear(&b);
}

static nd_status make(nd_shingles *s, const nd_tokens *t, nd_shingle_spec spec, uint64_t seed,
                      bool places) {
  return nd_shingle_make(s, nd_buf_str(&t->text), t->end, t->count, spec, seed, places, &err);
}

typedef struct entry {
  nd_str bytes;
  uint64_t fingerprint;
} entry;

static int by_bytes(const void *x, const void *y) {
  const entry *a = x, *b = y;
  int c = memcmp(a->bytes.p, b->bytes.p, a->bytes.n < b->bytes.n ? a->bytes.n : b->bytes.n);
  return c ? c : a->bytes.n < b->bytes.n ? -1 : a->bytes.n > b->bytes.n;
}

static int by_fingerprint(const void *x, const void *y) {
  uint64_t a = ((const entry *)x)->fingerprint, b = ((const entry *)y)->fingerprint;
  return a < b ? -1 : a > b;
}

/* Equal bytes ⇔ equal fingerprints, over everything in the list. */
static void check_one_to_one(entry *list, size_t n) {
  size_t strings = n != 0, fingerprints = n != 0;
  qsort(list, n, sizeof *list, by_bytes);
  for (size_t i = 1; i < n; i++) {
    if (by_bytes(&list[i - 1], &list[i]) != 0)
      strings++;
    else
      assert_int_equal(list[i - 1].fingerprint, list[i].fingerprint);
  }
  qsort(list, n, sizeof *list, by_fingerprint);
  for (size_t i = 1; i < n; i++) fingerprints += list[i - 1].fingerprint != list[i].fingerprint;
  assert_int_equal(strings, fingerprints);
}

static void check_kind(nd_shingle_spec spec) {
  enum { DOCUMENTS = 12, MOST = 4000 };
  nd_tokens tokens[DOCUMENTS] = {0};
  nd_shingles s = {0}, bare = {0};
  place *want = malloc((MOST + 1) * sizeof *want);
  entry *list = malloc((size_t)DOCUMENTS * (MOST + 1) * sizeof *list);
  size_t n = 0;
  for (int d = 0; d < DOCUMENTS; d++) {
    nd_tokens *t = &tokens[d];
    draw_text(t, (size_t)nd_rng_below(&rng, d < 6 ? 8 : 120), 1 + d % 7, 1 + d % 4);
    assert_true(t->text.n <= MOST * 2);
    size_t naive = cut_naively(want, t, spec);
    ok(make(&s, t, spec, 77, true));
    ok(make(&bare, t, spec, 77, false));
    assert_int_equal(s.n, naive);
    assert_int_equal(bare.n, naive);
    for (size_t i = 0; i < naive; i++) {
      assert_int_equal(s.begin[i], want[i].begin);
      assert_int_equal(s.end[i], want[i].end);
      assert_int_equal(s.fingerprint[i], bare.fingerprint[i]);
      list[n++] = (entry){{t->text.p + s.begin[i], s.end[i] - s.begin[i]}, s.fingerprint[i]};
    }
  }
  check_one_to_one(list, n);
  for (int d = 0; d < DOCUMENTS; d++) nd_tokens_clear(&tokens[d]);
  nd_shingles_clear(&s);
  nd_shingles_clear(&bare);
  free(want);
  free(list);
}

static void agrees_with_the_naive_cut(void **state) {
  (void)state;
  const uint32_t sizes[] = {1, 2, 3, 5, 9, 64, 1000};
  for (int kind = ND_SHINGLE_WORDS; kind <= ND_SHINGLE_ALIGNED; kind++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      for (int round = 0; round < 8; round++)
        check_kind((nd_shingle_spec){(nd_shingle_kind)kind, sizes[i]});
    }
  }
}

static size_t distinct(const nd_shingles *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++) {
    bool before = false;
    for (size_t j = 0; j < i; j++) before |= s->fingerprint[j] == s->fingerprint[i];
    n += !before;
  }
  return n;
}

static void expect_counts(const char *text, const char *spec_text, size_t all, size_t different) {
  nd_tokens t = {0};
  nd_shingles s = {0};
  nd_shingle_spec spec;
  ok(nd_shingle_parse(&spec, spec_text, &err));
  ok(nd_tokens_from_text(&t, nd_str_of(text), &err));
  ok(make(&s, &t, spec, 1, true));
  assert_int_equal(s.n, all);
  assert_int_equal(distinct(&s), different);
  nd_tokens_clear(&t);
  nd_shingles_clear(&s);
}

static void counts_agree_with_the_papers(void **state) {
  (void)state;
  /* {the ones we, ones we don't, we don't know, don't know we, know we don't} */
  expect_counts("the ones we don't know we don't know", "words:3", 6, 5);
  expect_counts("a rose is a rose is a rose", "words:4", 5, 3); /* Broder 1997 */
  expect_counts("", "words:5", 0, 0);
  expect_counts("", "chars:5", 0, 0);
  expect_counts("", "aligned:5", 0, 0);
  expect_counts("one", "words:5", 1, 1);
  expect_counts("one two three four", "words:5", 1, 1);
  expect_counts("one two three four five", "words:5", 1, 1);
  expect_counts("one two three four five six", "words:5", 2, 2);
  expect_counts("x x x x x x x x", "words:5", 4, 1);
  expect_counts("abc", "chars:9", 1, 1);
  expect_counts("abcde", "chars:2", 4, 4);
  expect_counts("ab ab ab", "chars:3", 6, 3);      /* "ab ", "b a", " ab" */
  expect_counts("abc defg hi", "aligned:4", 2, 2); /* "abc ", "defg"; hi is too short */
  expect_counts("ab ab ab ab", "aligned:5", 3, 1);
  expect_counts("ab ab", "aligned:64", 1, 1);
}

static void order_and_length_count(void **state) {
  (void)state;
  nd_tokens t = {0};
  nd_shingles s = {0};
  const char *texts[] = {"a b", "b a", "a", "b", "a a", "ab", "a b c", "c b a", "a a a"};
  uint64_t seen[16];
  size_t n = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ok(nd_tokens_from_text(&t, nd_str_of(texts[i]), &err));
    ok(make(&s, &t, (nd_shingle_spec){ND_SHINGLE_WORDS, 5}, 1, false));
    assert_int_equal(s.n, 1);
    for (size_t j = 0; j < n; j++) assert_int_not_equal(seen[j], s.fingerprint[0]);
    seen[n++] = s.fingerprint[0];
  }
  ok(make(&s, &t, (nd_shingle_spec){ND_SHINGLE_WORDS, 5}, 2, false));
  assert_int_not_equal(seen[n - 1], s.fingerprint[0]); /* another seed */
  nd_tokens_clear(&t);
  nd_shingles_clear(&s);
}

/* A range of tokens gives the same shingles as the whole text does there. */
static void range_of_tokens_gives_the_shingles_there(void **state) {
  (void)state;
  nd_shingles all = {0}, part = {0};
  for (int round = 0; round < 500; round++) {
    nd_tokens t = {0};
    draw_text(&t, 1 + (size_t)nd_rng_below(&rng, 40), 7, 3);
    uint32_t size = 1 + (uint32_t)nd_rng_below(&rng, t.count < 6 ? t.count : 6);
    ok(make(&all, &t, (nd_shingle_spec){ND_SHINGLE_WORDS, size}, 5, true));
    size_t first = (size_t)nd_rng_below(&rng, all.n);
    size_t n = 1 + (size_t)nd_rng_below(&rng, all.n - first);
    ok(nd_shingle_range(&part, nd_buf_str(&t.text), t.end, first, n + size - 1, size, 5, &err));
    assert_int_equal(part.n, n);
    assert_memory_equal(part.fingerprint, all.fingerprint + first, n * sizeof *part.fingerprint);
    assert_memory_equal(part.begin, all.begin + first, n * sizeof *part.begin);
    assert_memory_equal(part.end, all.end + first, n * sizeof *part.end);
    nd_tokens_clear(&t);
  }
  nd_shingles_clear(&all);
  nd_shingles_clear(&part);
}

static void names_are_parsed(void **state) {
  (void)state;
  nd_shingle_spec s;
  ok(nd_shingle_parse(&s, "words:5", &err));
  assert_true(s.kind == ND_SHINGLE_WORDS && s.size == 5);
  ok(nd_shingle_parse(&s, "chars:1000", &err));
  assert_true(s.kind == ND_SHINGLE_CHARS && s.size == 1000);
  ok(nd_shingle_parse(&s, "aligned:64", &err));
  assert_true(s.kind == ND_SHINGLE_ALIGNED && s.size == 64);
  const char *wrong[] = {"",
                         "words",
                         "words:",
                         "words:0",
                         "words:-1",
                         "words:5x",
                         "words: 5",
                         "words:1001",
                         "chars:5 ",
                         "Words:5",
                         "aligned:99999999999999999999",
                         "rabin:5",
                         "words:+5"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(nd_shingle_parse(&s, wrong[i], &err), ND_ERR_USAGE);
    assert_non_null(strstr(err.message, "words:K"));
  }
}

static void memory_faults(void **state) {
  (void)state;
  nd_tokens t = {0};
  draw_text(&t, 300, 7, 3);
  for (int kind = ND_SHINGLE_WORDS; kind <= ND_SHINGLE_ALIGNED; kind++) {
    for (uint64_t nth = 1;; nth++) {
      nd_shingles s = {0};
      nd_mem_fail_at(nth);
      nd_shingle_spec spec = {(nd_shingle_kind)kind, 3};
      nd_status status = make(&s, &t, spec, 1, true);
      bool hit = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      if (hit) assert_int_equal(status, ND_ERR_MEMORY);
      ok(make(&s, &t, spec, 1, true)); /* usable again */
      nd_shingles_clear(&s);
      if (!hit) break;
    }
  }
  nd_tokens_clear(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_naive_cut),
                                     cmocka_unit_test(counts_agree_with_the_papers),
                                     cmocka_unit_test(order_and_length_count),
                                     cmocka_unit_test(range_of_tokens_gives_the_shingles_there),
                                     cmocka_unit_test(names_are_parsed),
                                     cmocka_unit_test_teardown(memory_faults, clear_hooks)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
