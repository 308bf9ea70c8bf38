/* Stars against greedy over a matrix, components against a flood fill, on
 * random graphs, with the documents' own order and with another. */
#include <setjmp.h>
#include <stdarg.h>
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
#include "cluster/clusters.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_clusters_XXXXXX";
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
  nd_mem_fail_at(0);
  return 0;
}

enum { MOST = 120 };

/* value[a][b] != 0: documents a and b are a pair. */
typedef struct graph {
  uint32_t n;
  uint64_t value[MOST][MOST];
  uint32_t document[MOST], position[MOST];
  bool ordered; /* document[] is not the identity */
} graph;

static void draw_graph(graph *g, uint32_t n, double density, bool ordered) {
  memset(g, 0, sizeof *g);
  g->n = n;
  g->ordered = ordered;
  for (uint32_t i = 0; i < n; i++) g->document[i] = i;
  for (uint32_t i = n; ordered && i > 1; i--) {
    uint32_t j = (uint32_t)nd_rng_below(&rng, i), swap = g->document[i - 1];
    g->document[i - 1] = g->document[j];
    g->document[j] = swap;
  }
  for (uint32_t i = 0; i < n; i++) g->position[g->document[i]] = i;
  for (uint32_t a = 0; a < n; a++) {
    for (uint32_t b = a + 1; b < n; b++) {
      if (nd_rng_unit(&rng) < density) g->value[a][b] = g->value[b][a] = nd_rng_next(&rng) | 1;
    }
  }
}

static nd_sorter *pairs_of(const graph *g) {
  nd_sorter *s = NULL;
  ok(nd_sorter_new(&s, 0, dir, true, &err));
  for (uint32_t a = 0; a < g->n; a++) {
    for (uint32_t b = 0; b < g->n; b++) {
      if (!g->value[a][b] || g->position[a] > g->position[b]) continue;
      nd_item item = {(uint64_t)g->position[a] << 32 | g->position[b], g->value[a][b]};
      ok(nd_sorter_add(s, &item, 1, &err));
    }
  }
  ok(nd_sorter_finish(s, &err));
  return s;
}

static void star_naively(const graph *g, uint32_t *centre, uint64_t *value) {
  bool settled[MOST] = {0};
  for (uint32_t p = 0; p < g->n; p++) {
    uint32_t a = g->document[p];
    if (settled[a]) continue;
    settled[a] = true;
    centre[a] = a;
    value[a] = 0;
    for (uint32_t b = 0; b < g->n; b++) {
      if (settled[b] || !g->value[a][b]) continue;
      settled[b] = true;
      centre[b] = a;
      value[b] = g->value[a][b];
    }
  }
}

static void components_naively(const graph *g, uint32_t *centre, uint64_t *value) {
  bool seen[MOST] = {0};
  for (uint32_t p = 0; p < g->n; p++) {
    uint32_t first = g->document[p], queue[MOST], head = 0, tail = 0;
    if (seen[first]) continue;
    seen[first] = true;
    queue[tail++] = first;
    while (head < tail) {
      uint32_t a = queue[head++];
      centre[a] = first;
      value[a] = a == first ? 0 : g->value[first][a];
      for (uint32_t b = 0; b < g->n; b++) {
        if (seen[b] || !g->value[a][b]) continue;
        seen[b] = true;
        queue[tail++] = b;
      }
    }
  }
}

/* The first half in the order stays; pairs within a half do not count. */
static void nearest(const graph *g) {
  for (int smaller = 0; smaller < 2; smaller++) {
    const uint32_t half = g->n / 2;
    nd_sorter *pairs;
    nd_clusters c;
    ok(nd_sorter_new(&pairs, 1 << 20, "/tmp", true, &err));
    for (uint32_t p = 0; p < half; p++) {
      for (uint32_t q = half; q < g->n; q++) {
        uint64_t value = g->value[g->document[p]][g->document[q]];
        nd_item item = {(uint64_t)p << 32 | q, (value % 7) << 32 | (1 + value % 5)};
        if (value) ok(nd_sorter_add(pairs, &item, 1, &err));
      }
    }
    ok(nd_sorter_finish(pairs, &err));
    ok(nd_clusters_init(&c, g->n, &err));
    ok(nd_clusters_nearest(&c, pairs, g->document, smaller, &err));
    for (uint32_t q = 0; q < g->n; q++) {
      uint32_t d = g->document[q], best = d;
      double most = 0;
      for (uint32_t p = 0; q >= half && p < half; p++) {
        uint64_t value = g->value[g->document[p]][d];
        double x = (double)(value % 7) / (double)(1 + value % 5);
        if (!value || (best != d && (smaller ? x >= most : x <= most))) continue;
        best = g->document[p];
        most = x;
      }
      assert_int_equal(c.centre[d], best);
    }
    nd_clusters_clear(&c);
    nd_sorter_free(pairs);
  }
}

