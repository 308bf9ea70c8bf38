/* The JSON reader against RFC 8259's cases, a slow recursive parser, and itself
 * at every CPU level. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "input/json.h"

static uint64_t seed = 20240611;

static uint32_t any(uint32_t below) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (uint32_t)(seed >> 32) % below;
}

/* --- the slow parser ------------------------------------------------------- */

typedef struct slow {
  const unsigned char *p, *end;
  int depth;
  const char *wanted;
  bool found; /* the last member `wanted` of the outermost object */
  nd_json_type type;
  nd_buf value; /* unescaped string, or as written */
} slow;

static void put(nd_buf *b, const void *p, size_t n) {
  assert_int_equal(nd_buf_append(b, p, n, NULL), ND_OK);
}

static void put_code(nd_buf *b, uint32_t c) {
  unsigned char u[4];
  if (c < 0x80) {
    u[0] = (unsigned char)c;
    put(b, u, 1);
  } else if (c < 0x800) {
    u[0] = (unsigned char)(0xc0 + c / 64), u[1] = (unsigned char)(0x80 + c % 64);
    put(b, u, 2);
  } else if (c < 0x10000) {
    u[0] = (unsigned char)(0xe0 + c / 4096), u[1] = (unsigned char)(0x80 + c / 64 % 64);
    u[2] = (unsigned char)(0x80 + c % 64);
    put(b, u, 3);
  } else {
    u[0] = (unsigned char)(0xf0 + c / 262144), u[1] = (unsigned char)(0x80 + c / 4096 % 64);
    u[2] = (unsigned char)(0x80 + c / 64 % 64), u[3] = (unsigned char)(0x80 + c % 64);
    put(b, u, 4);
  }
}

static void slow_space(slow *s) {
  while (s->p < s->end && strchr(" \t\r\n", *s->p) && *s->p) s->p++;
}

static bool slow_hex(slow *s, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *d;
    if (s->p == s->end || !*s->p || !(d = strchr(digits, *s->p))) return false;
    *out = *out * 16 + (uint32_t)((d - digits) % 16);
    s->p++;
  }
  return true;
}

/* One code point of UTF-8 by its definition: decode, encode, compare. */
static bool slow_utf8(slow *s, nd_buf *out) {
  unsigned a = *s->p;
  size_t n = a < 0x80                ? 1
             : a >= 0xc0 && a < 0xe0 ? 2
             : a >= 0xe0 && a < 0xf0 ? 3
             : a >= 0xf0             ? 4
                                     : 0;
  if (n == 0 || a > 0xf4 || (size_t)(s->end - s->p) < n) return false;
  uint32_t c = n == 1 ? a : n == 2 ? a & 31 : n == 3 ? a & 15 : a & 7;
  for (size_t i = 1; i < n; i++) {
    if (s->p[i] / 64 != 2) return false;
    c = c * 64 + s->p[i] % 64;
  }
  size_t before = out->n;
  put_code(out, c);
  if (out->n - before != n || memcmp(out->p + before, s->p, n) != 0) return false;
  if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return false;
  s->p += n;
  return true;
}

static bool slow_string(slow *s, nd_buf *out) {
  out->n = 0;
  uint32_t pending = 0; /* a high surrogate that waits for its partner */
  if (s->p == s->end || *s->p++ != '"') return false;
  for (;;) {
    if (s->p == s->end || *s->p < 0x20) return false;
    bool unicode = s->end - s->p >= 2 && s->p[0] == '\\' && s->p[1] == 'u';
    uint32_t c = 0;
    if (unicode) {
      s->p += 2;
      if (!slow_hex(s, &c)) return false;
    }
    if (pending) {
      if (unicode && c >= 0xdc00 && c <= 0xdfff) {
        put_code(out, 0x10000 + (pending - 0xd800) * 1024 + (c - 0xdc00));
        pending = 0;
        continue;
      }
      put_code(out, 0xfffd);
      pending = 0;
    }
    if (unicode) {
      if (c >= 0xd800 && c <= 0xdbff) {
        pending = c;
      } else {
        put_code(out, c >= 0xdc00 && c <= 0xdfff ? 0xfffd : c);
      }
    } else if (*s->p == '"') {
      s->p++;
      return true;
    } else if (*s->p == '\\') {
      static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
      const char *at;
      if (++s->p == s->end || !*s->p || !(at = strchr(names, *s->p))) return false;
      put(out, &values[at - names], 1);
      s->p++;
    } else if (!slow_utf8(s, out)) {
      return false;
    }
  }
}

