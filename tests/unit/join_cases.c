#include "join_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

void cases_clear(cases *c) {
  nd_free(c->raw);
  nd_free(c->begin);
  nd_free(c->set);
  nd_free(c->size);
  *c = (cases){0};
}

void cases_token(cases *c, uint64_t token) {
  if (!c->begin) {
    assert_int_equal(nd_array_grow(&c->begin, &c->begin_cap, 2, sizeof *c->begin, NULL), ND_OK);
    c->begin[0] = c->begin[1] = 0;
  }
  uint64_t at = c->begin[c->n + 1];
  assert_int_equal(nd_array_grow(&c->raw, &c->raw_cap, at + 1, sizeof *c->raw, NULL), ND_OK);
  c->raw[at] = token;
  c->begin[c->n + 1]++;
}

void cases_end(cases *c) {
  assert_int_equal(
      nd_array_grow(&c->begin, &c->begin_cap, (size_t)c->n + 3, sizeof *c->begin, NULL), ND_OK);
  if (c->n == 0 && !c->raw) c->begin[0] = c->begin[1] = 0;
  c->n++;
  c->begin[c->n + 1] = c->begin[c->n];
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void cases_finish(cases *c) {
  uint64_t tokens = c->n ? c->begin[c->n] : 0;
  c->set = nd_malloc(tokens * sizeof *c->set);
  c->size = nd_calloc(c->n, sizeof *c->size);
  assert_non_null(c->set);
  assert_non_null(c->size);
  if (tokens) memcpy(c->set, c->raw, tokens * sizeof *c->set);
  for (uint32_t r = 0; r < c->n; r++) {
    uint64_t *set = c->set + c->begin[r];
    size_t n = c->begin[r + 1] - c->begin[r];
    qsort(set, n, sizeof *set, by_value);
    for (size_t i = 0; i < n; i++) {
      if (i == 0 || set[i] != set[c->size[r] - 1]) set[c->size[r]++] = set[i];
    }
  }
}

/* A token with more small numbers than large ones. */
static uint64_t skewed(nd_rng *rng, uint64_t universe) {
  double u = nd_rng_unit(rng);
  return nd_mix((uint64_t)(u * u * u * (double)universe)) >> (universe & 1 ? 0 : 40);
}

static void random_record(cases *c, nd_rng *rng, uint64_t longest, uint64_t universe) {
  uint64_t n = nd_rng_below(rng, longest + 1);
  for (uint64_t i = 0; i < n; i++) cases_token(c, skewed(rng, universe));
  cases_end(c);
}

/* A copy of a record, with some tokens changed, left out or repeated. */
static void changed_copy(cases *c, nd_rng *rng, uint64_t universe, uint64_t share) {
  uint32_t from = (uint32_t)nd_rng_below(rng, c->n);
  for (uint64_t i = c->begin[from], end = c->begin[from + 1]; i < end; i++) {
    uint64_t token = c->raw[i];
    if (nd_rng_below(rng, 100) < share) {
      if (nd_rng_below(rng, 2)) continue;
      token = skewed(rng, universe);
    }
    cases_token(c, token);
    if (nd_rng_below(rng, 16) == 0) cases_token(c, token);
  }
  cases_end(c);
}

/* Two records with num common tokens and den in all: exactly at the threshold. */
static void boundary_pair(cases *c, nd_rng *rng, uint64_t num, uint64_t den) {
  uint64_t base = nd_rng_next(rng), left = nd_rng_below(rng, den - num + 1);
  for (uint64_t i = 0; i < num + left; i++) cases_token(c, base + i);
  cases_end(c);
  for (uint64_t i = 0; i < num; i++) cases_token(c, base + i);
  for (uint64_t i = num + left; i < den; i++) cases_token(c, base + i);
  cases_end(c);
}

/* Up to four tokens in the place of each, that only come together. */
static void cases_spread(cases *c) {
  cases out = {0};
  for (uint32_t r = 0; r < c->n; r++) {
    for (uint64_t i = c->begin[r]; i < c->begin[r + 1]; i++) {
      for (uint64_t k = 0; k <= c->raw[i] % 4; k++) cases_token(&out, c->raw[i] * 4 + k);
    }
    cases_end(&out);
  }
  cases_clear(c);
  *c = out;
}

void cases_random(cases *c, nd_rng *rng, uint64_t num, uint64_t den) {
  *c = (cases){0};
  static const uint64_t longest[] = {3, 8, 20, 60, 300};
  static const uint64_t universe[] = {4, 15, 60, 301, 4001};
  const uint64_t l = longest[nd_rng_below(rng, 5)], u = universe[nd_rng_below(rng, 5)];
  const uint64_t n = nd_rng_below(rng, l > 100 ? 20 : 60), share = nd_rng_below(rng, 40);
  for (uint64_t r = 0; r < n; r++) {
    switch (nd_rng_below(rng, 8)) {
      case 0:
        if (c->n) {
          changed_copy(c, rng, u, 0);
          break;
        } /* fall through */
      case 1: cases_end(c); break;
      case 2:
      case 3:
        if (c->n) {
          changed_copy(c, rng, u, share);
          break;
        } /* fall through */
      default: random_record(c, rng, l, u);
    }
  }
  if (nd_rng_below(rng, 3) == 0) cases_spread(c);
  if (den <= 100) boundary_pair(c, rng, num, den);
  cases_finish(c);
}

const nd_similarity *const set_similarities[4] = {&nd_similarity_jaccard, &nd_similarity_cosine,
                                                  &nd_similarity_overlap,
                                                  &nd_similarity_containment};

bool naive_similar(const nd_similarity *s, uint64_t num, uint64_t den, uint64_t common, uint64_t x,
                   uint64_t y) {
  typedef unsigned __int128 wide;
  if (common == 0) return false;
  if (s == &nd_similarity_jaccard) return (wide)common * den >= (wide)num * (x + y - common);
  if (s == &nd_similarity_cosine)
    return (wide)(common * den) * (common * den) >= (wide)num * num * x * y;
  if (s == &nd_similarity_containment) return (wide)common * den >= (wide)num * (x < y ? x : y);
  return common >= num;
}

nd_status found_add(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  found *f = context;
  ND_TRY(nd_array_grow(&f->pair, &f->cap, f->n + n, sizeof *f->pair, err));
  memcpy(f->pair + f->n, pair, n * sizeof *pair);
  f->n += n;
  return ND_OK;
}

nd_status count_only(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  (void)context;
  (void)pair;
  (void)n;
  (void)err;
  return ND_OK;
}

nd_status refuse(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  (void)context;
  (void)pair;
  (void)n;
  return nd_fail(err, ND_ERR_CANCELLED, "enough");
}

static int by_pair(const void *a, const void *b) {
  const nd_join_pair *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

void found_sort(found *f) {
  if (f->n) qsort(f->pair, f->n, sizeof *f->pair, by_pair);
}

void naive_join(found *out, const cases *c, const nd_join_options *o) {
  for (uint32_t a = 0; a < c->n; a++) {
    for (uint32_t b = a + 1; b < c->n; b++) {
      if (o->split && (a < o->split) == (b < o->split)) continue;
      const uint64_t *x = c->set + c->begin[a], *y = c->set + c->begin[b];
      uint32_t common = 0;
      for (uint32_t i = 0, j = 0; i < c->size[a] && j < c->size[b];) {
        common += x[i] == y[j];
        uint64_t u = x[i], v = y[j];
        i += u <= v;
        j += v <= u;
      }
      if (!naive_similar(o->similarity, o->num, o->den, common, c->size[a], c->size[b])) continue;
      nd_join_pair pair = {a, b, common};
      assert_int_equal(found_add(out, &pair, 1, NULL), ND_OK);
    }
  }
}
