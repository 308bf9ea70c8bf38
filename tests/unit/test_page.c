/* Pages: complete, self-contained, nothing of a text becomes markup; escapes
 * and the digest of the policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/sha256.h"
#include "every_place.h"
#include "output/escape.h"
#include "output/page.h"
#include "xml_check.h"

static void expect(nd_status (*escape)(nd_buf *, nd_str, bool, nd_error *), bool line,
                   const char *text, size_t n, const char *want) {
  nd_buf b = {0};
  ok(escape(&b, (nd_str){text, n}, line, &err));
  ok(nd_buf_append(&b, "", 1, &err));
  assert_string_equal(b.p, want);
  nd_buf_clear(&b);
}

static void markup_and_controls_are_escaped(void **state) {
  (void)state;
  expect(nd_escape_html, true, "a<b>&\"'", 7, "a&lt;b&gt;&amp;&quot;&#39;");
  expect(nd_escape_html, true, "\n\t\x1b\x7f", 4,
         "\xe2\x90\x8a\xe2\x90\x89\xe2\x90\x9b\xe2\x90\xa1");
  expect(nd_escape_html, false, "a\n\tb\r", 5, "a\n\tb\xe2\x90\x8d");
  expect(nd_escape_html, true, "\0", 1, "\xe2\x90\x80");
  expect(nd_escape_html, true, "\xe2\x80\xae", 3, "&lt;U+202E&gt;");
  expect(nd_escape_html, true, "\xc2\x9b", 2, "\xef\xbf\xbd");
  expect(nd_escape_html, true, "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  expect(nd_escape_html, true, "\xef\xbf\xbe", 3, "\xef\xbf\xbd");
  expect(nd_escape_html, true, "\xe4\xb8", 2, "\xef\xbf\xbd\xef\xbf\xbd");
  expect(nd_escape_html, true, "\xe4\xb8\xad \xd9\x85", 6, "\xe4\xb8\xad \xd9\x85");
  expect(nd_escape_html, true, NULL, 0, "");
  expect(nd_escape_plain, true, "<a>&\x1b[31m\xc2\x9b", 11, "<a>&\xe2\x90\x9b[31m\xef\xbf\xbd");
  expect(nd_escape_plain, false, "a\nb", 3, "a\nb");
  nd_buf b = {0};
  const char *script = "</script>\"\\\n\xe2\x80\xa8";
  ok(nd_escape_script(&b, nd_str_of(script), &err));
  ok(nd_buf_append(&b, "", 1, &err));
  assert_string_equal(b.p, "\"\\u003c/script\\u003e\\\"\\\\\\n \"");
  nd_buf_clear(&b);
}

/* Whatever the bytes: well formed, and no control reaches a terminal. */
static void random_bytes(void **state) {
  (void)state;
  nd_rng rng = {31};
  for (int round = 0; round < 5000; round++) {
    char text[64];
    size_t n = (size_t)nd_rng_below(&rng, sizeof text);
    for (size_t i = 0; i < n; i++)
      text[i] =
          (char)(round % 2
                     ? nd_rng_below(&rng, 256)
                     : (uint64_t) "<&\xe2\x80\xae\xef\xbf\xbf\x1b\x9b"[nd_rng_below(&rng, 10)]);
    nd_buf b = {0};
    ok(nd_buf_append(&b, "<a>", 3, &err));
    ok(nd_escape_html(&b, (nd_str){text, n}, round % 3 == 0, &err));
    ok(nd_buf_append(&b, "</a>", 4, &err));
    xml_check x;
    if (!xml_well_formed(&x, b.p, b.n) && round % 3 == 0) fail_msg("%s", x.fault);
    b.n = 0;
    ok(nd_escape_plain(&b, (nd_str){text, n}, true, &err));
    for (size_t i = 0; i < b.n;) {
      uint32_t c = nd_escape_point(nd_buf_str(&b), &i);
      assert_true(c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && c != 0x202e);
    }
    nd_buf_clear(&b);
  }
}

