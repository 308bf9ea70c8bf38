/* The tokeniser against the definition done literally: the whole text to UTF-16,
 * NFKC, full case folding, general category and script of each code point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <zstd.h>

#include <cmocka.h>

#include "seed.h"
#include "text/unicode.h"
#include "text/words.h"
#include "text/words_ascii.h"

/* --- random -------------------------------------------------------------- */
static uint64_t rng_state;
static uint32_t rng(uint32_t below) {
  rng_state += 0x9E3779B97F4A7C15u;
  uint64_t z = rng_state;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (uint32_t)((z ^ z >> 31) % below);
}

static void new_cases(const char *what) {
  print_message("%s: ", what);
  rng_state = test_seed();
}

/* --- the oracle ------------------------------------------------------------ */
typedef struct oracle {
  UChar *wide, *normal, *folded;
  size_t wide_cap, normal_cap;
  nd_tokens tokens;
} oracle;

static void room(void *p, size_t *cap, size_t want, size_t size) {
  assert_int_equal(nd_array_grow(p, cap, want, size, NULL), ND_OK);
}

static void oracle_token_end(oracle *o, bool *open) {
  if (!*open) return;
  room(&o->tokens.end, &o->tokens.cap, o->tokens.count + 1, sizeof *o->tokens.end);
  o->tokens.end[o->tokens.count++] = (uint32_t)o->tokens.text.n;
  *open = false;
}

static bool alone(UChar32 c) {
  UErrorCode code = U_ZERO_ERROR;
  UScriptCode s = uscript_getScript(c, &code);
  return s == USCRIPT_HAN || s == USCRIPT_HIRAGANA || s == USCRIPT_KATAKANA || s == USCRIPT_THAI ||
         s == USCRIPT_LAO || s == USCRIPT_KHMER || s == USCRIPT_MYANMAR;
}

static void oracle_split(oracle *o, nd_str in, nd_token_kind kind) {
  UErrorCode code = U_ZERO_ERROR;
  const UNormalizer2 *nfkc = unorm2_getNFKCInstance(&code);
  int32_t n = 0, normal_n = 0;
  room(&o->wide, &o->wide_cap, in.n + 1, sizeof *o->wide);
  u_strFromUTF8WithSub(o->wide, (int32_t)o->wide_cap, &n, in.p ? in.p : "", (int32_t)in.n, 0xFFFD,
                       NULL, &code);
  assert_true(U_SUCCESS(code));

  size_t old = o->normal_cap;
  room(&o->normal, &o->normal_cap, (size_t)n * 18 + 1, sizeof *o->normal);
  if (old != o->normal_cap) {
    free(o->folded);
    o->folded = malloc(o->normal_cap * 3 * sizeof *o->folded);
    assert_non_null(o->folded);
  }
  /* Clusters are cut after ND_UNICODE_SPAN code points. */
  unsigned length = 0;
  for (int32_t i = 0, from = 0; i < n || from < n;) {
    int32_t before = i;
    UChar32 c = 'x';
    if (i < n) U16_NEXT(o->wide, i, n, c);
    bool boundary = unorm2_hasBoundaryBefore(nfkc, c);
    if (before == n || (!boundary && length == ND_UNICODE_SPAN)) {
      normal_n += unorm2_normalize(nfkc, o->wide + from, before - from, o->normal + normal_n,
                                   (int32_t)o->normal_cap - normal_n, &code);
      assert_true(code == U_ZERO_ERROR || code == U_STRING_NOT_TERMINATED_WARNING);
      from = before;
      length = 0;
    }
    length = boundary ? 1 : length + 1;
  }
  code = U_ZERO_ERROR;
  int32_t folded_n = u_strFoldCase(o->folded, (int32_t)o->normal_cap * 3, o->normal, normal_n,
                                   U_FOLD_CASE_DEFAULT, &code);
  assert_true(U_SUCCESS(code));

  o->tokens.text.n = o->tokens.count = 0;
  bool open = false;
  for (int32_t i = 0; i < folded_n;) {
    UChar32 c;
    U16_NEXT(o->folded, i, folded_n, c);
    bool part = (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) != 0;
    bool single = part && (kind == ND_TOKENS_CODEPOINTS || alone(c));
    if (!part || single) oracle_token_end(o, &open);
    if (!part) continue;
    char utf8[4];
    int32_t bytes = 0;
    U8_APPEND_UNSAFE(utf8, bytes, c);
    if (!open && o->tokens.text.n)
      assert_int_equal(nd_buf_append(&o->tokens.text, " ", 1, NULL), ND_OK);
    assert_int_equal(nd_buf_append(&o->tokens.text, utf8, (size_t)bytes, NULL), ND_OK);
    open = true;
    if (single) oracle_token_end(o, &open);
  }
  oracle_token_end(o, &open);
}

