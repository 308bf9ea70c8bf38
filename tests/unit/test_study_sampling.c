/* The counts of `study sampling` against sets counted one by one, and the
 * formulas of the papers with worked examples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "study/ye/study_sampling.h"
#include "tools.h"

/* Nikkhoo (3.6), (3.7): three pairs, 0.2 0.4 0.6 without and 0.1 0.5 0.6 with
 * sampling.  Error (0.1 + 0.1 + 0) / 3.  Correlation (3 × 0.58 − 1.2²) /
 * (√(3 × 0.56 − 1.44) √(3 × 0.62 − 1.44)) = 0.30 / 0.31749 = 0.94491. */
static void error_and_correlation_follow_nikkhoo(void **state) {
  (void)state;
  nd_pair_sums s = {0};
  assert_true(isnan(nd_pair_error(&s)) && isnan(nd_pair_correlation(&s)));
  nd_pair_sums_add(&s, 0.2, 0.1);
  assert_true(isnan(nd_pair_correlation(&s))); /* one point has none */
  nd_pair_sums_add(&s, 0.4, 0.5);
  nd_pair_sums_add(&s, 0.6, 0.6);
  assert_true(fabs(nd_pair_error(&s) - 0.2 / 3) < 1e-8);
  assert_true(fabs(nd_pair_correlation(&s) - 0.94491) < 1e-5);
}

/* Ye, section 6: 17 % of the shingles belong to documents below 500 words, for which
 * 1/8 meets the precision 0.8 at threshold 0.6 and 1/16 does not; all others bear
 * 1/32.  0.17 / 8 + 0.83 / 32 = 0.0472, as published; with 1/16 as the coarsest
 * 0.17 / 8 + 0.83 / 16 = 0.0731.  Precision and recall (section 5): 10 pairs are
 * true, 10 are found, 9 or 5 of them are both. */
static void adaptive_ratios_follow_ye(void **state) {
  (void)state;
  nd_sampling_study s = {.shingles = 100, .group_shingles = {17, 83}};
  s.sum.reached = calloc(ND_YE_GROUPS, sizeof *s.sum.reached);
  for (unsigned m = 2; m <= 32; m *= 2) {
    for (unsigned r = 0; r < m; r++) {
      unsigned both = m <= 8 ? 9 : 5;
      s.sum.reached[0][m - 1 + r][3][3] = both;      /* reach 0.6, truly and in the sample */
      s.sum.reached[0][m - 1 + r][2][3] = 10 - both; /* only in the sample */
      s.sum.reached[0][m - 1 + r][3][0] = 10 - both; /* only truly */
      s.sum.reached[1][m - 1 + r][11][11] = 10;
    }
  }
  nd_ye_point p = nd_ye_measure(&s, 0, 2, 3);
  assert_true(fabs(p.precision - 0.5) < 1e-12 && fabs(p.recall - 0.5) < 1e-12 && p.truth == 10);
  p = nd_ye_measure(&s, 0, 2, 2);
  assert_true(fabs(p.precision - 0.9) < 1e-12 && fabs(p.found - 10) < 1e-12);
  unsigned modulus[ND_SIZE_GROUPS];
  assert_true(fabs(nd_ye_adapt(modulus, &s, 2, 0.8, 5) - (0.17 / 8 + 0.83 / 32)) < 1e-12);
  assert_true(modulus[0] == 8 && modulus[1] == 32);
  assert_true(fabs(nd_ye_adapt(modulus, &s, 2, 0.8, 5) - 0.0472) < 5e-5);
  assert_true(fabs(nd_ye_adapt(modulus, &s, 2, 0.8, 4) - 0.0731) < 5e-5);
  assert_true(fabs(nd_ye_adapt(modulus, &s, 2, 0.95, 4) - (0.17 + 0.83 / 16)) < 1e-12);
  free(s.sum.reached);
}

enum { DOCS = 15, MOST = 200 };
typedef struct set {
  uint64_t key[MOST];
  unsigned n;
} set;

static bool has(const set *s, uint64_t key) {
  for (unsigned i = 0; i < s->n; i++)
    if (s->key[i] == key) return true;
  return false;
}

static void cells_of(uint32_t *cell, uint64_t key, unsigned df) {
  cell[key % 32]++;
  for (unsigned d = 0; d < 4; d++) cell[32 + d] += key % (64u << d) == 0;
  for (unsigned l = 1; l <= 10; l++) {
    if (df > 10 * l) continue;
    cell[35 + l]++;
    break;
  }
}

