/* Exact resemblance against sets of strings compared one by one. */
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
#include "similarity/group.h"
#include "similarity/resemblance.h"
#include "similarity/similarity.h"
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

/* ---- naive sets of strings ---- */

typedef struct set {
  nd_str *s;
  size_t n;
} set;

static int by_bytes(const void *x, const void *y) {
  const nd_str *a = x, *b = y;
  int c = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);
  return c ? c : a->n < b->n ? -1 : a->n > b->n;
}

static size_t points_of(nd_str text, size_t *at) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++)
    if (((unsigned char)text.p[i] & 0xc0) != 0x80) at[n++] = i;
  at[n] = text.n;
  return n;
}

static set make_set(nd_str text, nd_shingle_spec spec) {
  set out = {malloc((text.n + 2) * sizeof(nd_str)), 0};
  size_t *at = malloc((text.n + 2) * sizeof *at), n = 0;
  if (text.n == 0) {
    free(at);
    return out;
  }
  if (spec.kind == ND_SHINGLE_WORDS) {
    at[n++] = 0; /* token starts; the end is as if one more space came */
    for (size_t i = 0; i < text.n; i++)
      if (text.p[i] == ' ') at[n++] = i + 1;
    at[n] = text.n + 1;
    for (size_t i = 0; i + spec.size <= n; i++)
      out.s[out.n++] = (nd_str){text.p + at[i], at[i + spec.size] - 1 - at[i]};
  } else {
    n = points_of(text, at);
    for (size_t i = 0; i + spec.size <= n; i++) {
      if (spec.kind == ND_SHINGLE_ALIGNED && at[i] && text.p[at[i] - 1] != ' ') continue;
      out.s[out.n++] = (nd_str){text.p + at[i], at[i + spec.size] - at[i]};
    }
  }
  if (out.n == 0) out.s[out.n++] = text;
  free(at);
  qsort(out.s, out.n, sizeof *out.s, by_bytes);
  size_t kept = 1;
  for (size_t i = 1; i < out.n; i++)
    if (by_bytes(&out.s[i], &out.s[kept - 1]) != 0) out.s[kept++] = out.s[i];
  out.n = kept;
  return out;
}

static nd_overlap overlap_naively(set a, set b) {
  nd_overlap o = {0, 0, 0};
  for (size_t i = 0, j = 0; i < a.n || j < b.n; o.joint++) {
    int c = i == a.n ? 1 : j == b.n ? -1 : by_bytes(&a.s[i], &b.s[j]);
    o.common += c == 0;
    i += c <= 0;
    j += c >= 0;
  }
  return o;
}

/* ---- texts ---- */

static const char *const letters[] = {
    "a", "b", "\xc3\xa9", "c", "\xe4\xb8\xad", "\xf0\x9d\x94\xb8"};

static void draw_token(nd_buf *b, int alphabet, int longest) {
  if (b->n) ok(nd_buf_append(b, " ", 1, &err));
  uint64_t n = 1 + nd_rng_below(&rng, (uint64_t)longest);
  if (longest > 2 && nd_rng_below(&rng, 30) == 0) n += 20;
  for (uint64_t j = 0; j < n; j++) {
    const char *letter = letters[nd_rng_below(&rng, (uint64_t)alphabet)];
    ok(nd_buf_append(b, letter, strlen(letter), &err));
  }
}

static nd_buf draw_text(size_t tokens, int alphabet, int longest) {
  nd_buf b = {0};
  ok(nd_buf_reserve(&b, 1, &err));
  for (size_t i = 0; i < tokens; i++) draw_token(&b, alphabet, longest);
  return b;
}

