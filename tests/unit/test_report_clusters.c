/* What a report takes from clusters and texts: what is shown of long texts, of long words and of
 * many clusters; languages.  The texts are made up here, so that no run is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "every_place.h"
#include "job/job.h"
#include "neardup.h"
#include "report/report_data.h"
#include "settings/option_fields.h"
#include "tiny_budget.h"

enum { MOST = 24000 };

/* Documents, the clusters they are in, and the report on them. */
static struct {
  nd_buf text[64];
  uint32_t n, centre[MOST], size[MOST], number[MOST];
  uint64_t value[MOST];
  nd_str id[MOST];
  char name[MOST][12];
  nd_report report;
} it;

static nd_status fetch(nd_buf *out, void *context, uint32_t document, nd_error *e) {
  (void)context;
  const nd_buf *text = &it.text[document < 64 ? document : 63];
  out->n = 0;
  return nd_buf_append(out, text->p, text->n, e);
}

/* A document: kept itself (centre = its own number), or so many hundredths similar to its centre.
 */
static uint32_t add(uint32_t centre, uint64_t hundredths) {
  uint32_t d = it.n++;
  assert_true(d < MOST);
  it.centre[d] = centre;
  it.value[d] = hundredths << 32 | 100;
  it.size[d] = 0;
  it.size[centre]++;
  it.number[d] = d;
  snprintf(it.name[d], sizeof it.name[d], "id%u", (unsigned)d);
  it.id[d] = nd_str_of(it.name[d]);
  if (d < 64) it.text[d].n = 0;
  return d;
}

/* Words prefix<first> … prefix<last - 1>. */
static void words(uint32_t d, const char *prefix, int first, int last) {
  nd_buf *b = &it.text[d];
  for (int i = first; i < last; i++)
    ok(nd_buf_printf(b, &err, "%s%s%d", b->n ? " " : "", prefix, i));
}

static void giant(uint32_t d, size_t n) {
  nd_buf *b = &it.text[d];
  if (b->n) ok(nd_buf_append(b, " ", 1, &err));
  ok(nd_buf_reserve(b, n, &err));
  memset(b->p + b->n, 'g', n);
  b->n += n;
}

/* The report by a run that decides at 0.5, or all of it that is about clusters' texts. */
static nd_status try_gather(bool all) {
  nd_options o;
  nd_summary summary;
  nd_run j = {0};
  nd_options_init(&o);
  o.threads = 1;
  ok(nd_options_set(&o, "threshold", "0.5", &err));
  nd_status status = nd_job_open(&j, &summary, &o, NULL, &err);
  if (status == ND_OK) status = nd_ids_given(&j.ids, it.number, it.id, it.n, &err);
  j.source =
      (nd_text_source){.store = &j.store, .settings = &j.settings, .split = it.n, .fetch = fetch};
  nd_clusters clusters = {it.n, it.centre, it.value};
  const nd_report_told told = {{NULL, 0}, {NULL, 0}, false};
  nd_report_source source = {
      .job = &j, .clusters = &clusters, .size = it.size, .directory = "out", .told = &told};
  nd_report_clear(&it.report);
  it.report = (nd_report){0};
  if (status == ND_OK)
    status = (all ? nd_report_gather : nd_report_clusters)(&it.report, &source, &err);
  nd_job_close(&j);
  it.n = 0;
  return status;
}

static void gather(bool all) {
  ok(try_gather(all));
  ok(nd_buf_append(&it.report.browser, "", 1, &err));
}

static const char *embed(void) {
  gather(false);
  return it.report.browser.p;
}

/* What stands between a member's id and the end of its line. */
static nd_str member(const char *page, uint32_t d) {
  char name[40];
  snprintf(name, sizeof name, "{\"i\":\"id%u\"", (unsigned)d);
  const char *p = strstr(page, name);
  if (!p) fail_msg("%s is not shown", name);
  p += strlen(name);
  const char *end = p;
  while (*end && *end != '}') end++;
  return (nd_str){p, (size_t)(end - p)};
}

static void shows(const char *page, uint32_t d, const char *want) {
  nd_str got = member(page, d);
  if (got.n != strlen(want) || memcmp(got.p, want, got.n) != 0)
    fail_msg("document %u: %.*s, not %s", (unsigned)d, (int)got.n, got.p, want);
}

