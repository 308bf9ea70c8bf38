/* What stages refuse: jobs they cannot do, numbers that contradict one another, blocks and runs
 * that are damaged or of another job, files that change; and what they say when a call fails. */
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

#include "every_place.h"
#include "naive_corpus.h"
#include "neardup/stage.h"
#include "settings/option_fields.h"
#include "stage_walk.h"
#include "store/workdir.h"

static char dir[] = "/tmp/nd_test_refused_XXXXXX";
static const char *inputs[2] = {corpus_path, second_path};
static char secret[ND_STAGE_SECRET];

static void keep(nd_buf *to, nd_str from) {
  to->n = 0;
  ok(nd_buf_append(to, from.p, from.n, &err));
}

/* What stages cannot do, and numbers that contradict one another. */
static void impossible_jobs_are_refused(void **state) {
  (void)state;
  nd_stage *s;
  nd_options o;
  static const char *const sets[][2] = {
      {"method", "join"},     {"against", "x"},           {"ignore-boilerplate", "yes"},
      {"shard", "1/2"},       {"family", "linear"},       {"columns", "similarity,exact"},
      {"similarity", "edit"}, {"sample", "adaptive:0.9"}, {"top", "3"},
      {"csv", "yes"},         {"sample", "sct:3"},        {"candidates", "ppjoin"}};
  static const char *const more[][6] = {
      {"method", "exact", "top", "3", NULL},
      {"method", "exact", "sample", "adaptive:0.9", "threshold", "0.5"},
      {"method", "minhash", "candidates", "exact", NULL},
      {"method", "exact", "threshold", "0", NULL},
      {"method", "join", "similarity", "edit", "threshold", "3"},
      {"method", "simhash", "weights", "tfidf", NULL},
      {"columns", "simhash", NULL},
      {"method", "supershingle", "columns", "minhash", "family", "linear"},
  };
  for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
    nd_options_init(&o);
    for (size_t i = 0; i < 6 && more[k][i]; i += 2)
      ok(nd_options_set(&o, more[k][i], more[k][i + 1], &err));
    assert_int_equal(nd_stage_new(&s, &o, 1, secret, &err), ND_ERR_USAGE);
  }
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    nd_options_init(&o);
    ok(nd_options_set(&o, sets[k][0], sets[k][1], &err));
    nd_status status = nd_stage_new(&s, &o, 1, secret, &err);
    if (status == ND_OK) fail_msg("%s %s is not refused", sets[k][0], sets[k][1]);
    assert_true(err.message[0]);
  }
  nd_options_init(&o); /* every pair may be listed, with what it has in common */
  ok(nd_options_set(&o, "method", "exact", &err));
  ok(nd_stage_new(&s, &o, 0, secret, &err));
  nd_stage_free(s);
  nd_options_init(&o);
  ok(nd_stage_new(&s, &o, 1, secret, &err));
  nd_settle *t;
  uint32_t same[3] = {0, 2, 2}, root[3];
  assert_int_equal(
      nd_settle_new(
          &t, s,
          &(nd_settle_request){.same = same, .rank = NULL, .documents = UINT32_MAX, .tmp = dir},
          &err),
      ND_ERR_LIMIT);
  assert_int_equal(
      nd_settle_new(&t, s,
                    &(nd_settle_request){.same = same, .rank = NULL, .documents = 3, .tmp = dir},
                    &err),
      ND_ERR_DATA);
  same[1] = 0;
  ok(nd_settle_new(
      &t, s, &(nd_settle_request){.same = same, .rank = NULL, .documents = 3, .tmp = dir}, &err));
  uint64_t pair = UINT64_C(2) << 32 | 3, kind = 0, value = 0;
  assert_int_equal(nd_stage_components(root, 3, &pair, 1, &err), ND_ERR_DATA);
  assert_int_equal(nd_settle_verify(t, &(nd_candidates){&pair, &kind, &value, 1}, &err),
                   ND_ERR_DATA);
  assert_int_equal(nd_settle_write_clusters(t, "x", &(nd_document_texts){NULL, NULL, 0}, &err),
                   ND_ERR_USAGE);
  assert_int_equal(nd_settle_finish(t, &value, 1, &err), ND_ERR_USAGE);
  uint64_t falling[2] = {1, 1}, kinds[2] = {0}, values[2] = {0};
  assert_int_equal(nd_settle_verify(t, &(nd_candidates){falling, kinds, values, 2}, &err),
                   ND_ERR_DATA);
  pair = UINT64_C(3) << 32 | 1;
  assert_int_equal(nd_settle_verify(t, &(nd_candidates){&pair, &kind, &value, 1}, &err),
                   ND_ERR_DATA);
  assert_int_equal(nd_stage_components(root, 3, &pair, 1, &err), ND_ERR_DATA);
  nd_settle_page page = {.n = 0};
  assert_int_equal(nd_settle_write_report(t, &page, dir, &err), ND_ERR_USAGE);
  assert_string_equal(err.message, "there are no clusters yet");
  /* A text that did not come. */
  nd_str two[2] = {{"one two three four five six", 27}, {"one two three four five six", 27}};
  uint32_t here[2] = {0, 2};
  pair = 1;
  assert_int_equal(
      nd_stage_verify(
          &value, s, &(nd_comparison){.pairs = &pair, .n = 1, .evidence = {here, two, 2}, .all = 1},
          &err),
      ND_ERR_STATE);
  assert_string_equal(err.message, "the text of document 1 was not provided");
  pair = 3;
  assert_int_equal(
      nd_stage_verify(
          &value, s, &(nd_comparison){.pairs = &pair, .n = 1, .evidence = {here, two, 2}, .all = 1},
          &err),
      ND_ERR_STATE);
  value = 0;
  ok(nd_settle_verify(t, &(nd_candidates){&pair, &kind, &value, 0}, &err));
  const uint64_t *missing;
  size_t n;
  root[1] = 3;
  assert_int_equal(nd_settle_cluster(&missing, &n, t, root, &err), ND_ERR_DATA);
  nd_settle_free(t);
  nd_settle_free(NULL);
  nd_str image = {"nothing", 7}, out;
  uint64_t end, gone;
  uint32_t row = 0;
  uint8_t dropped = 0;
  nd_intake *plan;
  make_corpus(20);
  ok(nd_intake_new(&plan, s, &(nd_intake_request){.inputs = inputs, .input_n = 2, .avoid = NULL},
                   &err));
  assert_int_equal(nd_stage_texts(&out, &end, s,
                                  &(nd_stored_block){.image = image,
                                                     .texts = image,
                                                     .texts_sum = 0,
                                                     .plan = NULL,
                                                     .rows = &row,
                                                     .row_n = 1},
                                  &err),
                   ND_ERR_DATA);
  assert_int_equal(
      nd_stage_ids(
          &out, &end, s,
          &(nd_stored_block){.image = image, .paths = NULL, .lines = 0, .rows = &row, .row_n = 1},
          &err),
      ND_ERR_DATA);
  assert_int_equal(nd_stage_cut_bytes(&gone, s, image, &dropped, &err), ND_ERR_DATA);
  assert_int_equal(nd_stage_keep(s,
                                 &(nd_keep_request){.plan = plan,
                                                    .images = &image,
                                                    .image_n = 1,
                                                    .dropped = &dropped,
                                                    .directory = dir,
                                                    .work = dir},
                                 &err),
                   ND_ERR_DATA);
  nd_intake_free(plan);
  nd_stage_free(s);
}

