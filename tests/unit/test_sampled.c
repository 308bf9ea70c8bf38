/* Documents compared by the shingles that a sample keeps, against counting one by one: numbers that
 * share a slot, documents of which nothing is kept, ratios that differ by size, hardly any memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "settings/option_fields.h"
#include "text/words.h"
#include "verify/sampled.h"

#include "tools.h"

enum { DOCUMENTS = 1100, MOST_WORDS = 40 };

static nd_options options;
static nd_settings settings;

/* Documents with equal d % 10 are alike; some have one word. */
static uint32_t words_of(uint32_t d) {
  return d % 11 == 0 ? 1 : 10 + d % (MOST_WORDS - 10);
}

static nd_status fetch(nd_buf *out, void *context, uint32_t d, nd_error *e) {
  (void)context;
  out->n = 0;
  for (uint32_t i = 0; i < words_of(d); i++)
    ND_TRY(nd_buf_printf(out, e, "%sw%ux%u", i ? " " : "", d % 10, i + (d % 7 == i)));
  return ND_OK;
}

/* The keys that are kept; returns the modulus. */
static uint64_t naive(uint64_t *key, size_t *n, uint32_t d) {
  nd_buf text = {0};
  nd_shingles s = {0};
  uint32_t *end = NULL;
  size_t count, cap = 0;
  ok(fetch(&text, NULL, d, &err));
  ok(nd_token_ends(&end, &count, &cap, nd_buf_str(&text), &err));
  ok(nd_shingle_make(&s, nd_buf_str(&text), end, count, settings.shingle, options.seed, false,
                     &err));
  uint64_t modulus = settings.sample.plan.n ? (count < 20 ? 2 : 4) : settings.sample.mod;
  *n = 0;
  for (size_t i = 0; i < s.n; i++) {
    uint64_t k = nd_sample_key(s.fingerprint[i]);
    bool twice = false;
    for (size_t j = 0; j < *n; j++) twice |= key[j] == k;
    if (k % modulus == 0 && !twice) key[(*n)++] = k;
  }
  free(end);
  nd_buf_clear(&text);
  nd_shingles_clear(&s);
  return modulus;
}

static nd_overlap compare_naively(uint32_t a, uint32_t b) {
  uint64_t x[MOST_WORDS], y[MOST_WORDS];
  size_t n, m;
  uint64_t p = naive(x, &n, a), q = naive(y, &m, b), modulus = p > q ? p : q;
  uint32_t left = 0, right = 0, common = 0;
  for (size_t i = 0; i < n; i++) left += x[i] % modulus == 0;
  for (size_t j = 0; j < m; j++) right += y[j] % modulus == 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) common += x[i] == y[j];
  return (nd_overlap){common, left + right - common, left};
}

static void same_overlaps(void **state) {
  (void)state;
  nd_rng rng;
  seed_rng(&rng);
  for (int way = 0; way < 4; way++) {
    nd_options_init(&options);
    ok(nd_options_set(&options, "shingle", "words:1", &err));
    ok(nd_options_set(&options, "sample", way % 2 ? "mod:4" : "mod:2", &err));
    ok(nd_settings_resolve(&settings, &options, &err));
    if (way == 3) { /* a plan, as if it had been read */
      settings.sample = (nd_sample){.on = true, .mod = 1};
      settings.sample.plan.n = 2;
      settings.sample.plan.group[0].below = 20;
      settings.sample.plan.group[0].modulus = 2;
      settings.sample.plan.group[1].below = UINT64_MAX;
      settings.sample.plan.group[1].modulus = 4;
    }
    nd_text_source source = {.settings = &settings, .fetch = fetch};
    nd_texts *texts;
    nd_sampled *s;
    size_t nothing = 0, some = 0;
    ok(nd_texts_new(&texts, &source, &err));
    ok(nd_sampled_new(&s, &settings, way == 2 ? 1 : 1 << 20, &err));
    for (int i = 0; i < 3000; i++) {
      uint32_t a = (uint32_t)nd_rng_below(&rng, DOCUMENTS), b = a;
      while (b == a)
        b = i % 3 ? (uint32_t)nd_rng_below(&rng, DOCUMENTS) : (a + 512) % DOCUMENTS; /* one slot */
      nd_overlap got, want = compare_naively(a, b);
      ok(nd_sampled_compare(&got, s, texts, a, b, &err));
      if (got.common != want.common || got.joint != want.joint || got.left != want.left)
        fail_msg("way %d, %u and %u: %u of %u, not %u of %u", way, a, b, got.common, got.joint,
                 want.common, want.joint);
      nothing += got.left == 0;
      some += got.common > 0;
    }
    assert_true(nothing > 0 && some > 0);
    nd_sampled_free(s);
    nd_texts_free(texts);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_overlaps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
