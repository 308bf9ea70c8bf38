/* Lists of records: what two records share, by class, against counting one by one; for several
 * threads' worth of lists, ranges of records and room that is too small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "every_place.h"
#include "plan/trial_lists.h"
#include "plan/trials.h"
#include "tools.h"
#include "trial_tools.h"

enum { RECORDS = 40, LISTS = 3000, KINDS = 200 };
static uint32_t want[RECORDS][RECORDS][ND_TRIAL_CELLS], got[RECORDS][RECORDS][ND_TRIAL_CELLS];

static void naive(const uint32_t *record, size_t n, unsigned class) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = i + 1; j < n; j++) {
      uint32_t *cell = want[record[i]][record[j]];
      cell[class & 31]++;
      for (unsigned d = 0; d < (class >> 5 & 7); d++) cell[32 + d]++;
      if (class >> 8 < 10) cell[36 + (class >> 8)]++;
    }
  }
}

static nd_status take(void *context, unsigned member, const nd_trial_pair *pairs, size_t n,
                      nd_error *e) {
  (void)member;
  (void)e;
  *(uint64_t *)context += n;
  for (size_t i = 0; i < n; i++) /* a pair comes once */
    for (unsigned c = 0; c < ND_TRIAL_CELLS; c++)
      got[pairs[i].a][pairs[i].b][c] += pairs[i].cell[c];
  return ND_OK;
}

static void shared_counts_agree_by_class(void **state) {
  (void)state;
  print_message("seed 5\n");
  for (unsigned round = 0; round < 20; round++) {
    nd_rng rng = {5 + round};
    static uint32_t kind[KINDS][RECORDS];
    size_t length[KINDS];
    for (unsigned k = 0; k < KINDS; k++) {
      length[k] = 0;
      for (uint32_t r = 0; r < RECORDS; r++)
        if (nd_rng_below(&rng, 10) < k % 9) kind[k][length[k]++] = r;
    }
    memset(want, 0, sizeof want);
    memset(got, 0, sizeof got);
    /* All at once, or the records before and behind a border. */
    const uint32_t border = round % 2 ? 13 : RECORDS;
    nd_trial_lists *l = NULL;
    uint64_t pairs = 0, different = 0, work = 0;
    ok(nd_trial_lists_new(&l, RECORDS, 1, 1 << 20, &err));
    for (uint32_t from = 0; from < RECORDS; from = from ? RECORDS : border) {
      nd_rng again = {50 + round};
      const uint32_t to = from ? RECORDS : border;
      for (unsigned i = 0; i < LISTS; i++) {
        const unsigned k = (unsigned)nd_rng_below(&again, KINDS),
                       class = (unsigned)nd_rng_below(&again, 32) |
                               (unsigned)nd_rng_below(&again, 5) << 5 |
                               (unsigned)nd_rng_below(&again, 11) << 8;
        size_t skip = 0;
        bool full = true;
        while (skip < length[k] && kind[k][skip] < from) skip++;
        ok(nd_trial_lists_add(&full, l, kind[k] + skip, length[k] - skip, class, &err));
        assert_false(full);
        if (from == 0) naive(kind[k], length[k], class);
      }
      if (from == 0) work = nd_trial_lists_work(l);
      ok(nd_trial_lists_count(l, from, to, from, take, &pairs, &err));
    }
    for (unsigned a = 0; a < RECORDS; a++)
      for (unsigned b = 0; b < RECORDS; b++) {
        uint32_t any = 0;
        for (unsigned c = 0; c < ND_TRIAL_RESIDUES; c++) any += want[a][b][c];
        different += any > 0;
      }
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(pairs, different);
    assert_true(work > 0 && work <= (uint64_t)KINDS * RECORDS * RECORDS / 2);
    nd_trial_lists_free(l);
  }
}

/* Pairs inside one part of the records, inside the other, and across: all of them, once. */
static void parts_and_across_count_every_pair_once(void **state) {
  (void)state;
  enum { BORDER = 17 };
  static const uint32_t square[3][4] = {
      {0, BORDER, 0, BORDER}, {BORDER, RECORDS, BORDER, RECORDS}, {0, BORDER, BORDER, RECORDS}};
  nd_trial_lists *l = NULL;
  uint64_t pairs = 0;
  memset(want, 0, sizeof want);
  memset(got, 0, sizeof got);
  ok(nd_trial_lists_new(&l, RECORDS, 1, 1 << 20, &err));
  for (unsigned q = 0; q < 3; q++) {
    nd_rng rng = {77};
    for (unsigned i = 0; i < 500; i++) {
      uint32_t all[RECORDS], some[RECORDS];
      size_t n = 0, kept = 0;
      const unsigned class = (unsigned)nd_rng_below(&rng, 32);
      for (uint32_t r = 0; r < RECORDS; r++) {
        if (nd_rng_below(&rng, 4)) continue;
        all[n++] = r;
        const uint32_t *s = square[q];
        if ((r >= s[0] && r < s[1]) || (r >= s[2] && r < s[3])) some[kept++] = r;
      }
      bool full = true;
      ok(nd_trial_lists_add(&full, l, some, kept, class, &err));
      assert_false(full);
      if (q == 0) naive(all, n, class);
    }
    ok(nd_trial_lists_count(l, square[q][0], square[q][1], square[q][2], take, &pairs, &err));
  }
  assert_memory_equal(got, want, sizeof want);
  nd_trial_lists_free(l);
}