/* A copy with some tokens dropped, doubled, changed, and perhaps parts moved. */
static nd_buf edit_text(const nd_buf *from, int alphabet, int longest) {
  nd_tokens t = {0};
  nd_buf b = {0};
  ok(nd_buf_reserve(&b, 1, &err));
  ok(nd_tokens_from_text(&t, nd_buf_str(from), &err));
  uint64_t rare = 2 + nd_rng_below(&rng, 40);
  size_t turn = t.count ? (size_t)nd_rng_below(&rng, 2) * (size_t)nd_rng_below(&rng, t.count) : 0;
  for (size_t i = 0; i < t.count; i++) {
    nd_str token = nd_token(&t, (i + turn) % t.count);
    uint64_t what = nd_rng_below(&rng, rare);
    if (what == 0 && nd_rng_below(&rng, 2)) continue;
    if (what == 1) {
      draw_token(&b, alphabet, longest);
      continue;
    }
    for (int times = what == 0 ? 2 : 1; times; times--) {
      if (b.n) ok(nd_buf_append(&b, " ", 1, &err));
      ok(nd_buf_append(&b, token.p, token.n, &err));
    }
  }
  nd_tokens_clear(&t);
  return b;
}

static void expect(nd_comparer *c, nd_str left, nd_str right, set a, set b) {
  nd_overlap got, want = overlap_naively(a, b);
  ok(nd_comparer_right(&got, c, right, &err));
  if (got.common != want.common || got.joint != want.joint)
    fail_msg("\"%.*s\" and \"%.*s\": %u/%u, not %u/%u", (int)(left.n < 200 ? left.n : 200), left.p,
             (int)(right.n < 200 ? right.n : 200), right.p, got.common, got.joint, want.common,
             want.joint);
}

/* Any two of the texts as members of a group, added in any order. */
static void expect_in_group(nd_group *g, const nd_buf *text, const set *sets, uint32_t n) {
  uint32_t first = (uint32_t)nd_rng_below(&rng, n);
  nd_group_empty(g);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t key = (first + i) % n, member = 0;
    nd_buf *to = nd_group_next(g, &err);
    assert_non_null(to);
    assert_int_equal(nd_group_find(g, key * 7), UINT32_MAX);
    if (text[key].n) ok(nd_buf_append(to, text[key].p, text[key].n, &err));
    ok(nd_group_add(&member, g, key * 7, &err));
    assert_int_equal(member, i);
  }
  assert_int_equal(nd_group_count(g), n);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = 0; j < n; j++) {
      nd_overlap want = overlap_naively(sets[i], sets[j]);
      nd_overlap got = nd_group_compare(g, nd_group_find(g, i * 7), nd_group_find(g, j * 7));
      if (got.common != want.common || got.joint != want.joint || got.left != sets[i].n)
        fail_msg("\"%.*s\" and \"%.*s\": %u/%u, not %u/%u", (int)text[i].n, text[i].p,
                 (int)text[j].n, text[j].p, got.common, got.joint, want.common, want.joint);
    }
  }
}

/* One comparer, many lefts, many rights each: its tables are used again. */
static void check_kind(nd_shingle_spec spec, int rounds) {
  enum { TEXTS = 7 };
  nd_comparer *c = NULL;
  nd_group *g = NULL;
  ok(nd_comparer_new(&c, spec, nd_rng_next(&rng), &err));
  ok(nd_group_new(&g, spec, nd_rng_next(&rng), &err));
  for (int round = 0; round < rounds; round++) {
    nd_buf text[TEXTS];
    set sets[TEXTS];
    int alphabet = 1 + (int)nd_rng_below(&rng, 6), longest = 1 + (int)nd_rng_below(&rng, 4);
    uint64_t most = round % 4 == 0 ? 6 : round % 4 == 1 ? 400 : 60;
    text[0] = draw_text((size_t)nd_rng_below(&rng, most), alphabet, longest);
    for (int i = 1; i < TEXTS; i++) {
      text[i] = i < 3   ? draw_text((size_t)nd_rng_below(&rng, most), alphabet, longest)
                : i < 4 ? draw_text(0, 1, 1)
                        : edit_text(&text[i == 6 ? 5 : 0], alphabet, longest);
    }
    for (int i = 0; i < TEXTS; i++) sets[i] = make_set(nd_buf_str(&text[i]), spec);
    for (int i = 0; i < TEXTS; i++) {
      ok(nd_comparer_left(c, nd_buf_str(&text[i]), &err));
      for (int j = 0; j < TEXTS; j++)
        expect(c, nd_buf_str(&text[i]), nd_buf_str(&text[j]), sets[i], sets[j]);
    }
    expect_in_group(g, text, sets, TEXTS);
    for (int i = 0; i < TEXTS; i++) {
      nd_buf_clear(&text[i]);
      free(sets[i].s);
    }
  }
  nd_comparer_free(c);
  nd_group_free(g);
}

