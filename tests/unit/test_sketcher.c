/* Sketches in parts: merging, features, votes; against sketches of everything at
 * once and against the kernels of the methods. */
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

#include "base/hash.h"
#include "base/rng.h"
#include "neardup.h"
#include "settings/option_fields.h"
#include "sketch/projection.h"
#include "sketch/simhash.h"
#include "tools.h"

static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return 0;
}

static void merging_is_the_union(void **state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    nd_options o;
    nd_sketcher *s;
    nd_options_init(&o);
    o.permutations = 1 + nd_rng_below(&rng, 300);
    o.bands = o.rows = 1;
    o.seed = nd_rng_next(&rng);
    ok(nd_sketcher_new(&s, &o, &err));
    uint32_t k = nd_sketcher_length(s);
    assert_int_equal(k, o.permutations);
    uint64_t set[500], a[300], b[300], whole[300];
    size_t n = (size_t)nd_rng_below(&rng, 500), cut = n ? (size_t)nd_rng_below(&rng, n + 1) : 0;
    for (size_t i = 0; i < n; i++) set[i] = nd_mix(nd_rng_below(&rng, 600));
    ok(nd_sketcher_sketch(a, s, set, cut, &err));
    ok(nd_sketcher_sketch(b, s, set + cut, n - cut, &err));
    ok(nd_sketcher_sketch(whole, s, set, n, &err));
    nd_sketcher_merge(a, s, b);
    assert_memory_equal(a, whole, k * sizeof *a);
    nd_sketcher_free(s);
  }
}

static void a_text_is_its_fingerprints(void **state) {
  (void)state;
  nd_options o;
  nd_sketcher *s;
  nd_options_init(&o);
  ok(nd_sketcher_new(&s, &o, &err));
  nd_str text = {"The cat sat on the mat, and slept; the cat!", 43};
  uint64_t a[2000], b[2000], keys[2000], count;
  const uint64_t *fingerprint;
  size_t n;
  ok(nd_sketcher_text(a, &count, s, text, &err));
  ok(nd_sketcher_fingerprints(&fingerprint, &n, s, text, &err));
  assert_int_equal(n, count);
  assert_int_equal(n, 6);
  ok(nd_sketcher_sketch(b, s, fingerprint, n, &err));
  assert_memory_equal(a, b, nd_sketcher_length(s) * sizeof *a);
  assert_int_equal(nd_sketcher_bands(s), 13);
  nd_sketcher_keys(keys, s, a);
  for (uint32_t i = 0; i < 13; i++)
    for (uint32_t j = 0; j < i; j++) assert_int_not_equal(keys[i], keys[j]);
  assert_int_not_equal(nd_sketcher_feature(s, (nd_str){"a", 1}),
                       nd_sketcher_feature(s, (nd_str){"b", 1}));
  nd_sketcher_free(s);
}

static void votes_are_the_methods(void **state) {
  (void)state;
  for (int round = 0; round < 100; round++) {
    uint32_t bits = 64 * (1 + (uint32_t)nd_rng_below(&rng, 16));
    uint64_t seed = nd_rng_next(&rng), set[300], got[16], want[16];
    size_t n = (size_t)nd_rng_below(&rng, 300), cut = n ? (size_t)nd_rng_below(&rng, n + 1) : 0;
    int64_t sums[1024] = {0};
    for (size_t i = 0; i < n; i++) set[i] = nd_mix(nd_rng_below(&rng, 200));
    ok(nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_PROJECTION, .bits = bits, .seed = seed},
                    set, cut, &err));
    ok(nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_PROJECTION, .bits = bits, .seed = seed},
                    set + cut, n - cut, &err));
    nd_votes_bits(got, sums, bits);
    nd_projection p;
    ok(nd_projection_init(&p, bits, seed, &err));
    nd_projection_sketch(want, &p, set, n);
    assert_memory_equal(got, want, bits / 8);

    nd_simhash h;
    memset(sums, 0, sizeof sums);
    ok(nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_SIMHASH, .bits = 64, .seed = seed}, set,
                    n, &err));
    nd_votes_bits(got, sums, 64);
    ok(nd_simhash_init(&h, ND_WEIGHTS_TF, seed, NULL, &err));
    ok(nd_simhash_sketch(want, &h, set, n, &err));
    nd_simhash_clear(&h);
    assert_memory_equal(got, want, 8);
  }
  int64_t sums[128] = {0};
  assert_int_equal(
      nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_SIMHASH, .bits = 128, .seed = 1}, NULL,
                   0, &err),
      ND_ERR_USAGE);
  assert_int_equal(
      nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_PROJECTION, .bits = 65, .seed = 1}, NULL,
                   0, &err),
      ND_ERR_USAGE);
}

