/* The edit-distance joins against every pair compared by the plain table. */
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
#include <zstd.h>

#include "base/rng.h"
#include "join/edit_join.h"
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

/* ---- strings and results ---- */

typedef struct corpus {
  nd_buf text;
  uint64_t *begin;
  size_t n, cap;
} corpus;

static void add(corpus *c, const char *p, size_t n) {
  ok(nd_array_grow(&c->begin, &c->cap, c->n + 2, sizeof *c->begin, &err));
  ok(nd_buf_append(&c->text, p, n, &err));
  if (c->n == 0) c->begin[0] = 0;
  c->begin[++c->n] = c->text.n;
}

static void drop(corpus *c) {
  nd_buf_clear(&c->text);
  nd_free(c->begin);
  *c = (corpus){0};
}

static nd_edit_input input_of(const corpus *c) {
  return (nd_edit_input){c->text.p, c->begin, c->n};
}

typedef struct result {
  nd_edit_pair *pair;
  size_t n, cap;
  size_t stop_at;
} result;

static nd_status take(void *context, const nd_edit_pair *pair, size_t n, nd_error *e) {
  result *r = context;
  if (r->stop_at && r->n + n >= r->stop_at) return nd_fail(e, ND_ERR_CANCELLED, "enough");
  if (r->n + n > r->cap) {
    r->cap = 2 * (r->n + n);
    r->pair = realloc(r->pair, r->cap * sizeof *r->pair);
  }
  memcpy(r->pair + r->n, pair, n * sizeof *pair);
  r->n += n;
  return ND_OK;
}

static int by_pair(const void *x, const void *y) {
  return memcmp(x, y, sizeof(nd_edit_pair));
}

static void join(result *r, nd_edit_stats *stats, const corpus *c, const nd_edit_options *o) {
  r->n = 0;
  r->stop_at = 0;
  ok(nd_edit_join(input_of(c), o, take, r, stats, &err));
  if (r->n) qsort(r->pair, r->n, sizeof *r->pair, by_pair);
  assert_int_equal(stats->results, r->n);
}

/* ---- the naive join ---- */

static size_t decode(uint32_t *out, const char *p, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n;) { /* valid UTF-8 only */
    unsigned char c = (unsigned char)p[i];
    size_t k = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    uint32_t value = 0;
    for (size_t b = 0; b < k; b++) value = value << 8 | (unsigned char)p[i + b];
    out[count++] = value;
    i += k;
  }
  return count;
}

static uint32_t distance(const char *p, size_t np, const char *q, size_t nq) {
  static uint32_t a[1000], b[1000], row[1001];
  size_t m = decode(a, p, np), n = decode(b, q, nq);
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
  return row[n];
}

static void naive(result *r, const corpus *c, uint32_t tau, uint32_t split) {
  r->n = 0;
  r->stop_at = 0;
  for (uint32_t a = 0; a < c->n; a++) {
    for (uint32_t b = a + 1; b < c->n; b++) {
      if (split && (a < split) == (b < split)) continue;
      uint32_t d = distance(c->text.p + c->begin[a], c->begin[a + 1] - c->begin[a],
                            c->text.p + c->begin[b], c->begin[b + 1] - c->begin[b]);
      nd_edit_pair pair = {a, b, d};
      if (d <= tau) ok(take(r, &pair, 1, &err));
    }
  }
  if (r->n) qsort(r->pair, r->n, sizeof *r->pair, by_pair);
}

static void same(const result *want, const result *got, const nd_edit_options *o) {
  if (want->n != got->n || (want->n && memcmp(want->pair, got->pair, want->n * sizeof *want->pair)))
    fail_msg("method %d, tau %u, q %u, split %u: %zu pairs, not %zu", (int)o->method, o->tau, o->q,
             o->split, got->n, want->n);
}

/* ---- random strings ---- */

static const char *const points[] = {
    "a", "b", "c", "d", " ", "\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9d\x94\xa0"};

/* Point number `k`: past the list, one of 600 others. */
static size_t put_point(char *to, size_t k) {
  if (k < 8) {
    size_t n = strlen(points[k]);
    memcpy(to, points[k], n);
    return n;
  }
  to[0] = (char)0xe5;
  to[1] = (char)(0x80 + (k - 8) / 64);
  to[2] = (char)(0x80 + (k - 8) % 64);
  return 3;
}

