/* Passages taken out of pages, against marking them one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/radix.h"
#include "base/rng.h"
#include "every_place.h"
#include "feature/boilerplate.h"
#include "text/words.h"
#include "tiny_budget.h"

enum { MOST = 60, SITE = 77 };

static void page(nd_tokens *out, const unsigned *word, size_t n) {
  char text[MOST * 8] = "";
  size_t at = 0;
  for (size_t i = 0; i < n; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%sw%u", i ? " " : "", word[i]);
  ok(nd_words_split(out, (nd_str){text, at}, ND_TOKENS_WORDS, &err));
  assert_int_equal(out->count, n);
}

static void strips_passages_as_a_naive_marker_does(void **state) {
  (void)state;
  nd_rng r = {11};
  print_message("seed 11\n");
  nd_tokens tokens = {0}, menu = {0};
  nd_boilerplate b = {0}, known = {0};
  assert_int_equal(nd_boilerplate_window(ND_TOKENS_WORDS), ND_BOILERPLATE_WORDS);
  for (int round = 0; round < 600; round++) {
    unsigned common[MOST], word[MOST];
    size_t common_n = 5 + nd_rng_below(&r, 12), n = nd_rng_below(&r, MOST);
    for (size_t i = 0; i < common_n; i++) common[i] = (unsigned)nd_rng_below(&r, 6);
    for (size_t i = 0; i < n;) { /* pieces of the passage, and other words */
      size_t piece = 1 + nd_rng_below(&r, 9), from = nd_rng_below(&r, common_n);
      bool other = nd_rng_below(&r, 2);
      for (size_t k = 0; k < piece && i < n; k++, i++)
        word[i] = other ? (unsigned)nd_rng_below(&r, 6) : common[(from + k) % common_n];
    }
    page(&menu, common, common_n);
    ok(nd_boilerplate_keys(&known, &menu, SITE, ND_BOILERPLATE_WORDS, &err));
    uint64_t spare[MOST];
    nd_radix_u64(known.shingles.fingerprint, spare, known.shingles.n);
    nd_shingle_set *set = NULL;
    ok(nd_shingle_set_new(&set, 1 << 16, ".", &err));
    for (size_t i = 0; i < known.shingles.n; i++)
      if (i == 0 || known.shingles.fingerprint[i] != known.shingles.fingerprint[i - 1])
        ok(nd_shingle_set_add(set, known.shingles.fingerprint[i], &err));
    ok(nd_shingle_set_finish(set, &err));
    bool mark[MOST] = {false};
    for (size_t i = 0; i + 5 <= n; i++) {
      for (size_t k = 0; k + 5 <= common_n; k++) {
        if (memcmp(word + i, common + k, 5 * sizeof *word) != 0) continue;
        for (size_t j = i; j < i + 5; j++) mark[j] = true;
      }
    }
    size_t marked = 0, kept = 0;
    unsigned left[MOST];
    for (size_t i = 0; i < n; i++) {
      marked += mark[i];
      if (!mark[i]) left[kept++] = word[i];
    }
    nd_tokens want = {0};
    if (marked == n)
      page(&want, word, n); /* nothing else: it stays */
    else
      page(&want, left, kept);
    page(&tokens, word, n);
    size_t dropped;
    ok(nd_boilerplate_strip(&dropped, &b, &tokens, SITE, ND_BOILERPLATE_WORDS, set, &err));
    assert_int_equal(dropped, marked);
    assert_int_equal(tokens.count, want.count);
    assert_true(nd_str_eq(nd_buf_str(&tokens.text), nd_buf_str(&want.text)));
    for (size_t i = 0; i < want.count; i++) assert_int_equal(tokens.end[i], want.end[i]);
    /* Another site has other passages. */
    page(&tokens, word, n);
    ok(nd_boilerplate_strip(&dropped, &b, &tokens, SITE + 1, ND_BOILERPLATE_WORDS, set, &err));
    assert_int_equal(dropped, 0);
    assert_int_equal(tokens.count, n);
    nd_tokens_clear(&want);
    nd_shingle_set_free(set);
  }
  nd_tokens_clear(&tokens);
  nd_tokens_clear(&menu);
  nd_boilerplate_clear(&b);
  nd_boilerplate_clear(&known);
}

/* Texts without words: a passage of code points between others. */
static nd_status strip_points(void *context) {
  (void)context;
  static const char menu_text[] = "abcdefghijklmnopqrstuvw";
  static const char page_text[] = "12345abcdefghijklmnopqrstuvw67890";
  const uint32_t window = nd_boilerplate_window(ND_TOKENS_CODEPOINTS);
  nd_tokens menu = {0}, tokens = {0};
  nd_boilerplate b = {0};
  nd_shingle_set *set = NULL;
  size_t dropped;
  nd_status status;
  ND_TRY_GOTO(nd_words_split(&menu, nd_str_of(menu_text), ND_TOKENS_CODEPOINTS, &err), done);
  ND_TRY_GOTO(nd_words_split(&tokens, nd_str_of(page_text), ND_TOKENS_CODEPOINTS, &err), done);
  ND_TRY_GOTO(nd_boilerplate_keys(&b, &menu, SITE, window, &err), done);
  assert_int_equal(b.shingles.n, sizeof menu_text - window);
  uint64_t spare[10];
  nd_radix_u64(b.shingles.fingerprint, spare, b.shingles.n);
  ND_TRY_GOTO(nd_shingle_set_new(&set, 0, "/tmp", &err), done);
  for (uint64_t i = 0; i < 600; i++) ND_TRY_GOTO(nd_shingle_set_add(set, i, &err), done);
  for (size_t i = 0; i < b.shingles.n; i++)
    ND_TRY_GOTO(nd_shingle_set_add(set, b.shingles.fingerprint[i], &err), done);
  ND_TRY_GOTO(nd_shingle_set_finish(set, &err), done);
  nd_boilerplate_clear(&b);
  ND_TRY_GOTO(nd_boilerplate_strip(&dropped, &b, &tokens, SITE, window, set, &err), done);
  assert_int_equal(dropped, sizeof menu_text - 1);
  assert_int_equal(tokens.count, 10);
  assert_true(nd_str_eq(nd_buf_str(&tokens.text), nd_str_of("1 2 3 4 5 6 7 8 9 0")));
done:
  nd_tokens_clear(&menu);
  nd_tokens_clear(&tokens);
  nd_boilerplate_clear(&b);
  nd_shingle_set_free(set);
  return status;
}

static void every_allocation_fails_cleanly(void **state) {
  (void)state;
  ok(strip_points(NULL)); /* what is made only once is made */
  assert_true(every_place_fails(strip_points, NULL) >= 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(strips_passages_as_a_naive_marker_does),
                                     cmocka_unit_test(every_allocation_fails_cleanly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
