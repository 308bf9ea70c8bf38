/* The feed against a naive cut of the same bytes: whatever the task kind (a
 * range, a stream, a group of small files) and the number of threads, every
 * record comes exactly once, with its bytes, place and line number. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>
#include <xxhash.h>

#include "base/rng.h"
#include "read/feed.h"
#include "tools.h"

enum { MOST_FILES = 400, RANGE = 4 << 20 };

static char dir[] = "/tmp/nd_test_feed_XXXXXX";
static nd_rng rng;

/* ---- records, expected and got ---- */

typedef struct record {
  uint32_t file;
  uint64_t line; /* absolute */
  uint64_t offset, length, n, hash;
  bool rejected;
  uint32_t task, part, row; /* where it came from */
} record;

typedef struct records {
  record *p;
  size_t n, cap;
} records;

static void push(records *r, record x) {
  if (r->n == r->cap) {
    r->cap = r->cap ? 2 * r->cap : 1024;
    r->p = realloc(r->p, r->cap * sizeof *r->p);
  }
  r->p[r->n++] = x;
}

static void drop(records *r) {
  free(r->p);
  *r = (records){0};
}

static bool blank(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!memchr(" \t\n\v\f\r", p[i], 6)) return false;
  }
  return true;
}

/* What the lines of a file are, in the plainest way. */
static uint64_t cut_naively(records *out, const nd_buf *text, uint32_t file, bool skip_blank,
                            uint64_t most) {
  uint64_t line = 0, others = 0;
  for (size_t at = 0; at < text->n;) {
    const char *newline = memchr(text->p + at, '\n', text->n - at);
    size_t end = newline ? (size_t)(newline - text->p) : text->n;
    size_t n = end - at;
    if (n && text->p[end - 1] == '\r') n--;
    record r = {.file = file, .line = ++line, .offset = at, .length = end - at + (newline != NULL)};
    if (n > most)
      r.rejected = true;
    else
      r.n = n, r.hash = XXH3_64bits(text->p + at, n);
    if (!r.rejected && skip_blank && blank(text->p + at, n))
      others++;
    else
      push(out, r);
    at += r.length;
  }
  return others;
}

typedef struct batch_note {
  uint32_t task, part;
  bool last, relative;
  uint32_t range_file;
  uint64_t lines;
} batch_note;

/* Several threads that take batches from one feed. */
typedef struct team {
  nd_feed *feed;
  pthread_mutex_t lock;
  records records;
  batch_note *notes;
  size_t note_n, note_cap;
  uint64_t others, raw_bytes;
  nd_status status;
  nd_error err;
} team;

static void note_batch(team *t, const nd_batch *b) {
  if (t->note_n == t->note_cap) {
    t->note_cap = t->note_cap ? 2 * t->note_cap : 64;
    t->notes = realloc(t->notes, t->note_cap * sizeof *t->notes);
  }
  t->notes[t->note_n++] =
      (batch_note){b->task, b->part, b->last, b->lines_relative, b->range_file, b->lines};
  t->others += b->others;
  t->raw_bytes += b->raw_bytes;
  for (size_t i = 0; i < b->n; i++) {
    const nd_raw *raw = &b->raws[i];
    record r = {.file = raw->file,
                .line = raw->line,
                .offset = raw->offset,
                .length = raw->length,
                .rejected = raw->rejected,
                .task = b->task,
                .part = b->part,
                .row = (uint32_t)i};
    if (!raw->rejected) {
      r.n = raw->n;
      r.hash = XXH3_64bits(b->bytes.p + raw->at, raw->n);
    }
    push(&t->records, r);
  }
}

static void *take_batches(void *argument) {
  team *t = argument;
  nd_batch b = {0};
  nd_error own = {0};
  for (;;) {
    bool more = false;
    nd_status status = nd_feed_next(&more, &b, t->feed, &own);
    if (status == ND_OK && !more) break;
    pthread_mutex_lock(&t->lock);
    if (status == ND_OK) {
      note_batch(t, &b);
    } else {
      t->status = status;
      t->err = own;
    }
    pthread_mutex_unlock(&t->lock);
    if (status != ND_OK) {
      nd_feed_stop(t->feed);
      break;
    }
  }
  nd_batch_clear(&b);
  return NULL;
}

