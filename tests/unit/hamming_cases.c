#include "hamming_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t naive_distance(const uint64_t *a, const uint64_t *b, uint32_t words) {
  uint32_t d = 0;
  for (uint32_t i = 0; i < 64 * words; i++)
    d += (a[i / 64] >> i % 64 & 1) != (b[i / 64] >> i % 64 & 1);
  return d;
}

/* --- the other way ------------------------------------------------------------- */

void push(list *l, uint32_t a, uint32_t b, uint32_t d) {
  if (l->n == l->cap) {
    l->cap = l->cap ? 2 * l->cap : 64;
    l->items = realloc(l->items, l->cap * sizeof *l->items);
  }
  l->items[l->n++] = (nd_item){(uint64_t)a << 32 | b, d};
}

static bool shares_piece(const uint64_t *a, const uint64_t *b, uint32_t bits, uint32_t pieces) {
  for (uint32_t p = 0; p < pieces; p++) {
    bool same = true;
    for (uint32_t i = bits * p / pieces; i < bits * (p + 1) / pieces; i++)
      same &= (a[i / 64] >> i % 64 & 1) == (b[i / 64] >> i % 64 & 1);
    if (same) return true;
  }
  return false;
}

static list naive(const nd_hamming_request *r) {
  list out = {0};
  for (uint64_t i = 0; i < r->n; i++) {
    for (uint64_t j = i + 1; j < r->n; j++) {
      const uint64_t *a = r->vectors + i * r->words, *b = r->vectors + j * r->words;
      uint32_t d = 0;
      for (uint32_t w = 0; w < r->words && d <= r->distance; w++)
        for (uint64_t x = a[w] ^ b[w]; x && d <= r->distance; x &= x - 1) d++;
      if (d > r->distance) continue;
      if (r->pieces && !shares_piece(a, b, 64 * r->words, r->pieces)) continue;
      if (r->present && !(r->present[i / 64] >> i % 64 & r->present[j / 64] >> j % 64 & 1))
        continue;
      if (r->split && (i >= r->split || j < r->split)) continue;
      push(&out, (uint32_t)i, (uint32_t)j, d);
    }
  }
  return out;
}

list ours(const nd_hamming_request *r, nd_hamming_stats *stats) {
  list out = {0};
  nd_sorter *sorter;
  ok(nd_sorter_new(&sorter, 4 << 20, "/tmp", false, &err));
  ok(nd_hamming_pairs(sorter, stats, r, &err));
  ok(nd_sorter_finish(sorter, &err));
  for (;;) {
    nd_item batch[256];
    size_t n;
    ok(nd_sorter_next(&n, batch, 256, sorter, &err));
    if (n == 0) break;
    for (size_t i = 0; i < n; i++)
      push(&out, (uint32_t)(batch[i].key >> 32), (uint32_t)batch[i].key, (uint32_t)batch[i].value);
  }
  nd_sorter_free(sorter);
  return out;
}

void same_list(const list *a, const list *b, const char *what, uint32_t k) {
  size_t n = a->n < b->n ? a->n : b->n;
  for (size_t i = 0; i < n; i++) {
    if (a->items[i].key != b->items[i].key || a->items[i].value != b->items[i].value)
      fail_msg("%s, distance %u: pair %zu is %016llx (%llu), not %016llx (%llu)", what, k, i,
               (unsigned long long)b->items[i].key, (unsigned long long)b->items[i].value,
               (unsigned long long)a->items[i].key, (unsigned long long)a->items[i].value);
  }
  if (a->n != b->n) fail_msg("%s, distance %u: %zu pairs, not %zu", what, k, b->n, a->n);
}

nd_status scan_vectors(void *context, nd_vector_take take, void *to, nd_error *e) {
  const nd_hamming_request *r = context;
  enum { MANY = 77 };
  uint64_t v[MANY * ND_HAMMING_WORDS];
  uint32_t number[MANY];
  size_t n = 0;
  for (uint64_t i = r->n; i-- > 0;) {
    if (!r->present || r->present[i / 64] >> i % 64 & 1) {
      memcpy(v + n * r->words, r->vectors + i * r->words, r->words * 8);
      number[n++] = (uint32_t)i;
    }
    if (n < MANY && i > 0) continue;
    ND_TRY(take(to, v, number, n, e));
    n = 0;
  }
  return ND_OK;
}

size_t compare(nd_hamming_request r, const char *what) {
  list want = naive(&r);
  nd_hamming_stats one, two;
  r.threads = 1;
  list got = ours(&r, &one);
  same_list(&want, &got, what, r.distance);
  assert_int_equal(one.pairs, want.n);
  r.threads = 3;
  list again = ours(&r, &two);
  same_list(&want, &again, what, r.distance);
  assert_memory_equal(&one, &two, sizeof one);
  /* The same from outside of the memory, with room for 4096 vectors at once. */
  nd_hamming_request far = r;
  far.vectors = NULL;
  far.scan = scan_vectors;
  far.scan_context = &r;
  far.memory = 1;
  far.dir = "/tmp";
  nd_hamming_stats three;
  list outside = ours(&far, &three);
  same_list(&want, &outside, what, r.distance);
  three.compared = one.compared;
  assert_memory_equal(&one, &three, sizeof one);
  size_t n = want.n;
  free(want.items);
  free(got.items);
  free(again.items);
  free(outside.items);
  return n;
}

/* --- vectors --------------------------------------------------------------------- */

void flip(uint64_t *v, uint32_t bits, nd_rng *rng) {
  uint32_t i = (uint32_t)nd_rng_below(rng, bits);
  v[i / 64] ^= (uint64_t)1 << i % 64;
}

void make(uint64_t *v, size_t n, uint32_t words, double fresh, uint32_t most, nd_rng *rng) {
  for (size_t i = 0; i < n; i++) {
    uint64_t *x = v + i * words;
    if (i == 0 || nd_rng_unit(rng) < fresh) {
      for (uint32_t w = 0; w < words; w++) x[w] = nd_rng_next(rng);
    } else {
      memcpy(x, v + nd_rng_below(rng, i) * words, words * 8);
      for (uint64_t k = nd_rng_below(rng, most + 1); k; k--) flip(x, 64 * words, rng);
    }
  }
}