static void oracle_clear(oracle *o) {
  nd_free(o->wide);
  nd_free(o->normal);
  free(o->folded);
  nd_tokens_clear(&o->tokens);
}

/* --- comparing ---------------------------------------------------------------- */
static void show(const char *name, nd_str s) {
  print_message("%s:", name);
  for (size_t i = 0; i < s.n && i < 400; i++) print_message(" %02x", (unsigned char)s.p[i]);
  print_message("\n");
}

static void same_tokens(const nd_tokens *got, const nd_tokens *want, nd_str in, const char *who) {
  bool same = got->count == want->count &&
              nd_str_eq(nd_buf_str(&got->text), nd_buf_str(&want->text)) &&
              (got->count == 0 || memcmp(got->end, want->end, got->count * sizeof *got->end) == 0);
  if (same) return;
  size_t k = 0, n = got->text.n < want->text.n ? got->text.n : want->text.n;
  while (k < n && got->text.p[k] == want->text.p[k]) k++;
  print_message("%s differs at byte %zu of the tokens, %zu tokens for %zu\n", who, k, got->count,
                want->count);
  size_t from = k > 40 ? k - 40 : 0;
  show("input", in);
  show("got ", (nd_str){got->text.p + from, got->text.n - from});
  show("want", (nd_str){want->text.p + from, want->text.n - from});
  fail();
}

/* All kernels and both kinds; the input in a block of its very size, so that the
 * sanitizer sees a read behind it. */
static void check(oracle *o, nd_tokens *t, nd_str in) {
  char *copy = malloc(in.n ? in.n : 1);
  assert_non_null(copy);
  if (in.n) memcpy(copy, in.p, in.n);
  nd_str own = {copy, in.n};
  size_t kernels;
  const nd_words_kernel *kernel = nd_words_kernels(&kernels);
  nd_error err;
  oracle_split(o, own, ND_TOKENS_WORDS);
  for (size_t k = 0; k < kernels; k++) {
    if (rng(3) == 0) nd_tokens_clear(t); /* a big buffer would hide a small reserve */
    assert_int_equal(nd_words_split_with(t, own, ND_TOKENS_WORDS, &kernel[k], &err), ND_OK);
    same_tokens(t, &o->tokens, in, kernel[k].name);
  }
  oracle_split(o, own, ND_TOKENS_CODEPOINTS);
  assert_int_equal(nd_words_split(t, own, ND_TOKENS_CODEPOINTS, &err), ND_OK);
  same_tokens(t, &o->tokens, in, "code points");
  free(copy);
}

static void put_cp(nd_buf *b, uint32_t cp) {
  char utf8[4];
  assert_int_equal(nd_buf_append(b, utf8, nd_utf8_encode(utf8, cp), NULL), ND_OK);
}

/* --- tests -------------------------------------------------------------------- */
static void expect(const char *in, const char *words, const char *points) {
  nd_tokens t = {0};
  assert_int_equal(nd_words_split(&t, nd_str_of(in), ND_TOKENS_WORDS, NULL), ND_OK);
  if (!nd_str_eq(nd_buf_str(&t.text), nd_str_of(words)))
    fail_msg("%s: got %.*s, want %s", in, (int)t.text.n, t.text.p, words);
  if (points) {
    assert_int_equal(nd_words_split(&t, nd_str_of(in), ND_TOKENS_CODEPOINTS, NULL), ND_OK);
    assert_true(nd_str_eq(nd_buf_str(&t.text), nd_str_of(points)));
  }
  nd_tokens_clear(&t);
}

