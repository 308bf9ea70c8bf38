/* Counts the pairs of `study sampling`: the outcome of each trial against the ground truth. */
#include <math.h>

#include "study/ye/study_sampling.h"

const unsigned nd_ye_percent[ND_YE_THRESHOLDS] = {50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 99};

#define UNIT 0x1p30

void nd_pair_sums_add(nd_pair_sums *s, double a, double b) {
  const uint64_t x = (uint64_t)(a * UNIT), y = (uint64_t)(b * UNIT);
  s->n++;
  s->error += x > y ? x - y : y - x;
  s->a += x;
  s->b += y;
  s->aa += x * x;
  s->bb += y * y;
  s->ab += x * y;
}

double nd_pair_error(const nd_pair_sums *s) {
  return s->n > 0 ? (double)s->error / UNIT / (double)s->n : NAN;
}

double nd_pair_correlation(const nd_pair_sums *s) {
  const double n = (double)s->n, a = (double)s->a / UNIT, b = (double)s->b / UNIT;
  const double aa = (double)s->aa / UNIT / UNIT, bb = (double)s->bb / UNIT / UNIT;
  const double ab = (double)s->ab / UNIT / UNIT;
  const double x = n * aa - a * a, y = n * bb - b * b;
  return x > 0 && y > 0 ? (n * ab - a * b) / (sqrt(x) * sqrt(y)) : NAN;
}

/* Returns the number of thresholds reached by a pair with c common shingles of u. */
ND_INLINE unsigned steps(uint32_t c, uint32_t u, const uint8_t table[101]) {
  return c ? table[(uint64_t)c * 100 / u] : 0;
}

/* The lowest threshold is one half, which most pairs do not reach in any trial. */
ND_INLINE bool reaches_any(const uint32_t *c, const uint32_t *a, const uint32_t *b) {
  uint32_t any = 0;
  for (unsigned i = 0; i < ND_TRIAL_SUMS; i++) any |= (c[i] != 0) & (3 * c[i] >= a[i] + b[i]);
  return any;
}

static void count_ye(nd_sampling_tally *t, unsigned group, bool same, const uint32_t *c,
                     const uint32_t *a, const uint32_t *b, const uint8_t table[101]) {
  const unsigned truth = steps(c[0], a[0] + b[0] - c[0], table);
  uint64_t(*own)[ND_YE_STEPS][ND_YE_STEPS] = t->reached[group];
  uint64_t(*all)[ND_YE_STEPS][ND_YE_STEPS] = t->reached[ND_SIZE_GROUPS];
  for (unsigned i = 1; i < ND_TRIAL_SUMS; i++) {
    const unsigned with = steps(c[i], a[i] + b[i] - c[i], table);
    if (!(truth | with)) continue;
    all[i][truth][with]++;
    if (same) own[i][truth][with]++;
  }
}

void nd_sampling_runs(uint32_t out[ND_NIK_RUNS], const uint32_t *cell, const uint32_t *sum) {
  const uint32_t *level = cell + ND_TRIAL_RESIDUES + ND_TRIAL_DEEP;
  for (unsigned k = 0; k <= 5; k++) out[k] = sum[(1u << k) - 1];
  for (unsigned k = 0; k < ND_TRIAL_DEEP; k++) out[6 + k] = cell[ND_TRIAL_RESIDUES + k];
  uint32_t kept = 0;
  for (unsigned k = 0; k < ND_NIK_LEVELS; k++) {
    kept += level[k];
    out[ND_NIK_RUNS - 1 - k] = kept; /* the strictest level comes last */
  }
}

static void count_nikkhoo(nd_sampling_tally *t, const nd_trial_pair *p,
                          const uint32_t c[ND_NIK_RUNS], const uint32_t a[ND_NIK_RUNS],
                          const uint32_t b[ND_NIK_RUNS]) {
  double beta[ND_NIK_RUNS];
  for (unsigned k = 0; k < ND_NIK_RUNS; k++) {
    const uint32_t u = a[k] + b[k] - c[k];
    beta[k] = (double)c[k] / (double)(u ? u : 1);
  }
  const double alpha = beta[0];
  const bool near = alpha >= 0.5; /* one half is exact in binary */
  t->truth += near;
  for (unsigned k = 0; k < ND_NIK_RUNS; k++) {
    nd_pair_sums_add(near ? &t->near[k] : &t->all[k], alpha, beta[k]);
    if (!c[k]) continue;
    const bool found = beta[k] >= 0.5;
    t->found[k] += found;
    t->both[k] += found && near;
    uint8_t tenths = (uint8_t)((uint64_t)c[k] * 10 / (a[k] + b[k] - c[k]));
    if (tenths > 9) tenths = 9;
    if (tenths > t->best[p->a][k]) t->best[p->a][k] = tenths;
    if (tenths > t->best[p->b][k]) t->best[p->b][k] = tenths;
  }
}