/* A plain file that is large enough is cut at its records, in place. */
static void large_plain_file_is_cut_at_records(void **state) {
  (void)state;
  nd_options o;
  nd_options_init(&o);
  nd_stage *s;
  nd_intake *plan;
  make_corpus(60);
  nd_buf big = {0};
  while (big.n < (12u << 20)) ok(nd_buf_append(&big, text_of[0].p, text_of[0].n, &err));
  write_file(corpus_path, &big);
  ok(nd_stage_new(&s, &o, 1, secret, &err));
  ok(nd_intake_new(&plan, s, &(nd_intake_request){.inputs = inputs, .input_n = 1, .avoid = NULL},
                   &err));
  assert_true(nd_intake_task(plan, 0).range);
  char kept[160];
  snprintf(kept, sizeof kept, "%s/cut", dir);
  uint64_t at = 0, wanted = big.n;
  for (uint32_t t = 0; t < nd_intake_task_count(plan); t++) {
    nd_reader *r;
    nd_stage_block b;
    int more = 1;
    ok(nd_reader_open(&r, s,
                      &(nd_reader_request){.plan = plan, .begin = t, .end = t + 1, .keep_texts = 0},
                      &err));
    for (ok(nd_reader_next(&more, &b, r, &err)); more; ok(nd_reader_next(&more, &b, r, &err))) {
      if (b.docs == 0) continue; /* the end of a range */
      uint8_t *dropped = calloc(b.docs + 1, 1);
      for (uint32_t i = 0; i < b.docs; i += 3) dropped[i] = 1;
      nd_buf image = {0};
      keep(&image, b.image);
      uint64_t gone;
      ok(nd_stage_cut_bytes(&gone, s, nd_buf_str(&image), dropped, &err));
      assert_true(gone > 0);
      ok(nd_stage_cut(s,
                      &(nd_cut_request){.image = nd_buf_str(&image),
                                        .dropped = dropped,
                                        .from = corpus_path,
                                        .begin = b.begin,
                                        .end = b.end,
                                        .to = kept,
                                        .at = at},
                      &err));
      at += b.end - b.begin - gone;
      wanted -= gone;
      /* Texts of a range are read again. */
      uint32_t row = 0;
      uint64_t end;
      nd_str text, none = {NULL, 0};
      ok(nd_stage_texts(&text, &end, s,
                        &(nd_stored_block){.image = nd_buf_str(&image),
                                           .texts = none,
                                           .texts_sum = 0,
                                           .plan = plan,
                                           .rows = &row,
                                           .row_n = 1},
                        &err));
      assert_int_equal(nd_stage_texts(&text, &end, s,
                                      &(nd_stored_block){.image = nd_buf_str(&image),
                                                         .texts = none,
                                                         .texts_sum = 0,
                                                         .plan = NULL,
                                                         .rows = &row,
                                                         .row_n = 1},
                                      &err),
                       ND_ERR_STATE);
      row = b.docs;
      assert_int_equal(nd_stage_texts(&text, &end, s,
                                      &(nd_stored_block){.image = nd_buf_str(&image),
                                                         .texts = none,
                                                         .texts_sum = 0,
                                                         .plan = plan,
                                                         .rows = &row,
                                                         .row_n = 1},
                                      &err),
                       ND_ERR_DATA);
      nd_buf_clear(&image);
      free(dropped);
    }
    nd_reader_close(r);
  }
  struct stat st;
  assert_int_equal(stat(kept, &st), 0);
  assert_true((uint64_t)st.st_size == at && at <= wanted);
  nd_intake_free(plan);
  nd_stage_free(s);
  nd_buf_clear(&big);
}

