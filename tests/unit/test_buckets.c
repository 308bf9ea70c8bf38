/* Groups and candidate pairs against a naive map of keys: in memory and spilled, with and without
 * oversized buckets and repeated star edges. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/rng.h"
#include "base/threads.h"
#include "candidate/buckets.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_buckets_XXXXXX";
static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return rmdir(dir);
}

static int clear_hooks(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  nd_mem_fail_at(0);
  return 0;
}

static int by_item(const void *x, const void *y) {
  const nd_item *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->value < b->value ? -1 : a->value > b->value;
}

enum { IN_MEMORY = 1 << 26, SPILLED = 1 << 14 };

/* Keys such as a band has them: many of their own, some shared, one hot. */
static nd_item *draw_band(size_t n, uint64_t keys, bool scattered) {
  nd_item *items = malloc((n + 1) * sizeof *items);
  for (size_t i = 0; i < n; i++) {
    uint64_t key = nd_rng_below(&rng, 8) == 0 ? 0 : nd_rng_below(&rng, keys);
    items[i] = (nd_item){scattered ? nd_mix(key) : key, i};
  }
  return items;
}

static nd_grouper *group(const nd_item *items, size_t n, uint64_t memory) {
  nd_grouper *g = NULL;
  ok(nd_grouper_new(&g, n, memory, dir, &err));
  for (size_t i = 0; i < n; i++) ok(nd_grouper_add(g, items[i].key, items[i].value, &err));
  ok(nd_grouper_finish(g, &err));
  return g;
}

static void groups_are_whole_and_in_order(void **state) {
  (void)state;
  const size_t lengths[] = {0, 1, 2, 100, 4095, 4096, 4097, 20000};
  const uint64_t memories[] = {IN_MEMORY, SPILLED};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
    for (int m = 0; m < 2; m++) {
      for (int scattered = 0; scattered < 2; scattered++) {
        size_t n = lengths[l], at = 0, groups = 0, distinct = 0;
        nd_item *items = draw_band(n, 1 + n / 3, scattered), *out = malloc((n + 1) * sizeof *out);
        nd_grouper *g = group(items, n, memories[m]);
        for (size_t got = 1; got;) {
          nd_item part[700];
          ok(nd_grouper_next(&got, part, 1 + (size_t)nd_rng_below(&rng, 700), g, &err));
          assert_true(at + got <= n);
          memcpy(out + at, part, got * sizeof *out);
          at += got;
        }
        assert_int_equal(at, n);
        for (size_t i = 0; i < n; i++) {
          if (i && out[i].key == out[i - 1].key)
            assert_true(out[i].value > out[i - 1].value);
          else
            groups++;
        }
        qsort(items, n, sizeof *items, by_item);
        qsort(out, n, sizeof *out, by_item);
        assert_memory_equal(items, out, n * sizeof *out);
        for (size_t i = 0; i < n; i++) distinct += i == 0 || items[i].key != items[i - 1].key;
        assert_int_equal(groups, distinct);
        nd_grouper_free(g);
        free(items);
        free(out);
      }
    }
  }
  nd_grouper_free(NULL);
}

static void more_than_announced_is_refused(void **state) {
  (void)state;
  nd_grouper *g = NULL;
  ok(nd_grouper_new(&g, 2, IN_MEMORY, dir, &err));
  ok(nd_grouper_add(g, 1, 1, &err));
  ok(nd_grouper_add(g, 1, 2, &err));
  assert_int_equal(nd_grouper_add(g, 1, 3, &err), ND_ERR_LIMIT);
  nd_grouper_free(g);
}

/* ---- pairs ---- */

typedef struct list {
  nd_item *pair;
  size_t n, cap;
} list;

static void push(list *l, uint64_t a, uint64_t b, uint64_t kind) {
  if (l->n == l->cap) l->pair = realloc(l->pair, (l->cap = l->cap * 2 + 64) * sizeof *l->pair);
  l->pair[l->n++] = (nd_item){a << 32 | b, kind};
}

/* Each pair once; one that a whole bucket gave is no star edge any more. */
static void make_set(list *l) {
  if (l->n) qsort(l->pair, l->n, sizeof *l->pair, by_item);
  size_t kept = 0;
  for (size_t i = 0; i < l->n; i++)
    if (kept == 0 || l->pair[kept - 1].key != l->pair[i].key) l->pair[kept++] = l->pair[i];
  l->n = kept;
}