static void agrees_with_sets_of_strings(void **state) {
  (void)state;
  const nd_shingle_spec specs[] = {
      {ND_SHINGLE_WORDS, 1},   {ND_SHINGLE_WORDS, 2},   {ND_SHINGLE_WORDS, 3},
      {ND_SHINGLE_WORDS, 5},   {ND_SHINGLE_WORDS, 20},  {ND_SHINGLE_CHARS, 1},
      {ND_SHINGLE_CHARS, 2},   {ND_SHINGLE_CHARS, 5},   {ND_SHINGLE_CHARS, 9},
      {ND_SHINGLE_CHARS, 40},  {ND_SHINGLE_ALIGNED, 1}, {ND_SHINGLE_ALIGNED, 2},
      {ND_SHINGLE_ALIGNED, 4}, {ND_SHINGLE_ALIGNED, 8}, {ND_SHINGLE_ALIGNED, 64}};
  for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) check_kind(specs[i], 24);
}

static nd_buf join(const nd_buf *a, const nd_buf *b, const nd_buf *c) {
  const nd_buf *parts[] = {a, b, c};
  nd_buf out = {0};
  ok(nd_buf_reserve(&out, 1, &err));
  for (int i = 0; i < 3; i++) {
    if (parts[i]->n == 0) continue;
    if (out.n) ok(nd_buf_append(&out, " ", 1, &err));
    ok(nd_buf_append(&out, parts[i]->p, parts[i]->n, &err));
  }
  return out;
}

/* Texts that begin and end alike, down to the first bytes of the tokens in
 * between, which also occur in the ends. */
static void common_ends(void **state) {
  (void)state;
  for (int round = 0; round < 12000; round++) {
    nd_shingle_spec spec = {round % 8 ? ND_SHINGLE_WORDS : ND_SHINGLE_CHARS,
                            1 + (uint32_t)nd_rng_below(&rng, 6)};
    int alphabet = 1 + (int)nd_rng_below(&rng, 3), longest = 1 + (int)nd_rng_below(&rng, 3);
    nd_buf part[6], text[3];
    for (int i = 0; i < 6; i++)
      part[i] = draw_text((size_t)nd_rng_below(&rng, i < 2 ? 25 : 6), alphabet, longest);
    for (int i = 0; i < 3; i++) text[i] = join(&part[0], &part[2 + i], &part[1]);
    nd_comparer *c = NULL;
    nd_group *g = NULL;
    set sets[3];
    for (int i = 0; i < 3; i++) sets[i] = make_set(nd_buf_str(&text[i]), spec);
    ok(nd_group_new(&g, spec, 1 + (uint64_t)round, &err));
    expect_in_group(g, text, sets, 3);
    nd_group_free(g);
    for (int i = 0; i < 3; i++) free(sets[i].s);
    ok(nd_comparer_new(&c, spec, 1 + (uint64_t)round, &err));
    for (int i = 0; i < 3; i++) {
      set a = make_set(nd_buf_str(&text[i]), spec);
      ok(nd_comparer_left(c, nd_buf_str(&text[i]), &err));
      for (int j = 0; j < 6; j++) { /* every other one twice: marks are not left behind */
        set b = make_set(nd_buf_str(&text[j % 3]), spec);
        expect(c, nd_buf_str(&text[i]), nd_buf_str(&text[j % 3]), a, b);
        free(b.s);
      }
      free(a.s);
    }
    nd_comparer_free(c);
    for (int i = 0; i < 6; i++) nd_buf_clear(&part[i]);
    for (int i = 0; i < 3; i++) nd_buf_clear(&text[i]);
  }
}

