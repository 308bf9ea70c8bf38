/* The table of options: defaults that parse, values that come back as they
 * went in, and a helpful message for everything that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "neardup/options.h"
#include "settings/option_fields.h"
#include "settings/settings.h"
#include "tools.h"

static const nd_option_row *row_of(const char *name) {
  for (const nd_option_row *i = nd_option_rows(); i->info.name; i++)
    if (strcmp(i->info.name, name) == 0) return i;
  fail_msg("no option %s", name);
  return NULL;
}

static void table_is_sound(void **state) {
  (void)state;
  for (const nd_option_row *i = nd_option_rows(); i->info.name; i++) {
    assert_non_null(i->info.standard);
    assert_non_null(i->info.help);
    assert_true(i->info.commands != 0);
    assert_true(i->offset + i->size <= sizeof(nd_options));
    assert_true(i->info.type != ND_OPTION_WORD || i->info.values);
    assert_true((i->info.type == ND_OPTION_FLAG) == (i->info.metavar == NULL));
    size_t want = i->info.type == ND_OPTION_FLAG      ? sizeof(int)
                  : i->info.type == ND_OPTION_DECIMAL ? sizeof(nd_decimal)
                                                      : sizeof(uint64_t);
    bool text = i->info.type == ND_OPTION_WORD || i->info.type == ND_OPTION_TEXT ||
                i->info.type == ND_OPTION_LIST;
    if (!text) assert_int_equal(i->size, want);
    for (const nd_option_row *j = nd_option_rows(); j != i; j++) {
      assert_string_not_equal(i->info.name, j->info.name);
      assert_true(i->offset >= j->offset + j->size || j->offset >= i->offset + i->size);
    }
    for (const char *v = i->info.values; v && *v;) { /* every allowed word fits its field */
      size_t n = strcspn(v, " ");
      assert_true(n > 0 && n < i->size);
      v += n + (v[n] == ' ');
    }
  }
}

/* An option that may be given several times collects. */
static void lists_collect(void **state) {
  (void)state;
  nd_options o;
  nd_options_init(&o);
  ok(nd_options_set(&o, "sample", "mod:4", &err));
  ok(nd_options_set(&o, "sample", "cap:400,sct:9", &err));
  assert_string_equal(o.sample, "mod:4,cap:400,sct:9");
  ok(nd_options_check(&o, &err));
  assert_string_equal(o.sample, "mod:4,cap:400,sct:9");
  ok(nd_options_set(&o, "sample", "none", &err));
  assert_string_equal(o.sample, "");
  char giant[2000];
  memset(giant, 'x', sizeof giant - 1);
  giant[sizeof giant - 1] = '\0';
  assert_int_equal(nd_options_set(&o, "sample", giant, &err), ND_ERR_USAGE);
}

static void defaults_are_right(void **state) {
  (void)state;
  nd_options o, again;
  memset(&o, 0xaa, sizeof o);
  nd_options_init(&o);
  memset(&again, 0, sizeof again);
  for (const nd_option_row *i = nd_option_rows(); i->info.name; i++) {
    char text[2000], direct[2000];
    ok(nd_options_set(&again, i->info.name, i->info.standard, &err));
    nd_option_text(text, sizeof text, &o, i);
    nd_option_text(direct, sizeof direct, &again, i);
    assert_string_equal(text, direct);
    if (i->info.type != ND_OPTION_SIZE) assert_string_equal(text, i->info.standard);
  }
  ok(nd_options_check(&o, &err));
  assert_int_equal(o.threshold.num, 8);
  assert_int_equal(o.threshold.den, 10);
  assert_int_equal(o.max_document, 64 << 20);
  assert_string_equal(o.shingle, "auto");
}

