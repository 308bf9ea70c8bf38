/* The table of code points against ICU, one property at a time. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include <cmocka.h>

#include "seed.h"
#include "text/text.h"
#include "text/unicode.h"

static uint32_t entry_of(uint32_t cp, const nd_unicode_block **block) {
  assert_int_equal(nd_unicode_block_of(block, cp, NULL), ND_OK);
  return (*block)->entry[cp & 255];
}

static const UNormalizer2 *nfkc(void) {
  UErrorCode code = U_ZERO_ERROR;
  const UNormalizer2 *n = unorm2_getNFKCInstance(&code);
  assert_true(U_SUCCESS(code));
  return n;
}

/* Threads that need the same blocks at the same time see the same constants. */
static void *split_all(void *arg) {
  const nd_buf *text = arg;
  nd_tokens *t = calloc(1, sizeof *t);
  if (t && nd_words_split(t, nd_buf_str(text), ND_TOKENS_WORDS, NULL) != ND_OK) t->count = 0;
  return t;
}

static void tables_are_made_once_for_all_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  nd_buf text = {0};
  for (uint32_t cp = 0x80; cp < 0x20000; cp += 7) {
    char utf8[5];
    if (cp - 0xD800 < 0x800) continue;
    unsigned n = nd_utf8_encode(utf8, cp);
    assert_int_equal(nd_buf_append(&text, utf8, n, NULL), ND_OK);
    if (cp % 5 == 0) assert_int_equal(nd_buf_append(&text, "e\xCC\x81 ", 4, NULL), ND_OK);
  }
  pthread_t thread[THREADS];
  nd_tokens *result[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, split_all, &text), 0);
  for (int i = 0; i < THREADS; i++) {
    void *got = NULL;
    assert_int_equal(pthread_join(thread[i], &got), 0);
    result[i] = got;
    assert_non_null(got);
    assert_true(result[i]->count > 1000);
    assert_true(nd_str_eq(nd_buf_str(&result[i]->text), nd_buf_str(&result[0]->text)));
  }
  for (int i = 0; i < THREADS; i++) {
    nd_tokens_clear(result[i]);
    free(result[i]);
  }
  nd_buf_clear(&text);
}

static void entries_agree_with_icu(void **state) {
  (void)state;
  size_t own = 0;
  const nd_unicode_block *block, *last = NULL;
  for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
    if (cp - 0xD800 < 0x800) continue;
    uint32_t e = entry_of(cp, &block);
    nd_unicode_kind kind = nd_unicode_kind_of(e);
    if (block != last && block->more) own++;
    last = block;
    bool boundary = unorm2_hasBoundaryBefore(nfkc(), (UChar32)cp);
    assert_int_equal(boundary, !(e & (ND_UNICODE_SLOW | ND_UNICODE_MARK)));
    if (e & ND_UNICODE_MARK) {
      assert_true(e & ND_UNICODE_ID);
      assert_false(e & ND_UNICODE_SLOW);
      assert_int_equal(e & ND_UNICODE_PAYLOAD, u_getCombiningClass((UChar32)cp));
    }
    if (e & ND_UNICODE_ID) assert_int_equal(kind, nd_unicode_classify(cp));
    if (kind == ND_UNICODE_SEP) assert_int_equal(e & ND_UNICODE_PAYLOAD, ' ');
    if ((kind == ND_UNICODE_WORD || kind == ND_UNICODE_SINGLE) && !(e & ND_UNICODE_ID))
      assert_in_range(e >> ND_UNICODE_LEN_SHIFT & 3, 1, 3);
    if (kind == ND_UNICODE_MORE) assert_true(block->more[e & ND_UNICODE_PAYLOAD] != 0);
    if (cp < 0x80) { /* what the ASCII kernels do */
      bool letter = (cp | 32) - 'a' < 26, digit = cp - '0' < 10;
      assert_int_equal(kind, letter || digit ? ND_UNICODE_WORD : ND_UNICODE_SEP);
      if (kind == ND_UNICODE_WORD && !(e & ND_UNICODE_ID))
        assert_int_equal(e & ND_UNICODE_PAYLOAD, cp | 32);
      assert_true(boundary);
    }
  }
  for (uint32_t cp = 0xD800; cp < 0xE000; cp++) { /* in no text */
    uint32_t e = entry_of(cp, &block);
    assert_int_equal(nd_unicode_kind_of(e), ND_UNICODE_SEP);
  }
  print_message("%zu of %d blocks are not shared\n", own, ND_UNICODE_BLOCKS);
  assert_true(own < 800); /* a text of all code points must not cost megabytes */
}