static void digests_are_those_of_the_standard(void **state) {
  (void)state;
  char text[45];
  /* FIPS 180-4 examples and echo -n … | openssl dgst -sha256 -binary | base64 */
  nd_sha256_base64(text, nd_str_of(""));
  assert_string_equal(text, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  nd_sha256_base64(text, nd_str_of("abc"));
  assert_string_equal(text, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  uint8_t d[32];
  char *million = malloc(1000000);
  memset(million, 'a', 1000000);
  nd_sha256(d, (nd_str){million, 1000000});
  assert_int_equal(d[0], 0xcd);
  assert_int_equal(d[1], 0xc7);
  assert_int_equal(d[31], 0xd0);
  for (size_t n = 54; n < 130; n++) nd_sha256(d, (nd_str){million, n});
  free(million);
}

static char *slurp(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("%s is missing", path);
  char *text = calloc(1, 1 << 20);
  assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
  fclose(f);
  return text;
}

static void whole_page(void **state) {
  (void)state;
  char dir[] = "/tmp/neardup-page-XXXXXX", path[100], svg_path[100];
  assert_non_null(mkdtemp(dir));
  const char *bad = "</p><script>alert(1)</script>";
  double x[] = {1, 2}, y[] = {3, 4};
  nd_series s = {.name = bad, .x = x, .y = y, .n = 2};
  nd_chart chart = {.name = "first", .title = bad, .series = &s, .series_n = 1};
  const char *columns[] = {"name", "share#"};
  nd_page p;
  nd_page_start(&p, dir, bad, bad, &err);
  nd_page_heading(&p, bad);
  nd_page_code(&p, bad);
  nd_page_chart(&p, &chart);
  nd_page_table(&p, bad, columns, 2);
  nd_page_cell(&p, bad);
  nd_page_cell_number(&p, 0.12345, 3);
  nd_page_cell(&p, NULL);
  nd_page_cell_number(&p, NAN, 3);
  nd_page_cell_count(&p, 1234567);
  nd_page_table_end(&p);
  ok(nd_page_write(&p));
  snprintf(path, sizeof path, "%s/index.html", dir);
  char *html = slurp(path);
  assert_null(strstr(html, "<script"));
  assert_non_null(strstr(html, "<td class=\"num\">0.123</td></tr>"));
  assert_non_null(strstr(html, "\xe2\x80\x93"));
  assert_non_null(strstr(html, "1,234,567"));
  assert_non_null(strstr(html, "default-src 'none'; style-src 'sha256-"));
  assert_non_null(strstr(html, "script-src 'none'"));
  assert_null(strstr(html, "#</th>"));
  /* The policy names the very style that is there. */
  const char *style = strstr(html, "<style>") + 7, *end = strstr(style, "</style>");
  char digest[45];
  nd_sha256_base64(digest, (nd_str){style, (size_t)(end - style)});
  assert_non_null(strstr(html, digest));
  free(html);
  snprintf(svg_path, sizeof svg_path, "%s/first.svg", dir);
  char *svg = slurp(svg_path);
  xml_check check;
  if (!xml_well_formed(&check, svg, strlen(svg))) fail_msg("%s", check.fault);
  free(svg);
  unlink(path);
  unlink(svg_path);
  rmdir(dir);
}

static void counts_have_thousands_separators(void **state) {
  (void)state;
  char text[32];
  nd_page_count(text, 0);
  assert_string_equal(text, "0");
  nd_page_count(text, 999);
  assert_string_equal(text, "999");
  nd_page_count(text, 1000);
  assert_string_equal(text, "1,000");
  nd_page_count(text, UINT64_MAX);
  assert_string_equal(text, "18,446,744,073,709,551,615");
}

static void unwritable_folder(void **state) {
  (void)state;
  nd_page p;
  nd_page_start(&p, "/dev/null/x", "t", NULL, &err);
  assert_int_equal(nd_page_write(&p), ND_ERR_IO);
  assert_non_null(strstr(err.message, "/dev/null"));
}

/* A page that is not written anywhere, and odd tables. */
static void odd_pages(void **state) {
  (void)state;
  double x[] = {1, 2}, y[] = {3, 4};
  nd_series s = {.name = "s", .x = x, .y = y, .n = 2};
  nd_chart chart = {.name = "c", .title = "c", .series = &s, .series_n = 1};
  const char *columns[] = {"", "n#", "#"};
  nd_page p;
  nd_page_start(&p, NULL, "t", NULL, &err);
  nd_page_chart(&p, &chart);
  nd_page_table(&p, "none", NULL, 0);
  nd_page_table_end(&p);
  nd_page_table(&p, "some", columns, 3);
  nd_page_cell(&p, "x");
  nd_page_cell_number(&p, 1.5, -1);
  nd_page_cell_number(&p, 0.5, 40);
  nd_page_cell(&p, "cut");
  nd_page_table_end(&p);
  ok(nd_buf_append(&p.html, "", 1, &err));
  assert_non_null(
      strstr(p.html.p, "<th scope=\"col\"></th><th scope=\"col\" class=\"num\">n</th>"));
  assert_non_null(
      strstr(p.html.p, "<td class=\"num\">2</td><td class=\"num\">0.50000000000000000</td>"));
  ok(nd_page_write(&p));
  /* A chart without a name has no file of its own. */
  nd_page_start(&p, "/dev/null/x", "t", NULL, &err);
  chart.name = NULL;
  nd_page_chart(&p, &chart);
  ok(p.status);
  chart.name = "c";
  nd_page_chart(&p, &chart);
  assert_int_equal(nd_page_write(&p), ND_ERR_IO);
}

/* So large that it does not wait in the writer's buffer; with a script at its end. */
static nd_status large_page(void *context) {
  const char *const *with = context; /* folder, text */
  double x[] = {1, 2}, y[] = {3, 4};
  nd_series s = {.name = "s", .x = x, .y = y, .n = 2};
  nd_chart chart = {.name = "first", .title = "c", .series = &s, .series_n = 1};
  nd_page p;
  nd_page_start(&p, with[0], "t", "lead", &err);
  nd_page_chart(&p, &chart);
  nd_page_paragraph(&p, with[1]);
  if (p.status == ND_OK) p.status = nd_page_foot(&p.html, "let x = 1;", &err);
  return nd_page_write(&p);
}

static void pages_fail_cleanly(void **state) {
  (void)state;
  enum { N = 1500000 };
  char dir[] = "/tmp/neardup-page-XXXXXX", path[100];
  assert_non_null(mkdtemp(dir));
  char *text = malloc(N + 1);
  memset(text, 'x', N);
  text[N] = '\0';
  const char *with[] = {dir, text};
  assert_true(every_place_fails(large_page, with) >= 12);
  free(text);
  snprintf(path, sizeof path, "%s/index.html", dir);
  unlink(path);
  snprintf(path, sizeof path, "%s/first.svg", dir);
  unlink(path);
  assert_int_equal(rmdir(dir), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(markup_and_controls_are_escaped),
      cmocka_unit_test(random_bytes),
      cmocka_unit_test(digests_are_those_of_the_standard),
      cmocka_unit_test(whole_page),
      cmocka_unit_test(counts_have_thousands_separators),
      cmocka_unit_test(unwritable_folder),
      cmocka_unit_test(odd_pages),
      cmocka_unit_test(pages_fail_cleanly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