static void expect_text(const char *a, const char *b, const char *kind, uint32_t common,
                        uint32_t joint) {
  nd_shingle_spec spec;
  ok(nd_shingle_parse(&spec, kind, &err));
  nd_comparer *c = NULL;
  ok(nd_comparer_new(&c, spec, 1, &err));
  nd_buf left = {0}, right = {0};
  nd_overlap o;
  ok(nd_buf_append(&left, a, strlen(a), &err));
  ok(nd_buf_append(&right, b, strlen(b), &err));
  for (int turn = 0; turn < 2; turn++) {
    ok(nd_comparer_left(c, nd_buf_str(turn ? &right : &left), &err));
    ok(nd_comparer_right(&o, c, nd_buf_str(turn ? &left : &right), &err));
    assert_int_equal(o.common, common);
    assert_int_equal(o.joint, joint);
  }
  nd_buf_clear(&left);
  nd_buf_clear(&right);
  nd_comparer_free(c);
}

static void known_resemblances_are_exact(void **state) {
  (void)state;
  expect_text("", "", "words:5", 0, 0); /* the first text of a fresh comparer is empty */
  expect_text("", "a", "words:5", 0, 1);
  expect_text("a", "a", "words:5", 1, 1);
  expect_text("a", "b", "words:5", 0, 2);
  expect_text("a b", "a b c", "words:5", 0, 2); /* short texts are themselves */
  expect_text("a b c", "a b c", "words:5", 1, 1);
  expect_text("a rose is a rose is a rose", "a rose is a flower which is a rose", "words:1", 3, 5);
  expect_text("a rose is a rose is a rose", "a rose is a flower which is a rose", "words:2", 3, 6);
  expect_text("a b a b a b", "b a b a b a b a", "words:2", 2, 2);
  expect_text("ab", "abc", "chars:2", 1, 2);
  expect_text("ab ab", "ab", "aligned:2", 1, 1);
  expect_text("", "", "chars:3", 0, 0);
  expect_text("", "x", "aligned:3", 0, 1);
}

static void thresholds_are_exact(void **state) {
  (void)state;
  assert_true(nd_overlap_reaches((nd_overlap){4, 5, 0}, 8, 10));
  assert_false(nd_overlap_reaches((nd_overlap){799999, 1000000, 0}, 8, 10));
  assert_true(nd_overlap_reaches((nd_overlap){UINT32_MAX, UINT32_MAX, 0}, 1, 1));
  assert_false(nd_overlap_reaches((nd_overlap){UINT32_MAX - 1, UINT32_MAX, 0}, 1, 1));
  assert_true(nd_overlap_reaches((nd_overlap){1, 3, 0}, 333333333, 1000000000));
  assert_false(nd_overlap_reaches((nd_overlap){1, 3, 0}, 333333334, 1000000000));
  assert_false(nd_overlap_reaches((nd_overlap){0, 0, 0}, 8, 10)); /* nothing resembles nothing */
  assert_true(nd_overlap_value((nd_overlap){0, 0, 0}) == 0);
  assert_true(nd_overlap_value((nd_overlap){1, 4, 0}) == 0.25);
}

/* One left document and many thousand rights: marks of old comparisons do not
 * count again. */
