/* Verification without a run: skipped star edges, and lists of pairs of synthetic texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/job.h"
#include "neardup.h"
#include "settings/option_fields.h"
#include "tools.h"
#include "verify/verify.h"

/* --- rounds ------------------------------------------------------------------------- */

enum { ROUND = 1 << 16, DOCUMENTS = ROUND + 10 };

/* Every pair is similar but those of document 5. */
static nd_status judge(void *context, nd_item *items, size_t n, nd_error *e) {
  (void)context;
  (void)e;
  for (size_t i = 0; i < n; i++)
    items[i].value =
        items[i].key >> 32 == 5 ? ND_NOT_SIMILAR : nd_similarity_of_copies(&nd_similarity_jaccard);
  return ND_OK;
}

static void star_edge_is_skipped_if_both_ends_are_assigned(void **state) {
  (void)state;
  static const struct {
    uint32_t a, b;
    uint64_t kind;
    bool skipped;
  } cases[] = {
      {5, 6, ND_PAIR_STAR, false},                /* first round: nothing is assigned yet */
      {ROUND - 7, ROUND - 6, ND_PAIR_STAR, true}, /* both are assigned to 0 */
      {ROUND - 7, ROUND - 5, ND_PAIR_FULL, false},
      {ROUND - 7, ROUND + 5, ND_PAIR_STAR, false}, /* only one is */
      {ROUND + 5, ROUND + 6, ND_PAIR_STAR, false}, /* neither is */
  };
  enum { CASES = sizeof cases / sizeof *cases };
  nd_found found = {0};
  nd_verified out;
  found.same = malloc(DOCUMENTS * sizeof *found.same);
  for (uint32_t d = 0; d < DOCUMENTS; d++) found.same[d] = d;
  ok(nd_sorter_new(&found.pairs, 64 << 20, "/tmp", true, &err));
  for (uint64_t d = 1; d < ROUND; d++) { /* the first round, almost */
    nd_item item = {d, ND_PAIR_FULL};
    ok(nd_sorter_add(found.pairs, &item, 1, &err));
  }
  uint64_t skipped = 0;
  for (size_t i = 0; i < CASES; i++) {
    nd_item item = {(uint64_t)cases[i].a << 32 | cases[i].b, cases[i].kind};
    skipped += cases[i].skipped;
    ok(nd_sorter_add(found.pairs, &item, 1, &err));
  }
  ok(nd_sorter_finish(found.pairs, &err));
  const nd_verify_request request = {
      .documents = DOCUMENTS, .memory = 64 << 20, .tmp = "/tmp", .judge = judge};
  ok(nd_verify_by(&out, &found, &request, &err));
  assert_int_equal(out.skipped, skipped);
  assert_int_equal(out.candidates, ROUND - 1 + CASES - skipped);
  assert_int_equal(out.pairs, out.candidates - 1);
  size_t got = 1;
  static nd_item items[ROUND];
  for (uint64_t n = 0; got; n += got) {
    ok(nd_sorter_next(&got, items, ROUND, out.sorted, &err));
    for (size_t i = 0; i < got; i++)
      for (size_t k = 0; k < CASES; k++)
        if (items[i].key == ((uint64_t)cases[k].a << 32 | cases[k].b))
          assert_true(!cases[k].skipped && cases[k].a != 5);
    if (!got) assert_int_equal(n, out.pairs);
  }
  nd_verified_clear(&out);
  nd_sorter_free(found.pairs);
  free(found.same);
}

/* --- lists -------------------------------------------------------------------------- */

static uint32_t lost; /* the document whose text cannot be had */

static nd_status fetch(nd_buf *out, void *context, uint32_t document, nd_error *e) {
  const char *const *text = context;
  out->n = 0;
  if (document == lost) return nd_fail(e, ND_ERR_IO, "it is lost");
  const char *p = text[document % 512 % 4]; /* 512 apart: the same place of a cache */
  return nd_buf_append(out, p, strlen(p), e);
}

static nd_status run(nd_item *item, const char *const *options, bool documents, bool all) {
  static const char *const text[4] = {"one two three four five six", "one two three four five six",
                                      "one two three four five ten", "a quite different text"};
  nd_options o;
  nd_summary summary;
  nd_run j;
  nd_options_init(&o);
  o.threads = 1;
  for (size_t i = 0; i < 6 && options[i]; i += 2)
    ok(nd_options_set(&o, options[i], options[i + 1], &err));
  ok(nd_job_open(&j, &summary, &o, NULL, &err));
  const nd_text_source source = {
      .settings = &j.settings, .fetch = fetch, .fetch_context = (void *)(uintptr_t)text};
  nd_status status = documents ? nd_verify_documents(item, 1, &source, &err)
                               : nd_verify_list(item, 1, &source, all, &err);
  nd_job_close(&j);
  return status;
}

static void listed_pairs_have_their_exact_similarity(void **state) {
  (void)state;
  static const char *const edit[6] = {"method", "join", "similarity", "edit", "threshold", "3"};
  static const char *const exact[6] = {"method", "exact", "threshold", "0.5"};
  static const char *const sample[6] = {"sample", "mod:4", "method", "exact", "threshold", "0.5"};
  static const struct {
    const char *const *options;
    bool documents, all;
    uint32_t a, b;
    uint64_t num, den; /* den 0: not similar */
  } cases[] = {
      {edit, false, false, 0, 2, 3, 1},   {edit, false, false, 0, 3, 0, 0},
      {edit, false, true, 0, 3, 22, 1},   {exact, false, false, 0, 1, 2, 2},
      {exact, false, false, 0, 2, 0, 0},  {exact, false, true, 0, 2, 1, 3},
      {exact, false, true, 0, 512, 2, 2}, {exact, false, true, 2, 512, 1, 3},
      {sample, true, true, 0, 2, 1, 3}, /* all of the documents, not what is kept of them */
  };
  lost = UINT32_MAX;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_item item = {(uint64_t)cases[i].a << 32 | cases[i].b, 0};
    ok(run(&item, cases[i].options, cases[i].documents, cases[i].all));
    uint64_t want = cases[i].den ? cases[i].num << 32 | cases[i].den : ND_NOT_SIMILAR;
    if (item.value != want)
      fail_msg("case %zu: %u of %u", i, (unsigned)(item.value >> 32), (unsigned)item.value);
  }
  for (uint32_t b = 511; b < 514; b++) { /* a text that cannot be had, whatever its place */
    nd_item item = {UINT64_C(1) << 32 | b, 0};
    lost = b;
    for (int k = 0; k < 2; k++) {
      err.message[0] = '\0';
      assert_int_equal(run(&item, k ? edit : exact, false, true), ND_ERR_IO);
      assert_string_equal(err.message, "it is lost");
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(star_edge_is_skipped_if_both_ends_are_assigned),
      cmocka_unit_test(listed_pairs_have_their_exact_similarity)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
