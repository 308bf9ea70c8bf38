/* Charts are well-formed XML with their numbers in it, whatever the data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/rng.h"
#include "output/chart.h"
#include "output/chart_scale.h"
#include "tools.h"
#include "xml_check.h"

/* Draws both ways and the table; the text stays until the next call. */
static const char *drawn(const nd_chart *c) {
  static nd_buf b;
  nd_buf_clear(&b);
  xml_check x;
  ok(nd_chart_svg(&b, c, false, &err));
  if (!xml_well_formed(&x, b.p, b.n)) fail_msg("%s", x.fault);
  b.n = 0;
  ok(nd_chart_svg(&b, c, true, &err));
  if (!xml_well_formed(&x, b.p, b.n)) fail_msg("alone: %s", x.fault);
  size_t from = b.n;
  ok(nd_buf_append(&b, "<div>", 5, &err));
  ok(nd_chart_table(&b, c, &err));
  ok(nd_buf_append(&b, "</div>", 7, &err)); /* with the NUL */
  if (!xml_well_formed(&x, b.p + from, b.n - from - 1)) fail_msg("table: %s", x.fault);
  assert_null(strstr(b.p, "nan"));
  assert_null(strstr(b.p, "inf\""));
  return b.p;
}

static size_t count(const char *text, const char *what) {
  size_t n = 0;
  for (const char *p = text; (p = strstr(p, what)); p += strlen(what)) n++;
  return n;
}

/* A published curve looks like ours of the same name, dashed; one without a partner, and all of
 * ours, look different from each other. */
static void published_beside_ours(void **state) {
  (void)state;
  double x[] = {1, 2}, y[] = {3, 4};
  nd_series s[] = {{"one", x, y, 2, false, NULL},           {"one", x, y, 2, true, "A 1, Table 1"},
                   {"two", x, y, 2, false, NULL},           {"two", x, y, 2, true, "A 1, Table 1"},
                   {"none", x, y, 2, true, "A 1, Table 1"}, {NULL, x, y, 2, true, "A 1, Table 1"}};
  static const unsigned colours[] = {1, 1, 2, 2, 3, 4};
  nd_chart c = {.name = "t", .title = "A title", .series = s, .series_n = 6};
  const char *at = drawn(&c);
  for (unsigned k = 0; k < 6; k++) { /* the legend comes first */
    char want[64];
    snprintf(want, sizeof want, "nd-line nd-c%u%s\"", colours[k], s[k].published ? " nd-dash" : "");
    const char *next = strstr(at, "nd-line nd-c");
    assert_non_null(next);
    assert_memory_equal(next, want, strlen(want));
    at = next + 1;
  }
}

static void line_has_its_numbers(void **state) {
  (void)state;
  double x[] = {1, 2, 4}, y[] = {0.25, 0.5, 1234567};
  double py[] = {0.2, 0.4, 0.9};
  nd_series s[] = {{.name = "ours", .x = x, .y = y, .n = 3},
                   {.name = "theirs",
                    .x = x,
                    .y = py,
                    .n = 3,
                    .published = true,
                    .source = "Somebody 1999, Table 7"}};
  nd_marker m = {.at = 3, .label = "threshold 3"};
  nd_chart c = {.name = "t",
                .title = "A title",
                .x_label = "ratio",
                .x_unit = "1/n",
                .y_label = "precision",
                .series = s,
                .series_n = 2,
                .markers = &m,
                .marker_n = 1};
  const char *svg = drawn(&c);
  assert_non_null(strstr(svg, "ours: ratio 4 1/n, precision 1234567"));
  assert_non_null(strstr(svg, "theirs: ratio 2 1/n, precision 0.4"));
  assert_non_null(strstr(svg, "theirs (Somebody 1999, Table 7)"));
  assert_non_null(strstr(svg, "nd-dash"));
  assert_non_null(strstr(svg, "threshold 3"));
  assert_non_null(strstr(svg, ">ratio (1/n)<"));
  assert_non_null(strstr(svg, "aria-labelledby=\"t-t t-d\""));
  assert_non_null(strstr(svg, "<title id=\"t-t\">A title</title>"));
}