static void damaged_blocks_are_refused(void **state) {
  (void)state;
  nd_options o;
  nd_options_init(&o);
  nd_stage *s;
  ok(nd_stage_new(&s, &o, 1, secret, &err));
  nd_str text[2] = {{"some words of a text", 20}, {"and some other words", 20}};
  nd_stage_rows rows = {.n = 2, .text = text};
  nd_stage_block b;
  ok(nd_stage_sign(&b, s, &(nd_block_name){0, 0}, &rows, &err));
  nd_buf image = {0};
  keep(&image, b.image);
  nd_spread *digests, *ids;
  ok(nd_spread_new(&digests, 1, 8, &err));
  ok(nd_spread_new(&ids, 1, 4, &err));
  ok(nd_stage_digests(digests, ids, s, &(nd_stored_block){.image = nd_buf_str(&image), .first = 0},
                      &err));
  nd_str run, pairs;
  ok(nd_spread_take(&run, digests, 0, &err));
  nd_buf copy = {0};
  keep(&copy, run);
  for (size_t i = 0; i < image.n; i += 1 + image.n / 97) {
    image.p[i] ^= 0x40;
    nd_status status = nd_stage_digests(
        digests, ids, s, &(nd_stored_block){.image = nd_buf_str(&image), .first = 0}, &err);
    image.p[i] ^= 0x40;
    assert_int_equal(status, ND_ERR_DATA);
  }
  for (size_t n = 0; n < copy.n; n++) {
    nd_str cut = {copy.p, n};
    assert_int_equal(nd_stage_copies(&pairs, s, &cut, 1, &err), ND_ERR_DATA);
  }
  for (size_t i = 0; i < copy.n; i++) {
    nd_str bad = nd_buf_str(&copy);
    copy.p[i] ^= 0x04;
    assert_int_equal(nd_stage_copies(&pairs, s, &bad, 1, &err), ND_ERR_DATA);
    copy.p[i] ^= 0x04;
  }
  nd_buf_clear(&copy);
  nd_buf_clear(&image);
  nd_spread_free(digests);
  nd_spread_free(ids);
  nd_stage_free(s);
}

