/* Kinds of difference on small documents of each kind, and of URLs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "every_place.h"
#include "study/common/difference.h"
#include "tools.h"

static nd_difference kind_of(const char *a, const char *b, nd_url_difference url) {
  nd_tokens x = {0}, y = {0};
  nd_diff d = {0};
  ok(nd_words_split(&x, nd_str_of(a), ND_TOKENS_WORDS, &err));
  ok(nd_words_split(&y, nd_str_of(b), ND_TOKENS_WORDS, &err));
  ok(nd_word_diff(&d, nd_buf_str(&x.text), x.end, x.count, nd_buf_str(&y.text), y.end, y.count,
                  &err));
  nd_difference kind = nd_difference_kind(&d, &x, &y, url);
  nd_diff_clear(&d);
  nd_tokens_clear(&x);
  nd_tokens_clear(&y);
  return kind;
}

static void expect(const char *a, const char *b, nd_difference want) {
  nd_difference got = kind_of(a, b, ND_URL_SAME), back = kind_of(b, a, ND_URL_SAME);
  if (got != want || back != want)
    fail_msg("%s and %s, not %s:\n%s\n%s", nd_difference_name(got), nd_difference_name(back),
             nd_difference_name(want), a, b);
}

#define FRAME "home news sport weather about us contact site map search this site for anything "
#define END " all rights reserved terms of use privacy notice back to the top of the page"
#define STORY \
  "the ferry to the island leaves twice a day in summer and once in winter when the sea allows "
#define OTHER \
  "bread needs flour water salt and patience more than it needs an oven of any special kind "

static void documents_differ_by_the_expected_kind(void **state) {
  (void)state;
  expect(STORY, STORY, ND_DIFFERENCE_EXACT);
  assert_int_equal(kind_of(STORY, STORY, ND_URL_WWW), ND_DIFFERENCE_URL);
  expect(STORY "printed on 12 March 2009 at 10:45", STORY "printed on 13 March 2009 at 11:02",
         ND_DIFFERENCE_TIME);
  expect(STORY "Mon, 2 Feb 2004 08:00:01 GMT", STORY "Tue, 3 Feb 2004 09:30:15 GMT",
         ND_DIFFERENCE_TIME);
  expect(STORY "2006-01-02T15:04:05Z", STORY "2007-11-22T05:14:00Z", ND_DIFFERENCE_TIME);
  expect(STORY "you are visitor 10452 of this page", STORY "you are visitor 99871 of this page",
         ND_DIFFERENCE_COUNTER);
  expect(STORY "key 9f86d081884c7d65", STORY "key 60303ae22b998861", ND_DIFFERENCE_COUNTER);
  expect(STORY FRAME, STORY "and one more sentence stands here " FRAME, ND_DIFFERENCE_PASSAGE);
  expect(STORY, FRAME STORY END, ND_DIFFERENCE_CONTAINED);
  expect(FRAME STORY STORY END, FRAME OTHER OTHER END, ND_DIFFERENCE_BOILERPLATE);
  expect("the old ferry to the island leaves twice a day in summer and once in winter " FRAME
         "when the sea allows it says the captain",
         "the new ferry to the island leaves thrice a day in summer and twice in winter " FRAME
         "when the wind allows it says the mate",
         ND_DIFFERENCE_EDITORIAL);
  expect(STORY, OTHER, ND_DIFFERENCE_OTHER);
  expect("", "", ND_DIFFERENCE_EXACT);
  expect("word", "", ND_DIFFERENCE_OTHER);
}

/* A number in an edited text is no counter; a name that changes is no time. */
static void near_misses(void **state) {
  (void)state;
  expect(STORY FRAME "in room 12", STORY FRAME "in hall 12", ND_DIFFERENCE_EDITORIAL);
  expect(STORY FRAME "on 12 March 2009 the captain spoke of ships",
         STORY FRAME "on 13 March 2009 the mate spoke of ships", ND_DIFFERENCE_EDITORIAL);
}

/* What differs is much of one document, and little of the other. */
static void uneven_cores(void **state) {
  (void)state;
  expect(FRAME STORY OTHER END " so it is", FRAME "much later " END " in short",
         ND_DIFFERENCE_EDITORIAL);
}