/* Of a long text the words around the first difference, and the others' differences there. */
static void long_texts(void **state) {
  (void)state;
  uint32_t kept = add(0, 100);
  words(kept, "k", 0, 2000);
  uint32_t many = add(kept, 60); /* more words of its own than are shown */
  words(many, "k", 0, 300), words(many, "own", 0, 700), words(many, "k", 300, 2000);
  uint32_t before = add(kept, 70); /* a word before the window */
  words(before, "k", 0, 10), words(before, "own", 0, 1), words(before, "k", 10, 2000);
  uint32_t without = add(kept, 71); /* words that are not there */
  words(without, "k", 0, 400), words(without, "k", 410, 2000);
  uint32_t behind = add(kept, 72); /* a word behind the window */
  words(behind, "k", 0, 1900), words(behind, "own", 0, 1), words(behind, "k", 1900, 2000);
  uint32_t inside = add(kept, 73);
  words(inside, "k", 0, 500), words(inside, "own", 0, 2), words(inside, "k", 501, 2000);
  uint32_t large = add(kept, 74);
  words(large, "k", 0, 600), giant(large, 30000), words(large, "k", 600, 2000);
  const char *page = embed();
  assert_int_equal(it.report.browser_texts, 1);
  assert_non_null(strstr(page, "{\"n\":7,\"from\":260,\"words\":2000,\"t\":\"k260 k261 "));
  assert_non_null(strstr(page, " k1759\",\"m\":["));
  shows(page, kept, "");
  nd_str got = member(page, many);
  static const char begins[] = ",\"v\":\"0.600000\",\"d\":[0,40,\"own0 own1 ";
  static const char ends[] = " own599\"],\"cut\":1";
  assert_memory_equal(got.p, begins, strlen(begins));
  assert_memory_equal(got.p + got.n - strlen(ends), ends, strlen(ends));
  shows(page, before, ",\"v\":\"0.700000\",\"d\":[0,1500]");
  shows(page, without, ",\"v\":\"0.710000\",\"d\":[0,140,150,1350]");
  shows(page, behind, ",\"v\":\"0.720000\",\"d\":[0,1500]");
  shows(page, inside, ",\"v\":\"0.730000\",\"d\":[0,240,\"own0 own1\",241,1259]");
  shows(page, large, ",\"v\":\"0.740000\",\"d\":[],\"cut\":1");
}

/* Texts that differ from the beginning on, that begin with a word too long to be shown, that are
 * one such word. */
static void first_words(void **state) {
  (void)state;
  uint32_t kept = add(0, 100);
  words(kept, "k", 0, 1600);
  uint32_t other = add(kept, 55);
  words(other, "own", 0, 1), words(other, "k", 1, 1600);
  uint32_t long_kept = add(2, 100);
  giant(long_kept, 20000), words(long_kept, "k", 0, 5);
  uint32_t shorter = add(long_kept, 65);
  words(shorter, "k", 0, 5);
  uint32_t one = add(4, 100);
  giant(one, 60000);
  uint32_t copy = add(one, 75);
  giant(copy, 60000);
  uint32_t last = add(6, 100); /* the difference is near the end of a long text */
  words(last, "k", 0, 1600);
  uint32_t changed = add(last, 85);
  words(changed, "k", 0, 1599);
  const char *page = embed();
  assert_int_equal(it.report.browser_texts, 4);
  assert_non_null(strstr(page, "{\"n\":2,\"from\":0,\"words\":1600,\"t\":\"k0 k1 "));
  shows(page, other, ",\"v\":\"0.550000\",\"d\":[\"own0\",1,1499]");
  assert_non_null(strstr(page, "{\"n\":2,\"from\":0,\"words\":6,\"t\":\"\",\"m\":["));
  shows(page, shorter, ",\"v\":\"0.650000\",\"d\":[]");
  assert_non_null(strstr(page, "{\"n\":2,\"from\":0,\"words\":0,\"more\":1,\"t\":\"\",\"m\":["));
  shows(page, copy, ",\"v\":\"0.750000\",\"d\":[]");
  assert_non_null(strstr(page, "{\"n\":2,\"from\":100,\"words\":1600,\"t\":\"k100 k101 "));
  shows(page, changed, ",\"v\":\"0.850000\",\"d\":[0,1499]");
}

static size_t count(const char *page, const char *what) {
  size_t n = 0;
  for (const char *p = page; (p = strstr(p, what)); p++) n++;
  return n;
}