/* What is set comes back, and setting what came back changes nothing. */
static void expect_back(const char *name, const char *value, const char *want) {
  nd_options o;
  nd_options_init(&o);
  const nd_option_row *i = row_of(name);
  char text[2000], twice[2000];
  ok(nd_options_set(&o, name, value, &err));
  nd_option_text(text, sizeof text, &o, i);
  assert_string_equal(text, want);
  nd_options copy;
  nd_options_init(&copy);
  ok(nd_options_set(&copy, name, text, &err));
  nd_option_text(twice, sizeof twice, &copy, i);
  assert_string_equal(text, twice);
  assert_memory_equal((char *)&o + i->offset, (char *)&copy + i->offset,
                      i->info.type == ND_OPTION_TEXT || i->info.type == ND_OPTION_WORD
                          ? strlen(text) + 1
                          : i->size);
}

static void round_trips(void **state) {
  (void)state;
  for (const nd_option_row *i = nd_option_rows(); i->info.name; i++) {
    for (const char *v = i->info.values; v && *v;) {
      char word[64];
      size_t n = strcspn(v, " ");
      snprintf(word, sizeof word, "%.*s", (int)n, v);
      expect_back(i->info.name, word, word);
      v += n + (v[n] == ' ');
    }
  }
  expect_back("cluster", "", "");
  expect_back("collapse", "yes", "yes");
  expect_back("collapse", "no", "no");
  expect_back("threshold", "0.8", "0.8");
  expect_back("threshold", ".8", "0.8");
  expect_back("threshold", "0.800", "0.8");
  expect_back("threshold", "1", "1");
  expect_back("threshold", "1.0", "1");
  expect_back("threshold", "0.05", "0.05");
  expect_back("threshold", "0.000000001", "0.000000001");
  expect_back("threshold", "0.123456789", "0.123456789");
  expect_back("threshold", ".123456789", "0.123456789");
  expect_back("threshold", "0.101", "0.101");
  expect_back("recall", "0.95", "0.95");
  expect_back("memory", "512M", "536870912");
  expect_back("memory", "512m", "536870912");
  expect_back("memory", "1G", "1073741824");
  expect_back("memory", "1GB", "1073741824");
  expect_back("memory", "1GiB", "1073741824");
  expect_back("memory", "2T", "2199023255552");
  expect_back("memory", "64K", "65536");
  expect_back("memory", "0", "0");
  expect_back("max-document", "1", "1");
  expect_back("threads", "8", "8");
  expect_back("threads", "008", "8");
  expect_back("seed", "0", "0");
  expect_back("seed", "18446744073709551615", "18446744073709551615");
  expect_back("id-field", "document id", "document id");
  expect_back("id-field", "", "");
  expect_back("tmp", "/var/tmp", "/var/tmp");
}

static void random_decimals_come_back(void **state) {
  (void)state;
  nd_rng rng = {41};
  for (int n = 0; n < 5000; n++) {
    char text[32];
    int digits = 1 + (int)nd_rng_below(&rng, 9);
    uint64_t den = 1;
    for (int i = 0; i < digits; i++) den *= 10;
    uint64_t num = 1 + nd_rng_below(&rng, den - 1);
    snprintf(text, sizeof text, "0.%0*llu", digits, (unsigned long long)num);
    nd_options o;
    nd_options_init(&o);
    ok(nd_options_set(&o, "threshold", text, &err));
    /* the same fraction, in lowest powers of ten */
    assert_true((unsigned __int128)o.threshold.num * den ==
                (unsigned __int128)num * o.threshold.den);
    size_t length = strlen(text);
    while (text[length - 1] == '0') text[--length] = '\0';
    char back[40];
    nd_option_text(back, sizeof back, &o, row_of("threshold"));
    assert_string_equal(back, text);
  }
}

static void expect_wrong(const char *name, const char *value, const char *says) {
  nd_options o, before;
  nd_options_init(&o);
  memcpy(&before, &o, sizeof o);
  err = (nd_error){0};
  nd_status status = nd_options_set(&o, name, value, &err);
  if (status != ND_ERR_USAGE) fail_msg("--%s %s passes", name, value);
  if (!strstr(err.message, says))
    fail_msg("--%s %s: \"%s\" does not say \"%s\"", name, value, err.message, says);
  assert_memory_equal(&o, &before, sizeof o); /* nothing was changed */
  assert_int_equal(nd_options_set(&o, name, value, NULL), ND_ERR_USAGE);
}