static void hostile_names_are_escaped(void **state) {
  (void)state;
  const char *bad = "</title></svg><script>alert(1)</script>&\"'\x01\x1b[31m\xff\xe2\x80\xae]]>";
  double v[] = {1, 2};
  nd_str names[] = {{bad, strlen(bad)}, {"\xed\xa0\x80\xef\xbf\xbf\0x", 8}};
  nd_series s = {.name = bad, .x = v, .y = v, .n = 2, .published = true, .source = bad};
  nd_marker m = {.at = 1, .label = bad};
  for (int kind = 0; kind <= ND_CHART_STACK; kind++) {
    nd_chart c = {.kind = (nd_chart_kind)kind,
                  .name = bad,
                  .title = bad,
                  .description = bad,
                  .x_label = bad,
                  .x_unit = bad,
                  .y_label = bad,
                  .y_unit = bad,
                  .series = &s,
                  .series_n = 1,
                  .markers = &m,
                  .marker_n = 1,
                  .categories = names,
                  .category_n = 2};
    const char *svg = drawn(&c);
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "\xe2\x80\xae"));
    assert_non_null(strstr(svg, "&lt;script&gt;"));
    assert_non_null(strstr(svg, "&lt;U+202E&gt;"));
  }
}

static void log_axes_leave_zero_out(void **state) {
  (void)state;
  double x[] = {0, 1, 10, 100, 1000}, y[] = {5, 0, -2, 1e6, 3};
  nd_series s = {.name = "n", .x = x, .y = y, .n = 5};
  nd_chart c = {.kind = ND_CHART_SCATTER,
                .name = "l",
                .title = "log",
                .x_log = true,
                .y_log = true,
                .series = &s,
                .series_n = 1};
  const char *svg = drawn(&c);
  assert_non_null(strstr(svg, "3 values have no place on these axes and are not drawn."));
  assert_non_null(strstr(svg, "n: 100, 1000000"));
  assert_null(strstr(svg, "n: 10, -2"));
  c.kind = ND_CHART_HISTOGRAM;
  drawn(&c);
  c.kind = ND_CHART_LINES;
  drawn(&c);
}

static void odd_numbers(void **state) {
  (void)state;
  double x[] = {NAN, 1, INFINITY, 2, 3, 1e308, -1e308, 4}, y[] = {1, NAN, 2, -INFINITY, 7, 1, 2, 8};
  nd_str names[8];
  for (int i = 0; i < 8; i++) names[i] = nd_str_of("name");
  for (int kind = 0; kind <= ND_CHART_STACK; kind++) {
    for (size_t n = 0; n <= 8; n++) {
      nd_series s = {.name = "s", .x = x, .y = y, .n = n};
      nd_chart c = {.kind = (nd_chart_kind)kind,
                    .name = "o",
                    .title = "odd",
                    .series = &s,
                    .series_n = 1,
                    .categories = names,
                    .category_n = n};
      drawn(&c);
      c.x_log = c.y_log = true;
      drawn(&c);
    }
  }
  nd_chart none = {.name = "o", .title = NULL};
  assert_non_null(strstr(drawn(&none), "no data"));
}

static void one_point_and_equal_points(void **state) {
  (void)state;
  static const double values[] = {0, 1, -1, 1e-300, 1e299, 0.1, 12345.678, 5e-324};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    double v[2] = {values[i], values[i]};
    for (int kind = 0; kind <= ND_CHART_HISTOGRAM; kind++)
      for (size_t n = 1; n <= 2; n++) {
        nd_series s = {.name = "s", .x = v, .y = v, .n = n};
        nd_chart c = {
            .kind = (nd_chart_kind)kind, .name = "e", .title = "one", .series = &s, .series_n = 1};
        const char *svg = drawn(&c);
        assert_null(strstr(svg, "no data"));
        c.x_log = c.y_log = true;
        drawn(&c);
      }
  }
}

