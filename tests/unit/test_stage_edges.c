/* Stages at their edges: no documents at all, nothing alike, evidence that is missing or short, two
 * files that are cut into ranges, lists that are written before and after clustering. */
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

#include "stage/stage_work.h"
#include "store/workdir.h"

#include "every_place.h"
#include "naive_corpus.h"
#include "neardup/stage.h"
#include "stage_tools.h"
#include "tiny_budget.h"

static char dir[] = "/tmp/nd_test_edges_XXXXXX";

static const char *const usual[] = {NULL};

static void keep(nd_buf *to, nd_str from) {
  to->n = 0;
  ok(nd_buf_append(to, from.p, from.n, &err));
}

/* Which pairs need no verification: those that were counted whole. */
static void direct_ones(void **state) {
  (void)state;
  static const struct {
    const char *set[7];
    int dedup, direct;
  } cases[] = {
      {{"method", "exact", "sample", "mod:2"}, 0, 1},
      {{"method", "exact", "sample", "mod:2", "verify", "exact"}, 0, 0},
      {{"method", "exact"}, 0, 1},
      {{"method", "exact"}, 1, 0}, /* at the usual threshold, counted by fingerprints only */
      {{"method", "minhash"}, 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_stage *s = stage_of(cases[i].set, cases[i].dedup);
    nd_stage_facts facts;
    nd_stage_about(&facts, s);
    assert_int_equal(facts.direct, cases[i].direct);
    nd_stage_free(s);
  }
}

static void equal_documents_can_miss_a_threshold_of_overlap_only(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    const char *const similarity[] = {"jaccard", "cosine", "overlap"};
    const char *const set[] = {
        "method", "exact", "similarity", similarity[i], "threshold", i < 2 ? "0.5" : "5", NULL};
    nd_stage *s = stage_of(set, 1);
    nd_stage_facts facts;
    nd_stage_about(&facts, s);
    assert_int_equal(facts.open, i == 2);
    nd_stage_free(s);
  }
}

static nd_status no_reject(void *context, uint64_t offset, uint64_t length, uint32_t file,
                           uint32_t line, nd_str reason, nd_error *e) {
  (void)offset;
  (void)length;
  (void)file;
  (void)line;
  (void)e;
  *(size_t *)context += reason.n;
  return ND_OK;
}

/* Fewer bytes of rejected records than there should be, with a right checksum. */
static void cut_rejects(void **state) {
  (void)state;
  nd_stage *s = stage_of(usual, 1);
  nd_block b = {0};
  size_t reasons = 0;
  for (size_t cut = 0; cut < 60; cut++) {
    nd_image i;
    nd_block_start(&b, 0, 0, s->settings.bands, s->settings.row.total);
    ok(nd_block_reject(&b, 1, 2, 0, 3, nd_str_of("a reason"), &err));
    ok(nd_block_reject(&b, 4, 5, 0, 6, nd_str_of("another reason"), &err));
    if (cut > b.rejects.n) break;
    b.rejects.n -= cut;
    ok(nd_block_finish(&b, &err));
    ok(nd_image_open(&i, s, nd_buf_str(&b.image), &err));
    nd_status status = nd_image_rejects(&i, no_reject, &reasons, &err);
    assert_int_equal(status, cut ? ND_ERR_DATA : ND_OK);
    if (cut) assert_string_equal(err.message, "the rejects of a block are truncated");
    if (!cut) assert_int_equal(reasons, 8 + 14);
  }
  nd_block_clear(&b);
  nd_stage_free(s);
}

