/* Projections and simhash: the same as by adding +1 and -1 one by one, on every CPU
 * level; bits agree with the probability that the angle gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "sketch/projection.h"
#include "sketch/simhash.h"
#include "tools.h"

/* --- the plain way ------------------------------------------------------------- */

static void naive_projection(uint64_t *out, const nd_projection *p, const uint64_t *fp, size_t n) {
  memset(out, 0, p->words * 8);
  for (uint32_t i = 0; i < p->bits; i++) {
    int64_t sum = 0;
    for (size_t t = 0; t < n; t++) sum += nd_mix(fp[t] + p->key[i / 64]) >> i % 64 & 1 ? 1 : -1;
    if (sum > 0) out[i / 64] |= (uint64_t)1 << i % 64;
  }
}

/* Weight of token t of a document. */
static int64_t weight_of(const nd_simhash *s, const uint64_t *fp, size_t n, size_t t) {
  int64_t times = 0;
  for (size_t i = 0; i < n; i++) {
    if (fp[i] != fp[t]) continue;
    if (i < t) return 0; /* counted at its first place */
    times++;
  }
  if (s->weights == ND_WEIGHTS_ONE) return 1;
  if (s->weights == ND_WEIGHTS_TF) return times;
  return times * nd_idf(s->frequencies->documents, nd_frequencies_get(s->frequencies, fp[t]));
}

static uint64_t naive_simhash(const nd_simhash *s, const uint64_t *fp, size_t n) {
  int64_t sum[64] = {0};
  uint64_t out = 0;
  for (size_t t = 0; t < n; t++) {
    int64_t w = weight_of(s, fp, n, t);
    for (int b = 0; b < 64; b++) sum[b] += nd_mix(fp[t] + s->key) >> b & 1 ? w : -w;
  }
  for (int b = 0; b < 64; b++) out |= (uint64_t)(sum[b] > 0) << b;
  return out;
}

/* A document of n tokens with repeats. */
static void make(uint64_t *fp, size_t n, uint64_t vocabulary, nd_rng *rng) {
  for (size_t i = 0; i < n; i++) {
    uint64_t word = nd_rng_below(rng, vocabulary), other = nd_rng_below(rng, vocabulary);
    fp[i] = nd_mix(word < other ? word : other);
    if (i && nd_rng_below(rng, 50) == 0) fp[i] = nd_rng_below(rng, 2) ? 0 : UINT64_MAX;
  }
}

static void projection_is_a_sum_of_signs(void **state) {
  (void)state;
  nd_rng rng = {1};
  uint64_t fp[1200], want[16], got[16];
  for (int round = 0; round < 250; round++) {
    size_t n = round < 80 ? (size_t)round : (size_t)nd_rng_below(&rng, round % 10 ? 150 : 1200);
    uint32_t bits = 64 * (1 + (uint32_t)nd_rng_below(&rng, 16));
    nd_projection p;
    ok(nd_projection_init(&p, bits, nd_rng_next(&rng), &err));
    make(fp, n, 1 + nd_rng_below(&rng, 500), &rng);
    naive_projection(want, &p, fp, n);
    for (int level = 0; level <= (int)nd_cpu(); level++) {
      nd_projection_sketch_level(got, &p, fp, n, (nd_cpu_level)level);
      assert_memory_equal(got, want, bits / 8);
    }
    nd_projection_sketch(got, &p, fp, n);
    assert_memory_equal(got, want, bits / 8);
    assert_int_equal(nd_projection_agree(got, want, p.words), bits);
    got[0] ^= 5;
    assert_int_equal(nd_projection_agree(got, want, p.words), bits - 2);
  }
}

/* Counts beyond 2^16 and 2^20: the planes grow. */
static void long_documents(void **state) {
  (void)state;
  enum { N = (1 << 20) + 7 };
  uint64_t *fp = malloc(N * 8), got[1], want[1];
  nd_projection p;
  nd_rng rng = {2};
  ok(nd_projection_init(&p, 64, 3, &err));
  for (size_t n = 65530; n < N; n += n < 65600 ? 13 : 330000) {
    make(fp, n, 1000, &rng);
    naive_projection(want, &p, fp, n);
    nd_projection_sketch(got, &p, fp, n);
    assert_int_equal(got[0], want[0]);
    nd_simhash s;
    uint64_t h;
    ok(nd_simhash_init(&s, ND_WEIGHTS_TF, 5, NULL, &err));
    ok(nd_simhash_sketch(&h, &s, fp, n, &err));
    int64_t sum[64] = {0};
    for (size_t t = 0; t < n; t++)
      for (int b = 0; b < 64; b++) sum[b] += nd_mix(fp[t] + s.key) >> b & 1 ? 1 : -1;
    for (int b = 0; b < 64; b++) assert_int_equal(h >> b & 1, sum[b] > 0);
    nd_simhash_clear(&s);
  }
  free(fp);
}

