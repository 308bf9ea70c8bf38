/* Hashes: the same bits everywhere, bytes after the string ignored, bijections
 * that are bijections, and no structure that a chi-square test would see. */
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

static void fold_is_the_folded_product(void **state) {
  (void)state;
  nd_rng rng = {3};
  for (int i = 0; i < 100000; i++) {
    uint64_t a = nd_rng_next(&rng), b = nd_rng_next(&rng);
    /* schoolbook, in 32-bit halves */
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = al * bh + ((al * bl) >> 32), mid2 = ah * bl + (uint32_t)mid;
    uint64_t high = ah * bh + (mid >> 32) + (mid2 >> 32);
    assert_int_equal(nd_fold(a, b), (a * b) ^ high);
  }
  assert_int_equal(nd_fold(0, 12345), 0);
  assert_int_equal(nd_fold(1, 12345), 12345);
}

/* Inverts the finaliser step by step. */
static uint64_t unmix(uint64_t x) {
  x ^= x >> 31 ^ x >> 62;
  x *= 0x319642b2d24d8ec3u;
  x ^= x >> 27 ^ x >> 54;
  x *= 0x96de1b173f119089u;
  return x ^ x >> 30 ^ x >> 60;
}

static void mix_is_a_bijection(void **state) {
  (void)state;
  nd_rng rng = {4};
  for (int i = 0; i < 100000; i++) {
    uint64_t x = nd_rng_next(&rng) >> nd_rng_below(&rng, 64);
    assert_int_equal(unmix(nd_mix(x)), x);
  }
}