/* Single words that differ: what they are taken for. */
static void words_of_times_and_counters(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    nd_difference kind;
  } cases[] = {
      {"20060102150405", "20070102150405", ND_DIFFERENCE_TIME},
      {"20060102", "19991231", ND_DIFFERENCE_TIME},
      {"30060102", "39991231", ND_DIFFERENCE_COUNTER},
      {"02t15", "03t16", ND_DIFFERENCE_TIME},
      {"05z", "06z", ND_DIFFERENCE_TIME},
      {"5th", "6th", ND_DIFFERENCE_TIME},
      {"7h", "8h", ND_DIFFERENCE_TIME},
      {"5tx", "6tx", ND_DIFFERENCE_PASSAGE},
      {"5xx", "6xx", ND_DIFFERENCE_PASSAGE},
      {"555th", "666th", ND_DIFFERENCE_PASSAGE},
      {"14", "15", ND_DIFFERENCE_COUNTER}, /* of what? */
      {"014", "015", ND_DIFFERENCE_COUNTER},
      {"114", "115", ND_DIFFERENCE_COUNTER},
      {"2101", "2202", ND_DIFFERENCE_COUNTER},
      {"1998", "2003", ND_DIFFERENCE_TIME},
      {"ab12cd34", "ab12cd35", ND_DIFFERENCE_COUNTER},
      {"ab12cd3g", "ab12cd3h", ND_DIFFERENCE_PASSAGE},
      {"deadbeef", "feedbeef", ND_DIFFERENCE_PASSAGE},
      {"zyxwvu123456789", "zyxwvu123456780", ND_DIFFERENCE_COUNTER},
      {"zyxwvutsrqpo1", "zyxwvutsrqpo2", ND_DIFFERENCE_PASSAGE},
      {"march", "april", ND_DIFFERENCE_TIME},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char a[400], b[400];
    snprintf(a, sizeof a, STORY FRAME "then %s and on it goes", cases[i].a);
    snprintf(b, sizeof b, STORY FRAME "then %s and on it goes", cases[i].b);
    nd_difference want = cases[i].kind;
    /* One word for another is no passage that only one of them has. */
    expect(a, b, want == ND_DIFFERENCE_PASSAGE ? ND_DIFFERENCE_EDITORIAL : want);
    snprintf(b, sizeof b, STORY FRAME "then and on it goes");
    if (want == ND_DIFFERENCE_PASSAGE) expect(a, b, want);
  }
  /* Most of what differs is in one place, but that is little of the document. */
  expect(FRAME FRAME FRAME STORY "here stands a new sentence of nine words or so " END,
         FRAME FRAME FRAME STORY "there was an old one " END " with more", ND_DIFFERENCE_EDITORIAL);
}

static void expect_url(const char *a, const char *b, nd_url_difference want) {
  nd_url_difference got, back;
  ok(nd_url_compare(&got, nd_str_of(a), nd_str_of(b), &err));
  ok(nd_url_compare(&back, nd_str_of(b), nd_str_of(a), &err));
  if (got != want || back != want)
    fail_msg("%s, not %s: %s %s", nd_url_difference_name(got), nd_url_difference_name(want), a, b);
}

static void addresses_differ_by_the_expected_kind(void **state) {
  (void)state;
  expect_url("http://a.org/x", "http://a.org/x", ND_URL_SAME);
  expect_url("http://a.org/x", "", ND_URL_SAME);
  expect_url("http://a.org/x", "http://a.org/x#part", ND_URL_SAME);
  expect_url("http://a.org/x", "https://A.org/x", ND_URL_SCHEME);
  expect_url("http://a.org/x", "http://www.a.org/x", ND_URL_WWW);
  expect_url("http://a.org/", "http://a.org/index.html", ND_URL_INDEX);
  expect_url("http://a.org/x/", "http://www.a.org/x/Default.aspx", ND_URL_INDEX);
  expect_url("http://a.org/x", "http://a.org/x/", ND_URL_INDEX);
  expect_url("http://a.org/x?id=1", "http://a.org/x?id=1&PHPSESSID=77", ND_URL_SESSION);
  expect_url("http://a.org/x;jsessionid=12", "http://a.org/x;jsessionid=34", ND_URL_SESSION);
  expect_url("http://a.org/x?v=1", "http://a.org/x?v=2", ND_URL_QUERY);
  expect_url("http://a.org/x", "http://a.org/y", ND_URL_PATH);
  expect_url("http://a.org/x", "http://b.org/x", ND_URL_HOST);
}

/* Whatever the bytes: an answer, the same both ways. */
static nd_status compare_urls(void *context) {
  nd_url_difference got;
  (void)context;
  ND_TRY(nd_url_compare(&got, nd_str_of("http://www.a.org/x/?id=1&sid=4&page=2"),
                        nd_str_of("https://a.org/x?sid=5&id=1&page=3"), &err));
  assert_int_equal(got, ND_URL_QUERY);
  return ND_OK;
}

static void urls_without_memory(void **state) {
  (void)state;
  assert_true(every_place_fails(compare_urls, NULL) >= 8);
}

static void any_bytes(void **state) {
  (void)state;
  nd_rng rng = {12};
  for (int i = 0; i < 20000; i++) {
    char x[40], y[40];
    size_t n = (size_t)nd_rng_below(&rng, 40), m = (size_t)nd_rng_below(&rng, 40);
    for (size_t k = 0; k < n; k++) x[k] = "http://w.?;&=#/s\0\xff"[nd_rng_below(&rng, 18)];
    for (size_t k = 0; k < m; k++) y[k] = "http://w.?;&=#/s\0\xff"[nd_rng_below(&rng, 18)];
    nd_url_difference a, b;
    ok(nd_url_compare(&a, (nd_str){x, n}, (nd_str){y, m}, &err));
    ok(nd_url_compare(&b, (nd_str){y, m}, (nd_str){x, n}, &err));
    assert_int_equal(a, b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(documents_differ_by_the_expected_kind),
      cmocka_unit_test(near_misses),
      cmocka_unit_test(uneven_cores),
      cmocka_unit_test(words_of_times_and_counters),
      cmocka_unit_test(addresses_differ_by_the_expected_kind),
      cmocka_unit_test(urls_without_memory),
      cmocka_unit_test(any_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
