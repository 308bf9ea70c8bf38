/* Web tokens, hosts and sites: cases, and any bytes against a slow version. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/plain.h"
#include "text/site.h"
#include "text/web.h"
#include "tools.h"

/* --- hosts and sites ------------------------------------------------------------ */

static void is(nd_str got, const char *want) {
  if (!nd_str_eq(got, nd_str_of(want))) fail_msg("'%.*s' is not '%s'", (int)got.n, got.p, want);
}

static void hosts_are_found_in_addresses(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"http://www.cs.berkeley.edu/index.html", "www.cs.berkeley.edu"},
      {"www.cs.berkeley.edu/index.html", "www.cs.berkeley.edu"},
      {"HTTPS://User:pass@Example.ORG:8080/a?b#c", "Example.ORG"},
      {"//cdn.example.org/x", "cdn.example.org"},
      {"http://example.org", "example.org"},
      {"http://example.org?q=http://other.org/", "example.org"},
      {"http://example.org.:80/", "example.org"},
      {"example.org:8080/x", "example.org"},
      {"http://[2001:db8::1]:80/", "[2001:db8::1]"},
      {"mailto:someone@example.org", ""},
      {"data:image/gif;base64,R0lG", ""},
      {"javascript:void(0)", ""},
      {"/path/file", ""},
      {"#top", ""},
      {"?q", ""},
      {"", ""},
      {"http://", ""},
      {"http:///x", ""},
      {"http://example.org\\x", "example.org"},
      {"example:", ""},
      {"ftp://a.b.c/d@e", "a.b.c"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    is(nd_url_host(nd_str_of(cases[i][0])), cases[i][1]);
  is(nd_url_authority(nd_str_of("www.example.org/x")), "");
  is(nd_url_authority(nd_str_of("//www.example.org/x")), "www.example.org");
}

static void site_is_the_host_without_its_first_label(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"www.cs.berkeley.edu", "cs.berkeley.edu"},
                                         {"berkeley.edu", "berkeley.edu"},
                                         {"localhost", "localhost"},
                                         {"www.example.org", "example.org"},
                                         {"a.b.c.d", "b.c.d"},
                                         {"192.168.1.17", "192.168.1.17"},
                                         {"[2001:db8::1.2.3]", "[2001:db8::1.2.3]"},
                                         {"", ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    is(nd_host_site(nd_str_of(cases[i][0])), cases[i][1]);
  uint64_t a = nd_site_key(nd_str_of("http://www.example.org/x"));
  assert_int_equal(a, nd_site_key(nd_str_of("https://MAIL.Example.Org:80/y?z")));
  assert_int_equal(a, nd_site_key(nd_str_of("example.org")));
  assert_true(a != nd_site_key(nd_str_of("http://www.example.net/x")));
  assert_int_equal(nd_site_key(nd_str_of("/x")), 0);
  /* Longer than any name may be: every byte counts. */
  char name[2][401];
  memset(name, 'a', sizeof name);
  name[0][400] = name[1][400] = '\0';
  uint64_t long_key = nd_site_number(nd_str_of(name[0]));
  assert_int_equal(long_key, nd_site_number(nd_str_of(name[1])));
  name[1][300] = 'b';
  assert_true(long_key != nd_site_number(nd_str_of(name[1])));
  assert_true(nd_host_same(nd_str_of("A.b"), nd_str_of("a.B")));
  assert_false(nd_host_same(nd_str_of("a.b"), nd_str_of("a.bc")));
}

/* --- tokens -------------------------------------------------------------------------- */

static void splits(const char *text, size_t n, bool images, const char *url, const char *want) {
  nd_tokens t = {0};
  ok(nd_web_split(&t, (nd_str){text, n}, images, nd_str_of(url), &err));
  is(nd_buf_str(&t.text), want);
  size_t spaces = 0;
  for (size_t i = 0; i < t.text.n; i++) spaces += t.text.p[i] == ' ';
  assert_int_equal(t.count, t.text.n ? spaces + 1 : 0);
  for (size_t i = 0, at = 0; i < t.count; i++) {
    assert_true(t.end[i] > at && t.end[i] <= t.text.n);
    if (t.end[i] < t.text.n) assert_int_equal(t.text.p[t.end[i]], ' ');
    at = t.end[i] + 1;
  }
  nd_tokens_clear(&t);
}