static void texts_become_the_expected_tokens(void **state) {
  (void)state;
  expect("", "", "");
  expect(" .,-", "", "");
  expect("Hello, World!", "hello world", "h e l l o w o r l d");
  expect("  x1 -- Y2z", "x1 y2z", "x 1 y 2 z");
  expect("snake_case", "snake case", NULL);
  expect("Straße ẞ ﬁn ™ ½", "strasse ss fin tm 1 2", NULL);
  expect("İ", "i̇", "i ̇");
  expect("don’t…stop", "don t stop", NULL);
  expect("e\xCC\x81te\xCC\x81", "été", "é t é");
  expect("漢字 カナ ab字cd", "漢 字 カ ナ ab 字 cd", NULL);
  expect("ｶﾞ Ｆｕｌｌ", "ガ full", NULL);
  expect("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB글", "한글", "한 글");
  expect("สวัสดี", "ส ว ั ส ด ี", NULL);
  expect("a\xFF\xCC\x81z", "a ́z", NULL); /* nothing combines over invalid bytes */
  expect("a\xC3", "a", NULL);
  expect("=\xCC\xB8x", "x", NULL); /* ≠, the mark is gone */
}

static void test_token_access(void **state) {
  (void)state;
  nd_tokens t = {0};
  assert_int_equal(nd_words_split(&t, nd_str_of("One two, 3"), ND_TOKENS_WORDS, NULL), ND_OK);
  assert_int_equal(t.count, 3);
  assert_true(nd_str_eq(nd_token(&t, 0), nd_str_of("one")));
  assert_true(nd_str_eq(nd_token(&t, 1), nd_str_of("two")));
  assert_true(nd_str_eq(nd_token(&t, 2), nd_str_of("3")));
  assert_int_equal(nd_words_split(&t, (nd_str){NULL, 0}, ND_TOKENS_WORDS, NULL), ND_OK);
  assert_int_equal(t.count, 0);
  nd_tokens_clear(&t);
  assert_null(t.end);
}

static void test_all_code_points(void **state) {
  (void)state;
  oracle o = {0};
  nd_tokens t = {0};
  nd_buf b = {0};
  for (uint32_t block = 0; block < 0x1100; block++) {
    /* Private planes are all alike: their first and last blocks stand for them. */
    if (block >= 0xF02 && block < 0xFFF) continue;
    if (block >= 0x1002 && block < 0x10FF) continue;
    b.n = 0;
    for (uint32_t c = block << 8; c <= (block << 8 | 255); c++) {
      if (c - 0xD800 < 0x800) continue;
      static const uint32_t around[4][2] = {{0, 0}, {'a', 0}, {0, 0x301}, {'a', 0x301}};
      for (int k = 0; k < 4; k++) {
        if (around[k][0]) put_cp(&b, around[k][0]);
        put_cp(&b, c);
        if (around[k][1]) put_cp(&b, around[k][1]);
        put_cp(&b, '\n');
      }
    }
    nd_error err;
    for (int kind = ND_TOKENS_WORDS; kind <= ND_TOKENS_CODEPOINTS; kind++) {
      oracle_split(&o, nd_buf_str(&b), (nd_token_kind)kind);
      assert_int_equal(nd_words_split(&t, nd_buf_str(&b), (nd_token_kind)kind, &err), ND_OK);
      same_tokens(&t, &o.tokens, nd_buf_str(&b), "all code points");
    }
  }
  nd_buf_clear(&b);
  nd_tokens_clear(&t);
  oracle_clear(&o);
}