/* All pairs of a bucket up to the cap, a star above it. */
static void pair_naively(list *l, nd_bucket_stats *stats, const nd_item *items, size_t n,
                         uint64_t cap) {
  nd_item *sorted = malloc((n + 1) * sizeof *sorted);
  memcpy(sorted, items, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_item);
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && sorted[j].key == sorted[i].key; j++) {
    }
    size_t size = j - i;
    if (size < 2) continue;
    stats->buckets++;
    if (size > stats->largest) stats->largest = size;
    if (size > cap) {
      stats->hot++;
      stats->hot_documents += size;
      stats->edges += size - 1;
      for (size_t b = i + 1; b < j; b++) push(l, sorted[i].value, sorted[b].value, ND_PAIR_STAR);
      continue;
    }
    stats->edges += size * (size - 1) / 2;
    for (size_t a = i; a < j; a++)
      for (size_t b = a + 1; b < j; b++) push(l, sorted[a].value, sorted[b].value, ND_PAIR_FULL);
  }
  free(sorted);
}

static void expect_pairs(nd_sorter *pairs, list *want) {
  make_set(want);
  ok(nd_sorter_finish(pairs, &err));
  size_t at = 0;
  for (size_t got = 1; got;) {
    nd_item out[512];
    ok(nd_sorter_next(&got, out, 512, pairs, &err));
    assert_true(at + got <= want->n);
    for (size_t i = 0; i < got; i++) {
      assert_int_equal(out[i].key, want->pair[at + i].key);
      assert_int_equal(out[i].value, want->pair[at + i].value);
      assert_true(out[i].key >> 32 < (uint32_t)out[i].key);
    }
    at += got;
  }
  assert_int_equal(at, want->n);
}

static void pairs_of_one_band(void **state) {
  (void)state;
  const uint64_t caps[] = {2, 3, 10, 50, 100000};
  for (size_t c = 0; c < sizeof caps / sizeof *caps; c++) {
    for (size_t n = 0; n <= 1500; n = n * 3 + 1) {
      for (int spilled = 0; spilled < 2; spilled++) {
        nd_item *items = draw_band(n, 1 + n / 4, n % 2);
        nd_grouper *g = group(items, n, spilled ? SPILLED : IN_MEMORY);
        nd_sorter *pairs = NULL;
        ok(nd_sorter_new(&pairs, 0, dir, true, &err));
        nd_bucket_stats stats = {0}, want = {0};
        list l = {0};
        ok(nd_buckets_pairs(pairs, &stats, g, caps[c], 0, NULL, &err));
        pair_naively(&l, &want, items, n, caps[c]);
        assert_memory_equal(&stats, &want, sizeof stats);
        expect_pairs(pairs, &l);
        nd_sorter_free(pairs);
        nd_grouper_free(g);
        free(items);
        free(l.pair);
      }
    }
  }
}

/* A bucket exactly at the cap gives all its pairs, one more makes it a star. */
static void the_cap_is_inclusive(void **state) {
  (void)state;
  for (size_t n = 4; n <= 6; n++) {
    nd_item items[6];
    for (size_t i = 0; i < n; i++) items[i] = (nd_item){9, i};
    nd_grouper *g = group(items, n, IN_MEMORY);
    nd_sorter *pairs = NULL;
    ok(nd_sorter_new(&pairs, 0, dir, true, &err));
    nd_bucket_stats stats = {0};
    ok(nd_buckets_pairs(pairs, &stats, g, 5, 0, NULL, &err));
    assert_int_equal(stats.edges, n == 4 ? 6 : n == 5 ? 10 : 5);
    assert_int_equal(stats.hot, n == 6);
    assert_int_equal(stats.hot_documents, n == 6 ? 6 : 0);
    assert_int_equal(stats.largest, n);
    nd_sorter_free(pairs);
    nd_grouper_free(g);
  }
}

/* ---- many bands, shared last centres, several threads ---- */

typedef struct bands {
  nd_item **items;
  size_t n;
  uint64_t cap;
  nd_sorter *pairs;
  _Atomic uint32_t *last_centre;
  nd_bucket_stats stats[4];
} bands;

static nd_status do_band(void *context, unsigned member, uint64_t job, nd_error *e) {
  bands *b = context;
  nd_grouper *g = NULL;
  nd_status status = nd_grouper_new(&g, b->n, job % 2 ? SPILLED : IN_MEMORY, dir, e);
  for (size_t i = 0; i < b->n && status == ND_OK; i++)
    status = nd_grouper_add(g, b->items[job][i].key, b->items[job][i].value, e);
  if (status == ND_OK) status = nd_grouper_finish(g, e);
  if (status == ND_OK)
    status = nd_buckets_pairs(b->pairs, &b->stats[member], g, b->cap, 0, b->last_centre, e);
  nd_grouper_free(g);
  return status;
}

