/* Nothing: what is freed may be NULL, errors need not be wanted, and empty inputs are inputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "candidate/deal.h"
#include "candidate/hamming.h"
#include "codec/stream.h"
#include "input/json.h"
#include "job_calls.h"
#include "neardup.h"
#include "neardup/stage.h"
#include "output/cut.h"
#include "plan/trial_lists.h"
#include "settings/option_fields.h"
#include "sketchfile/sketch_file.h"
#include "store/workdir.h"
#include "tools.h"

static void nothing_is_freed(void **state) {
  (void)state;
  nd_intake_free(NULL);
  nd_reader_close(NULL);
  nd_settle_free(NULL);
  nd_sketcher_free(NULL);
  nd_spread_free(NULL);
  nd_stage_free(NULL);
  nd_cutter_abandon(NULL);
  nd_deal_free(NULL);
  nd_sorter_free(NULL);
  nd_stream_close(NULL);
  nd_sketch_abandon(NULL);
  nd_trial_lists_free(NULL);
}

static void errors_are_not_wanted(void **state) {
  (void)state;
  const nd_error from = {.status = ND_ERR_IO, .message = "a message"};
  nd_error to = {0};
  nd_error_pass(NULL, &from);
  nd_error_pass(&to, &from);
  assert_int_equal(to.status, ND_ERR_IO);
  assert_string_equal(to.message, "a message");
  assert_int_equal(nd_fail(NULL, ND_ERR_DATA, "nobody hears"), ND_ERR_DATA);
  nd_summary summary;
  nd_options o;
  nd_options_init(&o);
  nd_sink nowhere = {NULL, NULL};
  assert_int_equal(
      nd_pairs(&summary, &(nd_pairs_request){.inputs = NULL, .input_n = 0, .sink = &nowhere}, &o,
               NULL, NULL),
      ND_ERR_USAGE);
  assert_int_equal(
      nd_inspect(&summary,
                 &(nd_inspect_request){.inputs = NULL, .input_n = 0, .whole = 0, .sink = &nowhere},
                 &o, NULL, NULL),
      ND_ERR_USAGE);
  assert_int_equal(
      nd_sketch_documents(&summary, &(nd_sketch_request){.inputs = NULL, .input_n = 0, .file = "x"},
                          &o, NULL, NULL),
      ND_ERR_USAGE);
  assert_int_equal(
      nd_sketch_merge(&summary, &(nd_sketch_request){.inputs = NULL, .input_n = 0, .file = "x"}, &o,
                      NULL, NULL),
      ND_ERR_USAGE);
  nd_plan_result plan;
  nd_plan_request request = {.inputs = NULL};
  assert_int_equal(job_plan(&plan, &summary, &request, &nowhere, &o, NULL, NULL), ND_ERR_USAGE);
  nd_study_request study = {.name = "web"};
  assert_int_equal(job_study(&summary, &study, &nowhere, &o, NULL, NULL), ND_ERR_USAGE);
  const char *missing = "/nowhere/at/all";
  assert_int_equal(
      nd_pairs(&summary, &(nd_pairs_request){.inputs = &missing, .input_n = 1, .sink = &nowhere},
               &o, NULL, NULL),
      ND_ERR_IO);
}

/* What the options of a plan may not be, also when they were set past their table. */
static void plans_of_nothing(void **state) {
  (void)state;
  nd_summary summary;
  nd_plan_result plan;
  const char *missing = "/nowhere/at/all";
  static const struct {
    nd_decimal threshold, recall;
    const char *precision;
  } bad[] = {{{0, 1}, {9, 10}, NULL}, {{2, 1}, {9, 10}, NULL},  {{1, 2}, {0, 1}, NULL},
             {{1, 2}, {1, 1}, NULL},  {{1, 2}, {9, 10}, "1.5"}, {{1, 2}, {9, 10}, "0"},
             {{1, 2}, {9, 10}, ""}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    nd_options o;
    nd_options_init(&o);
    o.threshold = bad[i].threshold;
    o.recall = bad[i].recall;
    nd_plan_request request = {.inputs = &missing, .input_n = 1, .precision = bad[i].precision};
    err.message[0] = '\0';
    assert_int_equal(job_plan(&plan, &summary, &request, NULL, &o, NULL, &err), ND_ERR_USAGE);
    assert_true(err.message[0]);
  }
}

static void empty_inputs(void **state) {
  (void)state;
  assert_int_equal(nd_hamming_guaranteed(0), 0);
  nd_sorter *sorter;
  nd_hamming_stats stats;
  uint64_t v = 0;
  nd_hamming_request none = {.vectors = &v, .n = 0, .words = 1}, odd = {.vectors = &v, .n = 1};
  ok(nd_sorter_new(&sorter, 0, "/tmp", false, &err));
  ok(nd_hamming_pairs(sorter, &stats, &none, &err));
  assert_int_equal(stats.pairs, 0);
  assert_int_equal(nd_hamming_pairs(sorter, &stats, &odd, &err), ND_ERR_LIMIT);
  nd_sorter_free(sorter);
  nd_json_field fields[ND_JSON_FIELDS + 1] = {{.name = {"x", 1}}};
  assert_int_equal(nd_json_read(fields, ND_JSON_FIELDS + 1, nd_str_of("{}"), &err), ND_ERR_USAGE);
  assert_string_equal(nd_json_type_name(ND_JSON_ABSENT), "absent");
  assert_string_equal(nd_json_type_name(ND_JSON_STRING), "a string");
  /* A folder without files, which would be read twice. */
  char folder[] = "/tmp/nd_test_nothing_XXXXXX";
  const char *input = mkdtemp(folder);
  nd_summary s;
  nd_options o;
  nd_sink nowhere = {NULL, forget};
  nd_options_init(&o);
  ok(nd_options_set(&o, "sample", "sct:5", &err));
  ok(nd_pairs(&s, &(nd_pairs_request){.inputs = &input, .input_n = 1, .sink = &nowhere}, &o, NULL,
              &err));
  assert_int_equal(s.documents, 0);
  rmdir(folder);
}

/* The option, the environment, the system: in this order. */
static void temporary_places(void **state) {
  (void)state;
  const char *before = getenv("TMPDIR");
  char kept[500];
  snprintf(kept, sizeof kept, "%s", before ? before : "");
  setenv("TMPDIR", "/var/tmp", 1);
  assert_string_equal(nd_workdir_tmp("here"), "here");
  assert_string_equal(nd_workdir_tmp(""), "/var/tmp");
  setenv("TMPDIR", "", 1);
  assert_string_equal(nd_workdir_tmp(""), "/tmp");
  unsetenv("TMPDIR");
  assert_string_equal(nd_workdir_tmp(""), "/tmp");
  if (before) setenv("TMPDIR", kept, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_freed), cmocka_unit_test(errors_are_not_wanted),
      cmocka_unit_test(plans_of_nothing), cmocka_unit_test(empty_inputs),
      cmocka_unit_test(temporary_places)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