static void check(const graph *g) {
  uint32_t centre[MOST];
  uint64_t value[MOST];
  nd_sorter *pairs = pairs_of(g);
  const uint32_t *document = g->ordered ? g->document : NULL;
  for (int kind = 0; kind < 2; kind++) {
    nd_clusters c;
    ok(nd_clusters_init(&c, g->n, &err));
    if (kind == 0) {
      star_naively(g, centre, value);
      ok(nd_clusters_star(&c, pairs, document, &err));
    } else {
      components_naively(g, centre, value);
      ok(nd_clusters_components(&c, pairs, document, &err));
    }
    for (uint32_t i = 0; i < g->n; i++) {
      assert_int_equal(c.centre[i], centre[i]);
      assert_int_equal(c.value[i], value[i]);
      assert_int_equal(c.centre[c.centre[i]], c.centre[i]); /* the kept one is kept */
      if (kind == 0 && c.centre[i] != i) assert_int_equal(c.value[i], g->value[i][c.centre[i]]);
    }
    nd_clusters_clear(&c);
  }
  nd_sorter_free(pairs);
}

static void random_graphs(void **state) {
  (void)state;
  graph *g = malloc(sizeof *g);
  const double densities[] = {0, 0.005, 0.02, 0.05, 0.2, 0.7, 1};
  for (int round = 0; round < 60; round++) {
    for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
      draw_graph(g, (uint32_t)nd_rng_below(&rng, round % 2 ? 12 : MOST + 1), densities[d],
                 round % 4 < 2);
      check(g);
      nearest(g);
    }
  }
  free(g);
}

/* A chain 0-1-2-…: stars take every third's neighbours, components all of it. */
static void a_long_chain(void **state) {
  (void)state;
  enum { N = 50000 };
  nd_sorter *pairs = NULL;
  ok(nd_sorter_new(&pairs, 0, dir, true, &err));
  for (uint64_t i = 0; i + 1 < N; i++) {
    nd_item item = {i << 32 | (i + 1), i + 1};
    ok(nd_sorter_add(pairs, &item, 1, &err));
  }
  ok(nd_sorter_finish(pairs, &err));
  nd_clusters c;
  ok(nd_clusters_init(&c, N, &err));
  ok(nd_clusters_star(&c, pairs, NULL, &err));
  for (uint32_t i = 0; i < N; i++) assert_int_equal(c.centre[i], i - i % 2);
  nd_clusters_clear(&c);
  ok(nd_clusters_init(&c, N, &err));
  ok(nd_clusters_components(&c, pairs, NULL, &err));
  for (uint32_t i = 0; i < N; i++) {
    assert_int_equal(c.centre[i], 0);
    assert_int_equal(c.value[i], i == 1 ? 1 : 0); /* only 1 was compared with 0 */
  }
  nd_clusters_clear(&c);
  nd_sorter_free(pairs);
}

static void memory_faults(void **state) {
  (void)state;
  graph *g = malloc(sizeof *g);
  draw_graph(g, 50, 0.1, true);
  nd_sorter *pairs = pairs_of(g);
  for (int kind = 0; kind < 2; kind++) {
    bool hit = true;
    for (uint64_t nth = 1; hit; nth++) {
      nd_clusters c;
      nd_mem_fail_at(nth);
      nd_status status = nd_clusters_init(&c, g->n, &err);
      if (status == ND_OK)
        status = kind ? nd_clusters_components(&c, pairs, g->document, &err)
                      : nd_clusters_star(&c, pairs, g->document, &err);
      hit = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      assert_int_equal(status, hit ? ND_ERR_MEMORY : ND_OK);
      nd_clusters_clear(&c);
    }
  }
  nd_sorter_free(pairs);
  free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs),
                                     cmocka_unit_test(a_long_chain),
                                     cmocka_unit_test_teardown(memory_faults, clear_hooks)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