nd_status nd_sampling_count(void *study, unsigned member, const nd_trial_pair *pairs, size_t n,
                            nd_error *err) {
  nd_sampling_study *s = study;
  nd_sampling_tally *t = &s->of_thread[member];
  uint8_t table[101] = {0};
  for (unsigned q = 0; q <= 100; q++)
    for (unsigned i = 0; i < ND_YE_THRESHOLDS; i++) table[q] += q >= nd_ye_percent[i];
  uint32_t last = UINT32_MAX, c[ND_TRIAL_SUMS], a[ND_TRIAL_SUMS], b[ND_TRIAL_SUMS];
  uint32_t x[ND_NIK_RUNS], y[ND_NIK_RUNS], z[ND_NIK_RUNS];
  for (size_t i = 0; i < n; i++) {
    const nd_trial_pair *p = &pairs[i];
    const uint32_t *left = s->trials.cell + (size_t)p->a * ND_TRIAL_CELLS;
    const uint32_t *right = s->trials.cell + (size_t)p->b * ND_TRIAL_CELLS;
    if (p->a != last) {
      nd_trials_sum(a, left);
      nd_sampling_runs(x, left, a);
      last = p->a;
    }
    nd_trials_sum(b, right);
    nd_trials_sum(c, p->cell);
    if (reaches_any(c, a, b))
      count_ye(t, s->group[p->a], s->group[p->a] == s->group[p->b], c, a, b, table);
    nd_sampling_runs(y, right, b);
    nd_sampling_runs(z, p->cell, c);
    count_nikkhoo(t, p, z, x, y);
  }
  t->pairs += n;
  return nd_hooks_check(s->run->hooks, err);
}

static nd_status make_tally(nd_sampling_tally *t, uint32_t records, nd_error *err) {
  t->best = nd_calloc(records + (size_t)1, sizeof *t->best);
  t->reached = nd_calloc(ND_YE_GROUPS, sizeof *t->reached);
  if (!t->best || !t->reached)
    return nd_fail_memory(err, records * sizeof *t->best + ND_YE_GROUPS * sizeof *t->reached);
  return ND_OK;
}

nd_status nd_sampling_tallies(nd_sampling_study *s, unsigned threads, nd_error *err) {
  s->of_thread = nd_calloc(threads, sizeof *s->of_thread);
  if (!s->of_thread) return nd_fail_memory(err, threads * sizeof *s->of_thread);
  s->threads = threads;
  ND_TRY(make_tally(&s->sum, s->trials.n, err));
  for (unsigned i = 0; i < threads; i++) ND_TRY(make_tally(&s->of_thread[i], s->trials.n, err));
  return ND_OK;
}

static void add_sums(nd_pair_sums *to, const nd_pair_sums *from) {
  to->n += from->n;
  to->error += from->error;
  to->a += from->a;
  to->b += from->b;
  to->aa += from->aa;
  to->bb += from->bb;
  to->ab += from->ab;
}

static void add_tally(nd_sampling_tally *to, const nd_sampling_tally *from, uint32_t records) {
  to->pairs += from->pairs;
  to->truth += from->truth;
  for (unsigned k = 0; k < ND_NIK_RUNS; k++) {
    add_sums(&to->near[k], &from->near[k]);
    add_sums(&to->all[k], &from->near[k]); /* pairs in `near` are not counted in `all` */
    add_sums(&to->all[k], &from->all[k]);
    to->found[k] += from->found[k];
    to->both[k] += from->both[k];
  }
  uint64_t *sum = &to->reached[0][0][0][0];
  const uint64_t *part = &from->reached[0][0][0][0];
  for (size_t i = 0; i < ND_YE_GROUPS * sizeof *to->reached / sizeof *sum; i++) sum[i] += part[i];
  for (uint32_t r = 0; r < records; r++)
    for (unsigned k = 0; k < ND_NIK_RUNS; k++)
      if (from->best[r][k] > to->best[r][k]) to->best[r][k] = from->best[r][k];
}

void nd_sampling_add_up(nd_sampling_study *s) {
  for (unsigned i = 0; i < s->threads; i++) add_tally(&s->sum, &s->of_thread[i], s->trials.n);
}

void nd_sampling_tallies_clear(nd_sampling_study *s) {
  nd_free(s->sum.best);
  nd_free(s->sum.reached);
  for (unsigned i = 0; i < s->threads; i++) {
    nd_free(s->of_thread[i].best);
    nd_free(s->of_thread[i].reached);
  }
  nd_free(s->of_thread);
}