/* The order of tokens does not matter, frequencies do. */
static void order_and_frequency(void **state) {
  (void)state;
  uint64_t fp[101], back[101], a[6], b[6];
  nd_projection p;
  nd_rng rng = {3};
  ok(nd_projection_init(&p, 384, 1, &err));
  for (int i = 0; i < 101; i++) fp[i] = nd_rng_next(&rng);
  for (int i = 0; i < 101; i++) back[i] = fp[100 - i];
  nd_projection_sketch(a, &p, fp, 101);
  nd_projection_sketch(b, &p, back, 101);
  assert_memory_equal(a, b, sizeof a);
  for (int i = 50; i < 101; i++) fp[i] = fp[0];
  nd_projection_sketch(b, &p, fp, 101);
  assert_true(nd_projection_agree(a, b, 6) < 300);
  nd_projection_sketch(a, &p, fp, 1); /* the token with the majority decides */
  assert_int_equal(nd_projection_agree(a, b, 6), 384);
}

/* Two documents with the given numbers of own and common tokens, some of them
 * three times: P(a bit agrees) = 1 - θ/π. */
static void measure_angle(size_t own, size_t common, uint64_t seed) {
  enum { TRIALS = 40, BITS = 1024 };
  size_t room = 3 * (own + common) + 2, n[2];
  uint64_t *fp[2] = {malloc(room * 8), malloc(room * 8)}, sketch[2][BITS / 64];
  nd_rng rng = {seed};
  double agree = 0, expected = 0;
  for (int t = 0; t < TRIALS; t++) {
    double squares[2] = {0, 0}, dot = 0;
    n[0] = n[1] = 0;
    for (size_t i = 0; i < common + 2 * own; i++) {
      uint64_t x = nd_rng_next(&rng);
      for (int d = 0; d < 2; d++) {
        if (i >= common && (int)((i - common) % 2) != d) continue;
        size_t times = i % 10 == 0 ? 3 : 1;
        if (i + 2 + (size_t)d == common + 2 * own)
          times += (n[d] + times) % 2 == 0; /* odd: no ties */
        for (size_t r = 0; r < times; r++) fp[d][n[d]++] = x;
        squares[d] += (double)(times * times);
        if (i < common && d == 0) dot += (double)(times * times);
      }
    }
    nd_projection p;
    ok(nd_projection_init(&p, BITS, nd_rng_next(&rng), &err));
    for (int d = 0; d < 2; d++) nd_projection_sketch(sketch[d], &p, fp[d], n[d]);
    agree += nd_projection_agree(sketch[0], sketch[1], BITS / 64);
    expected += 1 - acos(dot / sqrt(squares[0] * squares[1])) / acos(-1);
  }
  double q = expected / TRIALS, got = agree / TRIALS / BITS;
  double sigma = sqrt(q * (1 - q) / TRIALS / BITS);
  print_message("%zu common, %zu own: %.4f, expected %.4f\n", common, own, got, q);
  /* 0.002: tokens are finitely many, the formula is for a normal sum */
  assert_true(fabs(got - q) < 4.5 * sigma + 0.002);
  free(fp[0]);
  free(fp[1]);
}

static void bits_agree_as_the_angle_says(void **state) {
  (void)state;
  measure_angle(1000, 0, 11);
  measure_angle(700, 300, 12);
  measure_angle(300, 700, 13);
  measure_angle(60, 940, 14);
  measure_angle(10, 1990, 15);
}

static void every_bit_is_fair(void **state) {
  (void)state;
  enum { TRIALS = 3000 };
  nd_projection p;
  ok(nd_projection_init(&p, 1024, 4, &err));
  uint32_t ones[1024] = {0};
  nd_rng rng = {5};
  for (int t = 0; t < TRIALS; t++) {
    uint64_t fp[3], out[16];
    for (int i = 0; i < 3; i++) fp[i] = nd_rng_below(&rng, 1 << 20); /* not random numbers */
    nd_projection_sketch(out, &p, fp, 3);
    for (int b = 0; b < 1024; b++) ones[b] += out[b / 64] >> b % 64 & 1;
  }
  for (int b = 0; b < 1024; b++) assert_true(fabs(ones[b] - TRIALS / 2.0) < 5 * sqrt(TRIALS) / 2);
}

/* --- simhash ------------------------------------------------------------------------ */

static void simhash_is_a_weighted_vote(void **state) {
  (void)state;
  nd_frequencies f;
  ok(nd_frequencies_init(&f, &err));
  nd_rng rng = {6};
  uint64_t fp[900], got;
  nd_simhash counting;
  ok(nd_simhash_init(&counting, ND_WEIGHTS_ONE, 1, NULL, &err));
  for (int d = 0; d < 500; d++) {
    size_t n = (size_t)nd_rng_below(&rng, 200);
    make(fp, n, 500, &rng);
    ok(nd_simhash_count(&f, &counting, fp, n, &err));
  }
  nd_simhash_clear(&counting);
  for (int w = 0; w < 3; w++) {
    nd_simhash s;
    ok(nd_simhash_init(&s, (nd_weights)w, 9, &f, &err));
    for (int round = 0; round < 200; round++) {
      size_t n = round < 70 ? (size_t)round : (size_t)nd_rng_below(&rng, 900);
      make(fp, n, 1 + nd_rng_below(&rng, 600), &rng);
      uint64_t want = naive_simhash(&s, fp, n);
      for (int level = 0; level <= (int)nd_cpu(); level++) {
        ok(nd_simhash_sketch_level(&got, &s, fp, n, (nd_cpu_level)level, &err));
        assert_int_equal(got, want);
      }
    }
    nd_simhash_clear(&s);
  }
  nd_frequencies_clear(&f);
}

