/* From a document's bytes to its tokens: sets of integers against a naive version, and every
 * allocation on the way failing once, also those of the tables that are made on first use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "every_place.h"
#include "text/plain.h"
#include "text/web.h"
#include "text/words.h"

static void is(nd_str got, const char *want) {
  if (!nd_str_eq(got, nd_str_of(want))) fail_msg("'%.*s' is not '%s'", (int)got.n, got.p, want);
}

/* --- tables made on first use -------------------------------------------------- */

/* Splits while the first, the second … allocation fails, until none does: the tables of these
 * letters are in no text before. */
static void first_use(const char *text, nd_token_kind kind, const char *want, uint64_t least) {
  nd_tokens t = {0};
  nd_status status;
  uint64_t nth = 1;
  do {
    err.message[0] = '\0';
    nd_mem_fail_at(nth++);
    status = nd_words_split(&t, nd_str_of(text), kind, &err);
    nd_mem_fail_at(0);
    if (status != ND_OK) assert_int_equal(status, ND_ERR_MEMORY);
    if (status != ND_OK) assert_true(err.message[0]);
  } while (status != ND_OK);
  is(nd_buf_str(&t.text), want);
  assert_true(nth > least);
  nd_tokens_clear(&t);
}

static void tables_of_code_points_load_on_first_use(void **state) {
  (void)state;
  /* A letter of the text; a mark that follows a slow one; a letter that normalising makes. */
  first_use("\u0431", ND_TOKENS_WORDS, "\u0431", 3);
  first_use("a\u0301\uFE20", ND_TOKENS_WORDS, "\u00E1\uFE20", 3);
  first_use("\u03B1\u0313", ND_TOKENS_WORDS, "\u1F00", 3);
  first_use("\u05D0", ND_TOKENS_CODEPOINTS, "\u05D0", 3);
}

/* --- texts and tokens ---------------------------------------------------------- */

typedef struct job {
  const char *bytes, *charset;
  bool html, images;
  nd_token_kind tokens;
  const char *want;
} job;

static nd_status run(void *context) {
  const job *j = context;
  nd_plain p = {0};
  nd_tokens t = {0};
  nd_str text;
  nd_plain_request request = {.bytes = nd_str_of(j->bytes),
                              .charset = nd_str_of(j->charset),
                              .html = j->html,
                              .sniff = true,
                              .images = j->images};
  nd_status status = nd_plain_text(&text, &p, &request, &err);
  if (status == ND_OK && j->tokens == ND_TOKENS_WEB)
    status = nd_web_split(&t, text, p.images, nd_str_of("http://me.org/"), &err);
  else if (status == ND_OK)
    status = nd_words_split(&t, text, j->tokens, &err);
  if (status == ND_OK) is(nd_buf_str(&t.text), j->want);
  nd_plain_clear(&p);
  nd_tokens_clear(&t);
  return status;
}

static void texts_become_tokens_or_fail_cleanly(void **state) {
  (void)state;
  char late[2000]; /* declared beyond the first 1024 bytes */
  snprintf(late, sizeof late, "<html><!--%1200s--><meta charset=koi8-r><p>\xC1", "");
  job jobs[] = {
      {"<p>One <b>two</b>", "", true, false, ND_TOKENS_WORDS, "one two"},
      {"<p>One <img src=a.png>", "", false, true, ND_TOKENS_WEB, "one a.png"},
      {"See www.x-y.org/a: <b>", "", false, false, ND_TOKENS_WEB, "see www x-y org a b"},
      {late, "", false, false, ND_TOKENS_WORDS, "\u0430"},
      {"a\xE4z", "iso-8859-1", false, false, ND_TOKENS_WORDS, "a\u00E4z"},
      {"\xFF"
       "a",
       "utf-8", false, false, ND_TOKENS_WORDS, "a"},
      /* Marks that join, letters that become several, in words and one by one. */
      {"A\u0301\u0323b \uFDFA \u0130", "utf-8", false, false, ND_TOKENS_WORDS,
       "\u1EA1\u0301b \u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064A\u0647 "
       "\u0648\u0633\u0644\u0645 i\u0307"},
      {"A\u0301\uFB01\uFDFC", "utf-8", false, false, ND_TOKENS_CODEPOINTS,
       "\u00E1 f i \u0631 \u06CC \u0627 \u0644"},
  };
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    ok(run(&jobs[i])); /* what is made only once is made */
    assert_true(every_place_fails(run, &jobs[i]) >= 2);
  }
}

/* --- sets ------------------------------------------------------------------------- */

static nd_status split_set(void *context) {
  nd_plain p = {0};
  nd_tokens t = {0};
  nd_status status = nd_plain_sets(&t, &p, nd_str_of(context), &err);
  if (status == ND_OK) assert_int_equal(t.count, 5);
  nd_plain_clear(&p);
  nd_tokens_clear(&t);
  return status;
}

static void sets_of_integers_agree_with_a_naive_version(void **state) {
  (void)state;
  nd_rng r;
  seed_rng(&r);
  nd_plain p = {0};
  nd_tokens t = {0};
  for (int round = 0; round < 3000; round++) {
    char line[1200] = "", want[2400] = "";
    uint64_t seen[100];
    size_t n = 0, w = 0, count = nd_rng_below(&r, 100);
    const bool rising = nd_rng_below(&r, 2);
    for (size_t i = 0; i < count; i++) {
      seen[i] = rising ? (i ? seen[i - 1] : 0) + 1 + nd_rng_below(&r, 9) : nd_rng_below(&r, 60);
      unsigned before = 0;
      for (size_t k = 0; k < i; k++) before += seen[k] == seen[i];
      n += (size_t)snprintf(line + n, sizeof line - n, "%s%s%llu", i ? " " : "",
                            nd_rng_below(&r, 9) ? "" : "00", (unsigned long long)seen[i]);
      w += (size_t)snprintf(want + w, sizeof want - w, "%s%llu", i ? " " : "",
                            (unsigned long long)seen[i]);
      if (before) w += (size_t)snprintf(want + w, sizeof want - w, ".%u", before + 1);
    }
    ok(nd_plain_sets(&t, &p, nd_str_of(line), &err));
    is(nd_buf_str(&t.text), want);
    assert_int_equal(t.count, count);
  }
  nd_plain_clear(&p);
  nd_tokens_clear(&t);
  static char repeats[] = "7 7 3 7 3", rises[] = "1 2 3 40 500";
  assert_true(every_place_fails(split_set, repeats) >= 6);
  assert_true(every_place_fails(split_set, rises) >= 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_of_code_points_load_on_first_use), /* first: they are still empty */
      cmocka_unit_test(texts_become_tokens_or_fail_cleanly),
      cmocka_unit_test(sets_of_integers_agree_with_a_naive_version)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