static void urls_in_text(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"", ""},
      {"Some words, no more.", "some words no more"},
      {"See http://www.Foo-Bar.org/a_b/Index.html!", "see http www foo-bar org a_b index html"},
      {"See (https://a.b/c?x=1&y=2#top), or ftp://d.e.", "see https a b c?x=1&y=2#top or ftp d e"},
      {"www.example.org/~me/ is mine", "www example org ~me is mine"},
      {"WWW.EXAMPLE.ORG", "www example org"},
      {"awww.cute.org", "awww cute org"}, /* no URL: words, broken everywhere */
      {"xhttp://a-b.c", "xhttp a b c"},
      {"gopher://a-b.c", "gopher a b c"},
      {"http://", "http"},
      {"http:// a", "http a"},
      {"http://a-b", "http a-b"},
      {"www. a", "www a"},
      {"www.", "www"},
      {"http://a.b/-/_/.../c", "http a b c"},
      {"http://a.bhttp://c.d", "http a bhttp: c d"},
      {"http://a.b,http://c-d.e", "http a b,http: c-d e"},
      {"http://a.b \xC3\x84rger http://\xC3\xBC.de/x-y",
       "http a b \xC3\xA4rger http \xC3\xBC de x y"},
      {"e.g. 3.14: a::b", "e g 3 14 a b"},
      {"http://a-b.c<http://d-e.f>", "http a-b c http d-e f"},
      {"\"http://a-b.c/d\"", "http a-b c d"},
      {"'http://a-b.c/d'", "http a-b c d"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    splits(cases[i][0], strlen(cases[i][0]), false, "", cases[i][1]);
  splits("a\0b", 3, false, "", "a b");
}

/* HTML → text → tokens. */
static void page(const char *html, const char *url, const char *want) {
  nd_plain p = {0};
  nd_str text;
  nd_plain_request r = {.bytes = nd_str_of(html), .html = true, .images = true};
  ok(nd_plain_text(&text, &p, &r, &err));
  assert_true(p.images);
  splits(text.p, text.n, true, url, want);
  nd_plain_clear(&p);
}

static void images_become_tokens_relative_to_the_page(void **state) {
  (void)state;
  const char *home = "http://www.Example.org/dir/page.html";
  page("<p>One <img src='http://www.example.org/pics/Logo.gif'> two", home, "one Logo.gif two");
  page("<p>One <img src=http://other.org/pics/Logo.gif> two", home,
       "one http://other.org/pics/Logo.gif two");
  page("<img alt=x src=\"pics/a.png?v=2#f\">", home, "a.png");
  page("<img src=a.png>", "", "a.png");
  page("<img src=/a.png>", home, "a.png");
  page("<img src=http://www.example.org/a.png>", "", "http://www.example.org/a.png");
  page("<img src='HTTP://Other.ORG/A b\n.PNG'>", home, "http://other.org/Ab.PNG");
  page("<img src='//www.example.org:80/a.png'/>", home, "a.png");
  page("<img src='//other.org/a.png'/>", home, "//other.org/a.png");
  page("<img src='https://www.example.org/dir/'>x", home, "x");
  page("<img src='http://www.example.org'>x", home, "x");
  page("<img src=''>x<img>y<img src=' '>z", home, "xy z");
  page("<img src='data:image/gif;base64,R0lG/x=='>", home, "data:image/gif;base64,R0lG/x==");
  page("<img src='http://o.org/a.php?x=1&amp;y=2&#38;z'>", home, "http://o.org/a.php?x=1&y=2&z");
  page("a<IMG SRC=x.gif>b", home, "a x.gif b");
  page("<img data-src=y.gif src=x.gif src=z.gif>", home, "x.gif");
  page("<!-- <img src=a.gif> --><script>'<img src=b.gif>'</script>c", home, "c");
  page("<template><img src=a.gif></template><svg><img src=b.gif></svg>c", home, "b.gif c");
  page("a <img src=x.gif", home, "a"); /* cut off */
  page("see http://a-b.c/<img src=x.gif>d-e", home, "see http a-b c x.gif d e");
  page("<image src=x.gif><imgx src=y.gif>", home, "");
  page("a\0b", home, "a");
  page("a<img src='x\n.gif'>", "not a url", "a x.gif");
}