/* Similarity of what a trial keeps, in per cent rounded down; −1: no common one. */
static int percent(const set *a, const set *b, uint64_t modulus, uint64_t residue) {
  unsigned x = 0, y = 0, c = 0;
  for (unsigned i = 0; i < a->n; i++) {
    if (a->key[i] % modulus != residue) continue;
    x++;
    c += has(b, a->key[i]);
  }
  for (unsigned i = 0; i < b->n; i++) y += b->key[i] % modulus == residue;
  return c ? (int)(100 * c / (x + y - c)) : -1;
}

static int similar[ND_TRIAL_SUMS][DOCS][DOCS]; /* of every trial */

static void tallies_agree_with_counted_sets(void **state) {
  (void)state;
  nd_rng r = {7};
  print_message("seed 7\n");
  static set doc[DOCS];
  for (unsigned d = 0; d < DOCS; d++) { /* threes of a kind, and one run of keys that many have */
    doc[d].n = 0;
    for (unsigned i = 0; i < 150; i++) {
      uint64_t key = d % 3 && nd_rng_below(&r, 100) < 85 ? doc[d - d % 3].key[i] : nd_rng_next(&r);
      if (i < 5) key = 512 * (i + 1);
      doc[d].key[doc[d].n++] = key;
    }
  }
  nd_study_run run = {0};
  nd_sampling_study s = {.run = &run};
  s.trials.n = DOCS;
  s.trials.cell = calloc(DOCS, ND_TRIAL_CELLS * 4);
  s.group = calloc(DOCS, 1);
  ok(nd_sampling_tallies(&s, 2, &err));
  for (unsigned d = 0; d < DOCS; d++) {
    s.group[d] = d < 6 ? 0 : d < 12 ? 4 : 10;
    for (unsigned i = 0; i < doc[d].n; i++) {
      unsigned df = 0;
      for (unsigned e = 0; e < DOCS; e++) df += has(&doc[e], doc[d].key[i]);
      cells_of(s.trials.cell + d * ND_TRIAL_CELLS, doc[d].key[i], df);
    }
  }
  for (uint32_t a = 0; a < DOCS; a++) {
    for (uint32_t b = a + 1; b < DOCS; b++) {
      nd_trial_pair p = {.a = a, .b = b};
      for (unsigned i = 0; i < doc[a].n; i++) {
        unsigned df = 0;
        if (!has(&doc[b], doc[a].key[i])) continue;
        for (unsigned e = 0; e < DOCS; e++) df += has(&doc[e], doc[a].key[i]);
        cells_of(p.cell, doc[a].key[i], df);
      }
      ok(nd_sampling_count(&s, (a + b) % 2, &p, 1, &err));
    }
  }
  nd_sampling_add_up(&s);
  for (unsigned m = 1; m <= 32; m *= 2)
    for (unsigned residue = 0; residue < m; residue++)
      for (unsigned a = 0; a < DOCS; a++)
        for (unsigned b = a + 1; b < DOCS; b++)
          similar[m - 1 + residue][a][b] = percent(&doc[a], &doc[b], m, residue);
  for (unsigned g = 0; g < ND_YE_GROUPS; g++) {
    for (unsigned t = 0; t < ND_YE_THRESHOLDS; t++) {
      for (unsigned ratio = 0; ratio < ND_YE_RATIOS; ratio++) {
        unsigned modulus = 2u << ratio, defined = 0, truths = 0;
        double precision = 0, recall = 0;
        for (unsigned residue = 0; residue < modulus; residue++) {
          unsigned truth = 0, found = 0, both = 0;
          for (unsigned a = 0; a < DOCS; a++) {
            for (unsigned b = a + 1; b < DOCS; b++) {
              if (g < ND_SIZE_GROUPS && (s.group[a] != g || s.group[b] != g)) continue;
              bool is = similar[0][a][b] >= (int)nd_ye_percent[t];
              bool as = similar[modulus - 1 + residue][a][b] >= (int)nd_ye_percent[t];
              truth += is;
              found += as;
              both += is && as;
            }
          }
          if (found) precision += (double)both / found;
          defined += found > 0;
          if (truth) recall += (double)both / truth;
          truths = truth;
        }
        nd_ye_point p = nd_ye_measure(&s, g, t, ratio);
        assert_int_equal(p.truth, truths);
        if (defined)
          assert_true(fabs(p.precision - precision / defined) < 1e-12);
        else
          assert_true(isnan(p.precision));
        if (truths) assert_true(fabs(p.recall - recall / modulus) < 1e-12);
      }
    }
  }
  free(s.trials.cell);
  free(s.group);
  nd_sampling_tallies_clear(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(error_and_correlation_follow_nikkhoo),
                                     cmocka_unit_test(adaptive_ratios_follow_ye),
                                     cmocka_unit_test(tallies_agree_with_counted_sets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