static void many_comparisons(void **state) {
  (void)state;
  nd_shingle_spec spec = {ND_SHINGLE_WORDS, 3};
  nd_comparer *c = NULL;
  ok(nd_comparer_new(&c, spec, 5, &err));
  nd_buf left = draw_text(60, 2, 2);
  set a = make_set(nd_buf_str(&left), spec);
  ok(nd_comparer_left(c, nd_buf_str(&left), &err));
  for (int i = 0; i < 5000; i++) {
    nd_buf right = i % 2 ? edit_text(&left, 2, 2) : draw_text((size_t)nd_rng_below(&rng, 80), 2, 2);
    set b = make_set(nd_buf_str(&right), spec);
    expect(c, nd_buf_str(&left), nd_buf_str(&right), a, b);
    nd_buf_clear(&right);
    free(b.s);
  }
  free(a.s);
  nd_buf_clear(&left);
  nd_comparer_free(c);
}

/* Fingerprints of long shingles do collide: a polynomial modulo 2^64 over a
 * Thue-Morse sequence agrees with its complement in almost all bits, whatever
 * the base.  The counts stay exact. */
static void fingerprints_may_collide(void **state) {
  (void)state;
  nd_buf text[2] = {{0}, {0}};
  for (int side = 0; side < 2; side++) {
    for (unsigned i = 0; i < 4096; i++) {
      int bit = __builtin_popcount(i) & 1;
      ok(nd_buf_append(&text[side], bit ^ side ? "a " : "b ", 2, &err));
    }
    text[side].n--;
  }
  const uint32_t sizes[] = {64, 256, 512, 1000};
  for (int kind = ND_SHINGLE_WORDS; kind <= ND_SHINGLE_CHARS; kind++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      nd_shingle_spec spec = {(nd_shingle_kind)kind, sizes[i]};
      nd_comparer *c = NULL;
      ok(nd_comparer_new(&c, spec, 1, &err));
      set a = make_set(nd_buf_str(&text[0]), spec), b = make_set(nd_buf_str(&text[1]), spec);
      ok(nd_comparer_left(c, nd_buf_str(&text[0]), &err));
      expect(c, nd_buf_str(&text[0]), nd_buf_str(&text[1]), a, b);
      expect(c, nd_buf_str(&text[0]), nd_buf_str(&text[0]), a, a);
      nd_group *g = NULL;
      ok(nd_group_new(&g, spec, 1, &err));
      expect_in_group(g, text, (const set[]){a, b}, 2);
      nd_group_free(g);
      nd_comparer_free(c);
      free(a.s);
      free(b.s);
    }
  }
  nd_buf_clear(&text[0]);
  nd_buf_clear(&text[1]);
}

static void memory_faults(void **state) {
  (void)state;
  nd_buf left = draw_text(100, 3, 3), right = edit_text(&left, 3, 3);
  bool hit = true;
  for (uint64_t nth = 1; hit; nth++) {
    nd_comparer *c = NULL;
    nd_overlap o;
    nd_mem_fail_at(nth);
    nd_status status = nd_comparer_new(&c, (nd_shingle_spec){ND_SHINGLE_CHARS, 4}, 1, &err);
    if (status == ND_OK) status = nd_comparer_left(c, nd_buf_str(&left), &err);
    if (status == ND_OK) status = nd_comparer_right(&o, c, nd_buf_str(&right), &err);
    hit = nd_mem_count() >= nth;
    nd_mem_fail_at(0);
    assert_int_equal(status, hit ? ND_ERR_MEMORY : ND_OK);
    nd_comparer_free(c);
  }
  nd_comparer_free(NULL);
  for (int kind = ND_SHINGLE_WORDS; kind <= ND_SHINGLE_CHARS; kind++) {
    hit = true;
    for (uint64_t nth = 1; hit; nth++) {
      nd_group *g = NULL;
      uint32_t member;
      nd_mem_fail_at(nth);
      nd_status status = nd_group_new(&g, (nd_shingle_spec){(nd_shingle_kind)kind, 4}, 1, &err);
      for (uint32_t i = 0; i < 40 && status == ND_OK; i++) {
        const nd_buf *text = i % 2 ? &left : &right;
        nd_buf *to = nd_group_next(g, &err);
        status = to ? nd_buf_append(to, text->p, text->n, &err) : ND_ERR_MEMORY;
        if (status == ND_OK) status = nd_group_add(&member, g, i, &err);
      }
      hit = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      assert_int_equal(status, hit ? ND_ERR_MEMORY : ND_OK);
      nd_group_free(g);
    }
  }
  nd_group_free(NULL);
  nd_buf_clear(&left);
  nd_buf_clear(&right);
}