/* A block of nothing, and a job of no documents, by stars and by components. */
static void no_documents(void **state) {
  (void)state;
  static const char *const sets[2][5] = {{NULL}, {"cluster", "components", "keep", "longest"}};
  for (int k = 0; k < 2; k++) {
    nd_stage *s = stage_of(sets[k], 1);
    nd_stage_rows rows = {.n = 0};
    nd_stage_block b;
    nd_buf image = {0};
    ok(nd_stage_sign(&b, s, &(nd_block_name){0, 0}, &rows, &err));
    keep(&image, b.image);
    nd_str out;
    ok(nd_stage_texts(&out, NULL, s,
                      &(nd_stored_block){.image = nd_buf_str(&image),
                                         .texts = b.texts,
                                         .texts_sum = b.texts_sum,
                                         .plan = NULL,
                                         .rows = NULL,
                                         .row_n = 0},
                      &err));
    assert_int_equal(out.n, 0);
    nd_settle *t;
    uint32_t nothing = 0;
    uint64_t pair = 0;
    uint8_t wanted = 7;
    const uint64_t *missing;
    const uint32_t *texts;
    size_t n = 9;
    nd_summary counts = {0};
    ok(nd_settle_new(
        &t, s, &(nd_settle_request){.same = NULL, .rank = NULL, .documents = 0, .tmp = dir}, &err));
    ok(nd_settle_verify(t, &(nd_candidates){&pair, &pair, &pair, 0}, &err));
    nd_settle_wanted(&wanted, t); /* there are no clusters yet, either */
    assert_int_equal(wanted, 7);
    ok(nd_settle_cluster(&missing, &n, t, k ? &nothing : NULL, &err));
    assert_int_equal(n, 0);
    ok(nd_settle_finish(t, NULL, 0, &err));
    ok(nd_settle_report_texts(&texts, &n, t, &err));
    assert_int_equal(n, 0);
    char path[100];
    struct stat st;
    snprintf(path, sizeof path, "%s/list", dir);
    ok(nd_settle_write_pairs(t, path, &(nd_document_texts){NULL, NULL, 0}, 1, &err));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 0);
    nd_settle_counts(&counts, t);
    assert_int_equal(counts.kept + counts.dropped + counts.clusters + counts.pairs, 0);
    nd_settle_free(t);
    nd_buf_clear(&image);
    nd_stage_free(s);
  }
}

/* Copies of copies are refused; pairs are listed with all copies or without, into a file with a
 * folder or without; ids are wanted of pairs and copies before there are clusters. */
static void lists_are_written_before_and_after_clusters(void **state) {
  (void)state;
  nd_stage *s = stage_of(usual, 1);
  nd_settle *t;
  const uint32_t chain[3] = {0, 0, 1}, same[4] = {0, 1, 0, 3}, document[4] = {0, 1, 2, 3};
  nd_str id[4] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
  assert_int_equal(
      nd_settle_new(&t, s,
                    &(nd_settle_request){.same = chain, .rank = NULL, .documents = 3, .tmp = dir},
                    &err),
      ND_ERR_DATA);
  assert_non_null(strstr(err.message, "document 2 duplicates one that is not a first occurrence"));
  ok(nd_settle_new(
      &t, s, &(nd_settle_request){.same = same, .rank = NULL, .documents = 4, .tmp = dir}, &err));
  const uint64_t pair = 1, kind = 0, value = UINT64_C(9) << 32 | 10;
  uint8_t wanted[4];
  ok(nd_settle_verify(t, &(nd_candidates){&pair, &kind, &value, 1}, &err));
  nd_settle_wanted(wanted, t);
  assert_memory_equal(wanted, "\1\1\1\0", 4);
  char home[400];
  assert_non_null(getcwd(home, sizeof home));
  assert_int_equal(chdir(dir), 0);
  nd_status status =
      nd_settle_write_pairs(t, "all", &(nd_document_texts){document, id, 4}, 0, &err);
  assert_int_equal(chdir(home), 0);
  ok(status);
  char path[100], text[200];
  snprintf(path, sizeof path, "%s/all", dir);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  assert_string_equal(text, "a\tb\t0.900000\na\tc\t1.000000\nb\tc\t0.900000\n");
  /* A list in a folder that is not there; no memory for its name. */
  assert_int_equal(nd_settle_write_pairs(t, "/nonexistent/of/tests/list",
                                         &(nd_document_texts){document, id, 4}, 0, &err),
                   ND_ERR_IO);
  nd_mem_fail_at(1);
  status = nd_settle_write_pairs(t, path, &(nd_document_texts){document, id, 4}, 0, &err);
  nd_mem_fail_at(0);
  assert_int_equal(status, ND_ERR_MEMORY);
  nd_settle_free(t);
  nd_stage_free(s);
}

/* Values without a denominator, given by whoever counted, are no reason to divide by it; and with
 * more documents than there is memory for, nobody looks at higher thresholds. */