static void draw(corpus *c, size_t n, size_t longest, size_t alphabet) {
  size_t made[400], size[400];
  static size_t point[400][220];
  if (n > 400) n = 400;
  for (size_t i = 0; i < n; i++) {
    uint64_t how = nd_rng_below(&rng, 10);
    if (i && how < 7) { /* an earlier one with a few edits */
      size_t from = nd_rng_below(&rng, i);
      memcpy(point[i], point[from], sizeof point[i]);
      size[i] = size[from];
      for (uint64_t e = nd_rng_below(&rng, 10); e; e--) {
        size_t at = nd_rng_below(&rng, size[i] + 1), kind = nd_rng_below(&rng, 3);
        size_t fresh = nd_rng_below(&rng, alphabet);
        if (kind == 0 && size[i] < longest + 10) {
          memmove(point[i] + at + 1, point[i] + at, (size[i] - at) * sizeof **point);
          point[i][at] = fresh;
          size[i]++;
        } else if (kind == 1 && at < size[i]) {
          memmove(point[i] + at, point[i] + at + 1, (size[i] - at - 1) * sizeof **point);
          size[i]--;
        } else if (at < size[i]) {
          point[i][at] = fresh;
        }
      }
    } else {
      size[i] = nd_rng_below(&rng, longest + 1);
      for (size_t k = 0; k < size[i]; k++) point[i][k] = nd_rng_below(&rng, alphabet);
    }
    made[i] = 0;
    char text[4 * 220];
    for (size_t k = 0; k < size[i]; k++) made[i] += put_point(text + made[i], point[i][k]);
    add(c, text, made[i]);
  }
}

static void agree(size_t n, size_t longest, size_t alphabet, uint32_t tau) {
  corpus c = {0};
  result want = {0}, got = {0};
  draw(&c, n, longest, alphabet);
  uint32_t split = nd_rng_below(&rng, 3) ? 0 : (uint32_t)nd_rng_below(&rng, n + 1);
  naive(&want, &c, tau, split);
  for (int method = ND_EDIT_PASS; method <= ND_EDIT_PPJOIN_PLUS; method++) {
    nd_edit_options o = {.method = (nd_edit_method)method,
                         .tau = tau,
                         .q = 1 + (uint32_t)nd_rng_below(&rng, 5),
                         .threads = 1 + (unsigned)nd_rng_below(&rng, 3),
                         .memory = nd_rng_below(&rng, 2) ? 0 : 1 + nd_rng_below(&rng, 10000),
                         .few = (uint32_t)nd_rng_below(&rng, 3),
                         .maxdepth = (uint32_t)nd_rng_below(&rng, 4),
                         .split = split};
    nd_edit_stats stats;
    join(&got, &stats, &c, &o);
    same(&want, &got, &o);
    assert_int_equal(stats.strings, c.n);
  }
  free(want.pair);
  free(got.pair);
  drop(&c);
}

static void small_collections(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 3000; round++)
    agree(1 + nd_rng_below(&rng, 20), nd_rng_below(&rng, 16), 1 + nd_rng_below(&rng, 5), round % 9);
}

static void longer_strings(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 120; round++)
    agree(20 + nd_rng_below(&rng, 40), 20 + nd_rng_below(&rng, 60), 2 + nd_rng_below(&rng, 6),
          (uint32_t)nd_rng_below(&rng, 20));
  for (uint32_t round = 0; round < 6; round++)
    agree(20, 200, 3, 60 + (uint32_t)nd_rng_below(&rng, 30));
}

static void many_alike(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 4; round++) agree(300, 8, 2, round);
  for (uint32_t round = 0; round < 4; round++) agree(200, 24, 3, 1 + 2 * round);
}

static void wide_alphabets(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 200; round++)
    agree(10 + nd_rng_below(&rng, 30), 30, round % 2 ? 8 : 600, (uint32_t)nd_rng_below(&rng, 9));
  for (uint32_t round = 0; round < 12; round++) /* more code points than a byte has values */
    agree(100, 60, 600, (uint32_t)nd_rng_below(&rng, 9));
}