/* Too many different lists for the room: that is said, and clearing makes room again. */
static void no_room(void **state) {
  (void)state;
  enum { MANY = 3000 };
  nd_trial_lists *l = NULL;
  uint32_t record[MANY];
  uint64_t pairs = 0;
  bool full = false;
  ok(nd_trial_lists_new(&l, RECORDS, 1, 1, &err));
  nd_rng rng = {9};
  unsigned added = 0;
  for (; !full && added < 1000000; added++) {
    size_t n = 0;
    for (uint32_t r = 0; r < RECORDS; r++)
      if (nd_rng_below(&rng, 2)) record[n++] = r;
    ok(nd_trial_lists_add(&full, l, record, n, 0, &err));
  }
  assert_true(full);
  nd_trial_lists_clear(l);
  memset(got, 0, sizeof got);
  record[0] = 3;
  record[1] = 7;
  ok(nd_trial_lists_add(&full, l, record, 2, 64, &err));
  assert_false(full);
  ok(nd_trial_lists_count(l, 0, RECORDS, 0, take, &pairs, &err));
  assert_int_equal(pairs, 1);
  assert_int_equal(got[3][7][0], 1);
  assert_int_equal(got[3][7][32], 1);
  assert_int_equal(got[3][7][33], 1);
  assert_int_equal(got[3][7][36], 1);
  nd_trial_lists_free(l);
}

/* More lists that come again than there are rows for their counts. */
static void no_rows(void **state) {
  (void)state;
  enum { MANY = 8000, ROWS = 1024 };
  nd_trial_lists *l = NULL;
  bool full = false;
  ok(nd_trial_lists_new(&l, MANY, 1, 1, &err));
  for (uint32_t i = 0; i < 2 * (ROWS + 1); i++) {
    uint32_t record[2] = {i / 2, i / 2 + 1};
    assert_false(full);
    ok(nd_trial_lists_add(&full, l, record, 2, 1, &err));
  }
  assert_true(full);
  nd_trial_lists_free(l);
}

static nd_status take_apart(void *context, unsigned member, const nd_trial_pair *pairs, size_t n,
                            nd_error *e) {
  uint64_t counted = 0; /* of its own: threads share no pair */
  (void)context;
  return take(&counted, member, pairs, n, e);
}

static nd_status count_some(void *context) {
  nd_trial_lists *l = NULL;
  const uint32_t record[] = {3, 7, 9};
  bool full;
  nd_status status = nd_trial_lists_new(&l, RECORDS, *(const unsigned *)context, 1 << 20, &err);
  if (status == ND_OK) status = nd_trial_lists_add(&full, l, record, 3, 1, &err);
  if (status == ND_OK) status = nd_trial_lists_count(l, 0, RECORDS, 0, take_apart, NULL, &err);
  nd_trial_lists_free(l);
  return status;
}

static void no_memory(void **state) {
  (void)state;
  for (unsigned threads = 1; threads <= 2; threads++)
    assert_true(every_place_fails(count_some, &threads) >= 7);
}

/* Memory for the counters of some of the threads; and somebody who takes no pairs. */
static void some_threads(void **state) {
  (void)state;
  uint32_t all[RECORDS];
  for (uint32_t r = 0; r < RECORDS; r++) all[r] = r;
  memset(want, 0, sizeof want);
  naive(all, RECORDS, 5);
  nd_trial_lists *l = NULL;
  bool full = true;
  ok(nd_trial_lists_new(&l, RECORDS, 4, 2 * 4 * (RECORDS * 196 + 1), &err));
  for (int round = 0; round < 2; round++) {
    memset(got, 0, sizeof got);
    ok(nd_trial_lists_add(&full, l, all, RECORDS, 5, &err));
    assert_false(full);
    nd_status status =
        nd_trial_lists_count(l, 0, RECORDS, 0, round ? refuse_pairs : take_apart, NULL, &err);
    assert_int_equal(status, round ? ND_ERR_IO : ND_OK);
    if (round == 0) assert_memory_equal(got, want, sizeof want);
  }
  nd_trial_lists_free(l);
}

/* Less memory than the counters of documents take. */
static void little_memory(void **state) {
  (void)state;
  nd_trials t;
  const uint32_t document[1] = {0};
  assert_int_equal(nd_trials_make(&t, NULL, document, 1000, 1, "/tmp", &err), ND_ERR_LIMIT);
  assert_non_null(strstr(err.message, "1000 documents"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shared_counts_agree_by_class),
                                     cmocka_unit_test(parts_and_across_count_every_pair_once),
                                     cmocka_unit_test(no_room),
                                     cmocka_unit_test(no_rows),
                                     cmocka_unit_test(some_threads),
                                     cmocka_unit_test(no_memory),
                                     cmocka_unit_test(little_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