static int by_note(const void *x, const void *y) {
  const batch_note *a = x, *b = y;
  if (a->task != b->task) return a->task < b->task ? -1 : 1;
  return a->part < b->part ? -1 : a->part > b->part;
}

static int by_origin(const void *x, const void *y) {
  const record *a = x, *b = y;
  if (a->task != b->task) return a->task < b->task ? -1 : 1;
  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* Line numbers of ranges count from their start: add the lines before. */
static void settle_lines(team *t) {
  uint64_t before = 0;
  uint32_t file = UINT32_MAX;
  size_t at = 0;
  for (size_t i = 0; i < t->note_n; i++) {
    const batch_note *b = &t->notes[i];
    if (!b->relative || b->range_file != file) before = 0;
    file = b->relative ? b->range_file : UINT32_MAX;
    for (;
         at < t->records.n && t->records.p[at].task == b->task && t->records.p[at].part == b->part;
         at++) {
      if (b->relative && t->records.p[at].line) t->records.p[at].line += before;
    }
    before += b->lines;
  }
}

static void run_team(team *t, nd_feed *feed, unsigned threads) {
  *t = (team){.feed = feed};
  pthread_mutex_init(&t->lock, NULL);
  pthread_t ids[16];
  for (unsigned i = 0; i < threads; i++)
    assert_int_equal(pthread_create(&ids[i], NULL, take_batches, t), 0);
  for (unsigned i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  pthread_mutex_destroy(&t->lock);
  err = t->err;
  ok(t->status);
  if (t->note_n) qsort(t->notes, t->note_n, sizeof *t->notes, by_note);
  if (t->records.n) qsort(t->records.p, t->records.n, sizeof *t->records.p, by_origin);
  settle_lines(t);
}

static void clear_team(team *t) {
  drop(&t->records);
  free(t->notes);
}

/* Every task has parts 0, 1 … and one last one. */
static void expect_whole(const team *t, uint32_t tasks) {
  uint32_t task = 0, part = 0;
  for (size_t i = 0; i < t->note_n; i++) {
    assert_int_equal(t->notes[i].task, task);
    assert_int_equal(t->notes[i].part, part);
    part++;
    if (t->notes[i].last) task++, part = 0;
  }
  assert_int_equal(task, tasks);
  assert_int_equal(part, 0);
}

static void expect_records(const records *got, const records *want) {
  for (size_t i = 0; i < got->n && i < want->n; i++) {
    const record *a = &got->p[i], *b = &want->p[i];
    if (a->file != b->file || a->line != b->line || a->offset != b->offset ||
        a->length != b->length || a->n != b->n || a->hash != b->hash || a->rejected != b->rejected)
      fail_msg(
          "record %zu: got file %u line %llu at %llu+%llu, %llu bytes%s; want file %u line "
          "%llu at %llu+%llu, %llu bytes%s",
          i, a->file, (unsigned long long)a->line, (unsigned long long)a->offset,
          (unsigned long long)a->length, (unsigned long long)a->n, a->rejected ? ", rejected" : "",
          b->file, (unsigned long long)b->line, (unsigned long long)b->offset,
          (unsigned long long)b->length, (unsigned long long)b->n, b->rejected ? ", rejected" : "");
  }
  assert_int_equal(got->n, want->n);
}

/* ---- files ---- */

static nd_input_file files[MOST_FILES];
static char paths[MOST_FILES][64];
static nd_walk walk;

static void forget_files(void) {
  for (size_t i = 0; i < walk.n; i++) unlink(paths[i]);
  walk = (nd_walk){.files = files};
}

static void add_file(const nd_buf *bytes, uint64_t size) {
  size_t i = walk.n++;
  snprintf(paths[i], sizeof paths[i], "%s/%03zu", dir, i);
  FILE *f = fopen(paths[i], "wb");
  assert_non_null(f);
  if (bytes->n) assert_int_equal(fwrite(bytes->p, 1, bytes->n, f), bytes->n);
  fclose(f);
  files[i] = (nd_input_file){paths[i], paths[i], paths[i] + sizeof dir, size, 0};
}

static void add_plain(const nd_buf *bytes) {
  add_file(bytes, bytes->n);
}

/* gzip in `members` parts; large ones only wrapped, to save time. */
static void add_gzip(const nd_buf *bytes, size_t members) {
  nd_buf packed = {0};
  for (size_t i = 0; i < members; i++) {
    size_t begin = bytes->n / members * i,
           end = i + 1 < members ? begin + bytes->n / members : bytes->n;
    z_stream z = {0};
    assert_int_equal(
        deflateInit2(&z, bytes->n > RANGE ? 0 : 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    size_t bound = deflateBound(&z, (uLong)(end - begin));
    ok(nd_buf_reserve(&packed, bound, &err));
    z.next_in = (Bytef *)(void *)(bytes->p + begin);
    z.avail_in = (uInt)(end - begin);
    z.next_out = (Bytef *)(void *)(packed.p + packed.n);
    z.avail_out = (uInt)bound;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.n += z.total_out;
    deflateEnd(&z);
  }
  add_file(&packed, packed.n);
  nd_buf_clear(&packed);
}

/* `n` bytes of letters that no packer makes much smaller. */
static void add_letters(nd_buf *out, size_t n) {
  ok(nd_buf_reserve(out, n + 8, &err));
  for (size_t i = 0; i < n; i += 8) {
    uint64_t x = nd_rng_next(&rng);
    for (size_t j = 0; j < 8; j++, x >>= 8) out->p[out->n + i + j] = (char)('0' + (x & 63));
  }
  out->n += n;
}

static void put_text(nd_buf *out, const char *text) {
  ok(nd_buf_append(out, text, strlen(text), &err));
}

/* Lines of every length; some around `most` bytes, some over several ranges. */
static void make_lines(nd_buf *out, size_t size, uint64_t most, bool giants) {
  out->n = 0;
  while (out->n < size) {
    uint64_t kind = nd_rng_below(&rng, 1000);
    if (giants && kind == 0)
      add_letters(out, RANGE / 2 + nd_rng_below(&rng, 2 * RANGE));
    else if (kind < 5)
      add_letters(out, most - 3 + nd_rng_below(&rng, 7));
    else if (kind < 20)
      add_letters(out, nd_rng_below(&rng, 30000));
    else if (kind < 60)
      put_text(out, nd_rng_below(&rng, 2) ? " \t \r" : "\v\f ");
    else if (kind < 100)
      put_text(out, "");
    else
      add_letters(out, nd_rng_below(&rng, 3000));
    put_text(out, nd_rng_below(&rng, 3) ? "\n" : "\r\n");
  }
  if (giants) {
    add_letters(out, 2 * RANGE + nd_rng_below(&rng, RANGE));
    put_text(out, "\n");
  }
  switch (nd_rng_below(&rng, 3)) {
    case 0: add_letters(out, 100); break; /* no newline at the end */
    case 1: add_letters(out, 3), put_text(out, "\r"); break;
    default: break;
  }
}

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  walk.files = files;
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  forget_files();
  return rmdir(dir);
}

static void check(const nd_format *format, uint64_t most, unsigned threads, const records *want,
                  uint64_t others, nd_task_kind kind) {
  nd_input_options options = {.text_field = "text", .max_document = most};
  nd_feed *feed = NULL;
  ok(nd_feed_new(&feed, &walk, format, &options, &err));
  nd_feed_skip_done(feed, NULL, NULL, threads);
  for (uint32_t i = 0; i < nd_feed_tasks(feed); i++)
    assert_int_equal(nd_feed_task(feed, i)->kind, kind);
  team t;
  run_team(&t, feed, threads);
  expect_whole(&t, nd_feed_tasks(feed));
  expect_records(&t.records, want);
  assert_int_equal(t.others, others);
  assert_int_equal(nd_feed_done(feed), nd_feed_bytes(feed));
  clear_team(&t);
  nd_feed_free(feed);
}

/* ---- tests ---- */

static const unsigned team_sizes[] = {1, 2, 8};

static void lines_of(const nd_format *format, uint64_t most, bool giants, size_t size) {
  nd_buf text = {0};
  make_lines(&text, size, most < RANGE ? most : 50000, giants);
  records want = {0};
  uint64_t others = cut_naively(&want, &text, 0, !format->blank_lines, most);
  if (format->blank_lines) { /* nothing but records: they tile the file */
    uint64_t at = 0;
    for (size_t i = 0; i < want.n; i++) {
      assert_int_equal(want.p[i].offset, at);
      at += want.p[i].length;
    }
    assert_int_equal(at, text.n);
  }
  for (int packed = 0; packed < 2; packed++) {
    forget_files();
    if (packed)
      add_gzip(&text, 1 + (size_t)nd_rng_below(&rng, 5));
    else
      add_plain(&text);
    for (size_t i = 0; i < sizeof team_sizes / sizeof *team_sizes; i++)
      check(format, most, team_sizes[i], &want, others, packed ? ND_TASK_STREAM : ND_TASK_RANGE);
  }
  drop(&want);
  nd_buf_clear(&text);
}

static void ranges_and_streams_are_lines(void **state) {
  (void)state;
  lines_of(&nd_format_lines, 100000, true, 9 << 20);
  lines_of(&nd_format_jsonl, 100000, false, 9 << 20);
}

static void long_lines_cross_ranges(void **state) {
  (void)state;
  lines_of(&nd_format_lines, 64 << 20, true, 6 << 20);
  lines_of(&nd_format_jsonl, 5 << 20, true, 6 << 20);
}

/* More lines in a range than a batch may have: it comes in parts. */
static void many_short_lines(void **state) {
  (void)state;
  nd_buf text = {0};
  add_letters(&text, RANGE - 1000); /* the first parts begin after a giant */
  while (text.n < 2 * RANGE + RANGE / 2) {
    add_letters(&text, (size_t)nd_rng_below(&rng, 20));
    put_text(&text, nd_rng_below(&rng, 9) ? "\n" : "\r\n");
  }
  add_letters(&text, RANGE);
  forget_files();
  add_plain(&text);
  for (int f = 0; f < 2; f++) {
    records want = {0};
    uint64_t others = cut_naively(&want, &text, 0, f, f ? 1000 : 64 << 20);
    for (size_t i = 0; i < sizeof team_sizes / sizeof *team_sizes; i++)
      check(f ? &nd_format_jsonl : &nd_format_lines, f ? 1000 : 64 << 20, team_sizes[i], &want,
            others, ND_TASK_RANGE);
    drop(&want);
  }
  nd_buf_clear(&text);
}

/* Packed records of WARC, and of ARC, more than a batch may have: they come in parts, and each
 * part says where in which file a record starts. */
static void packed_records(void **state) {
  (void)state;
  enum { RECORDS = ND_BATCH_RECORDS + 100 };
  for (int arc = 0; arc < 2; arc++) {
    nd_buf text = {0};
    if (arc)
      put_text(&text, "filedesc://a 0.0.0.0 20200101000000 text/plain 14\n1 0 InternetA\nX\n");
    uint64_t at = text.n;
    for (int i = 0; i < RECORDS; i++)
      put_text(&text, arc ? "http://a/ 0.0.0.0 20200101000000 text/plain 6\nwords\n\n"
                          : "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:x>\r\n"
                            "Content-Length: 5\r\n\r\nwords\r\n\r\n");
    forget_files();
    add_gzip(&text, 3);
    nd_input_options options = {.text_field = "text", .max_document = 1000};
    nd_feed *feed = NULL;
    team t;
    ok(nd_feed_new(&feed, &walk, NULL, &options, &err)); /* the format is looked for */
    run_team(&t, feed, 1);
    expect_whole(&t, 1);
    assert_int_equal(t.note_n, 2); /* batches */
    assert_int_equal(t.records.n, RECORDS);
    for (size_t i = 0; i < RECORDS; at += t.records.p[i++].length) {
      assert_false(t.records.p[i].rejected);
      assert_int_equal(t.records.p[i].offset, at);
    }
    assert_int_equal(at, text.n);
    clear_team(&t);
    nd_feed_free(feed);
    nd_buf_clear(&text);
  }
}

/* A line end, or its "\r", right at the seam of two ranges. */
static void line_ends_at_a_seam_split_no_record(void **state) {
  (void)state;
  nd_buf text = {0};
  for (int shift = -2; shift <= 1; shift++) {
    text.n = 0;
    add_letters(&text, (size_t)(RANGE + shift));
    put_text(&text, "\r\n");
    add_letters(&text, 50);
    put_text(&text, "\n\n \n");
    add_letters(&text, 1000);
    forget_files();
    add_plain(&text);
    for (int f = 0; f < 2; f++) {
      const nd_format *format = f ? &nd_format_jsonl : &nd_format_lines;
      for (uint64_t most = RANGE - 3; most <= RANGE + 2; most++) {
        records want = {0};
        uint64_t others = cut_naively(&want, &text, 0, f, most);
        check(format, most, 1, &want, others, ND_TASK_RANGE);
        drop(&want);
      }
    }
  }
  nd_buf_clear(&text);
}

static void small_files_go_in_groups(void **state) {
  (void)state;
  for (int round = 0; round < 4; round++) {
    bool whole = round & 1;
    forget_files();
    records want = {0};
    uint64_t others = 0;
    nd_buf text = {0};
    for (uint32_t i = 0; i < 200; i++) {
      text.n = 0;
      uint64_t kind = nd_rng_below(&rng, 20);
      if (kind > 2)
        make_lines(&text, (size_t)nd_rng_below(&rng, kind == 3 ? 1 << 20 : 9000), 900, 0);
      if (kind % 3 == 0 && text.n)
        add_gzip(&text, 2);
      else
        add_plain(&text);
      if (!whole)
        others += cut_naively(&want, &text, i, true, 20000);
      else if (text.n > 20000)
        push(&want, (record){.file = i, .length = text.n, .rejected = true});
      else
        push(&want, (record){.file = i,
                             .length = text.n,
                             .n = text.n,
                             .hash = XXH3_64bits(text.n ? text.p : "", text.n)});
    }
    for (size_t i = 0; i < sizeof team_sizes / sizeof *team_sizes; i++)
      check(whole ? &nd_format_text : &nd_format_jsonl, 20000, team_sizes[i], &want, others,
            ND_TASK_FILES);
    drop(&want);
    nd_buf_clear(&text);
  }
}

/* Plans a feed over the files, breaks one, reads; gives the rejects. */
static void read_broken(team *t, const nd_format *format, void (*spoil)(const char *path)) {
  nd_input_options options = {.text_field = "text", .max_document = 1 << 20};
  nd_feed *feed = NULL;
  ok(nd_feed_new(&feed, &walk, format, &options, &err));
  nd_feed_skip_done(feed, NULL, NULL, 2);
  spoil(paths[0]);
  run_team(t, feed, 2);
  expect_whole(t, nd_feed_tasks(feed));
  nd_feed_free(feed);
}

static void vanish(const char *path) {
  unlink(path);
}
static void halve(const char *path) {
  FILE *f = fopen(path, "rb");
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  fclose(f);
  assert_int_equal(truncate(path, size / 2), 0);
}

/* Documents of file 0 that are told, and what is rejected of it. */
static void count_first(const team *t, size_t *documents, size_t *rejects, uint64_t *lost) {
  *documents = *rejects = 0;
  *lost = 0;
  for (size_t i = 0; i < t->records.n; i++) {
    const record *r = &t->records.p[i];
    if (r->file) continue;
    *documents += !r->rejected;
    *rejects += r->rejected;
    if (r->rejected) *lost += r->length;
  }
}

static void lost_files_are_rejects(void **state) {
  (void)state;
  nd_buf text = {0};
  make_lines(&text, 10 << 20, 1000, false);
  for (int packed = 0; packed < 2; packed++) {
    for (int small = 0; small < 2; small++) {
      for (int cut = 0; cut < 2; cut++) {
        nd_buf part = {text.p, small ? 200000 : text.n, 0};
        forget_files();
        if (packed)
          add_gzip(&part, 1);
        else
          add_plain(&part);
        nd_buf other = {text.p, 5000, 0};
        add_plain(&other);
        records want = {0};
        cut_naively(&want, &other, 1, false, 1 << 20);
        uint64_t size = files[0].size;
        team t;
        read_broken(&t, &nd_format_lines, cut ? halve : vanish);
        size_t documents, rejects;
        uint64_t lost;
        count_first(&t, &documents, &rejects, &lost);
        if (cut && small && !packed) {
          /* A small file is read as it is found: no more is known of it. */
          assert_true(documents > 0);
        } else {
          assert_true(rejects > 0);
          if (!cut)
            assert_int_equal(documents, 0);
          else
            assert_true(documents > 0);
          if (!cut) assert_int_equal(lost, size); /* all of it, once */
        }
        size_t seen = 0; /* the other file is whole */
        for (size_t i = 0; i < t.records.n; i++) seen += t.records.p[i].file == 1;
        assert_int_equal(seen, want.n);
        drop(&want);
        clear_team(&t);
      }
    }
  }
  nd_buf_clear(&text);
}

static uint64_t skip_salt;
static bool skip_some(void *context, uint32_t task, uint32_t part) {
  (void)context;
  if (part == ND_WHOLE_TASK) return false;
  return nd_mix((uint64_t)task << 32 ^ part ^ skip_salt) & 1;
}

/* Batches are the same whatever was done before; shards share them out. */
static void skipping_and_shards(void **state) {
  (void)state;
  nd_buf text = {0};
  forget_files();
  make_lines(&text, 21 << 20, 1000, false);
  add_plain(&text);
  add_gzip(&text, 3);
  for (int i = 0; i < 60; i++) {
    nd_buf part = {text.p + i * 1000, 300000, 0};
    add_plain(&part);
  }
  nd_input_options options = {.max_document = 1 << 20};
  nd_feed *feed = NULL;
  team all, some;
  ok(nd_feed_new(&feed, &walk, &nd_format_lines, &options, &err));
  nd_feed_skip_done(feed, NULL, NULL, 2);
  run_team(&all, feed, 2);
  expect_whole(&all, nd_feed_tasks(feed));
  nd_feed_free(feed);

  skip_salt = nd_rng_next(&rng);
  ok(nd_feed_new(&feed, &walk, &nd_format_lines, &options, &err));
  nd_feed_skip_done(feed, skip_some, NULL, 2);
  run_team(&some, feed, 2);
  nd_feed_free(feed);
  records want = {0};
  for (size_t i = 0; i < all.records.n; i++) {
    if (!skip_some(NULL, all.records.p[i].task, all.records.p[i].part))
      push(&want, all.records.p[i]);
  }
  /* Without their neighbours, ranges cannot know absolute lines. */
  for (size_t i = 0; i < want.n; i++) want.p[i].line = 0;
  for (size_t i = 0; i < some.records.n; i++) some.records.p[i].line = 0;
  expect_records(&some.records, &want);
  clear_team(&some);
  drop(&want);

  uint64_t total = 0;
  for (uint32_t shard = 0; shard < 3; shard++) {
    ok(nd_feed_new(&feed, &walk, &nd_format_lines, &options, &err));
    nd_feed_skip_done(feed, NULL, NULL, 2);
    nd_feed_shard(feed, shard, 3);
    run_team(&some, feed, 2);
    for (size_t i = 0; i < some.note_n; i++) assert_int_equal(some.notes[i].task % 3, shard);
    total += some.records.n;
    clear_team(&some);
    nd_feed_free(feed);
  }
  assert_int_equal(total, all.records.n);
  clear_team(&all);
  nd_buf_clear(&text);
}

static void a_stopped_feed_ends(void **state) {
  (void)state;
  nd_buf text = {0};
  forget_files();
  make_lines(&text, 5 << 20, 1000, false);
  add_gzip(&text, 1);
  nd_input_options options = {.max_document = 1 << 20};
  nd_feed *feed = NULL;
  ok(nd_feed_new(&feed, &walk, &nd_format_lines, &options, &err));
  nd_batch b = {0};
  bool more = false;
  ok(nd_feed_next(&more, &b, feed, &err));
  assert_true(more);
  nd_feed_stop(feed);
  ok(nd_feed_next(&more, &b, feed, &err));
  assert_false(more);
  nd_batch_clear(&b);
  nd_feed_free(feed); /* with an open reader */
  nd_buf_clear(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_and_streams_are_lines),
      cmocka_unit_test(long_lines_cross_ranges),
      cmocka_unit_test(many_short_lines),
      cmocka_unit_test(packed_records),
      cmocka_unit_test(line_ends_at_a_seam_split_no_record),
      cmocka_unit_test(small_files_go_in_groups),
      cmocka_unit_test(lost_files_are_rejects),
      cmocka_unit_test(skipping_and_shards),
      cmocka_unit_test(a_stopped_feed_ends),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
