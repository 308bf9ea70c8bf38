/* Runs of items between stages, told wrong: damaged, not whole, of documents that do not exist.
 * And what is there to be taken, when nothing is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "every_place.h"
#include "neardup.h"
#include "neardup/stage.h"
#include "settings/option_fields.h"
#include "stage/stage_work.h"
#include "stage_tools.h"
#include "tiny_budget.h"

static void make_run(nd_buf *out, const nd_item *items, size_t n, unsigned value_bytes) {
  nd_spread *s = NULL;
  nd_str run;
  ok(nd_spread_new(&s, 1, value_bytes, &err));
  for (size_t i = 0; i < n; i++) ok(nd_spread_add(s, 0, items[i].key, items[i].value, &err));
  ok(nd_spread_take(&run, s, 0, &err));
  out->n = 0;
  ok(nd_buf_append(out, run.p, run.n, &err));
  nd_spread_free(s);
}

static void damaged_runs(void **state) {
  (void)state;
  const nd_item items[] = {{5, 1}, {7, 2}, {9, 3}};
  nd_buf run = {0};
  uint64_t n, keys[4], values[4];
  make_run(&run, items, 3, 4);
  ok(nd_run_count(&n, nd_buf_str(&run), &err));
  assert_int_equal(n, 3);
  ok(nd_run_items(keys, values, nd_buf_str(&run), &err));
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(keys[i], items[i].key);
    assert_int_equal(values[i], items[i].value);
  }
  ok(nd_buf_append(&run, "", 1, &err)); /* a byte too many */
  assert_int_equal(nd_run_count(&n, nd_buf_str(&run), &err), ND_ERR_DATA);
  for (size_t cut = 0; cut + 1 < run.n; cut++) { /* or less */
    const nd_str part = {run.p, cut};
    assert_int_equal(nd_run_count(&n, part, &err), ND_ERR_DATA);
    assert_int_equal(nd_run_items(keys, values, part, &err), ND_ERR_DATA);
  }
  make_run(&run, items, 3, 4);
  for (size_t i = 0; i < run.n; i++) {
    run.p[i] ^= 4;
    if (nd_run_items(keys, values, nd_buf_str(&run), &err) != ND_ERR_DATA)
      fail_msg("byte %zu may be another one", i);
    run.p[i] ^= 4;
  }
  nd_buf_clear(&run);
}

static void nothing_to_merge(void **state) {
  (void)state;
  const char *const set[] = {NULL};
  nd_stage *s = stage_of(set, 1);
  nd_str run;
  uint64_t n = 7;
  ok(nd_stage_merge(&run, s, &(nd_runs){NULL, 0}, ND_MERGE_SUM, &err));
  ok(nd_run_count(&n, run, &err));
  assert_int_equal(n, 0);
  ok(nd_run_items(NULL, NULL, run, &err));
  nd_stage_free(s);
}

static void judged_pairs(void **state) {
  (void)state;
  const char *const all[] = {"method", "exact", NULL};
  const char *const half[] = {"method", "exact", "threshold", "0.5", NULL};
  const uint32_t sizes[3] = {4, 4, 8};
  const nd_item good[] = {{1, 2}, {2, 4}, {UINT64_C(1) << 32 | 2, 1}};
  const nd_item wrong[][1] = {{{UINT64_C(1) << 32 | 3, 1}}, {{UINT64_C(3) << 32 | 1, 1}}};
  nd_buf run = {0};
  for (int threshold = 0; threshold < 2; threshold++) {
    nd_stage *s = stage_of(threshold ? half : all, 0);
    nd_str pairs;
    uint64_t n, keys[3], values[3];
    make_run(&run, good, 3, 4);
    ok(nd_stage_judge(&pairs, s, nd_buf_str(&run), &(nd_document_sizes){sizes, 3}, &err));
    ok(nd_run_count(&n, pairs, &err));
    assert_int_equal(n, threshold ? 1 : 3);
    ok(nd_run_items(keys, values, pairs, &err));
    assert_int_equal(keys[threshold ? 0 : 1], 2);
    assert_int_equal(values[threshold ? 0 : 1], UINT64_C(4) << 32 | 8);
    for (int i = 0; i < 2; i++) {
      make_run(&run, wrong[i], 1, 4);
      assert_int_equal(
          nd_stage_judge(&pairs, s, nd_buf_str(&run), &(nd_document_sizes){sizes, 3}, &err),
          ND_ERR_DATA);
    }
    nd_stage_free(s);
  }
  nd_buf_clear(&run);
}

