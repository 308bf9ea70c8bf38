/* Classes of shingles per pair of documents, against counting one by one: as parts of the keys and
 * slices of a part, in one piece or by squares where the lists do not fit; and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/trials.h"
#include "settings/option_fields.h"
#include "text/words.h"
#include "tools.h"
#include "trial_tools.h"

enum { MOST = 300, WORDS = 40 };

static nd_options options;
static nd_settings settings;
static nd_block_ref block;
static nd_store store = {.blocks = &block, .block_n = 1};
static bool crowd; /* every document is the same word */

/* Neighbours share words; some words are everywhere. */
static int word_of(char *out, size_t room, uint32_t document, uint32_t i) {
  if (crowd) return snprintf(out, room, "all");
  if (i < 2) return snprintf(out, room, "all%u", i);
  return snprintf(out, room, "w%ux%u", (document + i) / (2 + i % 5), i);
}

static nd_status fetch(nd_buf *out, void *context, uint32_t document, nd_error *e) {
  (void)context;
  out->n = 0;
  ND_TRY(nd_buf_reserve(out, WORDS * 24, e));
  for (uint32_t i = 0; i < (crowd ? 1 : WORDS); i++) {
    if (i) out->p[out->n++] = ' ';
    out->n += (size_t)word_of(out->p + out->n, 24, document, i);
  }
  return ND_OK;
}

static nd_text_source source = {.store = &store, .settings = &settings, .fetch = fetch};

static void use(unsigned threads, uint64_t tokens) {
  nd_options_init(&options);
  ok(nd_options_set(&options, "shingle", "words:1", &err));
  ok(nd_settings_resolve(&settings, &options, &err));
  settings.threads = threads;
  block.head.tokens = tokens;
}

/* ---- naive ---- */

static uint64_t key[MOST][WORDS];
static uint32_t want[MOST][MOST][ND_TRIAL_CELLS], got[MOST][MOST][ND_TRIAL_CELLS];

static int rising(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

static void keys_of(uint32_t document) {
  nd_buf text = {0};
  nd_shingles s = {0};
  uint32_t *end = NULL;
  size_t count, cap = 0;
  ok(fetch(&text, NULL, document, &err));
  ok(nd_token_ends(&end, &count, &cap, nd_buf_str(&text), &err));
  ok(nd_shingle_make(&s, nd_buf_str(&text), end, count, settings.shingle, options.seed, false,
                     &err));
  assert_int_equal(s.n, WORDS);
  for (size_t i = 0; i < s.n; i++) key[document][i] = nd_sample_key(s.fingerprint[i]);
  qsort(key[document], WORDS, sizeof **key, rising);
  free(end);
  nd_buf_clear(&text);
  nd_shingles_clear(&s);
}

static void count_naively(uint32_t n) {
  static uint64_t all[MOST * WORDS];
  memset(want, 0, sizeof want);
  for (uint32_t d = 0; d < n; d++) {
    keys_of(d);
    memcpy(all + d * WORDS, key[d], sizeof key[d]);
  }
  qsort(all, n * WORDS, sizeof *all, rising);
  for (size_t i = 0, end; i < n * WORDS; i = end) {
    uint32_t holder[MOST];
    size_t df = 0;
    for (end = i; end < n * WORDS && all[end] == all[i];) end++;
    for (uint32_t d = 0; d < n; d++)
      if (bsearch(&all[i], key[d], WORDS, sizeof **key, rising)) holder[df++] = d;
    assert_int_equal(df, end - i);
    unsigned deep = 0;
    for (uint64_t m = 64; deep < ND_TRIAL_DEEP && all[i] % m == 0; m *= 2) deep++;
    for (size_t a = 0; a < df; a++) {
      for (size_t b = a + 1; b < df; b++) {
        uint32_t *cell = want[holder[a]][holder[b]];
        cell[all[i] % 32]++;
        for (unsigned k = 0; k < deep; k++) cell[32 + k]++;
        if ((df - 1) / 10 < 10) cell[36 + (df - 1) / 10]++;
      }
    }
  }
}

static nd_status take(void *context, unsigned member, const nd_trial_pair *pairs, size_t n,
                      nd_error *e) {
  (void)context;
  (void)member;
  (void)e;
  for (size_t i = 0; i < n; i++) /* no two threads have the same pair */
    for (unsigned c = 0; c < ND_TRIAL_CELLS; c++)
      got[pairs[i].a][pairs[i].b][c] += pairs[i].cell[c];
  return ND_OK;
}

/* ---- tests ---- */

static void same_counts(void **state) {
  (void)state;
  static const struct {
    uint32_t n;
    unsigned threads;
    uint64_t memory, tokens;
    unsigned bits;
  } cases[] = {
      {256, 1, 64 << 20, 256 * WORDS, 4}, /* whole jobs */
      {300, 2, 64 << 20, UINT64_C(1) << 21, 5} /* more parts; two threads */,
      {90, 2, 64 << 20, UINT64_C(1) << 50, 10},
      {300, 2, 300 * 384, 300 * WORDS, 4}, /* little room: by squares */
      {1, 1, 1 << 20, WORDS, 4},           /* no pair */
  };
  uint32_t *document = malloc(MOST * sizeof *document);
  for (uint32_t i = 0; i < MOST; i++) document[i] = i;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_trials t;
    use(cases[i].threads, cases[i].tokens);
    count_naively(cases[i].n);
    memset(got, 0, sizeof got);
    ok(nd_trials_make(&t, &source, document, cases[i].n, cases[i].memory, "/tmp", &err));
    assert_int_equal(t.bits, cases[i].bits);
    ok(nd_trials_each(&t, take, NULL, &err));
    if (memcmp(got, want, sizeof want) != 0) fail_msg("case %zu: other counts", i);
    if (cases[i].n > 1) { /* who takes them may have enough: also while squares are left */
      assert_int_equal(nd_trials_each(&t, refuse_pairs, NULL, &err), ND_ERR_IO);
      assert_string_equal(err.message, "no more of them");
    }
    nd_trials_clear(&t);
  }
  free(document);
}

/* One shingle that all documents have fills a part, which is taken in slices, and gives more pairs
 * than may be counted. */
static void a_shingle_of_all(void **state) {
  (void)state;
  enum { N = 70000 };
  uint32_t *document = malloc(N * sizeof *document);
  for (uint32_t i = 0; i < N; i++) document[i] = i;
  nd_trials t;
  use(2, N); /* so little memory that a part does not fit a thread */
  crowd = true;
  ok(nd_trials_make(&t, &source, document, N, 32 << 20, "/tmp", &err));
  assert_int_equal(t.given, (uint64_t)N * (N - 1) / 2);
  for (uint32_t d = 0; d < N; d++) {
    uint32_t residues = 0, levels = 0;
    for (unsigned c = 0; c < 32; c++) residues += t.cell[(size_t)d * ND_TRIAL_CELLS + c];
    for (unsigned c = 36; c < 46; c++) levels += t.cell[(size_t)d * ND_TRIAL_CELLS + c];
    assert_true(residues == 1 && levels == 0); /* no level lets it pass */
  }
  assert_true(t.most_work > t.given);
  t.most_work = t.given - 1;
  assert_int_equal(nd_trials_each(&t, take, NULL, &err), ND_ERR_LIMIT);
  assert_non_null(strstr(err.message, "more than 2 billion"));
  nd_trials_clear(&t);
  crowd = false;
  free(document);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_counts),
                                     cmocka_unit_test(a_shingle_of_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