static bool slow_digits(slow *s) {
  if (s->p == s->end || *s->p < '0' || *s->p > '9') return false;
  while (s->p < s->end && *s->p >= '0' && *s->p <= '9') s->p++;
  return true;
}

static bool slow_number(slow *s) {
  if (s->p < s->end && *s->p == '-') s->p++;
  if (s->p < s->end && *s->p == '0') {
    s->p++;
  } else if (!slow_digits(s)) {
    return false;
  }
  if (s->p < s->end && *s->p == '.' && (s->p++, !slow_digits(s))) return false;
  if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
    s->p++;
    if (s->p < s->end && (*s->p == '+' || *s->p == '-')) s->p++;
    return slow_digits(s);
  }
  return true;
}

static bool slow_word(slow *s, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0) return false;
  s->p += n;
  return true;
}

static bool slow_value(slow *s, nd_json_type *type, nd_buf *string) {
  slow_space(s);
  if (s->p == s->end) return false;
  if (*s->p == '"') return *type = ND_JSON_STRING, slow_string(s, string);
  if (*s->p == 't') return *type = ND_JSON_TRUE, slow_word(s, "true");
  if (*s->p == 'f') return *type = ND_JSON_FALSE, slow_word(s, "false");
  if (*s->p == 'n') return *type = ND_JSON_NULL, slow_word(s, "null");
  if (*s->p != '{' && *s->p != '[') return *type = ND_JSON_NUMBER, slow_number(s);

  bool object = *s->p++ == '{', ok = false;
  nd_buf name = {0}, inner = {0};
  if (s->depth++ == ND_JSON_DEPTH) goto done;
  slow_space(s);
  if (s->p < s->end && *s->p == (object ? '}' : ']')) {
    s->p++;
    ok = true;
    goto done;
  }
  for (;;) {
    nd_json_type member;
    if (object) {
      slow_space(s);
      if (!slow_string(s, &name)) goto done;
      slow_space(s);
      if (s->p == s->end || *s->p++ != ':') goto done;
    }
    slow_space(s);
    const unsigned char *start = s->p;
    if (!slow_value(s, &member, &inner)) goto done;
    if (object && s->depth == 1 && nd_str_eq(nd_buf_str(&name), nd_str_of(s->wanted))) {
      s->found = true;
      s->type = member;
      s->value.n = 0;
      if (member == ND_JSON_STRING) {
        put(&s->value, inner.p, inner.n);
      } else {
        put(&s->value, start, (size_t)(s->p - start));
      }
    }
    slow_space(s);
    if (s->p == s->end) goto done;
    if (*s->p == ',') {
      s->p++;
    } else {
      ok = *s->p++ == (object ? '}' : ']');
      goto done;
    }
  }
done:
  *type = object ? ND_JSON_OBJECT : ND_JSON_ARRAY;
  s->depth--;
  nd_buf_clear(&name);
  nd_buf_clear(&inner);
  return ok;
}

static bool slow_text(slow *s, nd_str text, const char *wanted, nd_json_type *type) {
  nd_buf string = {0};
  s->p = (const unsigned char *)text.p;
  s->end = s->p + text.n;
  s->depth = 0;
  s->wanted = wanted;
  s->found = false;
  slow_space(s);
  bool ok = slow_value(s, type, &string);
  slow_space(s);
  nd_buf_clear(&string);
  return ok && s->p == s->end;
}

/* --- random texts ---------------------------------------------------------- */

static void make_string(nd_buf *b) {
  static const char *const bits[] = {
      "\\n",          "\\\"", "\\\\",          "\\u00e9",  "\\ud83d\\ude00", "\\ud83d",
      "\\ude00",      "\\/",  "\\u0000",       "\xc3\xa9", "\xe4\xb8\xad",   "\xf0\x9f\x98\x80",
      "\xed\x9f\xbf", "\x7f", "\\ud83d\\uffff"};
  put(b, "\"", 1);
  uint32_t pieces = any(4) == 0 ? any(40) : any(4);
  for (uint32_t i = 0; i < pieces; i++) {
    if (any(3) == 0) {
      const char *bit = bits[any(sizeof bits / sizeof *bits)];
      put(b, bit, strlen(bit));
    } else {
      for (uint32_t n = any(30); n; n--) put(b, &"abc xyz{}[]:,0"[any(14)], 1);
    }
  }
  put(b, "\"", 1);
}