static void frequencies_count_documents(void **state) {
  (void)state;
  enum { WORDS = 3000, DOCS = 2000 };
  nd_frequencies f;
  ok(nd_frequencies_init(&f, &err));
  nd_simhash s;
  ok(nd_simhash_init(&s, ND_WEIGHTS_ONE, 1, NULL, &err));
  uint32_t *df = calloc(WORDS, 4);
  nd_rng rng = {7};
  for (int d = 0; d < DOCS; d++) {
    uint64_t fp[80];
    bool seen[WORDS] = {false};
    for (int i = 0; i < 80; i++) {
      uint64_t word = nd_rng_below(&rng, 1 + nd_rng_below(&rng, WORDS));
      fp[i] = nd_mix(word + 1000);
      df[word] += !seen[word];
      seen[word] = true;
    }
    ok(nd_simhash_count(&f, &s, fp, 80, &err));
  }
  assert_int_equal(f.documents, DOCS);
  int exact = 0;
  for (uint64_t w = 0; w < WORDS; w++) {
    uint32_t got = nd_frequencies_get(&f, nd_mix(w + 1000));
    assert_true(got >= df[w]);
    exact += got == df[w];
  }
  assert_true(exact >= WORDS - 2);
  free(df);
  nd_simhash_clear(&s);
  nd_frequencies_clear(&f);
}

static void idf_is_the_logarithm(void **state) {
  (void)state;
  nd_rng rng = {8};
  assert_int_equal(nd_idf(1, 1), 256);
  assert_int_equal(nd_idf(0, 0), 256);
  assert_int_equal(nd_idf(3, 1), 512);
  assert_int_equal(nd_idf(5, 9), 256); /* never below log2(1 + 1) */
  for (int i = 0; i < 20000; i++) {
    uint64_t n = 1 + nd_rng_below(&rng, UINT64_C(1) << (1 + nd_rng_below(&rng, 31)));
    uint32_t df = 1 + (uint32_t)nd_rng_below(&rng, n);
    double want = 256 * log2(1 + (double)n / df);
    double got = nd_idf(n, df);
    if (got > want + 1e-3 || got < want - 1.001)
      fail_msg("idf(%g, %g) = %g, not %g", (double)n, (double)df, got, want);
  }
}

static void limits_and_faults(void **state) {
  (void)state;
  nd_projection p;
  const uint32_t wrong[] = {0, 1, 63, 65, 100, 1025, 1088, 2048};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(nd_projection_init(&p, wrong[i], 1, &err), ND_ERR_USAGE);
  uint64_t out[16];
  ok(nd_projection_init(&p, 1024, 1, &err));
  memset(out, 0xff, sizeof out);
  nd_projection_sketch(out, &p, NULL, 0);
  for (int i = 0; i < 16; i++) assert_int_equal(out[i], 0);
  nd_simhash s;
  assert_int_equal(nd_simhash_init(&s, ND_WEIGHTS_TFIDF, 1, NULL, &err), ND_ERR_USAGE);
  nd_frequencies f;
  nd_mem_fail_at(1);
  assert_int_equal(nd_frequencies_init(&f, &err), ND_ERR_MEMORY);
  nd_frequencies_clear(&f);
  nd_mem_fail_at(0);
  ok(nd_frequencies_init(&f, &err));
  ok(nd_simhash_init(&s, ND_WEIGHTS_TFIDF, 1, &f, &err));
  uint64_t fp[3] = {1, 2, 3};
  for (uint64_t nth = 1; nth <= 3; nth++) {
    nd_simhash_clear(&s);
    ok(nd_simhash_init(&s, ND_WEIGHTS_TFIDF, 1, &f, &err));
    nd_mem_fail_at(nth);
    assert_int_equal(nd_simhash_sketch(out, &s, fp, 3, &err), ND_ERR_MEMORY);
    nd_mem_fail_at(0);
  }
  ok(nd_simhash_sketch(out, &s, fp, 3, &err));
  nd_simhash_clear(&s);
  nd_frequencies_clear(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(projection_is_a_sum_of_signs),
                                     cmocka_unit_test(long_documents),
                                     cmocka_unit_test(order_and_frequency),
                                     cmocka_unit_test(bits_agree_as_the_angle_says),
                                     cmocka_unit_test(every_bit_is_fair),
                                     cmocka_unit_test(simhash_is_a_weighted_vote),
                                     cmocka_unit_test(frequencies_count_documents),
                                     cmocka_unit_test(idf_is_the_logarithm),
                                     cmocka_unit_test(limits_and_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