/* Alphabets as ranges {first, last}; {0, 0} ends one. */
static const uint32_t nasty[][16][2] = {
    {{0x1100, 0x1112},
     {0x1161, 0x1175},
     {0x11A7, 0x11C2},
     {0xAC00, 0xAC1D},
     {'a', 'b'},
     {' ', ' '}},
    {{0x3131, 0x318E}, {0xFFA0, 0xFFDC}, {0x11A8, 0x11C2}, {0xAC00, 0xAC00}, {0x1100, 0x1101}},
    {{0x0995, 0x0999}, {0x09BC, 0x09CD}, {0x09D7, 0x09D7}, {0x0B47, 0x0B57}, {0x0BC6, 0x0BD7}},
    {{0x0915, 0x0920}, {0x093C, 0x094D}, {0x0951, 0x0954}, {0x0958, 0x095F}, {' ', ' '}},
    {{0x0DCA, 0x0DDF}, {0x0CBF, 0x0CD6}, {0x0D46, 0x0D57}, {0x1025, 0x1037}, {0x1B05, 0x1B35}},
    {{0xFB50, 0xFDFF}, {0xFE70, 0xFEFF}, {0x064B, 0x0655}, {0x0627, 0x0628}, {' ', ' '}},
    {{0xFF61, 0xFF9F}, {0x3099, 0x309C}, {0x304B, 0x3050}, {0x30F0, 0x30FE}, {'a', 'b'}},
    {{0x0370, 0x03FF}, {0x1F00, 0x1FFF}, {0x0300, 0x0345}, {0x00B4, 0x00B4}, {0x03B1, 0x03C9}},
    {{'A', 'z'}, {0x0300, 0x0345}, {0x00C0, 0x017F}, {0x1E00, 0x1EFF}, {0x0130, 0x0131}},
    {{'a', 'e'}, {0x0300, 0x036F}, {0x0591, 0x05C7}, {0x0345, 0x0345}, {0x1DC0, 0x1DFF}},
    {{0x0300, 0x0315}, {0x0316, 0x0333}, {0x093C, 0x093C}, {0x094D, 0x094D}, {0x0E48, 0x0E4B}},
    {{0x0E01, 0x0E5B}, {0x0E81, 0x0EDF}, {0x1000, 0x109F}, {0x1780, 0x17F9}, {'a', 'b'}},
    {{0x1D15E, 0x1D164},
     {0x1D165, 0x1D169},
     {0x1D16D, 0x1D172},
     {0x110A5, 0x110BA},
     {0x10400, 0x10428}},
    {{0x2000, 0x206F},
     {0x2100, 0x218F},
     {0x2460, 0x24EA},
     {0x3300, 0x33FF},
     {0x034F, 0x034F},
     {'=', '='},
     {0x0338, 0x0338}},
    {{0x0F40, 0x0F97}, {0x0F71, 0x0F84}, {0x0344, 0x0344}, {0x0340, 0x0343}, {0x1E9E, 0x1E9E}},
    {{0x00A0, 0x00FF},
     {0x2018, 0x2026},
     {'a', 'z'},
     {'a', 'z'},
     {' ', ' '},
     {'A', 'Z'},
     {' ', ' '}},
    {{0x0000, 0x10FFFF}, {0x0000, 0xFFFF}, {0x0000, 0x7F}},
};

static uint32_t pick(const uint32_t (*alphabet)[2]) {
  uint32_t ranges = 0;
  while (ranges < 16 && alphabet[ranges][1]) ranges++;
  const uint32_t *range = alphabet[rng(ranges)];
  uint32_t c = range[0] + rng(range[1] - range[0] + 1);
  return c - 0xD800 < 0x800 ? 0x301 : c;
}

static void nasty_alphabets_agree_with_the_definition(void **state) {
  (void)state;
  new_cases("nasty");
  oracle o = {0};
  nd_tokens t = {0};
  nd_buf b = {0};
  size_t alphabets = sizeof nasty / sizeof nasty[0];
  for (int round = 0; round < 6000; round++) {
    b.n = 0;
    size_t a = rng((uint32_t)alphabets), length = 1 + rng(round % 8 == 0 ? 300 : 40);
    for (size_t i = 0; i < length; i++) {
      if (rng(24) == 0) a = rng((uint32_t)alphabets);
      put_cp(&b, pick(nasty[a]));
      if (rng(40) == 0) { /* plain words in between, for the kernel */
        for (uint32_t k = rng(160); k > 0; k--) put_cp(&b, "abcdeXYZ019 ,.\n"[rng(15)]);
      }
      if (rng(60) == 0) { /* a broken byte */
        char byte = (char)rng(256);
        assert_int_equal(nd_buf_append(&b, &byte, 1, NULL), ND_OK);
      }
    }
    check(&o, &t, nd_buf_str(&b));
  }
  nd_buf_clear(&b);
  nd_tokens_clear(&t);
  oracle_clear(&o);
}

static void ascii_agrees_with_the_definition(void **state) {
  (void)state;
  new_cases("ascii");
  oracle o = {0};
  nd_tokens t = {0};
  char text[700];
  for (int round = 0; round < 6000; round++) {
    size_t n = rng(round % 4 ? 200 : sizeof text);
    uint32_t style = rng(4);
    for (size_t i = 0; i < n; i++) {
      switch (style) {
        case 0: text[i] = (char)rng(128); break;
        case 1: text[i] = "a "[rng(2)]; break;
        case 2: text[i] = rng(7) ? (char)('A' + rng(26)) : ' '; break;
        default: text[i] = rng(9) ? (char)('a' + rng(26)) : ", .-'\n"[rng(6)];
      }
    }
    check(&o, &t, (nd_str){text, n});
  }
  nd_tokens_clear(&t);
  oracle_clear(&o);
}