/* What stands in the text is not changed by asking for images. */
static void text_stays_the_same(void **state) {
  (void)state;
  static const char *const parts[] = {"<img src=a.gif>",
                                      "<img alt='>' src=\"b.gif\" />",
                                      "<b>",
                                      "text ",
                                      "&amp;",
                                      "<p>",
                                      "<svg>",
                                      "</svg>",
                                      "<template>",
                                      "</template>",
                                      "<",
                                      "img",
                                      "<!--",
                                      "-->",
                                      "\n",
                                      "<title>",
                                      "</title>",
                                      "<img",
                                      " src",
                                      "='",
                                      "'>",
                                      "&#0;",
                                      "<script>",
                                      "</script>",
                                      "x"};
  nd_rng rng = {1};
  for (int round = 0; round < 3000; round++) {
    nd_buf html = {0}, plain = {0}, marked = {0}, without = {0};
    for (uint64_t k = nd_rng_below(&rng, 25); k; k--) {
      const char *part = parts[nd_rng_below(&rng, sizeof parts / sizeof *parts)];
      ok(nd_buf_append(&html, part, strlen(part), &err));
      if (nd_rng_below(&rng, 30) == 0) ok(nd_buf_append(&html, "\0", 1, &err));
    }
    ok(nd_html_text(&plain, nd_buf_str(&html), &err));
    ok(nd_html_text_images(&marked, nd_buf_str(&html), &err));
    bool inside = false;
    for (size_t i = 0; i < marked.n; i++) {
      if (marked.p[i] == 0)
        inside = !inside;
      else if (!inside)
        ok(nd_buf_append(&without, marked.p + i, 1, &err));
    }
    assert_false(inside);
    /* A break after an image is not one after a break. */
    size_t a = 0, b = 0;
    while (a < plain.n || b < without.n) {
      while (a < plain.n && plain.p[a] == '\n') a++;
      while (b < without.n && without.p[b] == '\n') b++;
      if (a >= plain.n || b >= without.n) break;
      assert_int_equal(plain.p[a++], without.p[b++]);
    }
    assert_true(a >= plain.n && b >= without.n);
    nd_buf_clear(&html);
    nd_buf_clear(&plain);
    nd_buf_clear(&marked);
    nd_buf_clear(&without);
  }
}

/* --- a slow version for ASCII ---------------------------------------------------------- */

static bool is_url(int c) {
  return isalnum(c) || (c && strchr("-._~:/?#[]@!$&'()*+,;=%", c));
}

static bool starts(const char *p, const char *end, const char *word) {
  for (; *word; word++, p++) {
    if (p >= end || tolower((unsigned char)*p) != *word) return false;
  }
  return true;
}

/* The length of the URL at p, 0 when none begins there. */
static size_t url_at(const char *text, const char *p, const char *end) {
  static const char *const heads[] = {"http://", "https://", "ftp://", "www."};
  if (p > text && isalnum((unsigned char)p[-1])) return 0;
  for (int h = 0; h < 4; h++) {
    size_t head = strlen(heads[h]);
    if (!starts(p, end, heads[h]) || p + head >= end) continue;
    int next = (unsigned char)p[head];
    if (h == 3 ? !isalnum(next) : !is_url(next)) continue;
    size_t n = 0;
    while (p + n < end && is_url((unsigned char)p[n])) n++;
    while (n && strchr(".,:;!?'()[]", p[n - 1])) n--;
    return n;
  }
  return 0;
}