static void odd_jobs(void **state) {
  (void)state;
  static const char *const centre[] = {"keep", "centre", NULL};
  static const char *const small[] = {"memory", "16M", NULL};
  nd_stage *s = stage_of(centre, 1);
  nd_settle *t;
  const uint32_t same[3] = {0, 1, 2};
  const uint64_t pairs[2] = {1, UINT64_C(1) << 32 | 2}, values[2] = {UINT64_C(9) << 32 | 10, 0};
  const uint64_t *missing;
  size_t n;
  uint32_t to[3];
  uint64_t value[3];
  ok(nd_settle_new(
      &t, s, &(nd_settle_request){.same = same, .rank = NULL, .documents = 3, .tmp = dir}, &err));
  ok(nd_settle_direct(t, pairs, values, 2, &err));
  ok(nd_settle_cluster(&missing, &n, t, NULL, &err));
  ok(nd_settle_finish(t, NULL, 0, &err));
  nd_settle_result(to, value, t);
  assert_int_equal(to[0], to[1]); /* those that are near in any case */
  nd_settle_free(t);
  nd_stage_free(s);

  enum { MANY = (16 << 20) / 128 + 1 };
  uint32_t *all = malloc(MANY * sizeof *all);
  for (uint32_t d = 0; d < MANY; d++) all[d] = d;
  nd_summary counts = {0};
  s = stage_of(small, 1);
  ok(nd_settle_new(
      &t, s, &(nd_settle_request){.same = all, .rank = NULL, .documents = MANY, .tmp = dir}, &err));
  ok(nd_settle_direct(t, pairs, values, 1, &err));
  ok(nd_settle_cluster(&missing, &n, t, NULL, &err));
  ok(nd_settle_finish(t, NULL, 0, &err));
  nd_settle_counts(&counts, t);
  assert_int_equal(counts.kept, MANY - 1);
  assert_int_equal(counts.dropped, 1);
  nd_settle_free(t);
  nd_stage_free(s);
  free(all);
}

/* More pairs than are handed on at once. */
enum { PAIRS = 5000 };
static nd_status take_pairs(void *context) {
  const nd_stage *s = context;
  static uint32_t same[PAIRS + 1];
  static uint64_t pairs[PAIRS], values[PAIRS], back[PAIRS];
  nd_settle *t;
  for (uint32_t d = 0; d <= PAIRS; d++) same[d] = d;
  for (uint64_t i = 0; i < PAIRS; i++) {
    pairs[i] = i + 1;
    values[i] = i << 32 | PAIRS;
  }
  ND_TRY(nd_settle_new(
      &t, s, &(nd_settle_request){.same = same, .rank = NULL, .documents = PAIRS + 1, .tmp = dir},
      &err));
  nd_status status = nd_settle_direct(t, pairs, values, PAIRS, &err);
  if (status == ND_OK) status = nd_settle_pairs(pairs, back, t, &err);
  if (status == ND_OK) assert_memory_equal(back, values, sizeof values);
  nd_settle_free(t);
  return status;
}

static void many_pairs(void **state) {
  (void)state;
  nd_stage *s = stage_of(usual, 1);
  assert_true(every_place_fails(take_pairs, s) > 5);
  nd_stage_free(s);
}

/* Sketches as evidence: of a damaged block, of a row that is none, and not or not wholly there. */
static void missing_and_damaged_sketches_are_told(void **state) {
  (void)state;
  static const char *const set[] = {"verify", "sketch", "permutations", "8", "bands", "4", "rows",
                                    "2",      NULL};
  nd_stage *s = stage_of(set, 1);
  nd_str text[2] = {{"some words of a text", 20}, {"and some other words", 20}}, out;
  nd_stage_rows rows = {.n = 2, .text = text};
  nd_stage_block b;
  nd_buf image = {0}, texts = {0};
  uint32_t row = 0, here[2] = {0, 1};
  uint64_t end, pair = 1, value = 0, sketch[16] = {0};
  ok(nd_stage_sign(&b, s, &(nd_block_name){0, 0}, &rows, &err));
  keep(&image, b.image);
  keep(&texts, b.texts);
  const nd_str whole = nd_buf_str(&image), stored = nd_buf_str(&texts);
  ok(nd_stage_evidence(&out, &end, s,
                       &(nd_stored_block){.image = whole,
                                          .texts = stored,
                                          .texts_sum = b.texts_sum,
                                          .plan = NULL,
                                          .rows = &row,
                                          .row_n = 1},
                       &err));
  assert_int_equal(end, 8 * sizeof(uint64_t));
  row = 2;
  assert_int_equal(nd_stage_evidence(&out, &end, s,
                                     &(nd_stored_block){.image = whole,
                                                        .texts = stored,
                                                        .texts_sum = b.texts_sum,
                                                        .plan = NULL,
                                                        .rows = &row,
                                                        .row_n = 1},
                                     &err),
                   ND_ERR_DATA);
  assert_string_equal(err.message, "a block has no row 2");
  row = 0;
  image.p[image.n / 2] ^= 1;
  assert_int_equal(nd_stage_evidence(&out, &end, s,
                                     &(nd_stored_block){.image = whole,
                                                        .texts = stored,
                                                        .texts_sum = b.texts_sum,
                                                        .plan = NULL,
                                                        .rows = &row,
                                                        .row_n = 1},
                                     &err),
                   ND_ERR_DATA);
  nd_str two[2] = {{(char *)sketch, 64}, {(char *)sketch, 64}};
  ok(nd_stage_verify(&value, s,
                     &(nd_comparison){.pairs = &pair, .n = 1, .evidence = {here, two, 2}, .all = 1},
                     &err));
  assert_int_equal(value, UINT64_C(8) << 32 | 8);
  two[1].n--;
  assert_int_equal(
      nd_stage_verify(
          &value, s, &(nd_comparison){.pairs = &pair, .n = 1, .evidence = {here, two, 2}, .all = 1},
          &err),
      ND_ERR_STATE);
  assert_string_equal(err.message, "the text of document 1 was not provided");
  two[1].n++;
  here[1] = 2;
  assert_int_equal(
      nd_stage_verify(
          &value, s, &(nd_comparison){.pairs = &pair, .n = 1, .evidence = {here, two, 2}, .all = 1},
          &err),
      ND_ERR_STATE);
  nd_buf_clear(&image);
  nd_buf_clear(&texts);
  nd_stage_free(s);
}

