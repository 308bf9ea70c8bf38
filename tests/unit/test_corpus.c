/* The documents of a corpus one by one: they have the names that inspect shows, whatever the files
 * are like; and inspect and the walk fail cleanly at every place. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "every_place.h"
#include "neardup.h"
#include "settings/option_fields.h"
#include "study/common/corpus.h"
#include "tiny_budget.h"

enum { WIDE = 0, WIDE_TOO, TEXT, PAGES, LINES, FILES };
static char dir[] = "/tmp/nd_test_corpus_XXXXXX";
static char path[FILES][100];
static char folder[100], link_path[120];
static nd_options options;

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static nd_status take_name(void *context, const nd_corpus_document *d, nd_error *e) {
  ND_TRY(nd_buf_append(context, d->id.p, d->id.n, e));
  return nd_buf_append(context, "\n", 1, e);
}

static void write_file(int which, const nd_buf *text) {
  FILE *f = fopen(path[which], "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(text->p, 1, text->n, f), text->n);
  assert_int_equal(fclose(f), 0);
}

/* More than one range, without ids, with lines that are no documents. */
static void write_wide(int which, int lines) {
  nd_buf b = {0};
  for (int i = 0; i < lines; i++) {
    ok(nd_buf_printf(&b, &err, "{\"text\": \"text %d\", \"pad\": \"", i));
    ok(nd_buf_reserve(&b, 400000, &err));
    memset(b.p + b.n, 'x', 400000);
    b.n += 400000;
    ok(nd_buf_printf(&b, &err, "\"}\n%s", i % 5 == 1 ? "\nno record\n" : ""));
  }
  write_file(which, &b);
  nd_buf_clear(&b);
}

static void put_page(nd_buf *b, int number, const char *head, nd_str body) {
  nd_buf http = {0};
  ok(nd_buf_printf(&http, &err, "HTTP/1.1 200 OK\r\n%s\r\n\r\n", head));
  ok(nd_buf_append(&http, body.p, body.n, &err));
  ok(nd_buf_printf(b, &err, "WARC/1.0\r\nWARC-Type: response\r\n"));
  if (number) ok(nd_buf_printf(b, &err, "WARC-Record-ID: <urn:x:%d>\r\n", number));
  ok(nd_buf_printf(b, &err, "Content-Type: application/http\r\nContent-Length: %zu\r\n\r\n",
                   http.n));
  ok(nd_buf_append(b, http.p, http.n, &err));
  ok(nd_buf_printf(b, &err, "\r\n\r\n"));
  nd_buf_clear(&http);
}

/* A page, a picture, a page that is unpacked to more than a document may have, pages without
 * names. */
static void write_pages(void) {
  static char large[2 << 20];
  static Bytef packed[1 << 16];
  uLongf n = sizeof packed;
  memset(large, 'y', sizeof large);
  assert_int_equal(compress(packed, &n, (const Bytef *)large, sizeof large), Z_OK);
  nd_buf b = {0};
  put_page(&b, 1, "Content-Type: text/html", nd_str_of("<p>one two"));
  put_page(&b, 2, "Content-Type: image/png", nd_str_of("\x89PNG"));
  put_page(&b, 3, "Content-Type: text/plain\r\nContent-Encoding: deflate",
           (nd_str){(const char *)packed, n});
  put_page(&b, 0, "Content-Type: text/plain", nd_str_of("three four"));
  put_page(&b, 0, "Content-Type: text/plain", nd_str_of("five"));
  write_file(PAGES, &b);
  nd_buf_clear(&b);
}

static int setup(void **state) {
  (void)state;
  static const char *const names[FILES] = {"wide.jsonl", "more.jsonl", "a.txt", "pages.warc",
                                           "lines.jsonl"};
  if (!mkdtemp(dir)) return -1;
  for (int i = 0; i < FILES; i++) snprintf(path[i], sizeof path[i], "%s/%s", dir, names[i]);
  write_wide(WIDE, 14);
  write_wide(WIDE_TOO, 12);
  write_pages();
  nd_buf b = {0};
  ok(nd_buf_printf(&b, &err, "a text of its own"));
  write_file(TEXT, &b);
  b.n = 0;
  ok(nd_buf_printf(&b, &err, "{\"id\": \"its own\\t\", \"text\": \"x\"}\n{\"text\": \"y\"}\nz\n"));
  write_file(LINES, &b);
  nd_buf_clear(&b);
  snprintf(folder, sizeof folder, "%s/folder", dir);
  snprintf(link_path, sizeof link_path, "%s/link", folder);
  if (mkdir(folder, 0700) != 0 || symlink("nowhere", link_path) != 0) return -1;
  nd_options_init(&options);
  options.threads = 1;
  ok(nd_options_set(&options, "max-document", "1M", &err));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  for (int i = 0; i < FILES; i++) unlink(path[i]);
  unlink(link_path);
  return rmdir(folder) || rmdir(dir);
}