/* The value is one, but does not fit the other options: the check refuses it. */
static void expect_unfit(const char *name, const char *value, const char *says) {
  nd_options o;
  nd_options_init(&o);
  ok(nd_options_set(&o, name, value, &err));
  err = (nd_error){0};
  if (nd_options_check(&o, &err) != ND_ERR_USAGE) fail_msg("--%s %s passes", name, value);
  if (!strstr(err.message, says))
    fail_msg("--%s %s: \"%s\" does not say \"%s\"", name, value, err.message, says);
}

static void wrong_values(void **state) {
  (void)state;
  expect_wrong("threshold", "0,8", "with a point");
  expect_wrong("threshold", ".0000000001", "at most 9 digits"); /* it would show as 11 digits */
  expect_unfit("threshold", "1.1", "out of range");
  expect_unfit("threshold", "0", "out of range");
  expect_unfit("threshold", "0.0", "out of range");
  expect_unfit("threshold", "80", "out of range");
  expect_wrong("threshold", "", "0.8");
  expect_wrong("threshold", ".", "0.8");
  expect_wrong("threshold", "-0.5", "0.8");
  expect_wrong("threshold", "+0.5", "0.8");
  expect_wrong("threshold", "0.8 ", "0.8");
  expect_wrong("threshold", " 0.8", "0.8");
  expect_wrong("threshold", "8e-1", "0.8");
  expect_wrong("threshold", "80%", "0.8");
  expect_wrong("threshold", "0.8.8", "0.8");
  expect_wrong("threshold", "0.12345678901", "9 digits");
  expect_wrong("threshold", "18446744073709551617", "0.8");
  expect_wrong("threshold", "0.00000000000000000000000000000001", "9 digits");
  expect_wrong("threshold", "nan", "0.8");
  expect_unfit("recall", "2", "out of range");
  expect_unfit("similarity", "cosine", "needs --method");
  expect_unfit("similarity", "edit", "needs --method");
  expect_wrong("threads", "", "whole number");
  expect_wrong("threads", "-1", "whole number");
  expect_wrong("threads", "2.5", "whole number");
  expect_wrong("threads", "four", "whole number");
  expect_wrong("threads", "4 ", "whole number");
  expect_wrong("threads", "0x4", "whole number");
  expect_wrong("threads", "1025", "0 to 1024");
  expect_wrong("threads", "99999999999999999999", "whole number");
  expect_wrong("permutations", "2001", "0 to 2000");
  expect_wrong("bucket-cap", "1", "2 to");
  expect_wrong("memory", "lots", "512M");
  expect_wrong("memory", "1.5G", "512M");
  expect_wrong("memory", "1X", "512M");
  expect_wrong("memory", "1GG", "512M");
  expect_wrong("memory", "G", "512M");
  expect_wrong("memory", "", "512M");
  expect_wrong("memory", "17592186044416T", "512M"); /* 2^64 and more */
  expect_wrong("memory", "1025T", "out of range");
  expect_wrong("max-document", "0", "out of range");
  expect_wrong("seed", "", "random");
  expect_wrong("seed", "x", "random");
  expect_wrong("seed", "18446744073709551616", "random");
  expect_wrong("format", "pdf", "warc");
  expect_wrong("format", "", "warc");
  expect_wrong("format", "jso", "jsonl");
  expect_wrong("format", "text lines", "jsonl");
  expect_wrong("verify", "exactly", "sketch");
  expect_wrong("cluster", "stars", "star components");
  expect_wrong("collapse", "false", "yes or no");
  char longer[2000];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  expect_wrong("id-field", longer, "at most 127 bytes");
  expect_wrong("tmp", longer, "at most");
}

