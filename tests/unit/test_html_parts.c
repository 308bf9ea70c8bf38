/* Parts of pages: doctypes, and the texts that references, NUL and line ends stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/html_scan.h"

static void put(nd_buf *b, const char *p, size_t n) {
  assert_int_equal(nd_buf_append(b, p, n, NULL), ND_OK);
}

/* The standard's states of a doctype, one after another. */
static void doctypes_follow_the_standard(void **unused) {
  (void)unused;
  static const char *const rows[][2] = {
      {"<!doctype html>", "\nDOCTYPE html null null right"},
      {"<!DOCTYPE  HTML  >", "\nDOCTYPE html null null right"},
      {"<!doctype>", "\nDOCTYPE null null null wrong"},
      {"<!doctype html PUBLIC \"a\">", "\nDOCTYPE html a null right"},
      {"<!doctype html public 'a' 'b'>", "\nDOCTYPE html a b right"},
      {"<!doctype html public'a''b' >", "\nDOCTYPE html a b right"},
      {"<!doctype html public \"a\" \"b\">", "\nDOCTYPE html a b right"},
      {"<!doctype html system 'b' more>", "\nDOCTYPE html null b right"},
      {"<!doctype html system>", "\nDOCTYPE html null null wrong"},
      {"<!doctype html system b>", "\nDOCTYPE html null null wrong"},
      {"<!doctype html public a>", "\nDOCTYPE html null null wrong"},
      {"<!doctype html public 'a' b>", "\nDOCTYPE html a null wrong"},
      {"<!doctype html public 'a>", "\nDOCTYPE html a null wrong"},
      {"<!doctype html system 'b>", "\nDOCTYPE html null b wrong"},
      {"<!doctype html other>", "\nDOCTYPE html null null wrong"},
      {"<!doctype html", "\nDOCTYPE html null null wrong"},
      {"<!doctype html public 'a'", "\nDOCTYPE html a null wrong"},
      {"<!doctype html system 'b' ", "\nDOCTYPE html null b wrong"},
      {"<!doctype html system 'b' more", "\nDOCTYPE html null b right"},
      {"<!doctype html pub", "\nDOCTYPE html null null wrong"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd_html_scan s;
    nd_html_token t;
    nd_html_doctype d;
    nd_buf b = {0};
    nd_html_scan_init(&s, nd_str_of(rows[i][0]));
    assert_true(nd_html_scan_next(&s, &t));
    assert_int_equal(t.kind, ND_HTML_DOCTYPE);
    nd_html_parse_doctype(&d, &t);
    const struct {
      bool has;
      nd_str text;
      nd_html_as as;
    } parts[3] = {{d.has_name, d.name, ND_HTML_AS_NAME},
                  {d.has_public, d.public_id, ND_HTML_AS_RAWTEXT},
                  {d.has_system, d.system_id, ND_HTML_AS_RAWTEXT}};
    put(&b, "\nDOCTYPE", 8);
    for (int k = 0; k < 3; k++) {
      put(&b, " ", 1);
      if (parts[k].has)
        assert_int_equal(nd_html_decode(&b, parts[k].text, parts[k].as, NULL), ND_OK);
      else
        put(&b, "null", 4);
    }
    put(&b, d.quirks ? " wrong" : " right", 6);
    if (b.n != strlen(rows[i][1]) || memcmp(b.p, rows[i][1], b.n) != 0)
      fail_msg("%s: %.*s", rows[i][0], (int)b.n, b.p);
    nd_buf_clear(&b);
  }
}

/* What stands for something else, in each kind of text. */
static void references_nul_and_line_ends_are_replaced(void **unused) {
  (void)unused;
  static const struct {
    const char *raw;
    nd_html_as as;
    const char *text;
  } texts[] = {
      {"&amp;&lt&#65;&#x42;&#xD800;&#0;&#150;&#1114112;&#;&#x;&", ND_HTML_AS_DATA,
       "&<AB\uFFFD\uFFFD\u2013\uFFFD&#;&#x;&"},
      {"&notit;&nosuch;&1;&a", ND_HTML_AS_RCDATA, "¬it;&nosuch;&1;&a"},
      {"&not=&notx&not;&not", ND_HTML_AS_VALUE, "&not=&notx¬¬"},
      {"&not?&not-", ND_HTML_AS_VALUE, "¬?¬-"},
      {"&amp;\r\n\r", ND_HTML_AS_RAWTEXT, "&amp;\n\n"},
      {"&amp;\r", ND_HTML_AS_CDATA, "&amp;\n"},
      {"a\rb\r\rc\r\n", ND_HTML_AS_DATA, "a\nb\n\nc\n"},
      {"ABC", ND_HTML_AS_NAME, "abc"},
      {"&#x1F600;&#233;&#8364;", ND_HTML_AS_DATA, "😀é€"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    nd_buf b = {0};
    assert_int_equal(nd_html_decode(&b, nd_str_of(texts[i].raw), texts[i].as, NULL), ND_OK);
    if (b.n != strlen(texts[i].text) || memcmp(b.p, texts[i].text, b.n) != 0)
      fail_msg("%s: %.*s", texts[i].raw, (int)b.n, b.p);
    nd_buf_clear(&b);
  }
  nd_buf none = {0};
  nd_mem_fail_at(1);
  assert_int_equal(nd_html_decode(&none, nd_str_of("a"), ND_HTML_AS_DATA, NULL), ND_ERR_MEMORY);
  nd_mem_fail_at(0);
  nd_buf nul = {0};
  assert_int_equal(nd_html_decode(&nul, (nd_str){"\0", 1}, ND_HTML_AS_DATA, NULL), ND_OK);
  assert_int_equal(nul.n, 1);
  assert_int_equal(nd_html_decode(&nul, (nd_str){"\0", 1}, ND_HTML_AS_RCDATA, NULL), ND_OK);
  assert_int_equal(nul.n, 4);
  nd_buf_clear(&nul);
}

/* What a caller may ask of any token, and of tags in foreign content. */
static void token_questions_have_safe_answers(void **unused) {
  (void)unused;
  nd_html_scan s;
  nd_html_token t;
  nd_html_attribute a;
  nd_str none = {0};
  assert_false(nd_html_next_attribute(&none, &a));
  nd_html_scan_init(&s, nd_str_of("x<title><b></title>"));
  assert_true(nd_html_scan_next(&s, &t));
  nd_html_scan_enter(&s, &t); /* a text enters nothing */
  assert_true(nd_html_scan_next(&s, &t));
  s.foreign = true; /* an SVG's title holds elements */
  nd_html_scan_enter(&s, &t);
  assert_true(nd_html_scan_next(&s, &t));
  assert_int_equal(t.kind, ND_HTML_START_TAG);
  nd_html_scan_init(&s, nd_str_of("<title><b></title>"));
  assert_true(nd_html_scan_next(&s, &t));
  nd_html_scan_enter(&s, &t);
  assert_true(nd_html_scan_next(&s, &t));
  assert_int_equal(t.kind, ND_HTML_TEXT);
}

/* Where raw text ends: at the end tag of its element, which is named and whole. */
static void test_raw_ends(void **unused) {
  (void)unused;
  static const struct {
    const char *raw, *name;
    size_t end;
  } rows[] = {
      {"a<b></title>c", "title", 4}, {"a</titles></TITLE >", "title", 10},
      {"a</title", "title", 8},      {"a</title></t", "title", 1},
      {"a</></title>", "", 12},      {"a<", "title", 2},
      {"a<title>", "title", 8},      {"a</tit/e></title/>", "title", 9},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const nd_str raw = nd_str_of(rows[i].raw);
    const char *end =
        nd_html_raw_end(raw.p, raw.p + raw.n, nd_str_of(rows[i].name), ND_HTML_RCDATA);
    if ((size_t)(end - raw.p) != rows[i].end) fail_msg("%s: %d", raw.p, (int)(end - raw.p));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(doctypes_follow_the_standard),
                                     cmocka_unit_test(references_nul_and_line_ends_are_replaced),
                                     cmocka_unit_test(token_questions_have_safe_answers),
                                     cmocka_unit_test(test_raw_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