static void last_centre_loses_no_pair(void **state) {
  (void)state;
  enum { BANDS = 13, N = 3000 };
  for (unsigned threads = 1; threads <= 4; threads++) {
    bands b = {.n = N, .cap = 2 + nd_rng_below(&rng, 8)};
    b.items = malloc(BANDS * sizeof *b.items);
    static _Atomic uint32_t last_centre[N];
    for (int i = 0; i < N; i++) atomic_store(&last_centre[i], UINT32_MAX);
    b.last_centre = last_centre;
    ok(nd_sorter_new(&b.pairs, 0, dir, true, &err));
    list l = {0};
    nd_bucket_stats want = {0}, stats = {0};
    for (int i = 0; i < BANDS; i++) {
      /* few keys: hot buckets with the same centres again and again */
      b.items[i] = draw_band(N, i % 3 ? 40 : 900, true);
      pair_naively(&l, &want, b.items[i], N, b.cap);
    }
    ok(nd_threads_run(threads, BANDS, do_band, &b, &err));
    for (int i = 0; i < 4; i++) nd_bucket_stats_add(&stats, &b.stats[i]);
    assert_int_equal(stats.buckets, want.buckets);
    assert_int_equal(stats.hot, want.hot);
    assert_int_equal(stats.hot_documents, want.hot_documents);
    assert_int_equal(stats.largest, want.largest);
    assert_true(stats.edges <= want.edges); /* it only saves work … */
    expect_pairs(b.pairs, &l);              /* … and loses nothing */
    nd_sorter_free(b.pairs);
    for (int i = 0; i < BANDS; i++) free(b.items[i]);
    free(b.items);
    free(l.pair);
  }
}

static nd_status live(const nd_item *items, size_t n, uint64_t memory, nd_error *e) {
  nd_grouper *g = NULL;
  nd_sorter *pairs = NULL;
  nd_bucket_stats stats = {0};
  nd_status status = nd_grouper_new(&g, n, memory, dir, e);
  for (size_t i = 0; i < n && status == ND_OK; i++)
    status = nd_grouper_add(g, items[i].key, items[i].value, e);
  if (status == ND_OK) status = nd_grouper_finish(g, e);
  if (status == ND_OK) status = nd_sorter_new(&pairs, 0, dir, true, e);
  if (status == ND_OK) status = nd_buckets_pairs(pairs, &stats, g, 10, 0, NULL, e);
  nd_grouper_free(g);
  nd_sorter_free(pairs);
  return status;
}

/* A refused unlink leaves the name of a temporary file behind. */
static void remove_left_names(void) {
  DIR *d = opendir(dir);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) unlinkat(dirfd(d), e->d_name, 0);
  closedir(d);
}

static void every_fault_is_reported(void **state) {
  (void)state;
  size_t n = 10000;
  nd_item *items = draw_band(n, 2000, true);
  for (int spilled = 0; spilled < 2; spilled++) {
    uint64_t memory = spilled ? SPILLED : IN_MEMORY;
    bool hit = true;
    for (uint64_t nth = 1; hit; nth++) {
      nd_mem_fail_at(nth);
      nd_error e = {0};
      nd_status status = live(items, n, memory, &e);
      hit = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      assert_int_equal(status, hit ? ND_ERR_MEMORY : ND_OK);
    }
    hit = true;
    for (uint64_t nth = 1; hit; nth++) {
      nd_io_fail_at(nth, EIO);
      nd_error e = {0};
      nd_status status = live(items, n, memory, &e);
      hit = nd_io_count() >= nth;
      nd_io_fail_at(0, 0);
      assert_int_equal(status, hit ? ND_ERR_IO : ND_OK);
      remove_left_names();
    }
  }
  free(items);
}

/* No room for pairs when they are first handed over: from a bucket that becomes hot, from one
 * that is, and from the last one. */
static void pairs_are_not_taken(void **state) {
  (void)state;
  static const struct { uint64_t documents, cap; } cases[] = {{6000, 5000}, {6000, 50}, {100, 200}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    nd_grouper *g;
    nd_sorter *pairs;
    nd_bucket_stats stats = {0};
    ok(nd_grouper_new(&g, cases[k].documents, IN_MEMORY, dir, &err));
    for (uint64_t i = 0; i < cases[k].documents; i++) ok(nd_grouper_add(g, 1, i, &err));
    ok(nd_grouper_finish(g, &err));
    ok(nd_sorter_new(&pairs, 1 << 20, dir, false, &err));
    nd_mem_fail_at(4); /* after what it takes itself */
    assert_int_equal(nd_buckets_pairs(pairs, &stats, g, cases[k].cap, 0, NULL, &err),
                     ND_ERR_MEMORY);
    nd_mem_fail_at(0);
    assert_int_equal(stats.edges, 1 << 12);
    nd_sorter_free(pairs);
    nd_grouper_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_are_whole_and_in_order),
      cmocka_unit_test(more_than_announced_is_refused),
      cmocka_unit_test(pairs_of_one_band),
      cmocka_unit_test(the_cap_is_inclusive),
      cmocka_unit_test(last_centre_loses_no_pair),
      cmocka_unit_test_teardown(pairs_are_not_taken, clear_hooks),
      cmocka_unit_test_teardown(every_fault_is_reported, clear_hooks)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