static void invalid_utf8_agrees_with_the_definition(void **state) {
  (void)state;
  new_cases("invalid");
  oracle o = {0};
  nd_tokens t = {0};
  static const char bytes[] =
      "ab \x80\xBF\xC0\xC2\xC3\xE0\xE1\xED\xEF\xF0\xF1\xF4\xF5\xFF\x9F\xA0\xCC\x81";
  char text[100];
  for (int round = 0; round < 8000; round++) {
    size_t n = rng(sizeof text);
    for (size_t i = 0; i < n; i++)
      text[i] = round % 2 ? (char)rng(256) : bytes[rng(sizeof bytes - 1)];
    check(&o, &t, (nd_str){text, n});
  }
  nd_tokens_clear(&t);
  oracle_clear(&o);
}

/* Long documents: several segments, growth inside of them, spans over their ends. */
static void long_documents_agree_across_segments(void **state) {
  (void)state;
  new_cases("long");
  oracle o = {0};
  nd_tokens t = {0};
  nd_buf b = {0};
  static const uint32_t fill[] = {'a', 0xFDFA, 0x3300, 0x301, 0x4E00, 0x94D, 0x1F82, 0x1100, 0x130};
  for (size_t k = 0; k < sizeof fill / sizeof fill[0]; k++) {
    b.n = 0;
    uint32_t lead = rng(100);
    for (uint32_t i = 0; i < 65500 + lead; i++) put_cp(&b, "x "[i % 2]);
    for (uint32_t i = 0; i < 20000; i++) put_cp(&b, rng(100) ? fill[k] : pick(nasty[rng(9)]));
    check(&o, &t, nd_buf_str(&b));
    nd_tokens_clear(&t); /* the next one grows again */
  }
  nd_buf_clear(&b);
  nd_tokens_clear(&t);
  oracle_clear(&o);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_many_marks(void **state) {
  (void)state;
  nd_tokens t = {0};
  nd_buf b = {0};
  static const uint32_t marks[][2] = {
      {0x301, 0x323}, {0x301, 0x301}, {0x94D, 0x94D}, {0x1161, 0x11A8}};
  for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
    b.n = 0;
    put_cp(&b, 'a');
    for (uint32_t i = 0; i < 1000000; i++) put_cp(&b, marks[k][i & 1]);
    double start = seconds();
    assert_int_equal(nd_words_split(&t, nd_buf_str(&b), ND_TOKENS_WORDS, NULL), ND_OK);
    double took = seconds() - start;
    print_message("a million of U+%04X, U+%04X: %.0f ms\n", marks[k][0], marks[k][1], took * 1e3);
    assert_true(took < 5); /* quadratic time would be minutes */
    assert_int_equal(t.count, 1);
  }
  nd_buf_clear(&b);
  nd_tokens_clear(&t);
}

static void test_token_ends(void **state) {
  (void)state;
  new_cases("token ends");
  size_t kernels;
  const nd_words_kernel *kernel = nd_words_kernels(&kernels);
  uint32_t ends[600 + ND_WORDS_SLACK], *got = NULL;
  size_t cap = 0, count = 0;
  char *text = malloc(600);
  for (int round = 0; round < 4000; round++) {
    size_t n = rng(600), want = 0;
    char *p = text + 600 - n;
    uint32_t expected[601], dense = 1 + rng(8);
    for (size_t i = 0; i < n; i++) {
      p[i] = rng(dense) ? (char)(1 + rng(255)) : ' ';
      if (p[i] == ' ') expected[want++] = (uint32_t)i + 7;
    }
    for (size_t k = 0; k < kernels; k++) {
      assert_int_equal(kernel[k].spaces(ends, p, n, 7), want);
      assert_memory_equal(ends, expected, want * sizeof *ends);
    }
    assert_int_equal(nd_token_ends(&got, &count, &cap, (nd_str){p, n}, NULL), ND_OK);
    assert_int_equal(count, n ? want + 1 : 0);
    if (n) assert_int_equal(got[want], n);
  }
  free(text);
  nd_free(got);

  /* There and back, over more than one segment. */
  nd_tokens t = {0}, back = {0};
  nd_buf b = {0};
  for (int i = 0; i < 200000; i++) put_cp(&b, rng(5) ? 'a' + rng(26) : ' ');
  assert_int_equal(nd_words_split(&t, nd_buf_str(&b), ND_TOKENS_WORDS, NULL), ND_OK);
  assert_int_equal(nd_tokens_from_text(&back, nd_buf_str(&t.text), NULL), ND_OK);
  same_tokens(&back, &t, nd_buf_str(&t.text), "from text");
  nd_buf_clear(&b);
  nd_tokens_clear(&t);
  nd_tokens_clear(&back);
}

