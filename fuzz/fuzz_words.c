/* The tokeniser: of ASCII against the definition, of anything against itself. */
#include "fuzz.h"
#include "text/words.h"

static bool is_ascii(nd_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] & 0x80) return false;
  return true;
}

static bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Lower-case, runs of [a-z0-9]. */
static void check_ascii(const nd_tokens *t, nd_str s) {
  size_t k = 0, at = 0;
  for (size_t i = 0; i < s.n;) {
    if (!is_alnum(s.p[i])) {
      i++;
      continue;
    }
    fuzz_check(k < t->count);
    if (k) fuzz_check(t->text.p[at++] == ' ');
    for (; i < s.n && is_alnum(s.p[i]); i++) {
      char c = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i];
      fuzz_check(t->text.p[at++] == c);
    }
    fuzz_check(t->end[k++] == at);
  }
  fuzz_check(k == t->count && at == t->text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nd_str text = {(const char *)data, size};
  nd_tokens t = {0}, again = {0};
  fuzz_check(nd_words_split(&t, text, ND_TOKENS_WORDS, NULL) == ND_OK);
  fuzz_check(nd_utf8_valid_prefix(nd_buf_str(&t.text)) == t.text.n);
  for (size_t i = 0; i < t.count; i++) fuzz_check(nd_token(&t, i).n > 0);
  if (is_ascii(text)) check_ascii(&t, text);
  fuzz_check(nd_tokens_from_text(&again, nd_buf_str(&t.text), NULL) == ND_OK);
  fuzz_check(again.count == t.count);
  fuzz_note(t.text.p, t.text.n);
  fuzz_check(nd_words_split(&t, text, ND_TOKENS_CODEPOINTS, NULL) == ND_OK);
  fuzz_note(t.text.p, t.text.n);
  nd_tokens_clear(&t);
  nd_tokens_clear(&again);
  return 0;
}
