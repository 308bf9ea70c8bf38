/* A record that kills the process which looks into it (neardup/stage.h): a child that dies tells
 * which one it was, and the block without it is the block of a file that never had it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "neardup/stage.h"
#include "settings/option_fields.h"
#include "store/workdir.h"
#include "tools.h"

enum { RECORDS = 40 };

static char dir[] = "/tmp/nd_test_skip_XXXXXX";
static char secret[ND_STAGE_SECRET];
static nd_rng rng;

typedef struct shared {
  uint64_t seen, file, offset;
} shared;

static void watch(void *context, uint32_t file, uint64_t offset, nd_str raw) {
  shared *now = context;
  now->seen++;
  now->file = file;
  now->offset = offset;
  if (memmem(raw.p, raw.n, "deadly", 6)) _exit(77);
}

/* The ids and the texts of what a file gives; records that kill are found and left out. */
static void read_file(nd_buf *out, nd_buf *rejects, unsigned *skipped, const char *path,
                      const char *format, shared *now) {
  nd_options o;
  nd_options_init(&o);
  ok(nd_options_set(&o, "format", format, &err));
  nd_stage *s;
  nd_intake *plan;
  nd_reader *r;
  int more;
  ok(nd_stage_new(&s, &o, 1, secret, &err));
  ok(nd_intake_new(&plan, s, &(nd_intake_request){.inputs = &path, .input_n = 1, .avoid = NULL},
                   &err));
  ok(nd_reader_open(
      &r, s, &(nd_reader_request){.plan = plan, .begin = 0, .end = UINT32_MAX, .keep_texts = 1},
      &err));
  out->n = rejects->n = *skipped = 0;
  for (ok(nd_reader_read(&more, r, &err)); more; ok(nd_reader_read(&more, r, &err))) {
    nd_stage_block b;
    for (;;) {
      nd_reader_watched(r, watch, now);
      pid_t child = fork();
      if (child == 0) {
        nd_error local;
        (void)!nd_reader_sign(&b, r, &local);
        _exit(0);
      }
      int status, found;
      assert_int_equal(waitpid(child, &status, 0), child);
      if (status == 0) break;
      assert_int_equal(WEXITSTATUS(status), 77);
      ok(nd_reader_skip(&found, r, (uint32_t)now->file, now->offset, &err));
      assert_true(found);
      ok(nd_reader_skip(&found, r, (uint32_t)now->file, now->offset, &err));
      assert_false(found); /* it is no record any more */
      ok(nd_reader_skip(&found, r, 7, now->offset, &err));
      assert_false(found);
      ++*skipped;
    }
    nd_reader_watched(r, NULL, NULL);
    uint64_t seen = now->seen;
    ok(nd_reader_sign(&b, r, &err));
    assert_int_equal(seen, now->seen);
    nd_str lines;
    nd_buf image = {0};
    ok(nd_buf_append(&image, b.image.p, b.image.n, &err));
    for (uint32_t i = 0; i < b.docs; i++) {
      uint64_t end;
      nd_str id;
      ok(nd_stage_ids(
          &id, &end, s,
          &(nd_stored_block){
              .image = nd_buf_str(&image), .paths = NULL, .lines = 0, .rows = &i, .row_n = 1},
          &err));
      ok(nd_buf_append(out, id.p, id.n, &err));
      ok(nd_buf_append(out, "\n", 1, &err));
    }
    ok(nd_buf_append(out, b.texts.p, b.texts.n, &err));
    ok(nd_stage_rejects(&lines, s,
                        &(nd_stored_block){.image = nd_buf_str(&image), .paths = &path, .lines = 0},
                        &err));
    ok(nd_buf_append(rejects, lines.p, lines.n, &err));
    nd_buf_clear(&image);
  }
  nd_reader_close(r);
  nd_intake_free(plan);
  nd_stage_free(s);
}

/* Appends record i in a format. */
static void put_record(nd_buf *to, const char *format, unsigned i, bool deadly) {
  char text[200], record[700];
  snprintf(text, sizeof text, "the words of number %u are %llu and %llu%s", i,
           (unsigned long long)i * i, (unsigned long long)i * 77, deadly ? " and deadly" : "");
  if (strcmp(format, "jsonl") == 0)
    snprintf(record, sizeof record, "{\"id\": \"d%u\", \"text\": \"%s\"}\n", i, text);
  else if (strcmp(format, "trec") == 0)
    snprintf(record, sizeof record, "<DOC>\n<DOCNO>d%u</DOCNO>\n<TEXT>\n%s\n</TEXT>\n</DOC>\n", i,
             text);
  else
    snprintf(record, sizeof record,
             "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:d%u>\r\n"
             "WARC-Target-URI: http://h/%u\r\nContent-Type: application/http; msgtype=response\r\n"
             "Content-Length: %zu\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n%s\r\n"
             "\r\n",
             i, i, strlen(text) + 45, text);
  ok(nd_buf_append(to, record, strlen(record), &err));
}

static void save(const char *path, const nd_buf *bytes) {
  FILE *f = fopen(path, "we");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes->p, 1, bytes->n, f), bytes->n);
  assert_int_equal(fclose(f), 0);
}

static void block_without_a_deadly_record_is_as_if_it_never_was(void **state) {
  (void)state;
  static const char *const formats[] = {"jsonl", "trec", "warc"};
  shared *now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(now != MAP_FAILED);
  char path[100];
  snprintf(path, sizeof path, "%s/file", dir);
  for (unsigned f = 0; f < 3; f++) {
    nd_buf with = {0}, without = {0}, got = {0}, want = {0}, rejects = {0}, none = {0};
    nd_buf places = {0};
    unsigned deadly = 0, skipped;
    for (unsigned i = 0; i < RECORDS; i++) {
      bool bad = nd_rng_below(&rng, 10) == 0 || i == 0 || i == 17;
      char place[200];
      if (f == 0)
        snprintf(place, sizeof place, "%s:%u\t" ND_STAGE_SKIPPED "\n", path, i + 1);
      else if (i == 0) /* the beginning of a file goes without saying */
        snprintf(place, sizeof place, "%s\t" ND_STAGE_SKIPPED "\n", path);
      else
        snprintf(place, sizeof place, "%s@%zu\t" ND_STAGE_SKIPPED "\n", path, with.n);
      if (bad) ok(nd_buf_append(&places, place, strlen(place), &err));
      put_record(&with, formats[f], i, bad);
      if (!bad) put_record(&without, formats[f], i, false);
      deadly += bad;
    }
    save(path, &with);
    read_file(&got, &rejects, &skipped, path, formats[f], now);
    assert_int_equal(skipped, deadly);
    assert_int_equal(rejects.n, places.n);
    assert_memory_equal(rejects.p, places.p, places.n);
    save(path, &without);
    read_file(&want, &none, &skipped, path, formats[f], now);
    assert_true(skipped == 0 && none.n == 0 && want.n > RECORDS);
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
    nd_buf *all[] = {&with, &without, &got, &want, &rejects, &none, &places};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) nd_buf_clear(all[i]);
  }
  munmap(now, sizeof *now);
}

static int set_up(void **state) {
  (void)state;
  seed_rng(&rng);
  for (size_t i = 0; i < sizeof secret; i++) secret[i] = (char)(i * 7 + 1);
  return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  return nd_remove_tree(dir, NULL) == ND_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_without_a_deadly_record_is_as_if_it_never_was)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