typedef struct rows_job {
  nd_stage *stage;
  nd_intake *plan;
  nd_str image, stored;
  uint64_t sum;
  nd_stage_block block;
  uint8_t *dropped;
  char kept[200];
} rows_job;

static nd_status take_rows(void *context) {
  rows_job *j = context;
  uint32_t rows[2] = {0, 1};
  uint64_t ends[2];
  nd_str out;
  ND_TRY(nd_stage_texts(&out, ends, j->stage,
                        &(nd_stored_block){.image = j->image,
                                           .texts = j->stored,
                                           .texts_sum = j->sum,
                                           .plan = j->plan,
                                           .rows = rows,
                                           .row_n = 2},
                        &err));
  assert_true(ends[0] > 0 && ends[1] > ends[0] && out.n == ends[1]);
  const char *paths[1] = {"name"};
  ND_TRY(nd_stage_ids(
      &out, ends, j->stage,
      &(nd_stored_block){.image = j->image, .paths = NULL, .lines = 0, .rows = rows, .row_n = 2},
      &err));
  ND_TRY(nd_stage_ids(
      &out, ends, j->stage,
      &(nd_stored_block){.image = j->image, .paths = paths, .lines = 6, .rows = rows, .row_n = 2},
      &err));
  ND_TRY(nd_stage_cut_bytes(ends, j->stage, j->image, j->dropped, &err));
  if (!j->kept[0]) return ND_OK;
  return nd_stage_cut(j->stage,
                      &(nd_cut_request){.image = j->image,
                                        .dropped = j->dropped,
                                        .from = corpus_path,
                                        .begin = j->block.begin,
                                        .end = j->block.end,
                                        .to = j->kept,
                                        .at = 0},
                      &err);
}

static nd_status sign_rows(void *context) {
  rows_job *j = context;
  nd_str text[2] = {{"some words of a text", 20}, {NULL, 0}}, id[2] = {{"a", 1}, {NULL, 0}};
  nd_stage_rows rows = {.n = 2, .text = text, .id = id};
  return nd_stage_sign(&j->block, j->stage, &(nd_block_name){0, 0}, &rows, &err);
}

