/* A similarity that the library does not have, in one file: its functions, its row, its test.
 *
 * dice: 2 |A ∩ B| / (|A| + |B|), which every exact method finds and `dedup` clusters by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "job_calls.h"
#include "neardup.h"
#include "similarity/similarity.h"
#include "tools.h"

/* --- the similarity -------------------------------------------------------------------------- */

static bool reaches(nd_overlap o, nd_decimal t) {
  return (unsigned __int128)2 * o.common * t.den >=
         (unsigned __int128)((uint64_t)o.joint + o.common) * t.num;
}

static uint64_t value(nd_overlap o) {
  return nd_fraction_pack(2 * o.common, o.joint + o.common);
}

/* 2c / (x + y) >= n/d  ⇔  c >= n (x + y) / 2d */
static void bounds(nd_set_bounds *b) {
  b->per_x = b->per_y = b->num;
  b->unit = 2 * b->den;
}

static const nd_similarity dice = {
    .name = "dice",
    .help = "twice the shared shingles by those of both documents",
    .standard = {9, 10},
    .ways = ND_WAY_MERGE | ND_WAY_JOIN | ND_WAY_PREFIX_JOIN,
    .reaches = reaches,
    .value = value,
    .bounds = bounds,
};

const nd_similarity *const nd_similarities[] = {ND_SIMILARITIES(ND_SIMILARITY_ROW) & dice, NULL};

/* --- the test -------------------------------------------------------------------------------- */

enum { TEXTS = 120, WORDS = 24 };

static bool has[TEXTS][WORDS];
static char texts[TEXTS][WORDS * 4 + 1];
static nd_str text[TEXTS];

static int make_texts(void **state) {
  (void)state;
  nd_rng rng;
  seed_rng(&rng);
  for (int i = 0; i < TEXTS; i++) {
    const bool copied = i && nd_rng_below(&rng, 2);
    const int from = i ? (int)nd_rng_below(&rng, (uint64_t)i) : 0;
    size_t n = 0;
    for (int w = 0; w < WORDS; w++) {
      has[i][w] = copied ? has[from][w] ^ !nd_rng_below(&rng, 9) : nd_rng_below(&rng, 2);
      if (has[i][w]) n += (size_t)sprintf(texts[i] + n, "w%02d ", w);
    }
    text[i] = (nd_str){texts[i], n};
  }
  return 0;
}

static int common_of(int a, int b) {
  int n = 0;
  for (int w = 0; w < WORDS; w++) n += has[a][w] && has[b][w];
  return n;
}

static bool naive_similar(int a, int b, int num, int den) {
  const int common = common_of(a, b);
  return common && 2 * common * den >= num * (common_of(a, a) + common_of(b, b));
}

static nd_options *options_of(const char *method) {
  nd_options *o;
  ok(nd_options_new(&o, &err));
  ok(nd_options_set(o, "similarity", "dice", &err));
  ok(nd_options_set(o, "shingle", "words:1", &err));
  ok(nd_options_set(o, "method", method, &err));
  return o;
}

static const nd_chunk *chunk(void) {
  static nd_chunk c;
  c = (nd_chunk){.layout = ND_LAYOUT_STR, .n = TEXTS, .index = text};
  return &c;
}

static void every_exact_method_finds_the_same_pairs(void **state) {
  (void)state;
  static const char *const methods[] = {"exact", "join", "allpairs", "ppjoin", "ppjoin+"};
  static const int thresholds[] = {5, 8, 9, 10};
  const nd_text_stream stream = {.chunks = chunk(), .n = 1};
  const nd_corpus corpus = {.texts = &stream};
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    for (size_t k = 0; k < sizeof thresholds / sizeof *thresholds; k++) {
      nd_options *o = options_of(methods[m]);
      char given[16];
      snprintf(given, sizeof given, "%.1f", thresholds[k] / 10.0);
      ok(nd_options_set(o, "threshold", given, &err));
      nd_result r = {0};
      nd_summary summary;
      ok(job_pairs_memory(&r, &summary, &corpus, o, NULL, &err));
      size_t at = 0;
      for (int a = 0; a < TEXTS; a++) {
        for (int b = a + 1; b < TEXTS; b++) {
          if (!naive_similar(a, b, thresholds[k], 10)) continue;
          if (at == r.pair_n || r.a[at] != (uint32_t)a || r.b[at] != (uint32_t)b)
            fail_msg("%s at %s: pair %zu is not %d, %d", methods[m], given, at, a, b);
          const double want = 2.0 * common_of(a, b) / (common_of(a, a) + common_of(b, b));
          assert_true(r.value[at] > want - 1e-9 && r.value[at] < want + 1e-9);
          at++;
        }
      }
      assert_int_equal(at, r.pair_n);
      nd_result_clear(&r);
      nd_options_free(o);
    }
  }
}

/* Every dropped text is similar to the kept one, at the row's own threshold. */
static void dedup_keeps_a_similar_text_for_every_dropped_one(void **state) {
  (void)state;
  const nd_text_stream stream = {.chunks = chunk(), .n = 1};
  const nd_corpus corpus = {.texts = &stream};
  nd_options *o = options_of("join");
  nd_result r = {0};
  nd_summary summary;
  ok(job_dedup_memory(&r, &summary, &corpus, o, NULL, &err));
  assert_true(summary.dropped > 0);
  for (uint32_t i = 0; i < TEXTS; i++) {
    const bool kept = r.keep[i >> 3] >> (i & 7) & 1;
    assert_int_equal(kept, r.cluster[i] == i);
    if (!kept) assert_true(naive_similar((int)i, (int)r.cluster[i], 9, 10));
  }
  nd_result_clear(&r);
  nd_options_free(o);
}

static void methods_that_cannot_find_it_are_refused(void **state) {
  (void)state;
  nd_options *o = options_of("minhash");
  assert_int_equal(nd_options_check(o, &err), ND_ERR_USAGE);
  assert_string_equal(err.message, "--similarity dice needs --method exact or join, not minhash");
  assert_int_equal(nd_options_set(o, "similarity", "nothing", &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "jaccard cosine overlap edit containment dice"));
  const nd_option_info *info = nd_option_at(0);
  for (size_t i = 0; strcmp(info->name, "similarity") != 0; i++) info = nd_option_at(i);
  assert_string_equal(nd_option_value_help(info, "dice"), dice.help);
  nd_options_free(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_exact_method_finds_the_same_pairs),
      cmocka_unit_test(dedup_keeps_a_similar_text_for_every_dropped_one),
      cmocka_unit_test(methods_that_cannot_find_it_are_refused),
  };
  return cmocka_run_group_tests(tests, make_texts, NULL);
}