/* More text than a page has room for: the clusters that come too late are there by name. */
static void no_room_for_texts(void **state) {
  (void)state;
  enum { CLUSTERS = 5, MEMBERS = 11 };
  for (uint32_t c = 0; c < CLUSTERS; c++) {
    uint32_t kept = add(it.n, 100);
    words(kept, "k", 0, 100);
    for (uint32_t m = 1; m < MEMBERS; m++) {
      uint32_t d = add(kept, 60 + m);
      words(d, "a_word_of_its_own_that_is_rather_long_", 0, 540);
    }
  }
  const char *page = embed();
  assert_int_equal(it.report.browser_clusters, CLUSTERS);
  assert_int_equal(it.report.browser_texts, CLUSTERS - 1);
  assert_int_equal(count(page, "\"t\":"), CLUSTERS - 1);
  assert_int_equal(count(page, "{\"n\":11,"), CLUSTERS);
  for (uint32_t d = 0; d < CLUSTERS * MEMBERS; d++) (void)member(page, d);
}

/* More bytes than are read for a page: the same. */
static void too_much_to_read(void **state) {
  (void)state;
  enum { CLUSTERS = 2, MEMBERS = 11 };
  uint32_t big = nd_mix(0) < nd_mix(MEMBERS) ? 0 : 1; /* the one that comes first */
  for (uint32_t c = 0; c < CLUSTERS; c++) {
    uint32_t kept = add(it.n, 100);
    for (uint32_t m = 1; m < MEMBERS; m++) (void)add(kept, 100);
    for (uint32_t d = kept; d < it.n; d++) giant(d, c == big ? 6200000 : 10);
  }
  const char *page = embed();
  assert_int_equal(it.report.browser_clusters, CLUSTERS);
  assert_int_equal(it.report.browser_texts, 1);
  for (uint32_t d = 0; d < CLUSTERS * MEMBERS; d++) (void)member(page, d);
}

/* A cluster with more members than can be listed ends the list of names. */
static void many_members(void **state) {
  (void)state;
  for (uint32_t c = 0; c < 10; c++) add(add(it.n, 100), 80);
  uint32_t large = add(it.n, 100);
  for (uint32_t i = 0; i < 20000; i++) add(large, 80);
  uint32_t behind = it.n;
  for (uint32_t c = 0; c < 10; c++) add(add(it.n, 100), 80);
  const char *page = embed();
  assert_int_equal(it.report.browser_texts, 6); /* of one slice */
  for (uint32_t d = 0; d < 20; d++) (void)member(page, d);
  uint64_t left = 0;
  for (uint32_t d = behind; d < behind + 20; d += 2) {
    char name[40];
    snprintf(name, sizeof name, "{\"i\":\"id%u\"", (unsigned)d);
    left += strstr(page, name) == NULL;
  }
  assert_true(left > 0);
  assert_int_equal(it.report.browser_clusters + left + !strstr(page, "{\"n\":20001,"), 21);
}

/* Of a cluster that is there by name only, some of the members are named. */
static void some_are_named(void **state) {
  (void)state;
  enum { CLUSTERS = 10, MEMBERS = 60, NAMED = 40 };
  for (uint32_t c = 0; c < CLUSTERS; c++) {
    uint32_t kept = add(it.n, 100);
    for (uint32_t m = 1; m < MEMBERS; m++) (void)add(kept, 80);
  }
  const char *page = embed();
  uint32_t clusters_named = 0;
  assert_int_equal(it.report.browser_clusters, CLUSTERS);
  for (const char *p = page; (p = strstr(p, "{\"n\":60,\"m\":[")); clusters_named++) {
    const char *end = strstr(++p, "]}");
    uint32_t members = 0;
    assert_non_null(end);
    for (const char *m = p; (m = strstr(m, "{\"i\":")) && m < end; m++) members++;
    assert_int_equal(members, 1 + NAMED);
  }
  assert_int_equal(clusters_named, CLUSTERS - it.report.browser_texts);
  assert_true(clusters_named > 0);
}