static void unknown_names(void **state) {
  (void)state;
  expect_wrong("treshold", "0.8", "did you mean --threshold?");
  expect_wrong("Threshold", "0.8", "did you mean --threshold?");
  expect_wrong("thread", "1", "did you mean --threads?");
  expect_wrong("permutation", "1", "did you mean --permutations?");
  expect_wrong("max-documents", "1", "did you mean --max-document?");
  expect_wrong("shingles", "words:5", "did you mean --shingle?");
  expect_wrong("frobnicate-everything", "1", "unknown option --frobnicate-everything");
  nd_options o;
  nd_options_init(&o);
  assert_int_equal(nd_options_set(&o, "frobnicate-everything", "1", &err), ND_ERR_USAGE);
  assert_null(strstr(err.message, "did you mean"));
  char giant[5000];
  memset(giant, 'a', sizeof giant - 1);
  giant[sizeof giant - 1] = '\0';
  assert_int_equal(nd_options_set(&o, giant, "1", &err), ND_ERR_USAGE);
  assert_int_equal(nd_options_set(&o, "", "1", &err), ND_ERR_USAGE);
}

static void name_distance_counts_edits(void **state) {
  (void)state;
  assert_int_equal(nd_name_distance("keep", "keep"), 0);
  assert_int_equal(nd_name_distance("", "keep"), 4);
  assert_int_equal(nd_name_distance("keep", ""), 4);
  assert_int_equal(nd_name_distance("kep", "keep"), 1);
  assert_int_equal(nd_name_distance("keeps", "keep"), 1);
  assert_int_equal(nd_name_distance("kaep", "keep"), 1);
  assert_int_equal(nd_name_distance("kitten", "sitting"), 3);
  char word[64];
  memset(word, 'x', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  assert_int_equal(nd_name_distance(word, "keep"), 99);
  assert_int_equal(nd_name_distance("keep", word), 99);
  assert_int_equal(nd_name_distance(word + 1, "keep"), 62);
}

static void random_seeds_differ(void **state) {
  (void)state;
  nd_options o;
  nd_options_init(&o);
  assert_int_equal(o.seed, 1);
  ok(nd_options_set(&o, "seed", "random", &err));
  uint64_t first = o.seed;
  ok(nd_options_set(&o, "seed", "random", &err));
  assert_int_not_equal(first, o.seed);
}

static void small_rooms_are_kept(void **state) {
  (void)state;
  nd_options o;
  nd_options_init(&o);
  ok(nd_options_set(&o, "threshold", "0.123456789", &err));
  for (const nd_option_row *i = nd_option_rows(); i->info.name; i++) {
    for (size_t room = 1; room < 12; room++) {
      char *out = malloc(room); /* the sanitizer guards its end */
      nd_option_text(out, room, &o, i);
      assert_true(strlen(out) < room);
      free(out);
    }
  }
}

/* Programs see the options by number and by name. */
static void programs_go_by_name(void **state) {
  (void)state;
  nd_options *o;
  size_t rows = 0;
  ok(nd_options_new(&o, &err));
  for (const nd_option_info *i; (i = nd_option_at(rows)); rows++) {
    char text[ND_OPTION_VALUE];
    assert_ptr_equal(i, &nd_option_rows()[rows].info);
    nd_option_text(text, sizeof text, o, &nd_option_rows()[rows]);
    assert_string_equal(nd_options_get(o, i->name), text);
  }
  assert_true(rows > 40);
  assert_null(nd_option_at(rows + 1));
  assert_null(nd_option_at(SIZE_MAX));
  ok(nd_options_set(o, "threshold", "0.123456789", &err));
  assert_string_equal(nd_options_get(o, "threshold"), "0.123456789");
  ok(nd_options_set(o, "seed", "18446744073709551615", &err));
  assert_string_equal(nd_options_get(o, "seed"), "18446744073709551615");
  assert_null(nd_options_get(o, "treshold"));
  ok(nd_options_check(o, &err));
  nd_options_free(o);
  nd_options_free(NULL);
}

/* ---- options that do not fit together ---- */

/* "name value name value …" */
static nd_status check(const char *words) {
  nd_options o;
  nd_options_init(&o);
  char copy[500], *rest = copy;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *name; (name = strtok_r(rest, " ", &rest));)
    ok(nd_options_set(&o, name, strtok_r(rest, " ", &rest), &err));
  err = (nd_error){0};
  return nd_options_check(&o, &err);
}