/* The names of the documents out of what inspect wrote: the id or else the place. */
static void names_of(nd_buf *out, char *shown) {
  char *rest = NULL;
  for (char *line = strtok_r(shown, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *in = NULL, *place = strtok_r(line, "\t", &in);
    (void)strtok_r(NULL, "\t", &in);
    const char *kind = strtok_r(NULL, "\t", &in), *id = strtok_r(NULL, "\t", &in);
    if (strcmp(kind, "rejected") == 0 || strcmp(kind, "other") == 0) continue;
    ok(nd_buf_printf(out, &err, "%s\n", strcmp(id, "-") == 0 ? place : id));
  }
}

static void names_are_those_of_inspect(void **state) {
  (void)state;
  const char *inputs[FILES + 1];
  for (int i = 0; i < FILES; i++) inputs[i] = path[i];
  inputs[FILES] = folder;
  nd_buf got = {0}, shown = {0}, want = {0};
  nd_sink sink = {&shown, collect};
  nd_summary walked, inspected;
  ok(nd_corpus_each(&walked, inputs, FILES + 1, &options, NULL, take_name, &got, &err));
  ok(nd_inspect(
      &inspected,
      &(nd_inspect_request){.inputs = inputs, .input_n = FILES + 1, .whole = 0, .sink = &sink},
      &options, NULL, &err));
  ok(nd_buf_append(&shown, "", 1, &err));
  names_of(&want, shown.p);
  ok(nd_buf_append(&want, "", 1, &err));
  ok(nd_buf_append(&got, "", 1, &err));
  assert_string_equal(got.p, want.p);
  assert_non_null(strstr(got.p, "wide.jsonl:20\n"));
  assert_non_null(strstr(got.p, "more.jsonl:16\n"));
  assert_non_null(strstr(got.p, "its own\\t\n"));
  /* Six lines of the wide ones, a page that is too long, a line, a link that leads nowhere. */
  assert_int_equal(walked.rejected, 9);
  assert_int_equal(inspected.rejected, 9);
  assert_int_equal(walked.kept, 14 + 12 + 1 + 3 + 2);
  assert_int_equal(walked.documents, walked.kept + walked.rejected);
  nd_buf_clear(&got);
  nd_buf_clear(&want);
  nd_buf_clear(&shown);
}

static nd_status forget_name(void *context, const nd_corpus_document *d, nd_error *e) {
  (void)context, (void)d, (void)e;
  return ND_OK;
}

static nd_status walk_little(void *context) {
  const char *const *inputs = context;
  nd_summary s;
  return nd_corpus_each(&s, inputs, 4, &options, NULL, forget_name, NULL, &err);
}

static nd_status inspect_little(void *context) {
  const char *const *inputs = context;
  nd_summary s;
  nd_sink sink = {NULL, forget};
  return nd_inspect(
      &s, &(nd_inspect_request){.inputs = inputs, .input_n = 4, .whole = 0, .sink = &sink},
      &options, NULL, &err);
}

static void no_place_for_standard_input(void **state) {
  (void)state;
  const char *input = "-";
  nd_summary s;
  nd_sink sink = {NULL, forget};
  nd_options o = options;
  ok(nd_options_set(&o, "tmp", "/nowhere/at/all", &err));
  assert_int_equal(
      nd_inspect(&s,
                 &(nd_inspect_request){.inputs = &input, .input_n = 1, .whole = 0, .sink = &sink},
                 &o, NULL, &err),
      ND_ERR_IO);
  assert_non_null(strstr(err.message, "/nowhere/at/all"));
}

static nd_status inspect_standard_input(void *context) {
  (void)context;
  const char *input = "-";
  nd_summary s;
  nd_sink sink = {NULL, forget};
  assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_SET), 0);
  return nd_inspect(
      &s, &(nd_inspect_request){.inputs = &input, .input_n = 1, .whole = 0, .sink = &sink},
      &options, NULL, &err);
}

static void every_place(void **state) {
  (void)state;
  int saved = dup(STDIN_FILENO), fd = open(path[LINES], O_RDONLY);
  assert_true(saved >= 0 && fd >= 0);
  assert_true(dup2(fd, STDIN_FILENO) >= 0);
  assert_true(every_place_fails(inspect_standard_input, NULL) > 20);
  assert_true(dup2(saved, STDIN_FILENO) >= 0);
  close(saved);
  close(fd);
  const char *inputs[] = {path[PAGES], path[TEXT], path[LINES], folder};
  assert_true(every_place_fails(walk_little, inputs) > 20);
  assert_true(every_place_fails(inspect_little, inputs) > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_those_of_inspect),
                                     cmocka_unit_test(no_place_for_standard_input),
                                     cmocka_unit_test(every_place)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
