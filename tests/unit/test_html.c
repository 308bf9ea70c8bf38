/* The HTML tokenizer against html5lib's tests, and the fast text extractor
 * against a slow one that is built on the tokenizer. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "seed.h"
#include "slow_html.h"
#include "text/html_scan.h"
#include "text/text.h"

/* --- JSON, as much of it as the test files need ------------------------------ */
typedef struct json {
  char type; /* 'o' 'a' 's' 't' 'f' 'n' '0' */
  nd_buf text;
  struct json *key, *child, *next;
} json;

static void put(nd_buf *b, const void *p, size_t n) {
  assert_int_equal(nd_buf_append(b, p, n, NULL), ND_OK);
}

static void put_char(nd_buf *b, uint32_t c) {
  char u[4];
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = n; i-- > 1; c >>= 6) u[i] = (char)(0x80 | (c & 63));
  u[0] = (char)(lead[n] | c);
  put(b, u, n);
}

/* The four hexadecimal digits at p, and a low surrogate after them. */
static const char *unescape_u(nd_buf *b, const char *p) {
  unsigned c = 0, low = 0;
  if (sscanf(p, "%4x", &c) != 1) fail_msg("bad \\u in a test file");
  p += 4;
  if (c >= 0xD800 && c < 0xDC00 && p[0] == '\\' && p[1] == 'u' && sscanf(p + 2, "%4x", &low) == 1 &&
      low >= 0xDC00 && low < 0xE000) {
    put_char(b, 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00));
    return p + 6;
  }
  put_char(b, c);
  return p;
}

static void skip_space(const char **p) {
  while (**p == ' ' || **p == '\n' || **p == '\r' || **p == '\t') ++*p;
}

static json *json_read(const char **p) {
  json *j = calloc(1, sizeof *j), **tail = &j->child;
  skip_space(p);
  j->type = **p == '{' ? 'o' : **p == '[' ? 'a' : **p == '"' ? 's' : **p;
  if (j->type == 's') {
    for (++*p; **p != '"';) {
      if (**p != '\\') {
        put(&j->text, (*p)++, 1);
        continue;
      }
      char c = (*p)[1];
      *p += 2;
      if (c == 'u') {
        *p = unescape_u(&j->text, *p);
      } else {
        const char *from = "nrtbf", *at = strchr(from, c);
        put(&j->text, at ? &"\n\r\t\b\f"[at - from] : &c, 1);
      }
    }
    ++*p;
  } else if (j->type == 'o' || j->type == 'a') {
    char close = j->type == 'o' ? '}' : ']';
    ++*p;
    for (skip_space(p); **p != close; skip_space(p)) {
      json *key = j->type == 'o' ? json_read(p) : NULL;
      if (key) {
        skip_space(p);
        assert_int_equal(*(*p)++, ':');
      }
      *tail = json_read(p);
      (*tail)->key = key;
      tail = &(*tail)->next;
      skip_space(p);
      if (**p == ',') ++*p;
    }
    ++*p;
  } else {
    const char *start = *p;
    while (strchr("truefalsn0123456789+-.E", **p) && **p) ++*p;
    if (*p == start) fail_msg("not JSON: %.20s", start);
  }
  return j;
}

static void json_free(json *j) {
  while (j) {
    json *next = j->next;
    json_free(j->key);
    json_free(j->child);
    nd_buf_clear(&j->text);
    free(j);
    j = next;
  }
}

static json *json_get(const json *j, const char *key) {
  for (json *c = j->child; c; c = c->next) {
    if (nd_str_eq(nd_buf_str(&c->key->text), nd_str_of(key))) return c;
  }
  return NULL;
}

static json *json_at(const json *j, int i) {
  json *c = j->child;
  while (c && i--) c = c->next;
  return c;
}

/* Undoes a second layer of \uHHHH. */
static void unescape_all(json *j) {
  for (; j; j = j->next) {
    if (j->key) unescape_all(j->key);
    unescape_all(j->child);
    nd_buf fresh = {0};
    put(&j->text, "", 1);
    for (const char *p = j->text.p, *end = p + j->text.n - 1; p < end;) {
      if (end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        p = unescape_u(&fresh, p + 2);
      } else {
        put(&fresh, p++, 1);
      }
    }
    nd_buf_clear(&j->text);
    j->text = fresh;
  }
}

