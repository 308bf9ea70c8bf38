/* Counting what documents have in common, against counting pair by pair. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/threads.h"
#include "candidate/common_count.h"
#include "candidate/list_table.h"
#include "every_place.h"

enum { MOST = 60 };

typedef struct sums {
  pthread_mutex_t lock;
  uint32_t n, common[MOST * MOST], times[MOST * MOST];
} sums;

static nd_status add_pairs(void *context, unsigned member, const nd_common_pair *pair, size_t n,
                           nd_error *e) {
  (void)member;
  (void)e;
  sums *s = context;
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; i < n; i++) {
    s->common[pair[i].a * s->n + pair[i].b] += pair[i].common;
    s->times[pair[i].a * s->n + pair[i].b]++;
  }
  pthread_mutex_unlock(&s->lock);
  return ND_OK;
}

static void one_case(uint64_t seed) {
  nd_rng rng = {seed};
  const uint32_t n = 2 + (uint32_t)nd_rng_below(&rng, MOST - 1);
  nd_common_options o = {.documents = n,
                         .split = seed % 3 ? 0 : 1 + (uint32_t)nd_rng_below(&rng, n - 1),
                         .threads = 1 + (unsigned)(seed % 4),
                         .memory = seed % 2 ? UINT64_C(1) << 20 : 0};
  nd_common *c;
  assert_int_equal(nd_common_new(&c, &o, NULL), ND_OK);
  static sums got, want;
  got = (sums){.lock = PTHREAD_MUTEX_INITIALIZER, .n = n};
  want = (sums){.n = n};
  /* Few kinds of lists, so that they repeat; some seeds need several rounds. */
  const uint64_t kinds = 1 + nd_rng_below(&rng, seed % 5 ? 8 : 4000), lists = seed % 5 ? 300 : 9000;
  uint64_t rounds = 0;
  for (uint64_t k = 0; k < lists; k++) {
    uint32_t document[MOST], m = 0;
    nd_rng kind = {seed * 1000 + nd_rng_below(&rng, kinds)};
    const uint64_t share = nd_rng_below(&kind, 100);
    for (uint32_t d = 0; d < n; d++)
      if (nd_rng_below(&kind, 100) < share) document[m++] = d;
    for (uint32_t i = 0; i < m; i++) {
      for (uint32_t j = i + 1; j < m; j++) {
        if (!o.split || (document[i] < o.split && document[j] >= o.split))
          want.common[document[i] * n + document[j]]++;
      }
    }
    bool full;
    unsigned member = (unsigned)(k % o.threads);
    assert_int_equal(nd_common_add(&full, c, member, document, m, NULL), ND_OK);
    if (full) {
      rounds++;
      assert_int_equal(nd_common_round(c, add_pairs, &got, NULL), ND_OK);
      assert_int_equal(nd_common_add(&full, c, member, document, m, NULL), ND_OK);
      assert_false(full);
    }
  }
  assert_int_equal(nd_common_round(c, add_pairs, &got, NULL), ND_OK);
  if (memcmp(got.common, want.common, n * n * sizeof *want.common) != 0)
    fail_msg("seed %llu: counts differ", (unsigned long long)seed);
  for (uint32_t i = 0; i < n * n && rounds == 0; i++) assert_true(got.times[i] <= 1);
  nd_common_free(c);
}

static void counts_agree_with_pair_by_pair(void **state) {
  (void)state;
  print_message("seeds 1 to 400\n");
  for (uint64_t seed = 1; seed <= 400; seed++) one_case(seed);
}

static void little_memory_takes_several_rounds(void **state) {
  (void)state;
  /* The least memory: long lists that all differ fill it more than once. */
  nd_common_options o = {.documents = 3000, .threads = 1, .memory = 0};
  nd_common *c;
  assert_int_equal(nd_common_new(&c, &o, NULL), ND_OK);
  uint64_t full_times = 0;
  uint32_t document[3000];
  for (uint32_t k = 0; k < 64; k++) {
    uint32_t m = 0;
    for (uint32_t d = 0; d < 3000; d++)
      if (d % 64 != k) document[m++] = d;
    bool full;
    assert_int_equal(nd_common_add(&full, c, 0, document, m, NULL), ND_OK);
    full_times += full;
  }
  assert_true(full_times > 0);
  nd_common_free(c);
}

/* Two threads, of which the second begins when the first has added, told by nothing that
 * would order their memory: what they share is ordered by the counter alone. */
typedef struct beginners {
  nd_common *common;
  atomic_int added;
} beginners;

static nd_status add_once(void *context, unsigned member, uint64_t job, nd_error *e) {
  beginners *b = context;
  if (job == 1) {
    while (atomic_load_explicit(&b->added, memory_order_relaxed) == 0) sched_yield();
  }
  bool full;
  const uint32_t document[2] = {(uint32_t)job, 5};
  const nd_status status = nd_common_add(&full, b->common, member, document, 2, e);
  atomic_fetch_add_explicit(&b->added, 1, memory_order_relaxed);
  if (job == 0) {
    while (atomic_load_explicit(&b->added, memory_order_relaxed) < 2) sched_yield();
  }
  return status;
}