static nd_status new_with(nd_sketcher **s, const char *const *options) {
  nd_options o;
  nd_options_init(&o);
  for (size_t i = 0; options[i]; i += 2) ok(nd_options_set(&o, options[i], options[i + 1], &err));
  return nd_sketcher_new(s, &o, &err);
}

/* What one document at a time cannot do is refused; samples and web tokens are not. */
static void refused_and_sampled(void **state) {
  (void)state;
  nd_sketcher *s, *part;
  const char *const method[] = {"method", "simhash", NULL}, *const sct[] = {"sample", "sct:9",
                                                                            NULL};
  const char *const goal[] = {"method", "minhash", "sample", "adaptive:0.9", NULL};
  assert_int_equal(new_with(&s, method), ND_ERR_USAGE);
  assert_string_equal(err.message, "a sketcher needs the method minhash, not simhash");
  assert_int_equal(new_with(&s, sct), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "one document at a time"));
  assert_int_equal(new_with(&s, goal), ND_ERR_USAGE);
  nd_options o;
  nd_options_init(&o);
  ok(nd_options_set(&o, "recall", "2", &err));
  assert_int_equal(nd_sketcher_new(&s, &o, &err), ND_ERR_USAGE);
  assert_string_equal(err.message, "--recall 2 is out of range: above 0, at most 1");
  nd_sketcher_free(NULL);
  const char *const web[] = {"tokens", "web", "shingle", "words:2", NULL};
  const char *const half[] = {"sample", "mod:2", "tokens", "web", "shingle", "words:2", NULL};
  nd_str text = nd_str_of("one two three four five six seven eight nine ten eleven twelve");
  const uint64_t *all, *some;
  size_t all_n, some_n;
  ok(new_with(&s, web));
  ok(new_with(&part, half));
  ok(nd_sketcher_fingerprints(&all, &all_n, s, text, &err));
  ok(nd_sketcher_fingerprints(&some, &some_n, part, text, &err));
  assert_int_equal(all_n, 11);
  assert_true(some_n < all_n);
  for (size_t i = 0; i < some_n; i++) { /* a part of them */
    size_t k = 0;
    while (k < all_n && all[k] != some[i]) k++;
    assert_true(k < all_n);
  }
  uint64_t sketch[2][2000];
  ok(nd_sketcher_text(sketch[0], NULL, s, text, &err));
  ok(nd_sketcher_sketch(sketch[1], s, all, all_n, &err));
  assert_memory_equal(sketch[0], sketch[1], nd_sketcher_length(s) * sizeof **sketch);
  int64_t sums[64];
  assert_int_equal(
      nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_SIMHASH, .bits = 128, .seed = 1}, all,
                   all_n, &err),
      ND_ERR_USAGE);
  assert_int_equal(
      nd_votes_add(sums, &(nd_votes_spec){.kind = ND_VOTES_PROJECTION, .bits = 63, .seed = 1}, all,
                   all_n, &err),
      ND_ERR_USAGE);
  nd_sketcher_free(s);
  nd_sketcher_free(part);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(merging_is_the_union),
      cmocka_unit_test(a_text_is_its_fingerprints),
      cmocka_unit_test(votes_are_the_methods),
      cmocka_unit_test(refused_and_sampled),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
