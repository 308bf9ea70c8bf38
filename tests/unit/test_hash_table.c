/* Hash tables against a linear search, with hashes that spread and hashes that all collide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "tools.h"

enum { KEYS = 3000, VALUES = 900 };

static uint64_t spread(uint64_t key) {
  return nd_hash_salted(key, nd_hash_secret());
}
static uint64_t same(uint64_t key) {
  (void)key;
  return UINT64_MAX; /* the last slot: probes wrap around */
}

/* The number of a key, in order of first appearance. */
static uint32_t number_of(nd_slots *t, uint64_t *keys, uint32_t *n, uint64_t key,
                          uint64_t (*hash)(uint64_t)) {
  if (nd_slots_is_small(t, *n + 1)) {
    ok(nd_slots_reset(t, *n + 1, &err));
    for (uint32_t e = 0; e < *n; e++) nd_slots_enter(t, hash(keys[e]), e);
  }
  uint32_t e;
  size_t at = nd_slots_first(t, hash(key));
  while ((e = t->slot[at]) && keys[e - 1] != key) at = nd_slots_next(t, at);
  if (!e) {
    keys[*n] = key;
    t->slot[at] = e = ++*n;
  }
  return e - 1;
}

static void numbers_keys_in_order_of_appearance(uint64_t (*hash)(uint64_t)) {
  static uint64_t keys[VALUES], seen[VALUES];
  uint32_t n = 0, distinct = 0;
  nd_slots t = {0};
  for (uint64_t i = 0; i < KEYS; i++) {
    const uint64_t key = nd_mix(i) % VALUES;
    uint32_t expected = 0;
    while (expected < distinct && seen[expected] != key) expected++;
    if (expected == distinct) seen[distinct++] = key;
    assert_int_equal(number_of(&t, keys, &n, key, hash), expected);
    assert_true(t.slots >= (size_t)2 * n);
  }
  assert_int_equal(n, distinct);
  nd_slots_clear(&t);
}

static void spread_keys_get_their_numbers(void **state) {
  (void)state;
  numbers_keys_in_order_of_appearance(spread);
}

static void colliding_keys_get_their_numbers(void **state) {
  (void)state;
  numbers_keys_in_order_of_appearance(same);
}

static void reset_frees_every_slot_and_keeps_the_memory(void **state) {
  (void)state;
  nd_slots t = {0};
  ok(nd_slots_reset(&t, 100, &err));
  const size_t cap = t.cap;
  for (uint32_t e = 0; e < 100; e++) nd_slots_enter(&t, spread(e), e);
  ok(nd_slots_reset(&t, 3, &err));
  assert_int_equal(t.slots, 16);
  assert_int_equal(t.cap, cap);
  for (size_t i = 0; i < t.slots; i++) assert_int_equal(t.slot[i], 0);
  nd_slots_clear(&t);
  nd_slots_clear(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spread_keys_get_their_numbers),
                                     cmocka_unit_test(colliding_keys_get_their_numbers),
                                     cmocka_unit_test(reset_frees_every_slot_and_keeps_the_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