static char *read_file(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  nd_buf b = {0};
  char part[65536];
  for (size_t k; (k = fread(part, 1, sizeof part, f)) > 0;) put(&b, part, k);
  fclose(f);
  *n = b.n;
  put(&b, "", 1);
  return b.p;
}

/* --- tokens written down as lines ------------------------------------------- */
static void put_field(nd_buf *b, nd_str s) {
  assert_int_equal(nd_buf_printf(b, NULL, " %zu:", s.n), ND_OK);
  put(b, s.p, s.n);
}

static void put_decoded(nd_buf *b, nd_str raw, nd_html_as as) {
  nd_buf s = {0};
  assert_int_equal(nd_html_decode(&s, raw, as, NULL), ND_OK);
  put_field(b, nd_buf_str(&s));
  nd_buf_clear(&s);
}

typedef struct attribute {
  nd_buf name, value;
} attribute;

static int attribute_order(const void *a, const void *b) {
  const attribute *x = a, *y = b;
  size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
  int c = n ? memcmp(x->name.p, y->name.p, n) : 0;
  return c ? c : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

static void put_attributes(nd_buf *b, attribute *a, size_t n) {
  if (n) qsort(a, n, sizeof *a, attribute_order);
  for (size_t i = 0; i < n; i++) {
    put_field(b, nd_buf_str(&a[i].name));
    put_field(b, nd_buf_str(&a[i].value));
    nd_buf_clear(&a[i].name);
    nd_buf_clear(&a[i].value);
  }
}

static void write_expected(nd_buf *b, const json *tokens) {
  nd_buf text = {0};
  for (const json *t = tokens->child; t || text.n; t = t->next) {
    nd_str kind = t ? nd_buf_str(&t->child->text) : (nd_str){0};
    if (t && nd_str_eq(kind, nd_str_of("Character"))) {
      put(&text, json_at(t, 1)->text.p, json_at(t, 1)->text.n);
      continue;
    }
    if (text.n) {
      put(b, "\nCharacter", 10);
      put_field(b, nd_buf_str(&text));
      text.n = 0;
      if (!t) break;
    }
    put(b, "\n", 1);
    put(b, kind.p, kind.n);
    if (nd_str_eq(kind, nd_str_of("DOCTYPE"))) {
      for (int i = 1; i <= 3; i++) {
        const json *id = json_at(t, i);
        if (id->type == 's') {
          put_field(b, nd_buf_str(&id->text));
        } else {
          put(b, " null", 5);
        }
      }
      put(b, json_at(t, 4)->type == 't' ? " right" : " wrong", 6);
      continue;
    }
    put_field(b, nd_buf_str(&json_at(t, 1)->text));
    if (nd_str_eq(kind, nd_str_of("StartTag"))) {
      attribute a[64];
      size_t n = 0;
      for (const json *c = json_at(t, 2)->child; c; c = c->next) {
        assert_true(n < 64);
        a[n] = (attribute){{0}, {0}};
        put(&a[n].name, c->key->text.p, c->key->text.n);
        put(&a[n++].value, c->text.p, c->text.n);
      }
      put_attributes(b, a, n);
      if (json_at(t, 3)) put(b, " /", 2);
    }
  }
  nd_buf_clear(&text);
}

static void write_start_tag(nd_buf *b, const nd_html_token *t) {
  attribute a[64];
  size_t n = 0;
  nd_str rest = t->attributes;
  for (nd_html_attribute raw; nd_html_next_attribute(&rest, &raw);) {
    assert_true(n < 64);
    a[n] = (attribute){{0}, {0}};
    assert_int_equal(nd_html_decode(&a[n].name, raw.name, ND_HTML_AS_NAME, NULL), ND_OK);
    assert_int_equal(nd_html_decode(&a[n].value, raw.value, ND_HTML_AS_VALUE, NULL), ND_OK);
    bool seen = false;
    for (size_t i = 0; i < n; i++) {
      seen = seen || nd_str_eq(nd_buf_str(&a[i].name), nd_buf_str(&a[n].name));
    }
    n++;
    if (seen) {
      n--;
      nd_buf_clear(&a[n].name);
      nd_buf_clear(&a[n].value);
    }
  }
  put_attributes(b, a, n);
  if (t->self_closing) put(b, " /", 2);
}

static void write_actual(nd_buf *b, nd_html_scan *s) {
  nd_buf text = {0};
  nd_html_token t;
  for (bool more = true; more;) {
    more = nd_html_scan_next(s, &t);
    if (more && t.kind == ND_HTML_TEXT) {
      assert_true(t.raw.n > 0);
      assert_int_equal(nd_html_decode(&text, t.raw, nd_html_text_as(t.state), NULL), ND_OK);
      continue;
    }
    if (text.n) {
      put(b, "\nCharacter", 10);
      put_field(b, nd_buf_str(&text));
      text.n = 0;
    }
    if (!more) break;
    nd_html_doctype d;
    switch (t.kind) {
      case ND_HTML_TEXT: break;
      case ND_HTML_START_TAG:
        put(b, "\nStartTag", 9);
        put_decoded(b, t.raw, ND_HTML_AS_NAME);
        write_start_tag(b, &t);
        break;
      case ND_HTML_END_TAG:
        put(b, "\nEndTag", 7);
        put_decoded(b, t.raw, ND_HTML_AS_NAME);
        break;
      case ND_HTML_COMMENT:
        put(b, "\nComment", 8);
        put_decoded(b, t.raw, ND_HTML_AS_RAWTEXT);
        break;
      case ND_HTML_DOCTYPE:
        nd_html_parse_doctype(&d, &t);
        put(b, "\nDOCTYPE", 8);
        d.has_name ? put_decoded(b, d.name, ND_HTML_AS_NAME) : put(b, " null", 5);
        d.has_public ? put_decoded(b, d.public_id, ND_HTML_AS_RAWTEXT) : put(b, " null", 5);
        d.has_system ? put_decoded(b, d.system_id, ND_HTML_AS_RAWTEXT) : put(b, " null", 5);
        put(b, d.quirks ? " wrong" : " right", 6);
        break;
    }
  }
  nd_buf_clear(&text);
}

/* xmlViolation.test expects what an XML tree could hold. */
static void replace(nd_buf *b, const char *from, const char *to) {
  nd_buf fresh = {0};
  size_t n = strlen(from);
  for (size_t i = 0; i < b->n;) {
    if (b->n - i >= n && memcmp(b->p + i, from, n) == 0) {
      put(&fresh, to, strlen(to));
      i += n;
    } else {
      put(&fresh, b->p + i++, 1);
    }
  }
  nd_buf_clear(b);
  *b = fresh;
}

static bool run_one(const json *test, const char *state, bool xml) {
  static const char *const names[] = {"Data state",      "RCDATA state",
                                      "RAWTEXT state",   "Script data state",
                                      "PLAINTEXT state", "CDATA section state"};
  nd_buf expected = {0}, actual = {0};
  /* An exact copy, so that a sanitizer sees reads past the end. */
  nd_str input = nd_buf_str(&json_get(test, "input")->text);
  char *copy = malloc(input.n ? input.n : 1);
  if (input.n) memcpy(copy, input.p, input.n);
  nd_html_scan s;
  nd_html_scan_init(&s, (nd_str){copy, input.n});
  int k = 0;
  while (strcmp(names[k], state) != 0) k++;
  s.state = (nd_html_state)k;
  const json *last = json_get(test, "lastStartTag");
  if (last) s.last_start = nd_buf_str(&last->text);
  write_expected(&expected, json_get(test, "output"));
  write_actual(&actual, &s);
  if (xml) {
    replace(&actual, "\xEF\xBF\xBF", "\xEF\xBF\xBD");
    replace(&actual, "\f", " ");
    replace(&actual, " 12: foo -- bar ", " 13: foo - - bar ");
  }
  bool same = nd_str_eq(nd_buf_str(&expected), nd_buf_str(&actual));
  if (!same) {
    print_message("%s, %s\n input: %.*s\n expected:%.*s\n actual:%.*s\n",
                  json_get(test, "description")->text.p, state, (int)input.n, input.p,
                  (int)expected.n, expected.p, (int)actual.n, actual.p);
  }
  free(copy);
  nd_buf_clear(&expected);
  nd_buf_clear(&actual);
  return same;
}

static void tokens_agree_with_html5lib(void **unused) {
  (void)unused;
  const char *data = getenv("NEARDUP_DATA");
  char folder[2000], path[4000];
  snprintf(folder, sizeof folder, "%s/html5lib-tests/tokenizer", data ? data : "");
  DIR *d = data ? opendir(folder) : NULL;
  if (!d) {
    print_message("skipped, no data\n");
    skip();
  }
  int passed = 0, failed = 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    const char *dot = strrchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".test") != 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    size_t n;
    char *text = read_file(path, &n);
    const char *p = text;
    assert_non_null(text);
    json *file = json_read(&p), *list = json_get(file, "tests");
    bool xml = list == NULL;
    if (xml) list = json_get(file, "xmlViolationTests");
    for (json *t = list->child; t; t = t->next) {
      if (json_get(t, "doubleEscaped")) {
        unescape_all(json_get(t, "input"));
        json *output = json_get(t, "output"), *next = output->next;
        output->next = NULL;
        unescape_all(output);
        output->next = next;
      }
      json *states = json_get(t, "initialStates");
      for (json *s = states ? states->child : NULL; s || !states; s = s->next) {
        char name[40] = "Data state";
        if (s) snprintf(name, sizeof name, "%.*s", (int)s->text.n, s->text.p);
        run_one(t, name, xml) ? passed++ : failed++;
        if (!s) break;
      }
    }
    json_free(file);
    free(text);
  }
  closedir(d);
  print_message("html5lib tokenizer: %d passed, %d failed\n", passed, failed);
  assert_true(passed > 1000);
  assert_int_equal(failed, 0);
}

