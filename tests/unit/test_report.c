/* The report's page for runs of every kind: what it says of bands, of thresholds near nothing and
 * of clusters whose similarity is not known; and names that are cut. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "settings/option_fields.h"
#include "tools.h"

static void long_names_are_cut_between_characters(void **state) {
  (void)state;
  char out[ND_REPORT_NAME + 8], in[ND_REPORT_NAME + 60];
  nd_report_name(out, (nd_str){"a\0b", 3});
  assert_string_equal(out, "a b");
  memset(in, 'x', sizeof in);
  nd_report_name(out, (nd_str){in, ND_REPORT_NAME});
  assert_int_equal(strlen(out), ND_REPORT_NAME);
  nd_report_name(out, (nd_str){in, ND_REPORT_NAME + 1});
  assert_int_equal(strlen(out), ND_REPORT_NAME + 3);
  assert_string_equal(out + ND_REPORT_NAME, "\xe2\x80\xa6");
  /* Not inside a character, even where there is none. */
  for (size_t i = 0; i + 1 < sizeof in; i += 2) memcpy(in + i, "\xc3\xa4", 2);
  in[0] = 'x';
  memmove(in + 1, in + 2, sizeof in - 2);
  nd_report_name(out, (nd_str){in, sizeof in});
  size_t kept = strlen(out) - 3;
  assert_true(kept == ND_REPORT_NAME || kept == ND_REPORT_NAME - 1);
  assert_true(kept % 2 == 1); /* x, and whole ones */
  memset(in, 0x80, sizeof in);
  nd_report_name(out, (nd_str){in, sizeof in});
  assert_string_equal(out, "\xe2\x80\xa6");
}

typedef struct run {
  nd_summary summary;
  nd_options options;
  nd_report report;
} run;

static void start(run *r, double threshold, unsigned bands, unsigned rows, bool whole) {
  *r = (run){0};
  nd_options_init(&r->options);
  r->summary = (nd_summary){.documents = 100,
                            .kept = 90,
                            .dropped = 10,
                            .pairs = 12,
                            .clusters = 1,
                            .bands = bands,
                            .rows = rows,
                            .candidates = 20};
  r->report = (nd_report){.summary = &r->summary,
                          .options = &r->options,
                          .bin = whole ? 1 : 0.01,
                          .threshold = threshold,
                          .whole = whole,
                          .largest_n = 1};
  r->report.pair_bins[0] = 2;
  r->report.pair_bins[ND_REPORT_BINS - 1] = 10;
  snprintf(r->report.largest[0].id, sizeof r->report.largest[0].id, "first");
  r->report.largest[0].size = 11;
}

static nd_status draw(nd_buf *out, const run *r) {
  out->n = 0;
  nd_status status = nd_report_html(out, &r->report, &err);
  return status == ND_OK ? nd_buf_append(out, "", 1, &err) : status;
}

static void page_describes_every_kind_of_run(void **state) {
  (void)state;
  run r;
  nd_buf html = {0};
  /* Bands, and a threshold next to nothing, where no pair can be found by so many rows. */
  start(&r, 0.001, 3, 200, false);
  ok(draw(&html, &r));
  assert_non_null(strstr(html.p, "With 3 bands of 200 rows"));
  assert_non_null(strstr(html.p, "Chance that a pair is found"));
  assert_non_null(strstr(html.p, "id=\"n-missed\" value=\"0.000000\"")); /* of those that can be */
  assert_non_null(strstr(html.p, "<td class=\"num\">0.000</td></tr>"));
  assert_non_null(strstr(html.p, " oversized buckets above"));
  r.summary.hot_buckets = 1;
  ok(draw(&html, &r));
  assert_non_null(strstr(html.p, " oversized bucket above"));
  /* Bands, but similarities are numbers: no curve, and no word of the method. */
  start(&r, 3, 3, 4, true);
  r.report.largest[0].lowest = INFINITY; /* not known */
  ok(draw(&html, &r));
  assert_null(strstr(html.p, "With 3 bands"));
  assert_null(strstr(html.p, "has no bands"));
  assert_null(strstr(html.p, "Chance that a pair is found"));
  assert_non_null(strstr(html.p, "<td class=\"num\">\xe2\x80\x93</td></tr>"));
  /* One bar, then two of which one is much higher: the axis is of powers of ten. */
  start(&r, 3, 3, 4, true);
  r.report.pair_bins[0] = 0;
  ok(draw(&html, &r));
  assert_non_null(strstr(html.p, ">6</text>"));
  r.report.pair_bins[0] = 501;
  ok(draw(&html, &r));
  assert_non_null(strstr(html.p, ">1000</text>"));
  /* No bands. */
  start(&r, 0.8, 0, 0, false);
  ok(draw(&html, &r));
  assert_non_null(strstr(html.p, "has no bands"));
  nd_buf_clear(&html);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(long_names_are_cut_between_characters),
                                     cmocka_unit_test(page_describes_every_kind_of_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
