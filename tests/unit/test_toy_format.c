/* A format that the library does not have, in one file: its functions, its row, its test.
 *
 * memo: a line "ID: TEXT" is a document; the first one names the format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "input/format.h"
#include "neardup.h"
#include "tools.h"

/* --- the format ------------------------------------------------------------------------------ */

static int sniff(nd_str head) {
  return head.n >= 6 && memcmp(head.p, "memo: ", 6) == 0 ? 99 : 0;
}

static nd_status decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                        nd_error *e) {
  (void)d;
  (void)o;
  const char *colon = memchr(raw.p, ':', raw.n);
  if (!colon) return nd_fail(e, ND_ERR_DATA, "the line has no id");
  const size_t n = (size_t)(colon - raw.p);
  *out = (nd_document){.kind = ND_KIND_TEXT, .id = {raw.p, n}, .body = {colon + 1, raw.n - n - 1}};
  return ND_OK;
}

static const nd_format memo = {.name = "memo",
                               .help = "notes under a heading",
                               .line_based = true,
                               .sniff = sniff,
                               .frame = nd_frame_line,
                               .decode = decode};

const nd_format *const nd_formats[] = {ND_FORMATS(ND_FORMAT_ROW) & memo, NULL};

/* --- the test -------------------------------------------------------------------------------- */

#define SENTENCE "the quick brown fox jumps over the lazy dog and runs away from it at once"
#define MEMO                                                    \
  "memo: about foxes\n"                                         \
  "a: " SENTENCE                                                \
  "\n"                                                          \
  "no id on this line\n"                                        \
  "b: " SENTENCE                                                \
  " again\n"                                                    \
  "\n"                                                          \
  "c: something else that has nothing to do with any animals\n" \
  "d: " SENTENCE "\n"

static char dir[] = "/tmp/nd_test_toy_format_XXXXXX";

static nd_status take(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static nd_options *options_of(const char *format) {
  nd_options *o;
  ok(nd_options_new(&o, &err));
  ok(nd_options_set(o, "format", format, &err));
  ok(nd_options_set(o, "threshold", "0.6", &err));
  ok(nd_options_set(o, "sync", "no", &err));
  return o;
}

static const char *write_memo(void) {
  const char *path = path_in(dir, "foxes");
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_int_equal(fwrite(MEMO, 1, sizeof MEMO - 1, f), sizeof MEMO - 1);
  assert_int_equal(fclose(f), 0);
  return path;
}

static void new_format_is_detected_and_can_be_asked_for(void **state) {
  (void)state;
  const char *path = write_memo();
  static const char *const asked[] = {"auto", "memo"};
  for (size_t i = 0; i < 2; i++) {
    nd_options *o = options_of(asked[i]);
    nd_buf lines = {0};
    nd_sink sink = {.write = take, .context = &lines};
    nd_summary summary;
    ok(nd_pairs(&summary, &(nd_pairs_request){.inputs = &path, .input_n = 1, .sink = &sink}, o,
                NULL, &err));
    assert_int_equal(summary.documents, 6); /* the blank line is none */
    assert_int_equal(summary.rejected, 1);
    ok(nd_buf_append(&lines, "", 1, &err));
    assert_string_equal(lines.p, "a\tb\t0.923077\na\td\t1.000000\nb\td\t0.923077\n");
    nd_buf_clear(&lines);
    nd_options_free(o);
  }
}

static void new_format_is_kept_byte_for_byte(void **state) {
  (void)state;
  const char *path = write_memo(), *out = path_in(dir, "out");
  nd_options *o = options_of("auto");
  nd_summary summary;
  ok(nd_dedup(&summary, &(nd_dedup_request){.inputs = &path, .input_n = 1, .directory = out}, o,
              NULL, &err));
  assert_int_equal(summary.dropped, 2);
  char text[1000] = {0};
  FILE *f = fopen(path_in(out, "kept/foxes"), "r");
  assert_non_null(f);
  assert_true(fread(text, 1, sizeof text - 1, f) > 0);
  assert_int_equal(fclose(f), 0);
  assert_string_equal(text, "memo: about foxes\na: " SENTENCE
                            "\n\nc: something else that has nothing to do with any animals\n");
  nd_options_free(o);
}

static void options_name_and_describe_every_format(void **state) {
  (void)state;
  nd_options *o = options_of("auto");
  assert_int_equal(nd_options_set(o, "format", "nothing", &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "auto text lines jsonl warc arc trec sets memo"));
  const nd_option_info *info = nd_option_at(0);
  assert_string_equal(info->name, "format");
  assert_string_equal(nd_option_value_help(info, "memo"), "notes under a heading");
  assert_string_equal(nd_option_value_help(info, "auto"),
                      "detected from the first bytes of every file");
  assert_null(nd_option_value_help(info, "nothing"));
  nd_options_free(o);
}

static int make_dir(void **state) {
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(new_format_is_detected_and_can_be_asked_for),
      cmocka_unit_test(new_format_is_kept_byte_for_byte),
      cmocka_unit_test(options_name_and_describe_every_format),
  };
  return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
