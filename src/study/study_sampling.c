/* `study sampling`: what a sample of the shingles does to the result.
 *
 * The truth is the unsampled result; every trial is compared with it (Ye et al.
 * 2008, section 5; Nikkhoo 2010, section 3.3).  All trials come from one sort
 * (pipeline/trials.h) and are those of `pairs --method exact --sample …`. */
#include "study/study_sampling.h"

#include <math.h>
#include <stdio.h>

#include "pipeline/plan_measure.h"
#include "pipeline/workdir.h"

const unsigned nd_ye_percent[ND_YE_THRESHOLDS] = {50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 99};

void nd_pair_sums_add(nd_pair_sums *s, double a, double b) {
  s->n += 1;
  s->error += fabs(a - b);
  s->a += a;
  s->b += b;
  s->aa += a * a;
  s->bb += b * b;
  s->ab += a * b;
}

double nd_pair_error(const nd_pair_sums *s) {
  return s->n > 0 ? s->error / s->n : NAN;
}

double nd_pair_correlation(const nd_pair_sums *s) {
  double x = s->n * s->aa - s->a * s->a, y = s->n * s->bb - s->b * s->b;
  return x > 0 && y > 0 ? (s->n * s->ab - s->a * s->b) / (sqrt(x) * sqrt(y)) : NAN;
}

/* How many thresholds a pair with c common shingles of u reaches. */
ND_INLINE unsigned steps(uint32_t c, uint32_t u, const uint8_t table[101]) {
  return c ? table[(uint64_t)c * 100 / u] : 0;
}

static void count_ye(nd_sampling_study *s, const nd_trial_pair *p, const uint32_t *c,
                     const uint32_t *a, const uint32_t *b, const uint8_t table[101]) {
  unsigned truth = steps(c[0], a[0] + b[0] - c[0], table);
  bool same = s->group[p->a] == s->group[p->b];
  uint64_t(*own)[ND_YE_STEPS][ND_YE_STEPS] = s->reached[s->group[p->a]];
  uint64_t(*all)[ND_YE_STEPS][ND_YE_STEPS] = s->reached[ND_SIZE_GROUPS];
  for (unsigned i = 1; i < ND_TRIAL_SUMS; i++) {
    unsigned with = steps(c[i], a[i] + b[i] - c[i], table);
    if (!(truth | with)) continue;
    all[i][truth][with]++;
    if (same) own[i][truth][with]++;
  }
}

/* What each of Nikkhoo's runs keeps, from cells and their sums. */
static void runs_of(uint32_t out[ND_NIK_RUNS], const uint32_t *cell, const uint32_t *sum) {
  const uint32_t *level = cell + ND_TRIAL_RESIDUES + ND_TRIAL_DEEP;
  for (unsigned k = 0; k <= 5; k++) out[k] = sum[(1u << k) - 1];
  for (unsigned k = 0; k < ND_TRIAL_DEEP; k++) out[6 + k] = cell[ND_TRIAL_RESIDUES + k];
  uint32_t kept = 0;
  for (unsigned k = 0; k < ND_NIK_LEVELS; k++) {
    kept += level[k];
    out[ND_NIK_RUNS - 1 - k] = kept; /* the strictest level comes last */
  }
}

static void count_nikkhoo(nd_sampling_study *s, const nd_trial_pair *p,
                          const uint32_t c[ND_NIK_RUNS], const uint32_t a[ND_NIK_RUNS],
                          const uint32_t b[ND_NIK_RUNS]) {
  double alpha = (double)c[0] / (a[0] + b[0] - c[0]);
  bool near = 2 * (uint64_t)c[0] >= a[0] + b[0] - c[0];
  s->truth += near;
  for (unsigned k = 0; k < ND_NIK_RUNS; k++) {
    uint32_t u = a[k] + b[k] - c[k];
    double beta = c[k] ? (double)c[k] / u : 0;
    nd_pair_sums_add(&s->all[k], alpha, beta);
    if (near) nd_pair_sums_add(&s->near[k], alpha, beta);
    if (!c[k]) continue;
    bool found = 2 * (uint64_t)c[k] >= u;
    s->found[k] += found;
    s->both[k] += found && near;
    uint8_t tenths = (uint8_t)((uint64_t)c[k] * 10 / u);
    if (tenths > 9) tenths = 9;
    if (tenths > s->best[p->a][k]) s->best[p->a][k] = tenths;
    if (tenths > s->best[p->b][k]) s->best[p->b][k] = tenths;
  }
}

nd_status nd_sampling_count(void *study, const nd_trial_pair *pairs, size_t n, nd_error *err) {
  nd_sampling_study *s = study;
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
      runs_of(x, left, a);
      last = p->a;
    }
    nd_trials_sum(b, right);
    nd_trials_sum(c, p->cell);
    runs_of(y, right, b);
    runs_of(z, p->cell, c);
    count_ye(s, p, c, a, b, table);
    count_nikkhoo(s, p, z, x, y);
  }
  s->pairs += n;
  return nd_hooks_check(s->run->hooks, err);
}

/* A copy has the similarity 1 to its first, in every run that keeps something of
 * it. */
static void count_records(nd_sampling_study *s) {
  for (uint32_t r = 0; r < s->trials.n; r++) {
    const uint32_t *cell = s->trials.cell + (size_t)r * ND_TRIAL_CELLS;
    uint32_t sum[ND_TRIAL_SUMS], kept[ND_NIK_RUNS];
    nd_trials_sum(sum, cell);
    runs_of(kept, cell, sum);
    unsigned g = s->group[r] = (uint8_t)nd_size_group(s->trials.tokens[r]);
    s->group_documents[g]++;
    s->group_shingles[g] += kept[0];
    s->shingles += kept[0];
    for (unsigned k = 0; k < ND_NIK_RUNS; k++) {
      s->kept[k] += kept[k];
      if (s->copies[r] > 1 && kept[k]) s->best[r][k] = 9;
    }
  }
}

