/* Rabin fingerprints: P is irreducible, the algebra holds, rolling is direct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "feature/rabin.h"
#include "seed.h"

static nd_rng rng;

static int setup(void **state) {
  (void)state;
  rng.state = test_seed();
  return 0;
}

static void draw(uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)nd_rng_next(&rng);
}

/* Long division, bit by bit. */
static uint64_t naive(const uint8_t *p, size_t n) {
  uint64_t h = 0;
  for (size_t i = 0; i < 8 * n; i++) {
    uint64_t bit = p[i / 8] >> (7 - i % 8) & 1, carry = h >> 63;
    h = (h << 1 | bit) ^ (carry ? ND_RABIN_LOW : 0);
  }
  return h;
}

typedef unsigned __int128 poly;

static int degree(poly a) {
  int d = -1;
  for (; a; a >>= 1) d++;
  return d;
}

static poly gcd(poly a, poly b) {
  while (b) {
    while (degree(a) >= degree(b)) a ^= b << (degree(a) - degree(b));
    poly t = a;
    a = b;
    b = t;
  }
  return a;
}

/* Rabin's test for degree 64, whose only prime factor is 2: P divides
 * x^(2^64) - x and has no factor in common with x^(2^32) - x. */
static bool irreducible(uint64_t low, uint64_t (*square)(uint64_t)) {
  uint64_t y = 2;
  for (int i = 0; i < 64; i++) {
    if (i == 32 && gcd((poly)1 << 64 | low, y ^ 2) != 1) return false;
    y = square(y);
  }
  return y == 2;
}

static uint64_t naive_square(uint64_t low, uint64_t a) {
  uint64_t product = 0;
  for (int bit = 63; bit >= 0; bit--) {
    product = (product << 1) ^ (product >> 63 ? low : 0);
    if (a >> bit & 1) product ^= a;
  }
  return product;
}
static uint64_t square_ours(uint64_t a) {
  return naive_square(ND_RABIN_LOW, a);
}
static uint64_t square_1b(uint64_t a) {
  return naive_square(0x1b, a);
} /* x^64+x^4+x^3+x+1 */
static uint64_t square_01(uint64_t a) {
  return naive_square(1, a);
} /* (x+1)^64 */
static uint64_t square_03(uint64_t a) {
  return naive_square(3, a);
}

static void the_polynomial_is_irreducible(void **state) {
  (void)state;
  assert_true(irreducible(ND_RABIN_LOW, square_ours));
  /* The test itself tells: one that is known to be irreducible, two that are not. */
  assert_true(irreducible(0x1b, square_1b));
  assert_false(irreducible(1, square_01));
  assert_false(irreducible(3, square_03));
}

static void equals_long_division(void **state) {
  (void)state;
  uint8_t p[300];
  for (int round = 0; round < 2000; round++) {
    size_t n = nd_rng_below(&rng, sizeof p), k = nd_rng_below(&rng, n + 1);
    draw(p, n);
    assert_int_equal(nd_rabin_bytes(p, n), naive(p, n));
    assert_int_equal(nd_rabin_extend(naive(p, k), p + k, n - k), naive(p, n));
  }
  assert_int_equal(nd_rabin_bytes("", 0), 0);
  assert_int_equal(nd_rabin_bytes("abcdefgh", 8), 0x6162636465666768);
  assert_int_equal(nd_rabin_bytes("\1\0\0\0\0\0\0\0\0", 9), ND_RABIN_LOW);
}

