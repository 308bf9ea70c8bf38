/* The checksum of a file written in regions is that of its bytes in order, whatever the order and
 * the number of threads. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/threads.h"
#include "outdir/region_sum.h"
#include "seed.h"
#include "tools.h"

enum { REGIONS = 40, MOST = 300000 };

static char path[] = "/tmp/nd_test_region_sum_XXXXXX";
static unsigned char *bytes;
static uint64_t at[REGIONS + 1];
static size_t order[REGIONS];
static int fd;

typedef struct writing {
  nd_region_sum *sum;
} writing;

static nd_status write_one(void *context, unsigned member, uint64_t job, nd_error *error) {
  writing *w = context;
  const size_t i = order[job];
  (void)member;
  nd_sum *sum = nd_region_sum_take(w->sum, i);
  ND_TRY(nd_io_pwrite_full(fd, bytes + at[i], at[i + 1] - at[i], at[i], path, error));
  if (sum) nd_sum_add(sum, bytes + at[i], at[i + 1] - at[i]);
  return nd_region_sum_written(w->sum, i, sum, fd, path, error);
}

static uint64_t whole(void) {
  nd_sum sum;
  nd_sum_begin(&sum);
  nd_sum_add(&sum, bytes, at[REGIONS]);
  return nd_sum_value(&sum);
}

static void make_regions(nd_region_sum **out) {
  ok(nd_region_sum_new(out, REGIONS, &err));
  for (size_t i = 0; i < REGIONS; i++) nd_region_sum_place(*out, i, at[i], at[i + 1] - at[i]);
  assert_int_equal(ftruncate(fd, 0), 0);
}

static int setup(void **state) {
  (void)state;
  fd = mkstemp(path);
  bytes = malloc((size_t)REGIONS * MOST);
  return fd < 0 || !bytes ? -1 : 0;
}

static int teardown(void **state) {
  (void)state;
  free(bytes);
  close(fd);
  return unlink(path);
}

static void regions_in_any_order_give_the_sum_of_the_file(void **state) {
  (void)state;
  srand((unsigned)test_seed());
  for (unsigned round = 0; round < 30; round++) {
    for (size_t i = 0; i < REGIONS; i++) {
      at[i + 1] = at[i] + (uint64_t)(rand() % 4 ? rand() % MOST : 0); /* some are empty */
      order[i] = i;
    }
    for (size_t i = 0; i < at[REGIONS]; i++) bytes[i] = (unsigned char)(rand() >> 7);
    for (size_t i = REGIONS; round && i > 1; i--) {
      const size_t j = (size_t)rand() % i, held = order[i - 1];
      order[i - 1] = order[j];
      order[j] = held;
    }
    writing w;
    make_regions(&w.sum);
    ok(nd_threads_run(1 + round % 4, REGIONS, write_one, &w, &err));
    assert_true(nd_region_sum_value(w.sum) == whole());
    nd_region_sum_free(w.sum);
  }
}

static void a_failed_read_is_an_error(void **state) {
  (void)state;
  writing w;
  for (size_t i = 0; i < REGIONS; i++) order[i] = REGIONS - 1 - i;
  make_regions(&w.sum);
  for (size_t i = 0; i + 1 < REGIONS; i++) ok(write_one(&w, 0, i, &err));
  assert_int_equal(ftruncate(fd, (off_t)at[REGIONS] / 2), 0);
  assert_int_equal(write_one(&w, 0, REGIONS - 1, &err), ND_ERR_DATA);
  nd_region_sum_free(w.sum);
  nd_region_sum_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regions_in_any_order_give_the_sum_of_the_file),
      cmocka_unit_test(a_failed_read_is_an_error),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