static void code_points_have_their_class(void **state) {
  (void)state;
  assert_int_equal(nd_unicode_classify('a'), ND_UNICODE_WORD);
  assert_int_equal(nd_unicode_classify('_'), ND_UNICODE_SEP);
  assert_int_equal(nd_unicode_classify(0x301), ND_UNICODE_WORD);  /* Inherited */
  assert_int_equal(nd_unicode_classify(0x3099), ND_UNICODE_WORD); /* Inherited */
  assert_int_equal(nd_unicode_classify(0x30FC), ND_UNICODE_WORD); /* Common */
  assert_int_equal(nd_unicode_classify(0x3042), ND_UNICODE_SINGLE);
  assert_int_equal(nd_unicode_classify(0x4E00), ND_UNICODE_SINGLE);
  assert_int_equal(nd_unicode_classify(0x20000), ND_UNICODE_SINGLE);
  assert_int_equal(nd_unicode_classify(0xE48), ND_UNICODE_SINGLE); /* a Thai mark */
  assert_int_equal(nd_unicode_classify(0x3001), ND_UNICODE_SEP);
  assert_int_equal(nd_unicode_classify(0x661), ND_UNICODE_WORD); /* a digit */
}

static void utf8_is_coded_as_by_icu(void **state) {
  (void)state;
  char utf8[4] = {0};
  uint32_t back;
  for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
    unsigned n = nd_utf8_encode(utf8, cp);
    unsigned got = nd_utf8_decode(&back, utf8, n);
    if (cp - 0xD800 < 0x800) {
      assert_int_equal(got, 0);
      continue;
    }
    assert_int_equal(n, U8_LENGTH((UChar32)cp));
    assert_int_equal(got, n);
    assert_int_equal(back, cp);
    assert_int_equal(nd_utf8_decode(&back, utf8, n > 1 ? n - 1 : 1), n > 1 ? 0 : 1);
  }
  /* Every first two bytes, then bytes that continue: as ICU judges them. */
  for (uint32_t pair = 0; pair < 0x10000; pair++) {
    uint8_t b[4] = {(uint8_t)(pair >> 8), (uint8_t)pair, 0x80, 0xBF};
    int32_t i = 0;
    UChar32 c;
    U8_NEXT(b, i, 4, c);
    unsigned got = nd_utf8_decode(&back, (const char *)b, 4);
    assert_int_equal(got, c < 0 ? 0 : i);
    if (got) assert_int_equal(back, c);
  }
}

/* Letters with up to five marks, often the same ones, so that the remembered
 * pairs are used, and far more pairs than places. */
static void spans_normalise_as_by_icu(void **state) {
  (void)state;
  uint64_t seed = test_seed();
  static const uint32_t marks[] = {0x300, 0x301, 0x302, 0x308, 0x323,  0x327,  0x338,  0x345, 0x344,
                                   0x93C, 0x9BE, 0xBBE, 0x94D, 0x3099, 0x1161, 0x11A8, 0x653};
  static const uint32_t letters[] = {'a',    0xC0,   0x1100, 0xAC00, 0x3B1, 0x1F00, 0x995,  0xB92,
                                     0x304B, 0xFB01, 0xA8,   0x212B, 0x627, 0x1EA0, 0xFDFA, '='};
  for (int round = 0; round < 300000; round++) {
    uint32_t cp[8], got[ND_UNICODE_SPAN_ROOM];
    UChar from[16], to[200];
    size_t count = 0, n = 0;
    int32_t from_n = 0;
    UErrorCode code = U_ZERO_ERROR;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    cp[count++] = letters[seed >> 60] + (uint32_t)(seed >> 50 & 15);
    for (uint64_t k = seed >> 40 & 7; k > 2 && count < 7; k--)
      cp[count++] = marks[(seed >> (5 * k)) % 17];
    for (size_t i = 0; i < count; i++) U16_APPEND_UNSAFE(from, from_n, cp[i]);
    int32_t want = unorm2_normalize(nfkc(), from, from_n, to, 200, &code);
    assert_true(U_SUCCESS(code));
    assert_int_equal(nd_unicode_nfkc(got, &n, cp, count, NULL), ND_OK);
    int32_t i = 0;
    for (size_t k = 0; k < n; k++) {
      uint32_t c;
      assert_true(i < want);
      U16_NEXT_UNSAFE(to, i, c);
      assert_int_equal(c, got[k]);
    }
    assert_int_equal(i, want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_made_once_for_all_threads), /* first: the table is still empty */
      cmocka_unit_test(entries_agree_with_icu),
      cmocka_unit_test(code_points_have_their_class),
      cmocka_unit_test(utf8_is_coded_as_by_icu),
      cmocka_unit_test(spans_normalise_as_by_icu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
