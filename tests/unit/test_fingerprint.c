/* Fingerprints of shingles against one shingle at a time, cut by hand. */
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
#include <xxhash.h>

#include "base/rng.h"
#include "feature/fingerprint.h"
#include "feature/rabin.h"
#include "tools.h"

static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return 0;
}

static int clear_hooks(void **state) {
  (void)state;
  nd_mem_fail_at(0);
  return 0;
}

static void md5_is(const char *text, const char *want) {
  uint8_t digest[16];
  char hex[33];
  nd_md5(digest, text, strlen(text));
  for (int i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
  assert_string_equal(hex, want);
}

/* RFC 1321, A.5, and lengths around the padding's edges. */
static void md5_vectors(void **state) {
  (void)state;
  md5_is("", "d41d8cd98f00b204e9800998ecf8427e");
  md5_is("a", "0cc175b9c0f1b6a831c399e269772661");
  md5_is("abc", "900150983cd24fb0d6963f7d28e17f72");
  md5_is("message digest", "f96b697d7cb7938d525a2f31aaf161d0");
  md5_is("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b");
  md5_is("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f");
  md5_is("12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a");
  static const char *const of_a[] = {"ef1772b6dff9a122358552954ad0df65",  /* 55 */
                                     "3b0c8ac703f828b04c6c197006d17218",  /* 56 */
                                     "652b906d60af96844ebd21b674f35e93",  /* 57 */
                                     "b06521f39153d618550606be297466d5",  /* 63 */
                                     "014842d480b571495a4a0363793f7367",  /* 64 */
                                     "c743a45e0d2e6a95cb859adae0248435"}; /* 65 */
  static const int length[] = {55, 56, 57, 63, 64, 65};
  for (int i = 0; i < 6; i++) {
    char text[80];
    memset(text, 'a', sizeof text);
    text[length[i]] = '\0';
    md5_is(text, of_a[i]);
  }
}

/* Tokens of ASCII letters, or with some longer code points. */
static void draw_text(nd_tokens *t, size_t tokens, bool ascii) {
  static const char *const point[] = {
      "a", "b", "c", "\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9d\x94\xa0"};
  t->text.n = 0;
  t->count = 0;
  ok(nd_array_grow(&t->end, &t->cap, tokens + 1, sizeof *t->end, &err));
  for (size_t i = 0; i < tokens; i++) {
    if (i) ok(nd_buf_append(&t->text, " ", 1, &err));
    size_t points = 1 + nd_rng_below(&rng, 12);
    for (size_t k = 0; k < points; k++) {
      const char *c = point[nd_rng_below(&rng, ascii ? 3 : 6)];
      ok(nd_buf_append(&t->text, c, strlen(c), &err));
    }
    t->end[t->count++] = (uint32_t)t->text.n;
  }
}

static uint64_t naive_words(const nd_tokens *t, size_t first, size_t count) {
  uint64_t h = 0;
  for (size_t i = first; i < first + count; i++) {
    nd_str token = nd_token(t, i);
    uint64_t f = nd_rabin_bytes(token.p, token.n);
    uint8_t bytes[8];
    for (int k = 0; k < 8; k++) bytes[k] = (uint8_t)(f >> (56 - 8 * k));
    h = nd_rabin_extend(h, bytes, 8);
  }
  return h;
}

static void check(nd_fingerprints *f, const nd_tokens *t, nd_shingle_spec spec) {
  nd_shingles s = {0};
  nd_str text = nd_buf_str(&t->text);
  ok(nd_shingle_make(&s, text, t->end, t->count, spec, 5, true, &err));
  for (int kind = ND_FINGERPRINT_RABIN; kind <= ND_FINGERPRINT_MD5; kind++) {
    ok(nd_fingerprint_shingles(f, text, t->end, t->count, spec, (nd_fingerprint_kind)kind, &err));
    assert_int_equal(f->n, s.n);
    for (size_t i = 0; i < s.n; i++) {
      const char *p = t->text.p + s.begin[i];
      size_t n = s.end[i] - s.begin[i];
      uint64_t low, high = 0;
      if (kind == ND_FINGERPRINT_MD5) {
        uint8_t d[16];
        nd_md5(d, p, n);
        low = nd_load64(d);
        high = nd_load64(d + 8);
      } else if (kind == ND_FINGERPRINT_XXH3) {
        low = XXH3_64bits(p, n);
      } else if (spec.kind == ND_SHINGLE_WORDS) {
        low = naive_words(t, i, t->count < spec.size ? t->count : spec.size);
      } else {
        low = nd_rabin_bytes(p, n);
      }
      assert_int_equal(f->low[i], low);
      assert_int_equal(f->high[i], high);
    }
  }
  nd_shingles_clear(&s);
}

static void agrees_with_one_at_a_time(void **state) {
  (void)state;
  nd_tokens t = {0};
  nd_fingerprints f = {0};
  for (int round = 0; round < 400; round++) {
    draw_text(&t, nd_rng_below(&rng, round % 5 ? 60 : 4), round % 2);
    nd_shingle_spec spec = {(nd_shingle_kind)nd_rng_below(&rng, 3),
                            1 + (uint32_t)nd_rng_below(&rng, round % 3 ? 12 : 100)};
    check(&f, &t, spec);
  }
  nd_fingerprints_clear(&f);
  nd_tokens_clear(&t);
}

static void names_are_parsed(void **state) {
  (void)state;
  nd_fingerprint_kind kind;
  ok(nd_fingerprint_parse(&kind, "rabin", &err));
  assert_int_equal(kind, ND_FINGERPRINT_RABIN);
  ok(nd_fingerprint_parse(&kind, "xxh3", &err));
  assert_int_equal(kind, ND_FINGERPRINT_XXH3);
  ok(nd_fingerprint_parse(&kind, "md5", &err));
  assert_int_equal(kind, ND_FINGERPRINT_MD5);
  assert_string_equal(nd_fingerprint_name(kind), "md5");
  static const char *const wrong[] = {"", "Rabin", "md", "md55", "sha1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(nd_fingerprint_parse(&kind, wrong[i], &err), ND_ERR_USAGE);
}

static void memory_faults(void **state) {
  (void)state;
  nd_tokens t = {0};
  for (int which = 0; which < 18; which++) {
    draw_text(&t, 200, which % 2);
    for (uint64_t nth = 1;; nth++) {
      nd_fingerprints f = {0};
      nd_shingle_spec spec = {(nd_shingle_kind)(which / 2 % 3), 3};
      nd_mem_fail_at(nth);
      nd_status status = nd_fingerprint_shingles(&f, nd_buf_str(&t.text), t.end, t.count, spec,
                                                 (nd_fingerprint_kind)(which / 6), &err);
      bool hit = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      if (hit) assert_int_equal(status, ND_ERR_MEMORY);
      check(&f, &t, spec); /* usable again */
      nd_fingerprints_clear(&f);
      if (!hit) break;
    }
  }
  nd_tokens_clear(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(md5_vectors), cmocka_unit_test(agrees_with_one_at_a_time),
      cmocka_unit_test(names_are_parsed), cmocka_unit_test_teardown(memory_faults, clear_hooks)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