static void all_methods_find_the_known_pairs(void **state) {
  (void)state;
  corpus c = {0};
  result got = {0};
  nd_edit_stats stats;
  nd_edit_options o = {.tau = 2};
  for (int method = ND_EDIT_PASS; method <= ND_EDIT_PPJOIN_PLUS; method++) {
    o.method = (nd_edit_method)method;
    join(&got, &stats, &c, &o); /* nothing at all */
    assert_int_equal(got.n, 0);
  }
  add(&c, "", 0);
  add(&c, "ab", 2);
  add(&c, "", 0);
  add(&c, "kitten", 6);
  add(&c, "mitten", 6);
  add(&c, "abc", 3);
  add(&c, "ab", 2);
  for (int method = ND_EDIT_PASS; method <= ND_EDIT_PPJOIN_PLUS; method++) {
    static const nd_edit_pair want[] = {{0, 1, 2}, {0, 2, 0}, {0, 6, 2}, {1, 2, 2}, {1, 5, 1},
                                        {1, 6, 0}, {2, 6, 2}, {3, 4, 1}, {5, 6, 1}};
    o = (nd_edit_options){.tau = 2, .method = (nd_edit_method)method};
    join(&got, &stats, &c, &o);
    assert_int_equal(got.n, sizeof want / sizeof *want);
    assert_memory_equal(got.pair, want, sizeof want);
    assert_int_equal(stats.distinct, 5);
    o.tau = 0;
    join(&got, &stats, &c, &o);
    assert_int_equal(got.n, 2);
    o.split = 5; /* of the copies only 1 and 6 are on two sides */
    join(&got, &stats, &c, &o);
    assert_int_equal(got.n, 1);
    o.tau = UINT32_MAX;
    o.split = 0;
    join(&got, &stats, &c, &o);
    assert_int_equal(got.n, 21);
  }
  free(got.pair);
  drop(&c);
}

/* Thousands of strings that share all of their beginning. */
static void hot_segments(void **state) {
  (void)state;
  corpus c = {0};
  result got = {0}, first = {0};
  nd_edit_stats stats;
  for (int i = 0; i < 6000; i++) {
    char text[100];
    int n = snprintf(text, sizeof text, "http://www.example.org/catalogue/items/%06llu.html",
                     (unsigned long long)nd_rng_below(&rng, 1000000));
    add(&c, text, (size_t)n);
  }
  nd_edit_options o = {.tau = 1};
  double begin = (double)clock() / CLOCKS_PER_SEC;
  join(&first, &stats, &c, &o);
  print_message("%llu of %llu pairs compared, %.3f s\n", (unsigned long long)stats.verified,
                (unsigned long long)stats.candidates + stats.direct,
                (double)clock() / CLOCKS_PER_SEC - begin);
  o = (nd_edit_options){.tau = 1, .method = ND_EDIT_PPJOIN_PLUS, .q = 2, .threads = 2};
  join(&got, &stats, &c, &o);
  same(&first, &got, &o);
  const nd_edit_options others[] = {{.tau = 1, .few = 1 << 20}, {.tau = 1, .memory = 1}};
  for (int i = 0; i < 2; i++) { /* without tables; in many small ones */
    join(&got, &stats, &c, &others[i]);
    same(&first, &got, &others[i]);
    assert_true(i ? stats.pieces > 6000 / 64 : stats.direct > 0 && stats.index_entries == 0);
  }
  free(got.pair);
  free(first.pair);
  drop(&c);
}

/* Strings that differ in their last code points alone: whatever is cut in front is common. */
static void add_alike(corpus *c, size_t n, size_t length) {
  char *text = malloc(length);
  memset(text, 'a', length);
  for (size_t i = 0; i < n; i++) {
    text[length - 2] = (char)('A' + i / 50);
    text[length - 1] = (char)('0' + i % 50);
    add(c, text, length);
  }
  free(text);
}