static void test_first_list_of_two_threads(void **state) {
  (void)state;
  const nd_common_options o = {.documents = 6, .threads = 2};
  beginners b = {0};
  assert_int_equal(nd_common_new(&b.common, &o, NULL), ND_OK);
  assert_int_equal(nd_threads_run(2, 2, add_once, &b, NULL), ND_OK);
  static sums got;
  got = (sums){.lock = PTHREAD_MUTEX_INITIALIZER, .n = 6};
  assert_int_equal(nd_common_round(b.common, add_pairs, &got, NULL), ND_OK);
  for (uint32_t a = 0; a < 6; a++)
    for (uint32_t z = 0; z < 6; z++) assert_int_equal(got.common[a * 6 + z], a < 2 && z == 5);
  nd_common_free(b.common);
}

/* Of more lists than there is an address for, as many are kept as have one: what is asked for
 * is in the message of a failure. */
static void test_much_memory(void **state) {
  (void)state;
  const nd_common_options o = {.documents = 3, .threads = 1, .memory = UINT64_MAX};
  const uint32_t document[2] = {0, 2};
  nd_common *c;
  nd_error e = {0};
  bool full;
  char bytes[40];
  assert_int_equal(nd_common_new(&c, &o, &e), ND_OK);
  nd_mem_fail_at(2); /* behind the table of lists */
  assert_int_equal(nd_common_add(&full, c, 0, document, 2, &e), ND_ERR_MEMORY);
  nd_mem_fail_at(0);
  snprintf(bytes, sizeof bytes, "%llu", 4ull * (UINT32_MAX - (1 << 14)));
  if (!strstr(e.message, bytes)) fail_msg("%s: not %s", e.message, bytes);
  nd_common_free(c);
}

typedef struct counting {
  uint64_t memory, pairs, calls, fails; /* the call of the sink that fails; 0: none */
} counting;

static nd_status count_pairs(void *context, unsigned member, const nd_common_pair *pair, size_t n,
                             nd_error *e) {
  (void)member;
  (void)pair;
  counting *x = context;
  if (++x->calls == x->fails) return nd_fail(e, ND_ERR_IO, "no more of them");
  x->pairs += n;
  return ND_OK;
}

/* 200 of 400 documents in three lists: more pairs than are handed over at once. */
static nd_status count_all(void *context) {
  enum { N = 200 };
  counting *x = context;
  const nd_common_options o = {.documents = 2 * N, .threads = 2, .memory = x->memory};
  nd_common *c;
  uint32_t document[N];
  x->pairs = x->calls = 0;
  ND_TRY(nd_common_new(&c, &o, &err));
  nd_status status = ND_OK;
  for (unsigned k = 0; k < 3 && status == ND_OK; k++) {
    bool full;
    for (uint32_t d = 0; d < N; d++) document[d] = d;
    status = nd_common_add(&full, c, k % 2, document, N - k, &err);
    if (status == ND_OK) assert_false(full);
  }
  if (status == ND_OK) status = nd_common_round(c, count_pairs, x, &err);
  if (status == ND_OK) assert_int_equal(x->pairs, N * (N - 1) / 2);
  nd_common_free(c);
  return status;
}

static void every_failure_is_reported(void **state) {
  (void)state;
  counting x = {.memory = 1 << 20};
  assert_true(every_place_fails(count_all, &x) >= 8);
  x.memory = 8000; /* counters of one thread */
  ok(count_all(&x));
  const uint64_t calls = x.calls;
  assert_true(calls > 3);
  for (x.fails = 1; x.fails <= calls; x.fails++) assert_int_equal(count_all(&x), ND_ERR_IO);
}

/* Lists that begin with another one, or are closed, are not that list, whatever their hash. */
static void test_lists_of_one_hash(void **state) {
  (void)state;
  enum { LISTS = 9, HASH = 77 };
  const uint32_t number[LISTS] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  uint32_t lists[200] = {0}, next = 1, *head;
  uint64_t at;
  nd_list_table t = {0};
  for (uint32_t n = LISTS; n >= 1; n--) { /* each is the begin of those before it */
    ok(nd_list_find(&head, &at, &t, lists, HASH, number, n, &err));
    assert_null(head);
    nd_list_enter(&t, at, lists, next, HASH, n, number, n);
    next += n + 2;
  }
  for (uint32_t n = 1; n <= LISTS; n++) {
    ok(nd_list_find(&head, &at, &t, lists, HASH, number, n, &err));
    assert_non_null(head);
    assert_int_equal(*head, n);
    if (n % 2) continue;
    *head = UINT32_MAX; /* closed */
    ok(nd_list_find(&head, &at, &t, lists, HASH, number, n, &err));
    assert_null(head);
  }
  nd_list_table_clear(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_agree_with_pair_by_pair),
                                     cmocka_unit_test(little_memory_takes_several_rounds),
                                     cmocka_unit_test(test_first_list_of_two_threads),
                                     cmocka_unit_test(test_much_memory),
                                     cmocka_unit_test(every_failure_is_reported),
                                     cmocka_unit_test(test_lists_of_one_hash)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
