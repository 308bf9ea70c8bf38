/* The team: every job once, in slots of its own; failures stop it and name the
 * lowest failed job. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/threads.h"

enum { JOBS = 5000 };

typedef struct board {
  unsigned threads;
  _Atomic uint32_t done[JOBS];
  uint64_t result[JOBS];
  uint64_t last[64]; /* per member: the last job, plus one */
  uint64_t fail_from, fail_every;
  _Atomic uint64_t calls;
} board;

static nd_status do_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  board *b = context;
  atomic_fetch_add(&b->calls, 1);
  if (member >= b->threads || job >= JOBS) return nd_fail(err, ND_ERR_DATA, "out of range");
  if (b->last[member] > job) return nd_fail(err, ND_ERR_DATA, "jobs go backwards");
  b->last[member] = job + 1;
  atomic_fetch_add(&b->done[job], 1);
  b->result[job] = job * job;
  if (b->fail_every && job >= b->fail_from && job % b->fail_every == 0)
    return nd_fail(err, ND_ERR_LIMIT, "job %u", (unsigned)job);
  return ND_OK;
}

static void does_every_job_once(void **state) {
  (void)state;
  const unsigned teams[] = {0, 1, 2, 3, 8, 64};
  const uint64_t jobs[] = {0, 1, 2, 7, JOBS};
  board *b = malloc(sizeof *b);
  for (size_t t = 0; t < sizeof teams / sizeof *teams; t++) {
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
      memset((void *)b, 0, sizeof *b);
      b->threads = teams[t] ? teams[t] : 1;
      nd_error err = {0};
      assert_int_equal(nd_threads_run(teams[t], jobs[j], do_job, b, &err), ND_OK);
      for (uint64_t i = 0; i < JOBS; i++) {
        assert_int_equal(b->done[i], i < jobs[j]);
        if (i < jobs[j]) assert_int_equal(b->result[i], i * i);
      }
    }
  }
  free(b);
}

static void a_failure_stops_it(void **state) {
  (void)state;
  board *b = malloc(sizeof *b);
  for (unsigned threads = 1; threads <= 8; threads *= 2) {
    memset((void *)b, 0, sizeof *b);
    b->threads = threads;
    b->fail_from = 100;
    b->fail_every = 1;
    nd_error err = {0};
    assert_int_equal(nd_threads_run(threads, JOBS, do_job, b, &err), ND_ERR_LIMIT);
    assert_int_equal(err.status, ND_ERR_LIMIT);
    /* jobs rise and all from 100 on fail: 100 itself was started, and is the lowest */
    assert_string_equal(err.message, "job 100");
    assert_true(b->calls <= 100 + threads);
    memset((void *)b, 0, sizeof *b);
    b->threads = threads;
    b->fail_every = 1;
    assert_int_equal(nd_threads_run(threads, 1, do_job, b, NULL), ND_ERR_LIMIT);
  }
  free(b);
}

/* Two jobs fail at once, one of them certainly after the other. */
typedef struct duel {
  uint64_t first; /* the job that fails first */
  _Atomic int began;
} duel;

static nd_status fight(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  duel *d = context;
  atomic_fetch_add(&d->began, 1);
  while (atomic_load(&d->began) < 2) sched_yield();
  /* The other one fails once this one's failure was taken down: its thread takes no new job. */
  if (job != d->first)
    for (int i = 0; i < 3; i++) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  return nd_fail(err, job == 0 ? ND_ERR_DATA : ND_ERR_LIMIT, "job %u", (unsigned)job);
}

static void the_lowest_failure_counts(void **state) {
  (void)state;
  for (uint64_t first = 0; first < 2; first++) {
    duel d = {.first = first};
    nd_error err = {0};
    assert_int_equal(nd_threads_run(2, 100, fight, &d, &err), ND_ERR_DATA);
    assert_string_equal(err.message, "job 0");
    assert_int_equal(d.began, 2);
  }
}

static void refused_memory_is_reported(void **state) {
  (void)state;
  board *b = calloc(1, sizeof *b);
  b->threads = 4;
  for (uint64_t nth = 1;; nth++) {
    nd_error err = {0};
    nd_mem_fail_at(nth);
    nd_status status = nd_threads_run(4, 0, do_job, b, &err);
    uint64_t count = nd_mem_count();
    nd_mem_fail_at(0);
    if (count < nth) {
      assert_int_equal(status, ND_OK);
      break;
    }
    assert_int_equal(status, ND_ERR_MEMORY);
  }
  free(b);
}

static void there_is_a_core(void **state) {
  (void)state;
  assert_in_range(nd_threads_cores(), 1, 100000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(does_every_job_once), cmocka_unit_test(a_failure_stops_it),
      cmocka_unit_test(the_lowest_failure_counts), cmocka_unit_test(refused_memory_is_reported),
      cmocka_unit_test(there_is_a_core)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
