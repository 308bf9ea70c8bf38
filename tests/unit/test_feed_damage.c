/* Packed files with damage in them: their format is what can be read behind it, records that can
 * be read are records, and what lies between is rejected once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "every_place.h"
#include "read/feed.h"

enum { PARTS = 6, LONGEST = 200 };

#define DAMAGE ""        /* a member that cannot be unpacked */
#define EMPTY "(empty)"  /* a member without bytes */
#define MUCH "(much)"    /* records that are more than what is looked at */
#define LONG "(too long" /* a record that is too long */

static char path[] = "/tmp/nd_test_damage_XXXXXX";

static void pack(FILE *f, const char *bytes, size_t n) {
  z_stream z = {0};
  size_t room = n + 1000;
  unsigned char *to = malloc(room);
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = (Bytef *)(uintptr_t)bytes;
  z.avail_in = (uInt)n;
  z.next_out = to;
  z.avail_out = (uInt)room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  assert_int_equal(fwrite(to, 1, z.total_out, f), z.total_out);
  deflateEnd(&z);
  free(to);
}

static void write_parts(const char *const *parts) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  for (size_t i = 0; i < PARTS && parts[i]; i++) {
    static const unsigned char bad[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff};
    static char room[1 << 18];
    const char *part = parts[i];
    size_t n = strlen(part);
    if (strcmp(part, DAMAGE) == 0) {
      assert_int_equal(fwrite(bad, 1, sizeof bad, f), sizeof bad);
      continue;
    }
    if (strcmp(part, EMPTY) == 0) n = 0;
    if (strcmp(part, MUCH) == 0) {
      for (n = 0; n < 100000;) n += (size_t)sprintf(room + n, "{\"text\": \"%zu\"}\n", n);
      part = room;
    }
    if (strcmp(part, LONG) == 0) {
      memset(room, 'x', LONGEST + 10);
      n = (size_t)(LONGEST + 10 + sprintf(room + LONGEST + 10, "\n{\"text\": \"b\"}\n"));
      part = room;
    }
    pack(f, part, n);
  }
  fclose(f);
}

/* What the feed makes of the file: its records one after another, "!" for a rejected one. */
static void read_all(char *out, size_t room, const nd_format **format) {
  nd_input_options options = {.text_field = "text", .max_document = LONGEST};
  nd_input_file file = {path, path, path, 1, 0};
  nd_walk walk = {.files = &file, .n = 1, .inputs = 1};
  nd_feed *feed = NULL;
  nd_batch b = {0};
  ok(nd_feed_new(&feed, &walk, *format, &options, &err));
  size_t n = 0;
  uint64_t end = 0;
  for (bool more = true; more;) {
    ok(nd_feed_next(&more, &b, feed, &err));
    for (size_t i = 0; more && i < b.n; i++) {
      const nd_raw *raw = &b.raws[i];
      assert_true(raw->offset >= end); /* everything at most once */
      end = raw->offset + raw->length;
      if (!raw->rejected) *format = raw->format;
      nd_str shown = raw->rejected ? nd_str_of("!") : (nd_str){b.bytes.p + raw->at, raw->n};
      if (n < room) n += (size_t)snprintf(out + n, room - n, "%.*s|", (int)shown.n, shown.p);
    }
  }
  nd_batch_clear(&b);
  nd_feed_free(feed);
}

#define A "{\"text\": \"a\"}"
#define B "{\"text\": \"b\"}"
#define DOC(x) "<DOC>\n<DOCNO>" x "</DOCNO>\n</DOC>"
#define WARC(x)                                                                                   \
  "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:" x ">\r\nContent-Length: 1\r\n\r\n" x \
  "\r\n\r\n"

static void what_is_read(void **state) {
  (void)state;
  static const struct {
    const nd_format *format; /* NULL: to be found out */
    const char *parts[PARTS];
    const char *want;
    const nd_format *found; /* NULL: no record says it */
  } cases[] = {
      /* The format is what the readable part says. */
      {NULL, {DAMAGE, A "\n" B "\n"}, "!|" A "|" B "|", &nd_format_jsonl},
      {NULL, {DAMAGE, DAMAGE, A "\n"}, "!|" A "|", &nd_format_jsonl},
      {NULL, {DAMAGE, EMPTY, A "\n"}, "!|" A "|", &nd_format_jsonl},
      {NULL, {DAMAGE, EMPTY, DAMAGE, A "\n"}, "!|" A "|", &nd_format_jsonl},
      {NULL, {DAMAGE, A "\n", DAMAGE, B "\n"}, "!|" A "|!|" B "|", &nd_format_jsonl},
      {NULL, {"\n", DAMAGE, A "\n"}, "!|" A "|", &nd_format_jsonl},
      {NULL, {DAMAGE, DOC("1") "\n" DOC("2")}, "!|" DOC("1") "|" DOC("2") "|", &nd_format_trec},
      {NULL, {A "\n", DAMAGE, B "\n"}, A "|!|" B "|", &nd_format_jsonl},
      /* Nothing says it: the file is a text, and lost. */
      {NULL, {DAMAGE}, "!|", NULL},
      {NULL, {DAMAGE, EMPTY}, "!|", NULL},
      {NULL, {DAMAGE, "some words"}, "!|", NULL},
      {&nd_format_text, {"some", DAMAGE, "more", DAMAGE, "words"}, "!|", NULL},
      /* The first record behind it: whole, the rest of one, none. */
      {&nd_format_jsonl, {A "\n", DAMAGE, "e\"}\n" B "\n"}, A "|!|" B "|", &nd_format_jsonl},
      {&nd_format_jsonl, {A "\n", DAMAGE, " \n" B "\n"}, A "|!|" B "|", &nd_format_jsonl},
      {&nd_format_jsonl, {A "\n", DAMAGE, LONG}, A "|!|" B "|", &nd_format_jsonl},
      {&nd_format_jsonl,
       {A "\n", DAMAGE, "e\"}\n", DAMAGE, B "\n"},
       A "|!|" B "|",
       &nd_format_jsonl},
      {&nd_format_lines, {"a\nb", DAMAGE, "c\nd\n"}, "a|!|d|", &nd_format_lines},
      {&nd_format_lines, {"a\n", DAMAGE, "c\n"}, "a|!|", &nd_format_lines},
      {&nd_format_trec,
       {DOC("1"), DAMAGE, "</DOC>\n" DOC("2")},
       DOC("1") "|!|" DOC("2") "|",
       &nd_format_trec},
      {&nd_format_trec, {DOC("1"), DAMAGE, DOC("2")}, DOC("1") "|!|" DOC("2") "|", &nd_format_trec},
      {&nd_format_warc,
       {WARC("1"), DAMAGE, WARC("2")},
       WARC("1") "|!|" WARC("2") "|",
       &nd_format_warc},
      {&nd_format_warc,
       {WARC("1"), DAMAGE, "of a record\r\n\r\n" WARC("2")},
       WARC("1") "|!|" WARC("2") "|",
       &nd_format_warc}};
  static char got[1 << 12];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const nd_format *format = cases[i].format;
    write_parts(cases[i].parts);
    got[0] = '\0';
    read_all(got, sizeof got, &format);
    if (strcmp(got, cases[i].want) != 0) fail_msg("case %zu: %s, not %s", i, got, cases[i].want);
    if (cases[i].found && format != cases[i].found) fail_msg("case %zu: another format", i);
  }
}