static nd_status list_files(void *context) {
  rows_job *j = context;
  nd_stage_file file = nd_intake_file(j->plan, 0);
  nd_intake *given;
  ND_TRY(nd_intake_files(&given, j->stage, &file, 1, &err));
  /* The same tasks as everyone's: a file that cannot be looked into now is no other plan. */
  assert_int_equal(nd_intake_task_count(given), nd_intake_task_count(j->plan));
  assert_true(nd_intake_task(given, 0).range);
  nd_intake_free(given);
  return ND_OK;
}

static void keys_of_a_kind_that_the_method_lacks_are_refused(void **state) {
  (void)state;
  static const char *const methods[] = {"minhash", "simhash", "exact"};
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    nd_options o;
    nd_stage *s;
    nd_spread *edges;
    nd_stage_facts facts;
    nd_stage_buckets stats = {0};
    nd_options_init(&o);
    ok(nd_options_set(&o, "method", methods[m], &err));
    ok(nd_stage_new(&s, &o, 1, secret, &err));
    nd_stage_about(&facts, s);
    ok(nd_spread_new(&edges, 1, 1, &err));
    for (uint32_t past = 0; past < 2; past++) {
      const nd_group_request request = {.kind = past ? UINT32_MAX : facts.keys, .positions = 4};
      assert_int_equal(nd_stage_group(edges, &stats, s, &request, &err), ND_ERR_USAGE);
      assert_non_null(strstr(err.message, "kinds of keys"));
    }
    nd_spread_free(edges);
    nd_stage_free(s);
  }
}

/* Rows of a block in a range, and of one that holds its texts. */
static void rows_of_ranges_are_found_or_refused(void **state) {
  (void)state;
  nd_options o;
  nd_options_init(&o);
  rows_job j = {.kept = ""};
  make_corpus(60);
  nd_buf big = {0}, image = {0};
  ok(nd_buf_printf(&big, &err, "{\"text\": \"a text that has no id\"}\r\n"));
  while (big.n < (5u << 20)) ok(nd_buf_append(&big, text_of[0].p, text_of[0].n, &err));
  write_file(corpus_path, &big);
  ok(nd_stage_new(&j.stage, &o, 1, secret, &err));
  ok(nd_intake_new(&j.plan, j.stage,
                   &(nd_intake_request){.inputs = inputs, .input_n = 1, .avoid = NULL}, &err));
  assert_true(nd_intake_task(j.plan, 0).range);
  nd_reader *r;
  int more = 1;
  ok(nd_reader_open(&r, j.stage,
                    &(nd_reader_request){.plan = j.plan, .begin = 0, .end = 1, .keep_texts = 0},
                    &err));
  ok(nd_reader_next(&more, &j.block, r, &err));
  assert_true(more && j.block.docs > 2);
  keep(&image, j.block.image);
  j.image = nd_buf_str(&image);
  j.dropped = calloc(j.block.docs + 1, 1);
  j.dropped[1] = 1;
  snprintf(j.kept, sizeof j.kept, "%s/cut", dir);
  assert_true(every_place_fails(take_rows, &j) > 8);
  assert_true(every_place_fails(list_files, &j) > 3);
  /* At an odd place in memory it is the same block. */
  nd_buf odd = {0};
  ok(nd_buf_append(&odd, "x", 1, &err));
  ok(nd_buf_append(&odd, image.p, image.n, &err));
  j.image = (nd_str){odd.p + 1, image.n};
  assert_true(every_place_fails(take_rows, &j) > 8);
  j.image = nd_buf_str(&image);
  /* A document without an id is told by its place. */
  uint32_t row = 0;
  uint64_t end;
  nd_str out;
  const char *paths[1] = {"name"};
  ok(nd_stage_ids(
      &out, &end, j.stage,
      &(nd_stored_block){.image = j.image, .paths = paths, .lines = 6, .rows = &row, .row_n = 1},
      &err));
  assert_true(out.n == 6 && memcmp(out.p, "name:7", 6) == 0);
  row = j.block.docs;
  assert_int_equal(
      nd_stage_ids(&out, &end, j.stage,
                   &(nd_stored_block){
                       .image = j.image, .paths = paths, .lines = 0, .rows = &row, .row_n = 1},
                   &err),
      ND_ERR_DATA);
  /* Another text, no text, and a file that is gone. */
  row = 0;
  const char *const others[] = {"{\"text\": \"a text that had no id\"}",
                                "{\"text\": \"a text that has no id\"x"};
  for (int i = 0; i < 2; i++) {
    memcpy(big.p, others[i], strlen(others[i]));
    write_file(corpus_path, &big);
    assert_int_equal(nd_stage_texts(&out, &end, j.stage,
                                    &(nd_stored_block){.image = j.image,
                                                       .texts = (nd_str){NULL, 0},
                                                       .texts_sum = 0,
                                                       .plan = j.plan,
                                                       .rows = &row,
                                                       .row_n = 1},
                                    &err),
                     ND_ERR_STATE);
    assert_non_null(strstr(err.message, "has changed"));
  }
  unlink(corpus_path);
  assert_int_equal(take_rows(&j), ND_ERR_IO);
  assert_int_equal(list_files(&j), ND_ERR_IO);
  assert_non_null(strstr(err.message, corpus_path));
  nd_reader_close(r);
  nd_reader_close(NULL);
  nd_intake_free(j.plan);
  /* In a plan of small files there is no such range. */
  make_corpus(20);
  ok(nd_intake_new(&j.plan, j.stage,
                   &(nd_intake_request){.inputs = inputs, .input_n = 2, .avoid = NULL}, &err));
  assert_int_equal(take_rows(&j), ND_ERR_STATE);
  nd_intake_free(j.plan);
  j.plan = NULL;
  assert_int_equal(take_rows(&j), ND_ERR_STATE);
  /* Another job's block. */
  nd_stage *other;
  ok(nd_options_set(&o, "bands", "3", &err));
  ok(nd_options_set(&o, "rows", "2", &err));
  ok(nd_stage_new(&other, &o, 1, secret, &err));
  assert_int_equal(
      nd_stage_ids(
          &out, &end, other,
          &(nd_stored_block){.image = j.image, .paths = NULL, .lines = 0, .rows = &row, .row_n = 1},
          &err),
      ND_ERR_STATE);
  nd_stage_free(other);
  free(j.dropped);
  nd_buf_clear(&image);
  nd_buf_clear(&odd);
  nd_buf_clear(&big);
  nd_stage_free(j.stage);
}