static void make_space(nd_buf *b) {
  while (any(4) == 0) put(b, &" \t\r\n"[any(4)], 1);
}

static void make_value(nd_buf *b, int depth, bool object) {
  static const char *const others[] = {"0",    "-1",    "12.5e-3", "1E+9",
                                       "true", "false", "null",    "-0.0"};
  static const char *const names[] = {"\"text\"", "\"id\"", "\"t\\u0065xt\"", "\"\"", "\"text2\""};
  make_space(b);
  uint32_t pick = object ? 0 : any(depth > 5 ? 2 : 4) + (depth > 5 ? 2 : 0);
  if (pick == 3) {
    make_string(b);
  } else if (pick == 2) {
    const char *other = others[any(8)];
    put(b, other, strlen(other));
  } else {
    put(b, pick ? "[" : "{", 1);
    uint32_t members = any(5);
    make_space(b);
    for (uint32_t i = 0; i < members; i++) {
      if (i) put(b, ",", 1);
      make_space(b);
      if (pick == 0) {
        const char *name = names[any(5)];
        if (any(4)) {
          put(b, name, strlen(name));
        } else {
          make_string(b);
        }
        make_space(b);
        put(b, ":", 1);
      }
      make_value(b, depth + 1, false);
    }
    put(b, pick ? "]" : "}", 1);
  }
  make_space(b);
}

static void mutate(nd_buf *b) {
  if (b->n == 0) return;
  uint32_t at = any((uint32_t)b->n);
  switch (any(4)) {
    case 0: b->p[at] = (char)any(256); break;
    case 1: b->p[at] = "\"\\{}[]:,0-.eu"[any(13)]; break;
    case 2: memmove(b->p + at, b->p + at + 1, --b->n - at); break;
    default: b->n = at;
  }
}

/* A copy that ends where its allocation ends: reading past it is caught. */
static nd_str exact(const nd_buf *b) {
  char *p = malloc(b->n ? b->n : 1);
  assert_non_null(p);
  if (b->n) memcpy(p, b->p, b->n);
  return (nd_str){p, b->n};
}

static void random_values_agree_with_a_slow_parser(void **state) {
  (void)state;
  print_message("seed %llu\n", (unsigned long long)seed);
  nd_buf b = {0}, got = {0};
  slow s = {0};
  int valid = 0, filled = 0;
  for (int round = 0; round < 60000; round++) {
    b.n = 0;
    make_value(&b, 0, any(8) != 0);
    for (uint32_t m = any(2) ? any(3) : 0; m; m--) mutate(&b);
    nd_str text = exact(&b);
    nd_json_type type;
    bool ok = slow_text(&s, text, "text", &type);
    nd_error err = {0};
    nd_status status = nd_json_check(text, &err);
    if ((status == ND_OK) != ok) {
      print_error("%.*s\n%s\n", (int)text.n, text.p, err.message);
      fail();
    }
    nd_json_field f[2] = {{.name = {"text", 4}}, {.name = {"text", 4}}};
    status = nd_json_read(f, 2, text, NULL);
    assert_int_equal(status == ND_OK, ok && type == ND_JSON_OBJECT);
    if (status == ND_OK) {
      valid++;
      assert_int_equal(f[0].type, s.found ? s.type : ND_JSON_ABSENT);
      assert_int_equal(f[1].type, f[0].type);
      if (s.found) {
        filled++;
        got.n = 0;
        if (f[0].escaped) {
          assert_int_equal(nd_json_unescape(&got, f[0].value, NULL), ND_OK);
        } else {
          put(&got, f[0].value.p, f[0].value.n);
        }
        assert_true(nd_str_eq(nd_buf_str(&got), nd_buf_str(&s.value)));
      }
    }
    free((void *)(uintptr_t)text.p);
  }
  assert_true(valid > 10000 && filled > 3000);
  nd_buf_clear(&b);
  nd_buf_clear(&got);
  nd_buf_clear(&s.value);
}

/* --- the scanner ----------------------------------------------------------- */