/* Sites beyond those that a page has rows for. */
static void many_sites(void **state) {
  (void)state;
  nd_stage *s = stage_of(usual, 1);
  nd_settle *t;
  nd_buf parts = {0}, page_text = {0};
  const uint32_t same[2] = {0, 1};
  const uint64_t *missing;
  size_t n;
  nd_summary counts = {.documents = 2};
  for (int i = 0; i < 60; i++)
    ok(nd_buf_printf(&parts, &err, "s\t%d\t%d\tsite%d.example\n", 100 - i % 7, 60 - i, i));
  ok(nd_settle_new(
      &t, s, &(nd_settle_request){.same = same, .rank = NULL, .documents = 2, .tmp = dir}, &err));
  ok(nd_settle_direct(t, NULL, NULL, 0, &err));
  ok(nd_settle_cluster(&missing, &n, t, NULL, &err));
  ok(nd_settle_finish(t, NULL, 0, &err));
  const uint32_t *document;
  nd_str texts[2] = {{"one text", 8}, {"another", 7}};
  nd_settle_page page = {.summary = &counts, .parts = nd_buf_str(&parts), .text = texts};
  ok(nd_settle_report_texts(&document, &page.texts, t, &err));
  page.text_document = document;
  ok(nd_settle_write_report(t, &page, dir, &err));
  char path[100];
  snprintf(path, sizeof path, "%s/report.html", dir);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  ok(nd_buf_reserve(&page_text, 4 << 20, &err));
  page_text.n = fread(page_text.p, 1, 4 << 20, f);
  fclose(f);
  assert_non_null(memmem(page_text.p, page_text.n, "site0.example", 13)); /* most are dropped */
  assert_null(memmem(page_text.p, page_text.n, "site59.example", 14));
  nd_buf_clear(&parts);
  nd_buf_clear(&page_text);
  nd_settle_free(t);
  nd_stage_free(s);
}

static void note_record(void *context, uint32_t number, uint64_t offset, nd_str bytes) {
  uint64_t *seen = context;
  seen[number] += bytes.n;
  assert_true(offset < 6 << 20);
}

/* Two files that are cut into ranges, the second without an end of its last line; every text is
 * read again, and somebody watches. */