static void load_is_little_endian(void **state) {
  (void)state;
  unsigned char bytes[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  assert_int_equal(nd_load64(bytes), UINT64_C(0x0706050403020100));
  assert_int_equal(nd_load64(bytes + 1), UINT64_C(0x0807060504030201));
}

static void masks_keep_n_bytes(void **state) {
  (void)state;
  for (size_t n = 0; n <= 16; n++) {
    unsigned char mask[16] = {0};
    memset(mask, 0xff, n);
    assert_int_equal(nd_hash_masks[n][0], nd_load64(mask));
    assert_int_equal(nd_hash_masks[n][1], nd_load64(mask + 8));
  }
}

static void bytes_after_the_end_do_not_count(void **state) {
  (void)state;
  nd_rng rng = {5};
  for (uint64_t seed = 0; seed < 50; seed++) {
    nd_hash_key key = nd_hash_key_of(seed);
    assert_int_equal(key.low >> 56, 0xff);
    assert_int_equal(key.high >> 56, 0xff);
    for (size_t n = 0; n <= 40; n++) {
      char a[80], b[80];
      for (size_t i = 0; i < sizeof a; i++) {
        a[i] = (char)nd_rng_next(&rng);
        b[i] = i < n ? a[i] : (char)nd_rng_next(&rng);
      }
      assert_int_equal(nd_hash_bytes(a, n, key), nd_hash_bytes(b, n, key));
    }
  }
}

static int by_value(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

/* Words of all lengths up to 40 in a two-letter alphabet, many of them a prefix
 * of another: all hashes differ, and differ between seeds. */
static void short_words_do_not_collide(void **state) {
  (void)state;
  enum { MOST = 400000 };
  uint64_t *h = malloc(MOST * sizeof *h);
  for (uint64_t seed = 1; seed <= 2; seed++) {
    nd_hash_key key = nd_hash_key_of(seed);
    size_t n = 0;
    for (int length = 0; length <= 16; length++) {
      for (uint32_t word = 0; word < 1u << length; word++) {
        char text[32] = {0};
        for (int i = 0; i < length; i++) text[i] = word >> i & 1 ? 'b' : 'a';
        h[n++] = nd_hash_bytes(text, (size_t)length, key);
      }
    }
    for (int length = 17; length <= 40; length++) {
      for (uint32_t word = 0; word < 4096; word++) {
        char text[64] = {0};
        for (int i = 0; i < length; i++) text[i] = word >> i % 12 & 1 ? 'b' : 'a';
        h[n++] = nd_hash_bytes(text, (size_t)length, key);
      }
    }
    qsort(h, n, sizeof *h, by_value);
    for (size_t i = 1; i < n; i++) assert_int_not_equal(h[i - 1], h[i]);
  }
  free(h);
  assert_int_not_equal(nd_hash_bytes("word\0\0\0\0\0\0\0\0\0\0\0", 4, nd_hash_key_of(1)),
                       nd_hash_bytes("word\0\0\0\0\0\0\0\0\0\0\0", 4, nd_hash_key_of(2)));
}

/* Decimal numbers as words: every byte of the hash is spread evenly. */
static void bits_are_spread(void **state) {
  (void)state;
  enum { N = 1 << 18 };
  nd_hash_key key = nd_hash_key_of(1);
  static uint32_t count[8][256];
  for (uint32_t i = 0; i < N; i++) {
    char text[32] = {0};
    size_t n = 0;
    for (uint32_t x = i + 1; x; x /= 10) text[n++] = (char)('0' + x % 10);
    uint64_t h = nd_hash_bytes(text, n, key);
    for (int b = 0; b < 8; b++) count[b][h >> 8 * b & 255]++;
  }
  for (int b = 0; b < 8; b++) {
    double chi = 0, expect = N / 256.0;
    for (int v = 0; v < 256; v++) chi += (count[b][v] - expect) * (count[b][v] - expect) / expect;
    /* 255 degrees of freedom: mean 255, deviation 22.6; six of them */
    assert_true(chi < 255 + 6 * 22.6);
  }
}

static void generator_is_uniform(void **state) {
  (void)state;
  nd_rng rng = {99};
  uint32_t count[7] = {0};
  double sum = 0;
  for (int i = 0; i < 70000; i++) {
    uint64_t x = nd_rng_below(&rng, 7);
    assert_true(x < 7);
    count[x]++;
    double u = nd_rng_unit(&rng);
    assert_true(u >= 0 && u < 1);
    sum += u;
  }
  for (int i = 0; i < 7; i++) assert_true(fabs(count[i] - 10000.0) < 6 * 93);
  assert_true(fabs(sum / 70000 - 0.5) < 6 * 0.2887 / sqrt(70000));
  assert_int_equal(nd_rng_below(&rng, 1), 0);
}

/* Whatever pattern the keys have, runs of taken slots stay short. */
static void slots_are_spread(void **state) {
  (void)state;
  enum { KEYS = 4096, SLOTS = 8192 };
  static uint8_t taken[SLOTS];
  uint64_t secret = nd_hash_secret();
  assert_int_equal(secret, nd_hash_secret());
  for (int pattern = 0; pattern < 6; pattern++) {
    uint64_t steps = 0;
    memset(taken, 0, sizeof taken);
    for (uint64_t i = 1; i <= KEYS; i++) {
      const uint64_t keys[] = {
          i, i << 32, i << 50, i * 0x9e3779b97f4a7c15u, unmix(i << 28), i << 13 | i};
      size_t at = nd_hash_slot(keys[pattern], secret, SLOTS);
      for (; taken[at]; at = (at + 1) & (SLOTS - 1)) steps++;
      taken[at] = 1;
    }
    if (steps > 40 * KEYS)
      fail_msg("pattern %d: %lu steps for %d keys", pattern, (unsigned long)steps, KEYS);
  }
  for (uint64_t i = 1; i < 1000; i++) assert_int_equal(nd_mix(unmix(i << 28)), i << 28);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fold_is_the_folded_product),
                                     cmocka_unit_test(mix_is_a_bijection),
                                     cmocka_unit_test(load_is_little_endian),
                                     cmocka_unit_test(masks_keep_n_bytes),
                                     cmocka_unit_test(bytes_after_the_end_do_not_count),
                                     cmocka_unit_test(short_words_do_not_collide),
                                     cmocka_unit_test(slots_are_spread),
                                     cmocka_unit_test(bits_are_spread),
                                     cmocka_unit_test(generator_is_uniform)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