static void slow_scan(nd_json_string *out, nd_str t) {
  *out = (nd_json_string){0};
  size_t i = 0;
  for (; i < t.n && t.p[i] != '"'; i++) {
    unsigned char c = (unsigned char)t.p[i];
    if (c >= 0x80) out->high = true;
    if (c < 0x20) {
      out->why = "control";
      break;
    }
    if (c != '\\') continue;
    out->escaped = true;
    size_t need = i + 1 < t.n && t.p[i + 1] == 'u' ? 5 : 1;
    bool good = i + 1 < t.n && t.p[i + 1] && strchr("\"\\/bfnrtu", t.p[i + 1]);
    for (size_t k = 2; good && k <= need; k++)
      good = i + k < t.n && t.p[i + k] && strchr("0123456789abcdefABCDEF", t.p[i + k]);
    if (!good) {
      out->why = "escape";
      break;
    }
    i += need;
  }
  if (i == t.n) out->why = "end";
  out->length = i;
}

static void scanning_agrees_at_all_cpu_levels(void **state) {
  (void)state;
  print_message("seed %llu, levels up to %s\n", (unsigned long long)seed, nd_cpu_name(nd_cpu()));
  nd_buf b = {0};
  for (int round = 0; round < 100000; round++) {
    b.n = 0;
    uint32_t n = any(300), rare = 1 + any(100);
    for (uint32_t i = 0; i < n; i++) {
      char c = (char)(0x20 + any(0x60));
      if (c == '"' || c == '\\') c = 'x';
      if (any(rare) == 0) c = (char)any(256);
      if (any(rare) == 0) c = '\\', put(&b, &c, 1), c = "nu\"\\x"[any(5)];
      put(&b, &c, 1);
      if (c == 'u' && any(4)) put(&b, "12aF", 4);
    }
    if (any(2)) put(&b, "\" and more", any(10) + 1);
    nd_str text = exact(&b);
    nd_json_string want, got;
    slow_scan(&want, text);
    for (nd_cpu_level level = ND_CPU_BASE; level <= nd_cpu(); level++) {
      nd_json_scan(&got, text, level);
      assert_int_equal(got.length, want.length);
      assert_int_equal(got.why != NULL, want.why != NULL);
      assert_int_equal(got.escaped, want.escaped);
      assert_int_equal(got.high, want.high);
    }
    free((void *)(uintptr_t)text.p);
  }
  nd_buf_clear(&b);
}

/* All leads with all second bytes and a choice of later ones, at any place of a
 * block; what is wrong is found at the same byte by every level. */
static void invalid_utf8_is_found_at_the_same_byte(void **state) {
  (void)state;
  static const unsigned char later[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2, 0xff};
  print_message("seed %llu\n", (unsigned long long)seed);
  nd_buf sink = {0};
  size_t wrong = 0, cases = 0;
  for (unsigned a = 0x7f; a < 0x100; a++) {
    for (unsigned b = 0; b < 0x100; b++) {
      for (int k = 0; k < 6; k++) {
        size_t n = 4 + any(80), at = any((uint32_t)n - 3);
        char *p = malloc(n);
        assert_non_null(p);
        for (size_t i = 0; i < n; i++) p[i] = i % 3 == 0 ? ' ' : "\xd0\xb0"[i % 3 - 1];
        memset(p + at / 3 * 3, 'x', at % 3);
        p[at] = (char)a, p[at + 1] = (char)b;
        p[at + 2] = (char)later[any(10)], p[at + 3] = (char)later[any(10)];
        if (any(8) == 0) n = at + 1 + any(3);
        for (size_t i = at + 4; i < n && ((unsigned char)p[i] & 0xc0) == 0x80; i++) p[i] = 'y';
        p = realloc(p, n);
        slow s = {.p = (unsigned char *)p, .end = (unsigned char *)p + n};
        sink.n = 0;
        while (s.p < s.end && slow_utf8(&s, &sink)) continue;
        const char *want = s.p < s.end ? (const char *)s.p : NULL;
        for (nd_cpu_level level = ND_CPU_BASE; level <= nd_cpu(); level++)
          assert_ptr_equal(nd_json_utf8_fault((nd_str){p, n}, level), want);
        wrong += want != NULL;
        cases++;
        free(p);
      }
    }
  }
  assert_true(wrong > cases / 10 && wrong < cases);
  nd_buf_clear(&sink);
}