static void long_series_are_thinned_and_keep_peaks(void **state) {
  (void)state;
  enum { N = 100000 };
  double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  nd_rng rng = {5};
  for (int i = 0; i < N; i++) {
    x[i] = i;
    y[i] = (double)nd_rng_below(&rng, 1000) / 1000;
  }
  y[77777] = 40; /* the highest place of the axis */
  nd_series s = {.name = "long", .x = x, .y = y, .n = N};
  nd_chart c = {.name = "long", .title = "long", .series = &s, .series_n = 1};
  for (int kind = 0; kind <= ND_CHART_HISTOGRAM; kind++) {
    c.kind = (nd_chart_kind)kind;
    nd_buf b = {0};
    ok(nd_chart_svg(&b, &c, false, &err));
    ok(nd_buf_append(&b, "", 1, &err));
    if (b.n > 400000) fail_msg("kind %d: %zu bytes", kind, b.n);
    if (kind == ND_CHART_LINES) assert_non_null(strstr(b.p, ",36.00")); /* top of the field */
    if (kind == ND_CHART_HISTOGRAM) assert_non_null(strstr(b.p, "40</title>"));
    nd_buf_clear(&b);
  }
  free(x);
  free(y);
}

static void bars_have_rows(void **state) {
  (void)state;
  enum { N = 100 };
  nd_str names[N];
  char text[N][16];
  double v[N];
  for (int i = 0; i < N; i++) {
    snprintf(text[i], sizeof text[i], "site-%d", i);
    names[i] = nd_str_of(text[i]);
    v[i] = N - i;
  }
  nd_series s[] = {{.name = "kept", .y = v, .n = N}, {.name = "left", .y = v, .n = 3}};
  nd_chart c = {.kind = ND_CHART_BARS,
                .name = "b",
                .title = "bars",
                .x_label = "documents",
                .series = s,
                .series_n = 2,
                .categories = names,
                .category_n = 3};
  const char *svg = drawn(&c);
  assert_int_equal(count(svg, "<rect class=\"nd-bar"), 6 + 2);
  assert_non_null(strstr(svg, "site-2, kept: 98"));
  c.kind = ND_CHART_STACK;
  svg = drawn(&c);
  assert_int_equal(count(svg, "<rect class=\"nd-bar"), 6 + 2);
  c.category_n = N;
  svg = drawn(&c);
  assert_non_null(strstr(svg, "The first 60 of 100 rows are drawn."));
}

/* Every scale: places rise with values, ticks lie on the axis and rise. */
static void scales_keep_order_and_ticks_ascend(void **state) {
  (void)state;
  nd_rng rng = {77};
  for (int round = 0; round < 20000; round++) {
    nd_scale s = {.from = 10, .to = 400, .log = round % 2, .base = round % 3 == 0};
    double v[3];
    for (int i = 0; i < 3; i++) {
      double power = (double)nd_rng_below(&rng, 40) - 20;
      v[i] = ((double)nd_rng_below(&rng, 2000) - (s.log ? 0 : 1000)) * pow(10, power);
      nd_scale_see(&s, v[i]);
    }
    nd_scale_fit(&s);
    assert_true(s.low < s.high);
    for (int i = 0; i < 3; i++) {
      if (!nd_scale_takes(&s, v[i])) continue;
      double at = nd_scale_position(&s, v[i]);
      assert_true(at >= 10 - 1e-6 && at <= 400 + 1e-6);
      if (i && nd_scale_takes(&s, v[i - 1]) && v[i] > v[i - 1])
        assert_true(at >= nd_scale_position(&s, v[i - 1]));
    }
    double ticks[ND_TICKS];
    size_t n = nd_scale_ticks(ticks, &s, 5);
    if (n < 1 || n > ND_TICKS) fail_msg("%zu ticks for %g … %g", n, s.low, s.high);
    for (size_t i = 1; i < n; i++) assert_true(ticks[i] > ticks[i - 1]);
  }
}

