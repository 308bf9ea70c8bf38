/* Which member stays: times, addresses and numbers become ranks in the right
 * order, and what is missing or nonsense comes last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "cluster/keep.h"

static void expect_time(const char *text, int64_t want) {
  int64_t got = -1;
  if (!nd_keep_parse_time(&got, nd_str_of(text))) fail_msg("%s is no time", text);
  if (got != want) fail_msg("%s is %lld, not %lld", text, (long long)got, (long long)want);
}

static void times_of_all_spellings_are_read(void **state) {
  (void)state;
  expect_time("1970-01-01T00:00:00Z", 0);
  expect_time("1970-01-01", 0);
  expect_time("1969-12-31T23:59:59Z", -1);
  expect_time("2008-05-02T12:34:56Z", 1209731696);
  expect_time("2008-05-02t12:34:56z", 1209731696);
  expect_time("2008-05-02 12:34:56", 1209731696);
  expect_time("2008/05/02 12:34:56", 1209731696);
  expect_time("20080502T123456Z", 1209731696);
  expect_time("20080502123456", 1209731696); /* ARC */
  expect_time("20080502", 1209686400);
  expect_time("2008-05-02T12:34:56.789Z", 1209731696);
  expect_time("2008-05-02T12:34:56+00:00", 1209731696);
  expect_time("2008-05-02T14:34:56+02:00", 1209731696);
  expect_time("2008-05-02T14:34:56+0200", 1209731696);
  expect_time("2008-05-02T14:34:56+02", 1209731696);
  expect_time("2008-05-02 14:34:56 +0200", 1209731696);
  expect_time("2008-05-02T07:04:56-05:30", 1209731696);
  expect_time("2008-05-02T14:34:56.5+02:00", 1209731696);
  expect_time("2008-05-02T12:34Z", 1209731640);
  expect_time("2008-05-02T14:34+02:00", 1209731640);
  expect_time("2008-05", 1209600000);
  expect_time("2008", 1199145600);
  expect_time("1209731696", 1209731696); /* Unix time */
  expect_time("1209731696.25", 1209731696);
  expect_time("1209731696123", 1209731696); /* in milliseconds */
  expect_time("2000-02-29", 951782400);
  expect_time("0001-01-01", -62135596800);
  expect_time("0000-03-01", -62162035200);
  expect_time("0000-01-01", -62167219200); /* before the era of 400 years that ends here */
}

static void against_the_c_library(void **state) {
  (void)state;
  nd_rng rng = {31};
  for (int i = 0; i < 20000; i++) {
    time_t t =
        (time_t)nd_rng_below(&rng, UINT64_C(253402300800)) - (i % 2 ? INT64_C(62135596800) : 0);
    if (t > INT64_C(253402300799)) continue;
    struct tm tm;
    char text[64];
    gmtime_r(&t, &tm);
    const char *formats[] = {"%04d-%02d-%02dT%02d:%02d:%02dZ", "%04d%02d%02d%02d%02d%02d"};
    for (int f = 0; f < 2; f++) {
      snprintf(text, sizeof text, formats[f], tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
               tm.tm_hour, tm.tm_min, tm.tm_sec);
      expect_time(text, (int64_t)t);
    }
  }
}

static void no_times(void **state) {
  (void)state;
  const char *wrong[] = {"",           "x",          "200",         "2008-13-01", "2008-00-10",
                         "2008-05-32", "2008-05-00", "-2008-05-02", "yesterday",  "Z"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    int64_t got;
    if (nd_keep_parse_time(&got, nd_str_of(wrong[i]))) fail_msg("%s passes for a time", wrong[i]);
  }
  nd_rng rng = {32}; /* nothing crashes it; the sanitizers look */
  for (int i = 0; i < 50000; i++) {
    char text[24];
    size_t n = (size_t)nd_rng_below(&rng, sizeof text);
    for (size_t j = 0; j < n; j++) text[j] = "0123456789-:TZ+. /\xff\0"[nd_rng_below(&rng, 20)];
    char *exact = malloc(n ? n : 1);
    memcpy(exact, text, n);
    int64_t got;
    (void)nd_keep_parse_time(&got, (nd_str){exact, n});
    free(exact);
  }
}

static uint64_t rank_of(nd_keep keep, const char *value, uint64_t bytes) {
  nd_str s = value ? nd_str_of(value) : (nd_str){NULL, 0};
  nd_keep_facts f = {bytes, s, s, s};
  return nd_keep_rank(keep, &f);
}

/* The list is in the wanted order, the best first; equal ones are "=". */
static void expect_order(nd_keep keep, const char *const *list) {
  for (size_t i = 1; list[i]; i++) {
    uint64_t a = rank_of(keep, list[i - 1], 0), b = rank_of(keep, list[i], 0);
    if (a >= b) fail_msg("%s does not come before %s", list[i - 1], list[i]);
  }
}