/* No more than the beginning of what is behind is looked at. */
static void much_behind(void **state) {
  (void)state;
  static const char *const parts[PARTS] = {DAMAGE, MUCH, MUCH};
  static char got[1 << 12];
  const nd_format *format = NULL;
  write_parts(parts);
  read_all(got, sizeof got, &format);
  assert_ptr_equal(format, &nd_format_jsonl);
  assert_memory_equal(got, "!|{\"text\": \"0\"}|", 16);
}

/* Small files in groups of so many at most; the files need not be there to be planned. */
static void small_files_are_grouped_up_to_the_limit(void **state) {
  (void)state;
  enum { FILES = 5000, GROUP = 4096 };
  static nd_input_file files[FILES];
  nd_walk walk = {.files = files, .n = FILES, .inputs = FILES};
  nd_input_options options = {.max_document = LONGEST};
  nd_feed *feed = NULL;
  ok(nd_feed_new(&feed, &walk, NULL, &options, &err));
  assert_int_equal(nd_feed_tasks(feed), 2);
  assert_int_equal(nd_feed_task(feed, 0)->files, GROUP);
  assert_int_equal(nd_feed_task(feed, 1)->file, GROUP);
  assert_int_equal(nd_feed_task(feed, 1)->files, FILES - GROUP);
  nd_feed_free(feed);
  files[10] = (nd_input_file){path, path, path, 5 << 20, 0}; /* a large one among them */
  walk.n = 20;
  ok(nd_feed_new(&feed, &walk, NULL, &options, &err));
  uint32_t last = nd_feed_tasks(feed) - 1;
  assert_true(last >= 2);
  assert_int_equal(nd_feed_task(feed, 0)->files, 10);
  assert_int_equal(nd_feed_task(feed, 1)->file, 10);
  assert_int_equal(nd_feed_task(feed, last)->files, 9);
  nd_feed_free(feed);
}

/* A file of lines that has lost its end since it was planned: that is rejected, or there is no
 * memory. */
static nd_status read_shrunk(void *context) {
  nd_walk *walk = context;
  nd_input_options options = {.max_document = 1 << 20};
  nd_feed *feed = NULL;
  nd_batch b = {0};
  size_t records = 0, rejects = 0;
  nd_status status = nd_feed_new(&feed, walk, &nd_format_lines, &options, &err);
  for (bool more = true; status == ND_OK && more;) {
    status = nd_feed_next(&more, &b, feed, &err);
    for (size_t i = 0; status == ND_OK && more && i < b.n; i++) {
      records++;
      rejects += b.raws[i].rejected;
    }
  }
  /* What cannot be looked into is planned as a stream, and that is told. */
  nd_error unseen;
  if (status == ND_OK && nd_feed_check_probed(feed, &unseen) == ND_OK) {
    assert_int_equal(rejects, 3);
    assert_int_equal(records, rejects);
  }
  nd_batch_clear(&b);
  nd_feed_free(feed);
  return status;
}

static void file_that_shrank_fails_cleanly(void **state) {
  (void)state;
  enum { LINES = 3, LINE = 3 << 20 };
  nd_input_file file = {path, path, path, LINES * LINE, 0};
  nd_walk walk = {.files = &file, .n = 1, .inputs = 1};
  FILE *f = fopen(path, "wb");
  for (int i = 0; i < 5; i++) fputs("a line\n", f);
  fclose(f);
  assert_true(every_place_fails(read_shrunk, &walk) > 4);
}

static int setup(void **state) {
  (void)state;
  int fd = mkstemp(path);
  return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_read),
      cmocka_unit_test(much_behind),
      cmocka_unit_test(small_files_are_grouped_up_to_the_limit),
      cmocka_unit_test(file_that_shrank_fails_cleanly),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