static void slow(char *out, const char *text, size_t n) {
  const char *p = text, *end = text + n;
  bool open = false;
  char *o = out;
  while (p < end) {
    size_t url = open ? 0 : url_at(text, p, end);
    if (url) {
      const char *stop = p + url;
      bool first = true;
      while (p < stop) {
        const char *q = p;
        bool word = false;
        while (q < stop && *q != '/' && *q != '.') word |= isalnum((unsigned char)*q++) != 0;
        if (word) {
          if (o > out) *o++ = ' ';
          for (const char *c = p; c < q; c++)
            if (!(first && c + 1 == q && *c == ':')) *o++ = (char)tolower((unsigned char)*c);
        }
        first = false;
        p = q + 1;
      }
      p = stop;
      continue;
    }
    if (isalnum((unsigned char)*p)) {
      if (!open && o > out) *o++ = ' ';
      *o++ = (char)tolower((unsigned char)*p);
      open = true;
    } else {
      open = false;
    }
    p++;
  }
  *o = 0;
}

static void any_ascii(void **state) {
  (void)state;
  static const char *const parts[] = {"http", "HTTPS", "://", "ftp://", "www", ".", "/", "a",
                                      "B-c",  " ",     "\n",  ",",      "(",   ")", "'", "\"",
                                      ":",    "x_y",   "7",   "?",      "#",   "<"};
  nd_rng rng = {2};
  for (int round = 0; round < 30000; round++) {
    char text[400], want[1200];
    size_t n = 0;
    for (uint64_t k = nd_rng_below(&rng, 30); k; k--) {
      const char *part = parts[nd_rng_below(&rng, sizeof parts / sizeof *parts)];
      memcpy(text + n, part, strlen(part));
      n += strlen(part);
    }
    slow(want, text, n);
    splits(text, n, false, "", want);
  }
}

static void any_bytes(void **state) {
  (void)state;
  nd_rng rng = {3};
  nd_tokens t = {0};
  for (int round = 0; round < 3000; round++) {
    char text[200];
    size_t n = (size_t)nd_rng_below(&rng, sizeof text);
    for (size_t i = 0; i < n; i++) {
      uint64_t r = nd_rng_below(&rng, 12);
      text[i] = r == 0 ? 0 : r < 8 ? "htp:/w.a -"[nd_rng_below(&rng, 10)] : (char)nd_rng_next(&rng);
    }
    ok(nd_web_split(&t, (nd_str){text, n}, round % 2, nd_str_of("http://a.b/"), &err));
    size_t at = 0;
    for (size_t i = 0; i < t.count; i++) {
      assert_true(t.end[i] > at);
      for (size_t c = at; c < t.end[i]; c++) assert_true(t.text.p[c] != ' ');
      at = t.end[i] + 1;
    }
    assert_true(t.count == 0 ? t.text.n == 0 : t.end[t.count - 1] == t.text.n);
  }
  nd_tokens_clear(&t);
}

/* A megabyte of marks: linear time. */
static void hostile_texts(void **state) {
  (void)state;
  static const char *const units[] = {"http://", "www.", "://",    "http://a.",
                                      ".",       ":",    "www.a,", "\0"};
  for (size_t u = 0; u < 8; u++) {
    size_t length = u == 7 ? 1 : strlen(units[u]), n = 1000000 / length * length;
    char *text = malloc(n);
    for (size_t i = 0; i < n; i++) text[i] = units[u][i % length];
    nd_tokens t = {0};
    ok(nd_web_split(&t, (nd_str){text, n}, true, nd_str_of(""), &err));
    nd_tokens_clear(&t);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hosts_are_found_in_addresses),
                                     cmocka_unit_test(site_is_the_host_without_its_first_label),
                                     cmocka_unit_test(urls_in_text),
                                     cmocka_unit_test(images_become_tokens_relative_to_the_page),
                                     cmocka_unit_test(text_stays_the_same),
                                     cmocka_unit_test(any_ascii),
                                     cmocka_unit_test(any_bytes),
                                     cmocka_unit_test(hostile_texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