static void expect_misfit(const char *words, const char *says) {
  if (check(words) != ND_ERR_USAGE) fail_msg("%s passes", words);
  if (!strstr(err.message, says)) fail_msg("%s: \"%s\" lacks \"%s\"", words, err.message, says);
}

static void options_that_contradict_are_refused(void **state) {
  (void)state;
  ok(check(""));
  ok(check("bands 20 rows 5"));
  ok(check("bands 20 rows 5 permutations 128"));
  ok(check("permutations 1"));
  ok(check("threshold 1 recall 0.999999999"));
  ok(check("method digest recall 1"));
  ok(check("shard 1/1"));
  ok(check("shard 8/8"));
  ok(check("keep field:score"));
  ok(check("memory 16M"));
  expect_misfit("recall 1", "below 1");
  expect_misfit("bands 20", "together");
  expect_misfit("rows 5", "together");
  expect_misfit("bands 20 rows 7 permutations 128", "more than --permutations");
  expect_misfit("bands 2000 rows 2000", "more than 2000");
  expect_misfit("threshold 0.000000001", "needs more than 2000");
  expect_misfit("shingle words", "words:K");
  expect_misfit("shingle words:0", "words:K");
  expect_misfit("keep longish", "longest");
  expect_misfit("keep field:", "field:NAME");
  expect_misfit("shard 0/4", "I/N");
  expect_misfit("shard 5/4", "I/N");
  expect_misfit("shard 1", "I/N");
  expect_misfit("shard 1/0", "I/N");
  expect_misfit("shard 1/4x", "I/N");
  expect_misfit("shard -1/4", "I/N");
  expect_misfit("memory 15M", "16M");
}

static void settings_follow(void **state) {
  (void)state;
  nd_options o;
  nd_settings s;
  nd_options_init(&o);
  ok(nd_settings_resolve(&s, &o, &err));
  assert_true(s.bands > 0 && s.rows > 0 && s.permutations == s.bands * s.rows);
  assert_true(s.predicted_recall >= 0.95);
  assert_true(s.threads >= 1 && s.memory > 0);
  assert_true(s.shard == 0 && s.shards == 1);
  assert_null(s.format);
  ok(nd_options_set(&o, "shard", "3/8", &err));
  ok(nd_options_set(&o, "format", "jsonl", &err));
  ok(nd_options_set(&o, "keep", "field:score", &err));
  ok(nd_options_set(&o, "permutations", "100", &err));
  ok(nd_options_set(&o, "memory", "64M", &err));
  ok(nd_settings_resolve(&s, &o, &err));
  assert_true(s.shard == 2 && s.shards == 8);
  assert_non_null(s.format);
  assert_string_equal(s.input.keep_field, "score");
  assert_int_equal(s.keep, ND_KEEP_FIELD);
  assert_int_equal(s.permutations, 100);
  assert_true(s.bands * s.rows <= 100);
  const char *keeps[] = {"first", "longest", "shortest", "oldest", "newest", "url", "centre"};
  for (int i = 0; i < 7; i++) {
    ok(nd_options_set(&o, "keep", keeps[i], &err));
    ok(nd_settings_resolve(&s, &o, &err));
    assert_int_equal(s.keep, ND_KEEP_FIRST + i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(table_is_sound),
                                     cmocka_unit_test(lists_collect),
                                     cmocka_unit_test(defaults_are_right),
                                     cmocka_unit_test(round_trips),
                                     cmocka_unit_test(random_decimals_come_back),
                                     cmocka_unit_test(wrong_values),
                                     cmocka_unit_test(unknown_names),
                                     cmocka_unit_test(name_distance_counts_edits),
                                     cmocka_unit_test(random_seeds_differ),
                                     cmocka_unit_test(small_rooms_are_kept),
                                     cmocka_unit_test(options_that_contradict_are_refused),
                                     cmocka_unit_test(programs_go_by_name),
                                     cmocka_unit_test(settings_follow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