/* However bad fingerprints are, shingles are compared byte by byte: all have the same here. */
static void one_fingerprint_for_all(void **state) {
  (void)state;
  for (int kind = ND_SHINGLE_WORDS; kind <= ND_SHINGLE_ALIGNED; kind++) {
    for (int round = 0; round < 60; round++) {
      nd_shingle_spec spec = {(nd_shingle_kind)kind, 1 + (uint32_t)nd_rng_below(&rng, 4)};
      nd_buf text[2] = {draw_text(30, 3, 2), {0}};
      text[1] = round % 2 ? edit_text(&text[0], 3, 2) : draw_text(20, 3, 2);
      nd_prepared p[2] = {{.token_count = 0}, {.token_count = 0}};
      nd_comparer *c = NULL;
      ok(nd_comparer_new(&c, spec, 1, &err));
      for (int side = 0; side < 2; side++) {
        ok(nd_buf_append(&p[side].text, text[side].p, text[side].n, &err));
        ok(nd_prepared_set(&p[side], &err));
        ok(nd_comparer_set(c, &p[side], &err)); /* makes its shingles */
        for (size_t i = 0; i < p[side].shingles.n; i++) p[side].shingles.fingerprint[i] = 7;
      }
      set a = make_set(nd_buf_str(&text[0]), spec), b = make_set(nd_buf_str(&text[1]), spec);
      nd_overlap got, want = overlap_naively(a, b);
      ok(nd_comparer_set(c, &p[0], &err));
      ok(nd_comparer_run(&got, c, &p[1], &err));
      assert_int_equal(got.common, want.common);
      assert_int_equal(got.joint, want.joint);
      nd_comparer_free(c);
      for (int side = 0; side < 2; side++) {
        nd_prepared_clear(&p[side]);
        nd_buf_clear(&text[side]);
      }
      free(a.s);
      free(b.s);
    }
  }
}

/* What is handed over for a pair, and nothing of nothing. */
static void packed_values(void **state) {
  (void)state;
  static const struct {
    const nd_similarity *kind;
    nd_overlap o;
    uint64_t num, den;
  } cases[] = {{&nd_similarity_jaccard, {3, 9, 5}, 3, 9},
               {&nd_similarity_containment, {3, 9, 5}, 3, 5},
               {&nd_similarity_containment, {3, 9, 8}, 3, 4},
               {&nd_similarity_overlap, {3, 9, 5}, 3, 1},
               {&nd_similarity_cosine, {4, 4, 4}, 1000000000, 1000000000},
               {&nd_similarity_cosine, {2, 6, 4}, 500000000, 1000000000},
               {&nd_similarity_cosine, {0, 0, 0}, 0, 1000000000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint64_t got = cases[i].kind->value(cases[i].o);
    assert_int_equal(got >> 32, cases[i].num);
    assert_int_equal((uint32_t)got, cases[i].den);
  }
  for (const nd_similarity *const *s = nd_similarities; *s; s++)
    assert_false(nd_similarity_reaches(*s, (nd_overlap){0, 0, 0}, (nd_decimal){0, 1}));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_resemblances_are_exact),
                                     cmocka_unit_test(agrees_with_sets_of_strings),
                                     cmocka_unit_test(common_ends),
                                     cmocka_unit_test(thresholds_are_exact),
                                     cmocka_unit_test(many_comparisons),
                                     cmocka_unit_test(fingerprints_may_collide),
                                     cmocka_unit_test(one_fingerprint_for_all),
                                     cmocka_unit_test(packed_values),
                                     cmocka_unit_test_teardown(memory_faults, clear_hooks)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