/* Vectors come word by word, all of each. */
static void whole_vectors(void **state) {
  (void)state;
  const char *const sets[2][3] = {{"method", "simhash", NULL}, {"method", "projection", NULL}};
  for (int wide = 0; wide < 2; wide++) {
    nd_stage *s = stage_of(sets[wide], 1);
    const nd_stage_plan p = nd_stage_plan_of(&s->settings);
    assert_true(wide ? p.vector->words > 1 : p.vector->words == 1);
    for (int wrong = 0; wrong < 7; wrong++) {
      nd_item items[64];
      size_t n = 0;
      for (uint64_t d = 0; d < 3; d++) {
        for (uint64_t w = 0; w < p.vector->words; w++) {
          uint64_t position = wrong == 1 && d == 2 ? 9 : d, word = w;
          if (wrong == 2 && d == 2) position = 1; /* again */
          if (wrong == 3 && w == p.vector->words - 1 && d == 1) continue;
          if (wrong == 4 && w == 1) word = 0;
          if (wrong == 5 && d == 1 && w == 1) position = 0;
          if (wrong == 6 && d == 1) continue; /* one vector's words, of two documents */
          if (wrong == 6 && d == 0 && w) position = 1;
          items[n++] = (nd_item){0x123456789 + w, wide ? position << 32 | word : position};
        }
      }
      const bool fine = wrong == 0 || (!wide && wrong > 2);
      nd_buf run = {0};
      nd_spread *edges = NULL;
      nd_stage_buckets stats;
      make_run(&run, items, n, wide ? 8 : 4);
      ok(nd_spread_new(&edges, 1, 1, &err));
      const nd_str one = nd_buf_str(&run);
      nd_status status = nd_stage_group(
          edges, &stats, s,
          &(nd_group_request){.kind = p.keys.buckets, .runs = {&one, 1}, .positions = 4}, &err);
      if (status != (fine ? ND_OK : ND_ERR_DATA))
        fail_msg("%d words, case %d: %s", (int)p.vector->words, wrong, nd_status_name(status));
      if (wrong == 0) assert_int_equal(nd_spread_waiting(edges), 3);
      nd_spread_free(edges);
      nd_buf_clear(&run);
    }
    nd_stage_free(s);
  }
}

/* A shingle that 40 documents have: more pairs than are handed over at once. */
static nd_status expand_many(void *context) {
  const nd_buf *run = context;
  const char *const set[] = {"method", "exact", NULL};
  nd_options o;
  nd_stage *s = NULL;
  nd_spread *counts = NULL;
  nd_options_init(&o);
  ok(nd_options_set(&o, set[0], set[1], &err));
  nd_status status = nd_stage_new(&s, &o, 0, stage_secret, &err);
  if (status == ND_OK) status = nd_spread_new(&counts, 2, 4, &err);
  const nd_str one = nd_buf_str(run);
  if (status == ND_OK) status = nd_stage_expand(counts, s, &(nd_runs){&one, 1}, 40, &err);
  if (status == ND_OK) assert_int_equal(nd_spread_waiting(counts), 40 * 39 / 2);
  nd_spread_free(counts);
  nd_stage_free(s);
  return status;
}

static void many_pairs(void **state) {
  (void)state;
  nd_item items[40];
  nd_buf run = {0};
  for (uint64_t d = 0; d < 40; d++) items[d] = (nd_item){77, d};
  make_run(&run, items, 40, 8);
  ok(expand_many(&run));
  assert_true(every_place_fails(expand_many, &run) > 10);
  nd_buf_clear(&run);
}

static void blocks_of_another_job_are_refused(void **state) {
  (void)state;
  const char *const set[] = {NULL}, *const other[] = {"method", "simhash", NULL},
                    *const third[] = {"method", "projection", NULL};
  nd_stage *s = stage_of(other, 1), *projection = stage_of(third, 1), *minhash = stage_of(set, 1);
  const nd_str text[2] = {{"one two three four five six", 27}, {"", 0}};
  const nd_stage_rows rows = {.n = 2, .text = text};
  nd_stage_block b;
  nd_buf image = {0};
  ok(nd_stage_sign(&b, s, &(nd_block_name){0, 0}, &rows, &err));
  ok(nd_buf_append(&image, b.image.p, b.image.n, &err));
  uint8_t tokens[2] = {7, 7};
  ok(nd_stage_ranks(NULL, tokens, s, nd_buf_str(&image), &err));
  assert_int_equal(tokens[0], 1);
  assert_int_equal(tokens[1], 0);
  /* Of another job: other bands, or other sketches. */
  assert_int_equal(nd_stage_ranks(NULL, tokens, minhash, nd_buf_str(&image), &err), ND_ERR_STATE);
  assert_int_equal(nd_stage_ranks(NULL, tokens, projection, nd_buf_str(&image), &err),
                   ND_ERR_STATE);
  const uint32_t position[2] = {0, UINT32_MAX};
  nd_spread *few = NULL;
  ok(nd_spread_new(&few, 1, 4, &err));
  assert_int_equal(
      nd_stage_keys(
          few, s,
          &(nd_keys_request){.image = nd_buf_str(&image), .position = position, .ranges = 9}, &err),
      ND_ERR_USAGE);
  image.p[image.n / 2] ^= 1;
  assert_int_equal(
      nd_stage_keys(
          few, s,
          &(nd_keys_request){.image = nd_buf_str(&image), .position = position, .ranges = 1}, &err),
      ND_ERR_DATA);
  nd_spread_free(few);
  nd_buf_clear(&image);
  nd_stage_free(s);
  nd_stage_free(projection);
  nd_stage_free(minhash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(damaged_runs), cmocka_unit_test(nothing_to_merge),
      cmocka_unit_test(judged_pairs), cmocka_unit_test(whole_vectors),
      cmocka_unit_test(many_pairs),   cmocka_unit_test(blocks_of_another_job_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