static void the_algebra(void **state) {
  (void)state;
  uint8_t a[100], b[100], both[200];
  for (int round = 0; round < 2000; round++) {
    size_t n = nd_rng_below(&rng, 100), m = nd_rng_below(&rng, 100);
    draw(a, n);
    draw(b, n);
    for (size_t i = 0; i < n; i++) both[i] = a[i] ^ b[i];
    uint64_t fa = nd_rabin_bytes(a, n), fb = nd_rabin_bytes(b, n);
    assert_int_equal(nd_rabin_bytes(both, n), fa ^ fb);

    draw(b, m);
    memcpy(both, a, n);
    memcpy(both + n, b, m);
    fb = nd_rabin_bytes(b, m);
    assert_int_equal(nd_rabin_bytes(both, n + m), nd_rabin_concat(fa, fb, m));
    assert_int_equal(nd_rabin_bytes(both, n + m), nd_rabin_multiply(fa, nd_rabin_power(m)) ^ fb);

    uint64_t x = nd_rng_next(&rng), y = nd_rng_next(&rng), z = nd_rng_next(&rng);
    assert_int_equal(nd_rabin_multiply(x, y), nd_rabin_multiply(y, x));
    assert_int_equal(nd_rabin_multiply(x, y ^ z),
                     nd_rabin_multiply(x, y) ^ nd_rabin_multiply(x, z));
    assert_int_equal(nd_rabin_multiply(nd_rabin_multiply(x, y), z),
                     nd_rabin_multiply(x, nd_rabin_multiply(y, z)));
    assert_int_equal(nd_rabin_multiply(x, x), square_ours(x));
    assert_int_equal(nd_rabin_multiply(x, 1), x);
    uint64_t i = nd_rng_next(&rng) >> 2, j = nd_rng_next(&rng) >> 2;
    assert_int_equal(nd_rabin_power(i + j),
                     nd_rabin_multiply(nd_rabin_power(i), nd_rabin_power(j)));
  }
}

static void rolling_is_direct(void **state) {
  (void)state;
  static uint8_t p[3000];
  static uint64_t out[3000];
  for (int round = 0; round < 200; round++) {
    size_t n = 1 + nd_rng_below(&rng, sizeof p - 1);
    size_t size = 1 + nd_rng_below(&rng, round % 2 ? 20 : n);
    if (size > n) size = n;
    draw(p, n);
    nd_rabin_window w;
    nd_rabin_window_init(&w, size);
    nd_rabin_roll(out, &w, p, n);
    for (size_t i = 0; i + size <= n; i++) assert_int_equal(out[i], nd_rabin_bytes(p + i, size));
  }
}

static void units_are_eight_bytes(void **state) {
  (void)state;
  static uint64_t unit[400], out[400];
  static uint8_t bytes[8 * 400];
  for (int round = 0; round < 200; round++) {
    size_t n = 1 + nd_rng_below(&rng, 400), size = 1 + nd_rng_below(&rng, n);
    for (size_t i = 0; i < n; i++) {
      unit[i] = nd_rng_next(&rng) >> nd_rng_below(&rng, 64);
      for (int k = 0; k < 8; k++) bytes[8 * i + (size_t)k] = (uint8_t)(unit[i] >> (56 - 8 * k));
    }
    nd_rabin_units w;
    nd_rabin_units_init(&w, size);
    nd_rabin_roll_units(out, &w, unit, n);
    for (size_t i = 0; i + size <= n; i++)
      assert_int_equal(out[i], nd_rabin_bytes(bytes + 8 * i, 8 * size));
    nd_rabin_roll_units(unit, &w, unit, n); /* in place */
    assert_memory_equal(unit, out, (n - size + 1) * sizeof *out);
  }
}

static void windows_that_change_size(void **state) {
  (void)state;
  char p[500];
  uint64_t power[500];
  nd_rabin_powers(power, 500);
  for (size_t i = 0; i < 500; i += 7) assert_int_equal(power[i], nd_rabin_power(i));
  for (int round = 0; round < 200; round++) {
    draw((uint8_t *)p, sizeof p);
    size_t begin = 0, end = nd_rng_below(&rng, 100);
    uint64_t h = nd_rabin_bytes(p, end);
    while (end < sizeof p) {
      size_t to = end + nd_rng_below(&rng, sizeof p - end + 1);
      size_t from = begin + nd_rng_below(&rng, (to < begin + 60 ? to - begin : 60) + 1);
      h = nd_rabin_slide(h, power, p, begin, end, from, to);
      begin = from;
      end = to;
      assert_int_equal(h, nd_rabin_bytes(p + begin, end - begin));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_polynomial_is_irreducible),
                                     cmocka_unit_test(equals_long_division),
                                     cmocka_unit_test(the_algebra),
                                     cmocka_unit_test(rolling_is_direct),
                                     cmocka_unit_test(units_are_eight_bytes),
                                     cmocka_unit_test(windows_that_change_size)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