static nd_status measure(nd_sampling_study *s, const char *tmp, nd_error *err) {
  nd_job_run *j = s->job;
  uint64_t n = j->store.documents;
  s->documents = n;
  uint32_t *first = nd_malloc((n + 1) * sizeof *first), *record = nd_malloc((n + 1) * 4);
  uint32_t firsts = 0;
  nd_status status = first && record ? ND_OK : nd_fail_memory(err, n * sizeof *first);
  s->copies = nd_calloc(n + 1, sizeof *s->copies);
  if (!s->copies) status = nd_fail_memory(err, n * sizeof *s->copies);
  for (uint32_t d = 0; d < n && status == ND_OK; d++) {
    uint32_t same = j->found.same[d];
    if (same == ND_NO_DOCUMENT) continue;
    if (same == d) {
      record[d] = firsts;
      first[firsts++] = d;
    }
    s->copies[record[same]]++;
  }
  if (status == ND_OK)
    status =
        nd_trials_make(&s->trials, &j->source, first, firsts, j->settings.memory / 2, tmp, err);
  nd_free(first);
  nd_free(record);
  ND_TRY(status);
  s->group = nd_malloc(firsts + (size_t)1);
  s->best = nd_calloc(firsts + (size_t)1, sizeof *s->best);
  s->reached = nd_calloc(ND_YE_GROUPS, sizeof *s->reached);
  if (!s->group || !s->best || !s->reached)
    return nd_fail_memory(err, firsts * sizeof *s->best + ND_YE_GROUPS * sizeof *s->reached);
  count_records(s);
  return nd_trials_each(&s->trials, nd_sampling_count, s, err);
}

static nd_status write_groups(nd_sampling_study *s, nd_error *err) {
  nd_table t;
  ND_TRY(nd_table_start(&t, "groups", "Documents by size (Ye et al. 2008, Table 3 and Figure 1)",
                        "group\twords\tdocuments\tshare_of_documents\tshingles\tshare_of_shingles",
                        err));
  nd_status status = ND_OK;
  for (unsigned g = 0; g < ND_SIZE_GROUPS && status == ND_OK; g++) {
    char name[40];
    nd_size_group_name(name, sizeof name, g);
    status = nd_table_count(&t, g, err);
    if (status == ND_OK) status = nd_table_text(&t, name, err);
    if (status == ND_OK) status = nd_table_count(&t, s->group_documents[g], err);
    if (status == ND_OK)
      status = nd_table_real(&t, (double)s->group_documents[g] / s->trials.n, 4, err);
    if (status == ND_OK) status = nd_table_count(&t, s->group_shingles[g], err);
    if (status == ND_OK)
      status = nd_table_real(&t, (double)s->group_shingles[g] / (double)s->shingles, 4, err);
  }
  if (status == ND_OK) status = nd_study_table(s->run, &t, err);
  nd_table_clear(&t);
  return status;
}

static nd_status write_results(nd_sampling_study *s, nd_error *err) {
  nd_page page;
  char lead[512];
  unsigned groups = 0;
  for (unsigned g = 0; g < ND_SIZE_GROUPS; g++) groups += s->group_documents[g] > 0;
  snprintf(
      lead, sizeof lead,
      "%llu documents, %u of them different, in %u of 11 size groups; %llu shingles; %llu pairs "
      "share one, %llu of them resemble each other by 0.5 or more. Truth is the result without "
      "sampling; curves of the papers are of their own collections.",
      (unsigned long long)s->documents, s->trials.n, groups, (unsigned long long)s->shingles,
      (unsigned long long)s->pairs, (unsigned long long)s->truth);
  nd_page_start(&page, s->run->request->directory, "Sampling shingles", lead, err);
  nd_status status = write_groups(s, err);
  if (status == ND_OK) status = nd_sampling_ye(s, &page, err);
  if (status == ND_OK) status = nd_sampling_nikkhoo(s, &page, err);
  nd_status written = nd_page_write(&page);
  return status == ND_OK ? written : status;
}

static nd_status run_job(nd_sampling_study *s, const char *work, nd_error *err) {
  nd_job_run *j = s->job;
  const nd_study_request *r = s->run->request;
  char *spool = NULL;
  ND_TRY(nd_path_join(&spool, work, "stdin", err));
  nd_status status = nd_job_plan(j, r->inputs, r->input_n, NULL, spool, err);
  nd_free(spool);
  ND_TRY(status);
  ND_TRY(nd_job_read(j, work, err));
  ND_TRY(nd_job_match(j, work, err));
  j->summary->kept = j->store.documents;
  ND_TRY(measure(s, work, err));
  return write_results(s, err);
}

nd_status nd_study_sampling(nd_study_run *run, nd_error *err) {
  nd_job_run job;
  nd_sampling_study s = {.run = run, .job = &job};
  nd_options options;
  char *work = NULL;
  nd_reading_options(&options, run->options);
  options.against[0] = '\0';
  memcpy(options.method, "digest", 7); /* copies only; the rest is counted here */
  nd_status status = nd_job_open(&job, run->summary, &options, run->hooks, err);
  if (status == ND_OK) status = nd_workdir_private(&work, options.tmp, err);
  if (status == ND_OK) status = run_job(&s, work, err);
  nd_job_finish(&job);
  nd_trials_clear(&s.trials);
  nd_free(s.copies);
  nd_free(s.group);
  nd_free(s.reached);
  nd_free(s.best);
  nd_job_close(&job);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  return status;
}