/* --- single cases ---------------------------------------------------------- */

static void expect_error(const char *text, const char *message) {
  nd_error err = {0};
  assert_int_equal(nd_json_read(NULL, 0, nd_str_of(text), &err), ND_ERR_DATA);
  assert_string_equal(err.message, message);
}

static void messages_give_reason_and_byte(void **state) {
  (void)state;
  expect_error("", "not a JSON object");
  expect_error("[1]", "not a JSON object");
  expect_error("{\"a\":1", "not valid JSON at byte 7: the text ends too early");
  expect_error("{\"a\" 1}", "not valid JSON at byte 6: a colon is missing");
  expect_error("{\"a\":01}", "not valid JSON at byte 7: a number begins with 0");
  expect_error("{\"a\":\"\t\"}", "not valid JSON at byte 7: a control character inside a string");
  expect_error("{\"a\":\"b\xff\"}", "not valid JSON at byte 8: a string is not UTF-8");
  expect_error("{} {}", "not valid JSON at byte 4: something follows after the value");
}

static void nesting_is_limited_to_1000(void **state) {
  (void)state;
  nd_buf b = {0};
  nd_error err = {0};
  for (int deep = 999; deep <= 1001; deep++) {
    for (int object = 0; object < 2; object++) {
      b.n = 0;
      for (int i = 0; i < deep; i++) put(&b, object ? "{\"a\":" : "[", object ? 5 : 1);
      put(&b, "1", 1);
      for (int i = 0; i < deep; i++) put(&b, object ? "}" : "]", 1);
      nd_status status = nd_json_check(nd_buf_str(&b), &err);
      assert_int_equal(status, deep <= 1000 ? ND_OK : ND_ERR_DATA);
    }
  }
  assert_non_null(strstr(err.message, "nested deeper than 1000"));
  b.n = 0;
  for (int i = 0; i < 100000; i++) put(&b, "[", 1);
  assert_int_equal(nd_json_check(nd_buf_str(&b), NULL), ND_ERR_DATA);
  nd_buf_clear(&b);
}

static void test_cut_off(void **state) {
  (void)state;
  const char *text = "{\"a\": [1, -2.5e3, true, {\"b\\n\\u00e9\": null}], \"\xc3\xa9\": \"x\"}";
  size_t n = strlen(text);
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(nd_json_cut_off((nd_str){text, i}), i > 4);
  }
  assert_false(nd_json_cut_off((nd_str){text, n}));
  assert_false(nd_json_cut_off(nd_str_of("{\"a\": hello")));
  assert_false(nd_json_cut_off(nd_str_of("[{\"a\": ")));
}

static void accepts_and_refuses_as_the_test_suite_says(void **state) {
  (void)state;
  const char *data = getenv("NEARDUP_DATA");
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  char path[4096];
  snprintf(path, sizeof path, "%s/jsontestsuite", data);
  DIR *dir = opendir(path);
  assert_non_null(dir);
  int files = 0;
  nd_buf b = {0};
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    if (!strstr(e->d_name, ".json")) continue;
    snprintf(path, sizeof path, "%s/jsontestsuite/%s", data, e->d_name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    b.n = 0;
    for (int c; (c = getc(f)) != EOF;) put(&b, &(char){(char)c}, 1);
    fclose(f);
    nd_str text = exact(&b);
    nd_error err = {0};
    nd_status status = nd_json_check(text, &err);
    if ((e->d_name[0] == 'y' && status != ND_OK) || (e->d_name[0] == 'n' && status == ND_OK)) {
      print_error("%s: %s\n", e->d_name, err.message);
      fail();
    }
    free((void *)(uintptr_t)text.p);
    files++;
  }
  closedir(dir);
  nd_buf_clear(&b);
  assert_true(files > 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_values_agree_with_a_slow_parser),
      cmocka_unit_test(scanning_agrees_at_all_cpu_levels),
      cmocka_unit_test(invalid_utf8_is_found_at_the_same_byte),
      cmocka_unit_test(messages_give_reason_and_byte),
      cmocka_unit_test(nesting_is_limited_to_1000),
      cmocka_unit_test(test_cut_off),
      cmocka_unit_test(accepts_and_refuses_as_the_test_suite_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