static void the_same_but_for_the_end(void **state) {
  (void)state;
  static const struct {
    size_t n, length;
    uint32_t tau, few;
    bool indexed;
  } cases[] = {{26, 20, 1, 0, false},   /* a table would find all */
               {26, 20, 1, 1, true},    /* a table at any price */
               {5, 70000, 1, 1, true}}; /* too long for cuts by entropy */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    corpus c = {0};
    result got = {0};
    nd_edit_stats stats;
    add_alike(&c, cases[i].n, cases[i].length);
    nd_edit_options o = {.tau = cases[i].tau, .few = cases[i].few};
    join(&got, &stats, &c, &o);
    assert_int_equal(got.n, cases[i].n * (cases[i].n - 1) / 2);
    assert_int_equal(stats.index_entries > 0, cases[i].indexed);
    free(got.pair);
    drop(&c);
  }
}

/* More q-grams than the table of repeated ones holds, many of them repeated. */
static void long_strings_by_grams(void **state) {
  (void)state;
  corpus c = {0};
  result want = {0}, got = {0};
  nd_edit_stats stats;
  char text[1500];
  for (int i = 0; i < 8; i++) {
    if (i % 2 == 0)
      for (size_t k = 0; k < sizeof text; k++) text[k] = "abcd"[nd_rng_below(&rng, 4)];
    text[nd_rng_below(&rng, sizeof text)] = 'e';
    add(&c, text, sizeof text);
  }
  nd_edit_options o = {.tau = 3};
  join(&want, &stats, &c, &o);
  assert_true(want.n >= 4);
  for (int method = ND_EDIT_ALLPAIRS; method <= ND_EDIT_PPJOIN_PLUS; method++) {
    o.method = (nd_edit_method)method;
    join(&got, &stats, &c, &o);
    same(&want, &got, &o);
  }
  free(want.pair);
  free(got.pair);
  drop(&c);
}

/* A sink that takes nothing, or less than there is: the error comes back from wherever a batch
 * was full. */
static void results_are_refused(void **state) {
  (void)state;
  for (int copies = 0; copies < 2; copies++) {
    for (int few = 0; few < 2; few++) {
      corpus c = {0};
      if (!copies) add_alike(&c, few ? 4 : 100, 30);
      for (int i = 0; copies && i < (few ? 4 : 100); i++) add(&c, "one string", 10);
      for (int method = ND_EDIT_PASS; method <= ND_EDIT_PPJOIN_PLUS; method++) {
        result got = {.stop_at = 1};
        nd_edit_options o = {.tau = 2, .method = (nd_edit_method)method};
        for (o.few = 0; o.few < 2; o.few++) { /* 1: always by an index */
          assert_int_equal(nd_edit_join(input_of(&c), &o, take, &got, NULL, &err),
                           ND_ERR_CANCELLED);
          assert_int_equal(got.n, 0);
        }
      }
      drop(&c);
    }
  }
}

static void no_memory_and_cancelling_are_errors(void **state) {
  (void)state;
  corpus c = {0};
  result got = {0};
  nd_edit_stats stats;
  for (int kind = 0; kind < 6; kind++) { /* short, long, alike; in one piece and in many */
    drop(&c);
    for (int i = 0; i < 3 && kind % 3 == 0; i++) draw(&c, 100, 12, 7);
    if (kind % 3 == 1) draw(&c, 8, 200, 7);
    if (kind % 3 == 2) add_alike(&c, 20, 90);
    for (int method = ND_EDIT_PASS; method <= ND_EDIT_PPJOIN_PLUS; method++) {
      nd_edit_options o = {.tau = kind % 3 == 1 ? 90 : 2,
                           .method = (nd_edit_method)method,
                           .few = 1,
                           .memory = (uint64_t)kind / 3};
      for (uint64_t nth = 1;; nth++) {
        got = (result){.pair = got.pair, .cap = got.cap};
        nd_mem_fail_at(nth);
        nd_status status = nd_edit_join(input_of(&c), &o, take, &got, NULL, &err);
        bool hit = nd_mem_count() >= nth;
        nd_mem_fail_at(0);
        if (!hit) break;
        if (status != ND_OK) assert_int_equal(status, ND_ERR_MEMORY); /* some can be done without */
      }
      got = (result){.pair = got.pair, .cap = got.cap, .stop_at = 1};
      assert_int_equal(nd_edit_join(input_of(&c), &o, take, &got, &stats, &err), ND_ERR_CANCELLED);
    }
  }
  free(got.pair);
  drop(&c);
}

/* ---- real titles ---- */