/* The languages of the documents, most frequent first, then by name; no more than have a row. */
static void languages_are_listed_by_frequency(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
  } cases[] = {
      {"English", "the boat was tied to the pier and it would not leave before the rain"},
      {"German", "der kahn lag am ufer und es war nicht zu sehen ob er noch vor dem regen fahren"},
      {"French", "le bateau est dans le port et il ne part pas avant la pluie mais les marins"},
      {"Spanish", "el barco está en el puerto y no sale hasta que pase la lluvia pero los"},
      {"Italian", "la barca è nel porto e non parte prima della pioggia ma i marinai sono già"},
      {"Portuguese", "o barco está no porto e não sai antes da chuva mas os marinheiros já estão"},
      {"Dutch", "de boot ligt aan de kade en het is niet zeker dat hij voor de regen nog uit de"},
      {"Swedish", "båten ligger vid kajen och det är inte säkert att den går innan regnet har"},
      {"Polish", "łódź jest w porcie i nie wiadomo czy wypłynie przed deszczem ale to się okaże"},
      {"Russian", "лодка стояла у берега и он не знал что она уже не выйдет в море из за дождя"},
      {"Arabic", "القارب في الميناء و لا يخرج من المرسى قبل المطر على ما كان في هذا اليوم"},
      {"Chinese", "船停在码头边雨停之前不会离开"},
      {"Japanese", "船は岸につながれていて雨がやむまで出ません"},
      {"Korean", "배는 부두에 묶여 있고 비가 그칠 때까지 떠나지 않는다"},
      {"Greek", "το καράβι είναι δεμένο στην προβλήτα και δεν φεύγει πριν σταματήσει η βροχή"},
      {"Thai", "เรือจอดอยู่ที่ท่าและยังไม่ออกจนกว่าฝนจะหยุด"},
      {"unknown", "12 34"}};
  enum { LANGUAGES = sizeof cases / sizeof *cases };
  uint32_t kept[LANGUAGES];
  for (size_t i = 0; i < LANGUAGES; i++) {
    kept[i] = add(it.n, 100);
    ok(nd_buf_append(&it.text[kept[i]], cases[i].text, strlen(cases[i].text), &err));
  }
  for (uint32_t i = 11; i < 13; i++) { /* two more of it, and two of Chinese */
    for (uint32_t k = 0; k < 12 - i + 1; k++) {
      uint32_t d = add(kept[i], 60);
      ok(nd_buf_append(&it.text[d], cases[i].text, strlen(cases[i].text), &err));
    }
  }
  it.value[it.n - 1] = 0; /* by way of others: no pair with the kept one */
  gather(true);
  static const char *const want[] = {"Chinese", "Japanese", "Arabic", "Dutch", "English"};
  const nd_report_group *g = &it.report.languages;
  assert_int_equal(g->distinct, LANGUAGES);
  assert_int_equal(g->n, ND_REPORT_ROWS);
  assert_int_equal(it.report.language_sample, LANGUAGES + 3);
  for (size_t i = 0; i < sizeof want / sizeof *want; i++)
    assert_string_equal(g->rows[i].name, want[i]);
  assert_int_equal(g->rows[0].documents, 3);
  assert_int_equal(g->rows[0].dropped, 2);
  assert_int_equal(g->rows[2].dropped, 0);
  assert_int_equal(it.report.largest_n, 2);
  assert_int_equal(it.report.largest[0].size, 3);
  assert_true(it.report.largest[0].lowest == 0.6);
  assert_true(it.report.largest[1].lowest == 0); /* not known */
}

/* Every place fails once. */
static nd_status embed_once(void *context) {
  (void)context;
  const uint32_t n = it.n;
  nd_status status = try_gather(false);
  it.n = n;
  return status;
}

static void failing_places(void **state) {
  (void)state;
  uint32_t kept = add(0, 100);
  words(kept, "k", 0, 100);
  uint32_t large = add(kept, 74);
  words(large, "k", 0, 60), giant(large, 30000), words(large, "k", 61, 100);
  uint32_t long_kept = add(it.n, 100);
  giant(long_kept, 20000);
  (void)add(long_kept, 60);
  for (uint32_t c = 0; c < 8; c++) (void)add(add(it.n, 100), 80);
  assert_true(every_place_fails(embed_once, NULL) > 20);
}

static int clear(void **state) {
  (void)state;
  for (size_t i = 0; i < 64; i++) nd_buf_clear(&it.text[i]);
  nd_report_clear(&it.report);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(long_texts),        cmocka_unit_test(first_words),
      cmocka_unit_test(no_room_for_texts), cmocka_unit_test(too_much_to_read),
      cmocka_unit_test(many_members),      cmocka_unit_test(languages_are_listed_by_frequency),
      cmocka_unit_test(some_are_named),    cmocka_unit_test(failing_places),
  };
  return cmocka_run_group_tests(tests, NULL, clear);
}