static void two_ranges(void **state) {
  (void)state;
  enum { LINES = 12, PAD = 400000 };
  const char *inputs[2] = {corpus_path, second_path};
  nd_buf file = {0};
  ok(nd_buf_reserve(&file, LINES * (PAD + 100), &err));
  for (int k = 0; k < 2; k++) {
    file.n = 0;
    for (int i = 0; i < LINES; i++) {
      ok(nd_buf_printf(&file, &err, "{\"id\": %d, \"text\": \"text %d of %d\", \"pad\": \"", i, i,
                       k));
      memset(file.p + file.n, 'x', PAD);
      file.n += PAD;
      ok(nd_buf_printf(&file, &err, "\"}%s", k && i + 1 == LINES ? "" : "\n"));
    }
    write_file(inputs[k], &file);
  }
  nd_stage *s = stage_of(usual, 1);
  nd_intake *plan, *first;
  ok(nd_intake_new(&plan, s, &(nd_intake_request){.inputs = inputs, .input_n = 2, .avoid = NULL},
                   &err));
  ok(nd_intake_new(&first, s, &(nd_intake_request){.inputs = inputs, .input_n = 1, .avoid = NULL},
                   &err));
  uint64_t seen[2] = {0};
  unsigned documents = 0;
  for (uint32_t task = 0; task < nd_intake_task_count(plan); task++) {
    assert_true(nd_intake_task(plan, task).range);
    nd_reader *r;
    nd_stage_block b;
    int more = 1;
    ok(nd_reader_open(
        &r, s, &(nd_reader_request){.plan = plan, .begin = task, .end = task + 1, .keep_texts = 0},
        &err));
    nd_reader_watched(r, note_record, seen);
    for (ok(nd_reader_next(&more, &b, r, &err)); more; ok(nd_reader_next(&more, &b, r, &err))) {
      nd_buf image = {0};
      keep(&image, b.image);
      for (uint32_t row = 0; row < b.docs; row++, documents++) {
        nd_str text, none = {NULL, 0};
        uint64_t end;
        char want[40];
        snprintf(want, sizeof want, "text %u of %u", documents % LINES, documents / LINES);
        ok(nd_stage_texts(&text, &end, s,
                          &(nd_stored_block){.image = nd_buf_str(&image),
                                             .texts = none,
                                             .texts_sum = 0,
                                             .plan = plan,
                                             .rows = &row,
                                             .row_n = 1},
                          &err));
        assert_true(nd_str_eq(text, nd_str_of(want)));
        /* A plan without the second file cannot say where that is. */
        nd_status status = nd_stage_texts(&text, &end, s,
                                          &(nd_stored_block){.image = nd_buf_str(&image),
                                                             .texts = none,
                                                             .texts_sum = 0,
                                                             .plan = first,
                                                             .rows = &row,
                                                             .row_n = 1},
                                          &err);
        assert_int_equal(status, documents < LINES ? ND_OK : ND_ERR_STATE);
      }
      nd_buf_clear(&image);
    }
    nd_reader_close(r);
  }
  assert_int_equal(documents, 2 * LINES);
  assert_true(seen[0] > LINES * PAD && seen[1] > LINES * PAD);
  nd_intake_free(plan);
  nd_intake_free(first);
  nd_stage_free(s);
  nd_buf_clear(&file);
}

/* After a giant the buffers are small again, and the next document is what it always is. */
static void a_giant(void **state) {
  (void)state;
  enum { BYTES = 17 << 20 };
  char *bytes = malloc(BYTES);
  for (size_t i = 0; i < BYTES; i++) bytes[i] = i % 1000 == 999 ? ' ' : (char)('a' + i / 1000 % 26);
  nd_stage *s = stage_of(usual, 1), *fresh = stage_of(usual, 1);
  nd_str small = nd_str_of("one two three four five six"), giant = {bytes, BYTES};
  nd_stage_rows rows = {.n = 1, .text = &giant};
  nd_stage_block b;
  nd_buf image = {0};
  ok(nd_stage_sign(&b, s, &(nd_block_name){0, 0}, &rows, &err));
  assert_true(b.tokens > 17000);
  rows.text = &small;
  ok(nd_stage_sign(&b, s, &(nd_block_name){0, 1}, &rows, &err));
  keep(&image, b.image);
  ok(nd_stage_sign(&b, fresh, &(nd_block_name){0, 1}, &rows, &err));
  assert_true(nd_str_eq(nd_buf_str(&image), b.image));
  nd_buf_clear(&image);
  nd_stage_free(s);
  nd_stage_free(fresh);
  free(bytes);
}

static int set_up(void **state) {
  (void)state;
  if (!mkdtemp(dir)) return -1;
  corpus_in(dir);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  corpus_clear();
  return nd_remove_tree(dir, NULL) == ND_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(direct_ones),
      cmocka_unit_test(equal_documents_can_miss_a_threshold_of_overlap_only),
      cmocka_unit_test(a_giant),
      cmocka_unit_test(cut_rejects),
      cmocka_unit_test(no_documents),
      cmocka_unit_test(lists_are_written_before_and_after_clusters),
      cmocka_unit_test(odd_jobs),
      cmocka_unit_test(missing_and_damaged_sketches_are_told),
      cmocka_unit_test(many_pairs),
      cmocka_unit_test(many_sites),
      cmocka_unit_test(two_ranges),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