/* Rows that are handed over, whose texts lie beside the block. */
static void test_given_rows(void **state) {
  (void)state;
  nd_options o;
  nd_options_init(&o);
  ok(nd_options_set(&o, "max-document", "100", &err));
  rows_job j = {.kept = ""};
  ok(nd_stage_new(&j.stage, &o, 1, secret, &err));
  assert_true(every_place_fails(sign_rows, &j) > 3);
  nd_buf image = {0}, texts = {0};
  keep(&image, j.block.image);
  keep(&texts, j.block.texts);
  j.image = nd_buf_str(&image);
  j.stored = nd_buf_str(&texts);
  uint32_t row = 0;
  uint64_t end;
  nd_str out;
  ok(nd_stage_texts(&out, &end, j.stage,
                    &(nd_stored_block){.image = j.image,
                                       .texts = j.stored,
                                       .texts_sum = j.block.texts_sum,
                                       .plan = NULL,
                                       .rows = &row,
                                       .row_n = 1},
                    &err));
  assert_int_equal(nd_stage_texts(&out, &end, j.stage,
                                  &(nd_stored_block){.image = j.image,
                                                     .texts = j.stored,
                                                     .texts_sum = j.block.texts_sum + 1,
                                                     .plan = NULL,
                                                     .rows = &row,
                                                     .row_n = 1},
                                  &err),
                   ND_ERR_DATA);
  row = 1; /* it has no id, and is no line of a file */
  const char *paths[1] = {"name"};
  ok(nd_stage_ids(
      &out, &end, j.stage,
      &(nd_stored_block){.image = j.image, .paths = paths, .lines = 6, .rows = &row, .row_n = 1},
      &err));
  assert_true(nd_str_eq(out, nd_str_of("name")));
  row = 0;
  j.stored.n--;
  assert_int_equal(nd_stage_texts(&out, &end, j.stage,
                                  &(nd_stored_block){.image = j.image,
                                                     .texts = j.stored,
                                                     .texts_sum = j.block.texts_sum,
                                                     .plan = NULL,
                                                     .rows = &row,
                                                     .row_n = 1},
                                  &err),
                   ND_ERR_DATA);
  j.stored.n++;
  row = 2;
  assert_int_equal(nd_stage_texts(&out, &end, j.stage,
                                  &(nd_stored_block){.image = j.image,
                                                     .texts = j.stored,
                                                     .texts_sum = j.block.texts_sum,
                                                     .plan = NULL,
                                                     .rows = &row,
                                                     .row_n = 1},
                                  &err),
                   ND_ERR_DATA);
  assert_string_equal(err.message, "a block has no row 2");
  char large[200];
  memset(large, 'a', sizeof large);
  nd_str text = {large, sizeof large};
  nd_stage_rows rows = {.n = 1, .text = &text};
  assert_int_equal(nd_stage_sign(&j.block, j.stage, &(nd_block_name){0, 0}, &rows, &err),
                   ND_ERR_LIMIT);
  rows.id = &text; /* of which a part is enough */
  assert_int_equal(nd_stage_sign(&j.block, j.stage, &(nd_block_name){0, 0}, &rows, &err),
                   ND_ERR_LIMIT);
  assert_non_null(strstr(err.message, "aaaa has 200 bytes"));
  assert_true(strlen(err.message) < 200);
  rows.id = NULL;
  /* Control characters of a site are not those of the list of parts. */
  nd_str url = nd_str_of(
      "http://www.A\x01"
      "b.example.org/x");
  text = (nd_str){"some words of a text", 20};
  rows.url = &url;
  uint8_t dropped = 0;
  ok(nd_stage_sign(&j.block, j.stage, &(nd_block_name){0, 0}, &rows, &err));
  keep(&image, j.block.image);
  ok(nd_stage_parts(&out, j.stage, nd_buf_str(&image), &dropped, &err));
  assert_non_null(memmem(out.p, out.n, "s\t1\t0\ta?b.example.org\n", 22));
  assert_null(memchr(out.p, 1, out.n));
  image.p[8] ^= 1;
  assert_int_equal(nd_stage_parts(&out, j.stage, nd_buf_str(&image), &dropped, &err), ND_ERR_DATA);
  assert_int_equal(nd_stage_ranks(NULL, &dropped, j.stage, nd_buf_str(&image), &err), ND_ERR_DATA);
  assert_int_equal(
      nd_stage_rejects(&out, j.stage,
                       &(nd_stored_block){.image = nd_buf_str(&image), .paths = NULL, .lines = 0},
                       &err),
      ND_ERR_DATA);
  nd_buf_clear(&image);
  nd_buf_clear(&texts);
  nd_stage_free(j.stage);
}

static int set_up(void **state) {
  (void)state;
  seed_rng(&rng);
  if (!mkdtemp(dir)) return -1;
  corpus_in(dir);
  for (size_t i = 0; i < sizeof secret; i++) secret[i] = (char)(i * 7 + 1);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  corpus_clear();
  return nd_remove_tree(dir, NULL) == ND_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impossible_jobs_are_refused),
      cmocka_unit_test(large_plain_file_is_cut_at_records),
      cmocka_unit_test(damaged_blocks_are_refused),
      cmocka_unit_test(rows_of_ranges_are_found_or_refused),
      cmocka_unit_test(keys_of_a_kind_that_the_method_lacks_are_refused),
      cmocka_unit_test(test_given_rows)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