/* --- text extraction ---------------------------------------------------------- */
static void check_same(nd_str html, uint64_t seed) {
  nd_buf fast = {0}, slow = {0};
  char *copy = malloc(html.n ? html.n : 1);
  if (html.n) memcpy(copy, html.p, html.n);
  assert_int_equal(nd_html_text(&fast, (nd_str){copy, html.n}, NULL), ND_OK);
  slow_html_text(&slow, html);
  if (!nd_str_eq(nd_buf_str(&fast), nd_buf_str(&slow))) {
    fail_msg("seed %llu, input:\n%.*s\nfast:\n%.*s\nslow:\n%.*s", (unsigned long long)seed,
             (int)html.n, html.p, (int)fast.n, fast.p, (int)slow.n, slow.p);
  }
  free(copy);
  nd_buf_clear(&fast);
  nd_buf_clear(&slow);
}

static uint64_t next_random(uint64_t *x) {
  *x += 0x9E3779B97F4A7C15u;
  uint64_t z = *x;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

static void random_pages_agree_with_the_slow_extractor(void **unused) {
  (void)unused;
  static const char *const pieces[] = {
      "<",
      ">",
      "/",
      "=",
      "\"",
      "'",
      "&",
      ";",
      " ",
      "\n",
      "-",
      "!",
      "--",
      "<!--",
      "-->",
      "--!>",
      "a",
      "<p>",
      "</p>",
      "<b>",
      "</B>",
      "<br/>",
      "<DIV class=\"x\">",
      "</div >",
      "<a href='x>y'>",
      "</a>",
      "<img src=a/>",
      "<x y=z\"q>",
      "<x =\"a>\">",
      "<x a = \"b\" c='d'e=\"f\">",
      "<x a=b=\"c>d\">",
      "<x a/=\"b>\">",
      "<x a\n=\n'b'>",
      "<x a=\">",
      "<script>",
      "</script>",
      "</script ",
      "<style>",
      "</STYLE>",
      "<title>",
      "</title>",
      "<textarea>",
      "</textarea>",
      "<xmp>",
      "</xmp>",
      "<svg>",
      "</svg>",
      "<svg/>",
      "<math>",
      "</math>",
      "<style/>",
      "<script/>",
      "<title/>",
      "<![CDATA[",
      "]]>",
      "<template>",
      "</template>",
      "<template shadowrootmode=open>",
      "<noscript>",
      "</noscript>",
      "<iframe>",
      "</iframe>",
      "<?x",
      "<!x",
      "</",
      "</>",
      "</3",
      "<3",
      "<!doctype html>",
      "&amp;",
      "&amp",
      "&nGt;",
      "&nbsp;",
      "&#65;",
      "&#x41",
      "&#0;",
      "&#128;",
      "&notit;",
      "&notin;",
      "&nosuch;",
      "&#",
      "&#x",
      "word",
      "Wörter",
      "漢字",
      "\t",
      "\r\n",
      "<blockquote>",
      "<figcaption>",
      "<h1>",
      "<h\x11>",
      "<custom-element a>",
      "<p\x0b>",
      "<td",
      "<li>",
      "<option>",
      "\xff",
      "<span>",
      ("<td class=\"a very long value of an attribute, longer than one block of any level\">"),
      "some text that is a little longer than one block of bytes, too"};
  enum { PIECES = sizeof pieces / sizeof *pieces };
  uint64_t seed = test_seed();
  print_message("level %s\n", nd_cpu_name(nd_cpu()));
  nd_buf html = {0};
  for (int round = 0; round < 40000; round++) {
    uint64_t start = seed + (uint64_t)round, x = start;
    html.n = 0;
    for (uint64_t n = next_random(&x) % 40; n > 0; n--) {
      uint64_t r = next_random(&x);
      if (r % 50 == 0) {
        char c = (char)(r >> 20);
        put(&html, &c, 1);
      } else {
        const char *piece = pieces[(r >> 8) % PIECES];
        put(&html, piece, strlen(piece));
      }
    }
    check_same(nd_buf_str(&html), start);
  }
  nd_buf_clear(&html);
}

static void check_text(const char *html, const char *text) {
  nd_buf out = {0};
  assert_int_equal(nd_html_text(&out, nd_str_of(html), NULL), ND_OK);
  put(&out, "", 1);
  assert_string_equal(out.p, text);
  nd_buf_clear(&out);
}

static void extracts_text_by_the_rules(void **unused) {
  (void)unused;
  check_text("", "");
  check_text("plain", "plain");
  check_text("<p>one</p><p>two</p>", "one\ntwo\n");
  check_text("in<b>li</b>ne <a href=x>li</a>nk", "inline link");
  check_text("a<br>b<td>c<li>d", "a\nb\nc\nd");
  check_text("<title>T &amp; t</title><style>p{}</style>x<script>a<b</script>y", "T & t\nxy");
  check_text("<noscript><p>kept</p></noscript>", "kept\n");
  check_text("a<!-- > -->b<!doctype x>c<?php > d", "abc d");
  check_text("a<template><p>b</p></template>c", "ac");
  check_text("<template shadowrootmode=open>b</template>c", "bc");
  check_text("<template shadowroot=open>b</template>c", "c");
  check_text("<template shadowrootmodes=open x>b</template>c", "c");
  check_text("<svg><![CDATA[", "");
  check_text("<svg><script href='x'/></svg>kept", "kept");
  check_text("<svg><![CDATA[a<b]]></svg>", "a<b");
  check_text("<script><!--<script></script>a</script>b", "b");
  check_text("<script><!--a->b</script>c", "c");
  check_text("<script><!--<script>a</script>b-->c</script>d", "d");
  check_text("1 < 2 & 3 &lt; 4", "1 < 2 & 3 < 4");
  check_text("<a title='>'>x</a>", "x");
  check_text("<plaintext>a<b>", "a<b>");
  check_text("cut <a href=\"", "cut ");
}

/* Every element of the table is found, in either case. */
static void every_element_is_found_in_either_case(void **unused) {
  (void)unused;
  int count = 0;
  for (int i = 0; i < 512; i++) {
    uint64_t key = nd_html_elements[i].key;
    if (key == 0) continue;
    char name[9] = {0}, upper[9] = {0};
    for (int k = 0; k < 8; k++) {
      name[k] = (char)(key >> 8 * k);
      upper[k] = name[k] >= 'a' ? (char)(name[k] - 32) : name[k];
    }
    assert_int_equal(ND_HTML_ELEMENT_HASH(key), i);
    assert_int_equal(nd_html_element(nd_str_of(name)), nd_html_elements[i].flags);
    assert_int_equal(nd_html_element(nd_str_of(upper)), nd_html_elements[i].flags);
    count++;
  }
  assert_int_equal(count, 97);
  assert_true(nd_html_element(nd_str_of("BlockQuote")) & ND_HTML_EL_BREAK);
  assert_int_equal(nd_html_element(nd_str_of("blockquote-")), 0);
  assert_int_equal(nd_html_element(nd_str_of("blockquot")), 0);
  assert_int_equal(nd_html_element((nd_str){"blockquote\0", 11}), 0);
  assert_int_equal(nd_html_element(nd_str_of("span-")), 0);
}

/* Time stays linear: 1 MiB of each within a second, even instrumented. */
static void hostile_pages_take_linear_time(void **unused) {
  (void)unused;
  static const struct {
    const char *head, *unit;
  } inputs[] = {{"", "<"},
                {"", "&"},
                {"", "<p>"},
                {"", "<b "},
                {"<p ", "a "},
                {"<p ", "a=b "},
                {"<p ", "a='b' "},
                {"<p ", "a='"},
                {"<!--", "-"},
                {"<!--", "-->"},
                {"<!--", "a"},
                {"", "<!--"},
                {"", "<svg>"},
                {"", "<template>"},
                {"<svg>", "<![CDATA["},
                {"", "<svg><style>"},
                {"<script>", "<!--"},
                {"<script>", "<"},
                {"", "</"},
                {"<title>", "</title"},
                {"", "<script>"},
                {"", "&no"},
                {"", "&#"},
                {"&#", "9"},
                {"<", "a"},
                {"<p ", "="},
                {"<p ", "\""},
                {"<p ", "/"},
                {"<svg>", "<a b='c'/>"},
                {"", "<textarea>"},
                {"<script><!--", "<script>"}};
  enum { SIZE = 1 << 20 };
  char *page = malloc(SIZE + 16);
  nd_buf out = {0};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    size_t n = strlen(inputs[i].head), unit = strlen(inputs[i].unit);
    memcpy(page, inputs[i].head, n);
    for (; n + unit <= SIZE; n += unit) memcpy(page + n, inputs[i].unit, unit);
    clock_t before = clock();
    out.n = 0;
    assert_int_equal(nd_html_text(&out, (nd_str){page, n}, NULL), ND_OK);
    nd_html_scan s;
    nd_html_token t;
    nd_html_scan_init(&s, (nd_str){page, n});
    while (nd_html_scan_next(&s, &t)) nd_html_scan_enter(&s, &t);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (seconds > 1) fail_msg("%s %s: %.2f s", inputs[i].head, inputs[i].unit, seconds);
  }
  free(page);
  nd_buf_clear(&out);
}

static void test_no_memory(void **unused) {
  (void)unused;
  nd_buf out = {0};
  nd_mem_fail_at(1);
  assert_int_equal(nd_html_text(&out, nd_str_of("<p>a"), NULL), ND_ERR_MEMORY);
  nd_mem_fail_at(0);
  assert_int_equal(nd_html_text(&out, nd_str_of("<p>a"), NULL), ND_OK);
  nd_buf_clear(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tokens_agree_with_html5lib),
      cmocka_unit_test(extracts_text_by_the_rules),
      cmocka_unit_test(every_element_is_found_in_either_case),
      cmocka_unit_test(random_pages_agree_with_the_slow_extractor),
      cmocka_unit_test(hostile_pages_take_linear_time),
      cmocka_unit_test(test_no_memory),
  };
  /* The level is chosen once a process: the base level runs in a child. */
  int status = 0;
  pid_t child = getenv("NEARDUP_CPU") ? -1 : fork();
  if (child == 0) {
    setenv("NEARDUP_CPU", "base", 1);
    return cmocka_run_group_tests_name("html, base level", tests, NULL, NULL);
  }
  if (child > 0) waitpid(child, &status, 0);
  return cmocka_run_group_tests_name("html", tests, NULL, NULL) || status != 0;
}