static char *unpack(const char *name, size_t *size) {
  const char *dir = getenv("NEARDUP_DATA");
  if (!dir) return NULL;
  char path[1000];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  size_t packed = (size_t)ftell(f);
  rewind(f);
  char *in = malloc(packed);
  assert_int_equal(fread(in, 1, packed, f), packed);
  fclose(f);
  size_t room = 64u << 20;
  char *out = malloc(room);
  ZSTD_DCtx *d = ZSTD_createDCtx();
  ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, 27);
  *size = ZSTD_decompressDCtx(d, out, room, in, packed);
  assert_false(ZSTD_isError(*size));
  ZSTD_freeDCtx(d);
  free(in);
  return out;
}

/* The text of each line as lower-case letters and digits, one space between words. */
static void load_titles(corpus *c, const char *p, size_t n) {
  for (const char *end = p + n; p < end;) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    if (!stop) stop = end;
    const char *text = memmem(p, (size_t)(stop - p), "\"text\": \"", 9);
    assert_non_null(text);
    char title[2000];
    size_t k = 0;
    for (const char *s = text + 9; s + 2 < stop && k < sizeof title; s++) {
      char x = *s >= 'A' && *s <= 'Z' ? (char)(*s + 32) : *s;
      bool word = (x >= 'a' && x <= 'z') || (x >= '0' && x <= '9');
      if (word)
        title[k++] = x;
      else if (k && title[k - 1] != ' ')
        title[k++] = ' ';
    }
    while (k && title[k - 1] == ' ') k--;
    add(c, title, k);
    p = stop + 1;
  }
}

static void both_ways_agree_on_titles(void **state) {
  (void)state;
  size_t size = 0;
  char *data = unpack("gold/dblp-titles.jsonl.zst", &size);
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  corpus c = {0};
  result want = {0}, got = {0};
  load_titles(&c, data, size);
  assert_int_equal(c.n, 18000);
  for (uint32_t tau = 1; tau <= 5; tau += 2) {
    nd_edit_stats stats, one;
    nd_edit_options o = {.tau = tau, .threads = 1};
    join(&want, &one, &c, &o);
    print_message("tau %u: %zu pairs, %llu candidates, %llu verified\n", tau, want.n,
                  (unsigned long long)(one.candidates + one.direct),
                  (unsigned long long)one.verified);
    o.threads = 2;
    join(&got, &stats, &c, &o);
    same(&want, &got, &o);
    assert_int_equal(stats.candidates, one.candidates);
    assert_int_equal(stats.verified, one.verified);
    uint64_t candidates[4];
    for (int method = ND_EDIT_ALLPAIRS; method <= ND_EDIT_PPJOIN_PLUS; method++) {
      if (tau > 3 && method == ND_EDIT_ALLPAIRS) continue; /* slow */
      o = (nd_edit_options){.tau = tau, .method = (nd_edit_method)method, .q = 4, .threads = 2};
      join(&got, &stats, &c, &o);
      same(&want, &got, &o);
      candidates[method] = stats.after_suffix;
      if (method > ND_EDIT_ALLPAIRS && tau <= 3)
        assert_true(candidates[method] <= candidates[method - 1]);
    }
    o.split = 9000;
    join(&got, &stats, &c, &o);
    size_t across = 0;
    for (size_t i = 0; i < want.n; i++) across += want.pair[i].a < 9000 && want.pair[i].b >= 9000;
    assert_int_equal(got.n, across);
    o.method = ND_EDIT_PASS;
    join(&got, &stats, &c, &o);
    assert_int_equal(got.n, across);
  }
  free(want.pair);
  free(got.pair);
  free(data);
  drop(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_methods_find_the_known_pairs),
      cmocka_unit_test(small_collections),
      cmocka_unit_test(longer_strings),
      cmocka_unit_test(many_alike),
      cmocka_unit_test(wide_alphabets),
      cmocka_unit_test(hot_segments),
      cmocka_unit_test(the_same_but_for_the_end),
      cmocka_unit_test(long_strings_by_grams),
      cmocka_unit_test(results_are_refused),
      cmocka_unit_test_teardown(no_memory_and_cancelling_are_errors, clear_hooks),
      cmocka_unit_test(both_ways_agree_on_titles)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
