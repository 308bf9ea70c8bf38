/* Guesses at languages, on sentences of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/language.h"
#include "text/text.h"

static nd_error err;

static void expect(const char *text, const char *want) {
  nd_tokens t = {0};
  assert_int_equal(nd_words_split(&t, nd_str_of(text), ND_TOKENS_WORDS, &err), ND_OK);
  const char *got = nd_language_guess(nd_buf_str(&t.text));
  if (strcmp(got, want) != 0) fail_msg("%s, not %s: %s", got, want, text);
  nd_tokens_clear(&t);
}

static void sentences_have_their_language(void **state) {
  (void)state;
  expect("The boat was tied to the pier, and it would not leave before the rain had stopped.",
         "English");
  expect("Der Kahn lag am Ufer, und es war nicht zu sehen, ob er noch vor dem Regen fahren wird.",
         "German");
  expect("Le bateau est dans le port et il ne part pas avant la pluie, mais les marins sont là.",
         "French");
  expect(
      "El barco está en el puerto y no sale hasta que pase la lluvia, pero los marineros esperan.",
      "Spanish");
  expect("La barca è nel porto e non parte prima della pioggia, ma i marinai sono già a bordo.",
         "Italian");
  expect("O barco está no porto e não sai antes da chuva, mas os marinheiros já estão a bordo.",
         "Portuguese");
  expect(
      "De boot ligt aan de kade en het is niet zeker dat hij voor de regen nog uit de haven gaat.",
      "Dutch");
  expect("Båten ligger vid kajen och det är inte säkert att den går innan regnet har slutat.",
         "Swedish");
  expect("Łódź jest w porcie i nie wiadomo, czy wypłynie przed deszczem, ale to się okaże.",
         "Polish");
  expect("Лодка стояла у берега, и он не знал, что она уже не выйдет в море из-за дождя.",
         "Russian");
  expect("القارب في الميناء و لا يخرج من المرسى قبل المطر على ما كان في هذا اليوم", "Arabic");
  expect("船停在码头边,雨停之前不会离开。", "Chinese");
  expect("船は岸につながれていて、雨がやむまで出ません。", "Japanese");
  expect("배는 부두에 묶여 있고 비가 그칠 때까지 떠나지 않는다.", "Korean");
  expect("Το καράβι είναι δεμένο στην προβλήτα και δεν φεύγει πριν σταματήσει η βροχή.", "Greek");
  expect("เรือจอดอยู่ที่ท่าและยังไม่ออกจนกว่าฝนจะหยุด", "Thai");
}

static void nothing_to_go_by(void **state) {
  (void)state;
  expect("", "unknown");
  expect("12 34 56 78", "unknown");
  expect("Smith Jones Miller Baker Cooper Taylor Fisher Weaver Carter Mason Potter Turner",
         "unknown");
  expect("the", "unknown");
}

/* The table is searched by halving: every word must be found. */
static void any_bytes(void **state) {
  (void)state;
  nd_rng rng = {9};
  for (int i = 0; i < 20000; i++) {
    char text[80];
    size_t n = (size_t)nd_rng_below(&rng, sizeof text);
    for (size_t k = 0; k < n; k++) text[k] = (char)nd_rng_below(&rng, 256);
    char *exact = malloc(n + 1);
    memcpy(exact, text, n);
    assert_non_null(nd_language_guess((nd_str){exact, n}));
    free(exact);
  }
  char *large = malloc(1 << 20);
  memset(large, 'a', 1 << 20);
  assert_non_null(nd_language_guess((nd_str){large, 1 << 20}));
  free(large);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sentences_have_their_language),
      cmocka_unit_test(nothing_to_go_by),
      cmocka_unit_test(any_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
