/* Dealing out records: every part gives back its own, in the order of adding, from any place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/rng.h"
#include "candidate/deal.h"

enum { MOST_WORDS = 17, PARTS = 13 };

static uint64_t word_of(uint32_t part, uint64_t number, uint32_t word) {
  return (uint64_t)part << 48 ^ number << 8 ^ word;
}

static nd_status deal(uint64_t *count, nd_deal **out, uint32_t words, size_t n, uint64_t memory,
                      nd_rng *rng, nd_error *err) {
  *out = NULL;
  ND_TRY(nd_deal_new(out, PARTS, words, memory, "/tmp", err));
  for (uint32_t p = 0; p < PARTS; p++) count[p] = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t part = (uint32_t)nd_rng_below(rng, PARTS - 1); /* the last one stays empty */
    uint64_t record[MOST_WORDS];
    for (uint32_t w = 0; w < words; w++) record[w] = word_of(part, count[part], w);
    count[part]++;
    ND_TRY(nd_deal_add(*out, part, record, err));
  }
  return nd_deal_finish(*out, err);
}

static nd_status read_some(const nd_deal *d, uint32_t words, uint32_t part, uint64_t first,
                           size_t n, nd_error *err) {
  uint64_t *got = malloc(n * words * sizeof *got + 1);
  nd_status status = nd_deal_read(got, d, part, first, n, err);
  for (size_t i = 0; i < n && status == ND_OK; i++)
    for (uint32_t w = 0; w < words; w++)
      assert_int_equal(got[i * words + w], word_of(part, first + i, w));
  free(got);
  return status;
}

static void parts_come_back(void **state) {
  (void)state;
  const uint32_t words[] = {1, 2, 7, MOST_WORDS};
  nd_rng rng = {1};
  for (int round = 0; round < 24; round++) {
    uint64_t count[PARTS] = {0}, sum = 0;
    nd_deal *d;
    uint32_t w = words[round % 4];
    size_t n = (size_t)nd_rng_below(&rng, 30000);
    assert_int_equal(
        deal(count, &d, w, n, round % 3 ? 1 : UINT64_C(1) << (round % 2 ? 20 : 30), &rng, NULL),
        ND_OK);
    for (uint32_t p = 0; p < PARTS; p++) {
      assert_int_equal(nd_deal_count(d, p), count[p]);
      sum += count[p];
      assert_int_equal(read_some(d, w, p, 0, count[p], NULL), ND_OK);
      for (int k = 0; k < 5 && count[p]; k++) {
        uint64_t first = nd_rng_below(&rng, count[p]);
        assert_int_equal(read_some(d, w, p, first, nd_rng_below(&rng, count[p] - first + 1), NULL),
                         ND_OK);
      }
    }
    assert_int_equal(sum, n);
    nd_deal_free(d);
  }
}

static void enough_parts(void **state) {
  (void)state;
  assert_int_equal(nd_deal_bits(100, 1000), 1);
  assert_int_equal(nd_deal_bits(1000, 1000), 1);
  assert_int_equal(nd_deal_bits(1002, 1000), 2);
  assert_int_equal(nd_deal_bits(2004, 1000), 3);
  assert_int_equal(nd_deal_bits(UINT64_MAX, 1), 12);
}

static void full_disk_and_no_memory_are_errors(void **state) {
  (void)state;
  nd_error err;
  uint64_t count[PARTS] = {0};
  nd_deal *d;
  for (int io = 0; io < 2; io++) {
    for (uint64_t nth = 1;; nth++) {
      nd_rng rng = {2};
      if (io)
        nd_io_fail_at(nth, ENOSPC);
      else
        nd_mem_fail_at(nth);
      nd_status status = deal(count, &d, 2, 3000, 1, &rng, &err);
      if (status == ND_OK) status = read_some(d, 2, 0, 0, count[0], &err);
      nd_io_fail_at(0, 0);
      nd_mem_fail_at(0);
      nd_deal_free(d);
      if (status == ND_OK) break;
      assert_int_equal(status, io ? ND_ERR_IO : ND_ERR_MEMORY);
      assert_true(nth < 200);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_come_back),
                                     cmocka_unit_test(enough_parts),
                                     cmocka_unit_test(full_disk_and_no_memory_are_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