static void test_memory_failure(void **state) {
  (void)state;
  nd_buf b = {0};
  for (int i = 0; i < 9000; i++) put_cp(&b, i % 3 ? 0xFDFA : 'x');
  for (uint64_t nth = 1; nth < 50; nth++) {
    nd_tokens t = {0};
    nd_error err = {0};
    nd_mem_fail_at(nth);
    nd_status status = nd_words_split(&t, nd_buf_str(&b), ND_TOKENS_WORDS, &err);
    nd_mem_fail_at(0);
    assert_true(status == ND_OK || (status == ND_ERR_MEMORY && err.message[0]));
    nd_tokens_clear(&t);
    if (status == ND_OK) break;
  }
  nd_buf_clear(&b);
}

/* Real text, whole and with random damage. */
static void real_text_agrees_with_the_definition(void **state) {
  (void)state;
  const char *data = getenv("NEARDUP_DATA");
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  new_cases("real");
  static const char *const names[] = {"gold/installguide.tar.zst", "gold/laws-zh.jsonl.zst",
                                      "gold/terms.jsonl.zst"};
  oracle o = {0};
  nd_tokens t = {0};
  size_t size = 6 << 20;
  char *text = malloc(size);
  char piece[3000];
  for (size_t k = 0; k < 3; k++) {
    nd_buf path = {0};
    assert_int_equal(nd_buf_printf(&path, NULL, "%s/%s", data, names[k]), ND_OK);
    FILE *file = fopen(path.p, "rb");
    nd_buf_clear(&path);
    if (!file) continue;
    ZSTD_DStream *z = ZSTD_createDStream();
    ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, 27);
    ZSTD_outBuffer to = {text, size, 0};
    char packed[1 << 16];
    size_t got;
    while (to.pos < size && (got = fread(packed, 1, sizeof packed, file)) > 0) {
      ZSTD_inBuffer from = {packed, got, 0};
      while (from.pos < from.size && to.pos < size) {
        if (ZSTD_isError(ZSTD_decompressStream(z, &to, &from))) break;
      }
    }
    ZSTD_freeDStream(z);
    fclose(file);
    assert_true(to.pos > sizeof piece);
    for (int round = 0; round < 400; round++) {
      size_t n = rng(sizeof piece), at = rng((uint32_t)(to.pos - n));
      memcpy(piece, text + at, n);
      for (uint32_t m = round % 2 && n ? rng(40) : 0; m > 0; m--) {
        if (rng(2) || n < 8) {
          piece[rng((uint32_t)n)] = (char)rng(256);
        } else { /* a mark where none belongs */
          char utf8[4];
          unsigned bytes = nd_utf8_encode(utf8, pick(nasty[rng(8)]));
          memcpy(piece + rng((uint32_t)n - 4), utf8, bytes);
        }
      }
      check(&o, &t, (nd_str){piece, n});
    }
  }
  free(text);
  nd_tokens_clear(&t);
  oracle_clear(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory_failure), /* first: the table is still empty */
      cmocka_unit_test(texts_become_the_expected_tokens),
      cmocka_unit_test(test_token_access),
      cmocka_unit_test(ascii_agrees_with_the_definition),
      cmocka_unit_test(nasty_alphabets_agree_with_the_definition),
      cmocka_unit_test(invalid_utf8_agrees_with_the_definition),
      cmocka_unit_test(test_all_code_points),
      cmocka_unit_test(long_documents_agree_across_segments),
      cmocka_unit_test(test_many_marks),
      cmocka_unit_test(test_token_ends),
      cmocka_unit_test(real_text_agrees_with_the_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