static void short_numbers(void **state) {
  (void)state;
  static const struct {
    double v;
    const char *text;
  } cases[] = {{0, "0"},
               {0.25, "0.25"},
               {9999, "9999"},
               {12000, "12\xc2\xa0k"},
               {3.5e6, "3.5\xc2\xa0M"},
               {-2e9, "-2\xc2\xa0G"},
               {1e-7, "1e-07"},
               {4e12, "4\xc2\xa0T"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[40];
    nd_scale_write(text, sizeof text, cases[i].v);
    assert_string_equal(text, cases[i].text);
  }
}

/* Lines across, also those that lie outside; sizes that are given; no names at all. */
static void markers_and_sizes(void **state) {
  (void)state;
  double x[] = {1, 2, 3}, y[] = {10, 20, 30}, wide[] = {0, 4}, falls[] = {3, 1};
  nd_series s[] = {{NULL, x, y, 3, false, NULL}, {NULL, x, y, 3, true, NULL}};
  nd_marker m[] = {{2, false, "at two"},  {15, true, "at fifteen"}, {NAN, false, "nowhere"},
                   {9, false, "outside"}, {-5, true, "below"},      {99, true, "above"}};
  nd_chart c = {.title = "Markers",
                .x_label = "x",
                .x_unit = "",
                .y_label = "y",
                .y_unit = "%",
                .x_range = wide,
                .series = s,
                .series_n = 2,
                .markers = m,
                .marker_n = 4,
                .width = 640,
                .height = 200};
  const char *svg = drawn(&c);
  assert_non_null(strstr(svg, "viewBox=\"0 0 640 200\""));
  assert_int_equal(count(svg, "class=\"nd-marker\""), 2);
  assert_non_null(strstr(svg, "at fifteen"));
  assert_null(strstr(svg, "nowhere"));
  assert_null(strstr(svg, ">outside"));
  assert_non_null(strstr(svg, "Data"));
  /* Markers that the axis is not fixed against make it longer. */
  c.x_range = falls; /* no range: it falls */
  c.marker_n = 6;
  svg = drawn(&c);
  assert_int_equal(count(svg, "class=\"nd-marker\""), 5);
  /* What a log axis cannot show is no range of it. */
  double from_zero[] = {0, 10}, to_nan[] = {1, NAN};
  c.x_log = true;
  c.x_range = from_zero;
  (void)drawn(&c);
  c.x_range = to_nan;
  (void)drawn(&c);
  /* So small that there is hardly room. */
  c.width = c.height = 30;
  (void)drawn(&c);
  /* Bars with given sizes, and none of a series. */
  nd_str rows[] = {{"one", 3}, {"two", 3}, {"three", 5}};
  nd_chart bars = {.kind = ND_CHART_BARS,
                   .title = "Bars",
                   .series = s,
                   .series_n = 2,
                   .categories = rows,
                   .category_n = 3,
                   .width = 500,
                   .height = 180};
  svg = drawn(&bars);
  assert_non_null(strstr(svg, "viewBox=\"0 0 500 180\""));
  bars.category_n = 2; /* fewer names than numbers */
  (void)drawn(&bars);
  bars.series_n = 0;
  (void)drawn(&bars);
  bars.category_n = 0;
  (void)drawn(&bars);
  nd_chart none = {.title = "Nothing", .series = s, .series_n = 0};
  (void)drawn(&none);
  /* Given ranges are no data. */
  none.x_range = wide;
  assert_non_null(strstr(drawn(&none), ">no data<"));
  none.y_range = wide;
  assert_non_null(strstr(drawn(&none), ">no data<"));
  none.series_n = 1;
  assert_null(strstr(drawn(&none), ">no data<"));
  /* A range on a log axis, and one that ends too far out. */
  double decades[] = {0.5, 200}, far_out[] = {0, 1e301};
  none.x_log = true;
  none.x_range = decades;
  none.markers = (nd_marker[]){{0.4, false, "before"}, {300, false, "after"}, {100, false, "in"}};
  none.marker_n = 3;
  svg = drawn(&none);
  assert_int_equal(count(svg, "class=\"nd-marker\""), 1);
  none.x_log = false;
  none.x_range = far_out;
  assert_int_equal(count(drawn(&none), "class=\"nd-marker\""), 3); /* the axis goes as far */
}

/* More series than the description names, and more values than the table lists. */
static void many_of_them(void **state) {
  (void)state;
  enum { SERIES = 14, VALUES = 100 };
  double x[VALUES], y[VALUES];
  char name[SERIES][4];
  nd_series s[SERIES];
  for (int i = 0; i < VALUES; i++) x[i] = i, y[i] = i * i;
  for (int k = 0; k < SERIES; k++) {
    snprintf(name[k], sizeof name[k], "s%d", k);
    s[k] = (nd_series){.name = name[k], .x = x, .y = y, .n = VALUES};
  }
  nd_chart c = {.title = "Many", .series = s, .series_n = SERIES};
  const char *svg = drawn(&c);
  assert_non_null(strstr(svg, " s11: 100 values"));
  assert_null(strstr(svg, " s12: 100 values"));
  assert_non_null(strstr(svg, "<p>One value in every 8 is listed.</p>"));
}

/* Given ends stay, also where marks grow from the axis; no axis has too many ticks. */
static void given_ends(void **state) {
  (void)state;
  static const double ends[][2] = {{5, 10}, {-10, -5}, {0, 0.3}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    nd_scale s = {.from = 0, .to = 100, .base = true, .fixed = true, .any = true};
    s.low = ends[i][0], s.high = ends[i][1];
    nd_scale_fit(&s);
    assert_true(s.low == ends[i][0] && s.high == ends[i][1]);
    s.log = true;
    if (i == 0) nd_scale_fit(&s);
    assert_true(s.low == ends[i][0] && s.high == ends[i][1]);
    s.log = false;
    double ticks[ND_TICKS];
    assert_int_equal(nd_scale_ticks(ticks, &s, 1000), ND_TICKS);
    nd_scale free_one = {.low = ends[i][0], .high = ends[i][1], .base = true, .any = true};
    nd_scale_fit(&free_one);
    assert_true(free_one.low <= 0 && free_one.high >= 0);
  }
}

/* Names that are too long are cut: titles and words at their end, paths at their begin. */
static void long_names_are_cut(void **state) {
  (void)state;
  char title[400], word[300], path[300];
  memset(word, 'w', sizeof word);
  memset(path, 'p', sizeof path);
  for (size_t i = 0; i + 3 < 240; i += 3) memcpy(title + i, "\xe6\x96\x87", 3); /* wide */
  title[240] = '\0';
  for (size_t i = 100; i + 2 < sizeof path; i += 2) memcpy(path + i, "\xc3\xa4", 2);
  memcpy(path, "/folder/", 8);
  double y[] = {1, 2, 3};
  nd_series s = {"a series", y, y, 3, false, NULL};
  nd_str rows[] = {{word, sizeof word}, {path, sizeof path - 2}, {"", 0}};
  nd_chart c = {.kind = ND_CHART_BARS,
                .name = "long",
                .title = title,
                .series = &s,
                .series_n = 1,
                .categories = rows,
                .category_n = 3};
  const char *svg = drawn(&c);
  assert_true(count(svg, "\xe2\x80\xa6") >= 3);
  assert_non_null(strstr(svg, "\xe2\x80\xa6\xc3\xa4"));
  /* Bytes that are no text, and no beginning of a character anywhere. */
  char rubbish[300];
  memset(rubbish, 0x80, sizeof rubbish);
  memcpy(rubbish + sizeof rubbish - 2, "/x", 2);
  rows[0] = (nd_str){rubbish, sizeof rubbish};
  (void)drawn(&c);
}

static void memory_failures(void **state) {
  (void)state;
  double v[] = {1, 2, 3};
  nd_series s = {.name = "s", .x = v, .y = v, .n = 3};
  for (int kind = 0; kind <= ND_CHART_HISTOGRAM; kind++) {
    nd_chart c = {
        .kind = (nd_chart_kind)kind, .name = "m", .title = "m", .series = &s, .series_n = 1};
    for (uint64_t nth = 1; nth < 40; nth++) {
      nd_buf b = {0};
      nd_mem_fail_at(nth);
      nd_status status = nd_chart_svg(&b, &c, true, &err);
      nd_mem_fail_at(0);
      nd_buf_clear(&b);
      if (status == ND_OK) break;
      assert_int_equal(status, ND_ERR_MEMORY);
      assert_true(nth < 39);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(line_has_its_numbers),
      cmocka_unit_test(published_beside_ours),
      cmocka_unit_test(hostile_names_are_escaped),
      cmocka_unit_test(log_axes_leave_zero_out),
      cmocka_unit_test(odd_numbers),
      cmocka_unit_test(one_point_and_equal_points),
      cmocka_unit_test(long_series_are_thinned_and_keep_peaks),
      cmocka_unit_test(bars_have_rows),
      cmocka_unit_test(scales_keep_order_and_ticks_ascend),
      cmocka_unit_test(short_numbers),
      cmocka_unit_test(markers_and_sizes),
      cmocka_unit_test(long_names_are_cut),
      cmocka_unit_test(many_of_them),
      cmocka_unit_test(given_ends),
      cmocka_unit_test(memory_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
