/* Union-find against labels that are rewritten at every union. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "cluster/union_find.h"
#include "seed.h"

enum { N = 200 };

static void a_root_is_the_smallest_member(void **state) {
  (void)state;
  uint32_t parent[5];
  nd_union_start(parent, 5);
  assert_true(nd_union_join(parent, 4, 2));
  assert_true(nd_union_join(parent, 2, 1));
  assert_false(nd_union_join(parent, 1, 4));
  nd_union_flatten(parent, 5);
  const uint32_t roots[] = {0, 1, 1, 3, 1};
  assert_memory_equal(parent, roots, sizeof roots);
}

static void random_unions_give_what_relabelling_gives(void **state) {
  (void)state;
  nd_rng rng = {.state = test_seed()};
  for (int round = 0; round < 50; round++) {
    uint32_t parent[N], label[N];
    nd_union_start(parent, N);
    for (uint32_t i = 0; i < N; i++) label[i] = i;
    for (uint64_t unions = nd_rng_below(&rng, 2 * N); unions--;) {
      uint32_t a = (uint32_t)nd_rng_below(&rng, N), b = (uint32_t)nd_rng_below(&rng, N);
      uint32_t x = label[a], y = label[b];
      assert_true(nd_union_join(parent, a, b) == (x != y));
      for (uint32_t i = 0; i < N; i++)
        if (label[i] == x || label[i] == y) label[i] = x < y ? x : y;
    }
    nd_union_flatten(parent, N);
    assert_memory_equal(parent, label, sizeof label);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_root_is_the_smallest_member),
      cmocka_unit_test(random_unions_give_what_relabelling_gives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