static void ranks_follow_times_addresses_and_numbers(void **state) {
  (void)state;
  const char *oldest[] = {"0001-01-01",
                          "1600-01-01",
                          "1969-12-31T23:59:59Z",
                          "1970-01-01",
                          "2008-05-02T12:00:00+02:00",
                          "2008-05-02T11:00:00Z",
                          "20080502110001",
                          "9999-12-31",
                          "no time",
                          NULL};
  expect_order(ND_KEEP_OLDEST, oldest);
  const char *newest[] = {"9999-12-31",
                          "20080502110001",
                          "2008-05-02T11:00:00Z",
                          "1970-01-01",
                          "1600-01-01",
                          "0001-01-01",
                          "",
                          NULL};
  expect_order(ND_KEEP_NEWEST, newest);
  const char *url[] = {"http://a.b/",
                       "http://a.b/c",
                       "http://a.b/longer/and/longer",
                       "http://a.b/?x",
                       "http://a.b/?x;y",
                       "http://a.b/?x;y#z",
                       "",
                       NULL};
  expect_order(ND_KEEP_URL, url);
  const char *field[] = {"inf",     "1e300", "1000000", "2.5",  "2",   "1e-300", "0",
                         "-1e-300", "-3",    "-1e300",  "-inf", "nan", NULL};
  expect_order(ND_KEEP_FIELD, field);
  const char *nonsense[] = {
      "",    "x",   "1x", "1 2",
      "--1", "nan", " ",  "0000000000000000000000000000000000000000000000000000000000000000001"};
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
    assert_true(rank_of(ND_KEEP_FIELD, nonsense[i], 0) == UINT64_MAX);
  assert_true(rank_of(ND_KEEP_FIELD, "2.50", 0) == rank_of(ND_KEEP_FIELD, "2.5", 0));
  assert_true(rank_of(ND_KEEP_FIELD, "-0", 0) == rank_of(ND_KEEP_FIELD, "0", 0));
}

static void numbers_rank_like_numbers(void **state) {
  (void)state;
  nd_rng rng = {33};
  for (int i = 0; i < 20000; i++) {
    double x = (nd_rng_unit(&rng) - 0.5) * (i % 3 ? 10 : 1e12);
    double y = i % 5 ? (nd_rng_unit(&rng) - 0.5) * (i % 2 ? 10 : 1e12) : x;
    char a[64], b[64];
    snprintf(a, sizeof a, "%.17g", x);
    snprintf(b, sizeof b, "%.17g", y);
    uint64_t p = rank_of(ND_KEEP_FIELD, a, 0), q = rank_of(ND_KEEP_FIELD, b, 0);
    assert_int_equal(x > y, p < q);
    assert_int_equal(x<y, p> q);
    assert_true(p < UINT64_MAX && q < UINT64_MAX);
  }
}

static void ranks_follow_lengths(void **state) {
  (void)state;
  const uint64_t bytes[] = {0, 1, 2, 1000, UINT32_MAX, UINT64_C(1) << 40};
  for (size_t i = 1; i < sizeof bytes / sizeof *bytes; i++) {
    assert_true(rank_of(ND_KEEP_LONGEST, NULL, bytes[i]) <
                rank_of(ND_KEEP_LONGEST, NULL, bytes[i - 1]));
    assert_true(rank_of(ND_KEEP_SHORTEST, NULL, bytes[i]) >
                rank_of(ND_KEEP_SHORTEST, NULL, bytes[i - 1]));
    assert_true(rank_of(ND_KEEP_FIRST, "x", bytes[i]) == rank_of(ND_KEEP_FIRST, "y", bytes[i - 1]));
    assert_true(rank_of(ND_KEEP_CENTRE, "x", bytes[i]) ==
                rank_of(ND_KEEP_CENTRE, "y", bytes[i - 1]));
  }
}

static void dirty_addresses(void **state) {
  (void)state;
  char *giant = malloc(100001);
  memset(giant, '?', 100000);
  giant[100000] = '\0';
  assert_true(rank_of(ND_KEEP_URL, giant, 0) < rank_of(ND_KEEP_URL, "", 0));
  assert_true(rank_of(ND_KEEP_URL, giant, 0) > rank_of(ND_KEEP_URL, "a?b?c", 0));
  free(giant);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(times_of_all_spellings_are_read),
                                     cmocka_unit_test(against_the_c_library),
                                     cmocka_unit_test(no_times),
                                     cmocka_unit_test(ranks_follow_times_addresses_and_numbers),
                                     cmocka_unit_test(numbers_rank_like_numbers),
                                     cmocka_unit_test(ranks_follow_lengths),
                                     cmocka_unit_test(dirty_addresses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
