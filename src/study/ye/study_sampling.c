/* `study sampling`: the effect of sampling shingles on the result.
 *
 * The ground truth is the unsampled result (Ye et al. 2008, section 5; Nikkhoo 2010,
 * section 3.3).  All trials come from one sort (plan/trials.h) and equal those of `pairs --method
 * exact --sample …`. */
#include "study/ye/study_sampling.h"
#include "job/job.h"

#include <stdio.h>

#include "plan/plan_measure.h"
#include "store/workdir.h"

/* An exact duplicate has the similarity 1 to its first occurrence, in every run that keeps
 * any of its shingles. */
static void count_records(nd_sampling_study *s) {
  for (uint32_t r = 0; r < s->trials.n; r++) {
    const uint32_t *cell = s->trials.cell + (size_t)r * ND_TRIAL_CELLS;
    uint32_t sum[ND_TRIAL_SUMS], kept[ND_NIK_RUNS];
    nd_trials_sum(sum, cell);
    nd_sampling_runs(kept, cell, sum);
    unsigned g = s->group[r] = (uint8_t)nd_size_group(s->trials.tokens[r]);
    s->group_documents[g]++;
    s->group_shingles[g] += kept[0];
    s->shingles += kept[0];
    for (unsigned k = 0; k < ND_NIK_RUNS; k++) {
      s->kept[k] += kept[k];
      if (s->copies[r] > 1 && kept[k]) s->sum.best[r][k] = 9;
    }
  }
}

static nd_status measure(nd_sampling_study *s, const char *tmp, nd_error *err) {
  nd_run *j = s->job;
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
    status = nd_trials_make(&s->trials, &j->source, first, firsts,
                            nd_budget(j->settings.memory, ND_SHARE_TRIALS), tmp, err);
  nd_free(first);
  nd_free(record);
  ND_TRY(status);
  s->group = nd_malloc(firsts + (size_t)1);
  if (!s->group) return nd_fail_memory(err, firsts);
  ND_TRY(nd_sampling_tallies(s, j->settings.threads, err));
  count_records(s);
  ND_TRY(nd_trials_each(&s->trials, nd_sampling_count, s, err));
  nd_sampling_add_up(s);
  return ND_OK;
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
  char documents[32], different[32], shingles[32], pairs[32], near[32];
  nd_page_count(documents, s->documents);
  nd_page_count(different, s->trials.n);
  nd_page_count(shingles, s->shingles);
  nd_page_count(pairs, s->sum.pairs);
  nd_page_count(near, s->sum.truth);
  snprintf(lead, sizeof lead,
           "%s documents, %s of them different, in %u of 11 size groups; %s shingles; %s pairs "
           "share one, %s of them resemble each other by 0.5 or more. Truth is the result without "
           "sampling; curves of the papers are of their own collections.",
           documents, different, groups, shingles, pairs, near);
  nd_page_start(&page, s->run->request->directory, "Sampling shingles", lead, err);
  nd_status status = write_groups(s, err);
  if (status == ND_OK) status = nd_sampling_ye(s, &page, err);
  if (status == ND_OK) status = nd_sampling_nikkhoo(s, &page, err);
  nd_status written = nd_page_write(&page);
  return status == ND_OK ? written : status;
}

static nd_status run_job(nd_sampling_study *s, const char *work, nd_error *err) {
  nd_run *j = s->job;
  const nd_study_request *r = s->run->request;
  char *spool = NULL;
  ND_TRY(nd_path_join(&spool, work, "stdin", err));
  nd_status status = nd_job_input(j, r->inputs, r->input_n, NULL, spool, err);
  nd_free(spool);
  ND_TRY(status);
  ND_TRY(nd_job_read(j, work, err));
  ND_TRY(nd_job_match(j, work, err));
  j->summary->kept = j->store.documents;
  ND_TRY(measure(s, work, err));
  return write_results(s, err);
}

nd_status nd_study_sampling(nd_study_run *run, nd_error *err) {
  nd_run job;
  nd_sampling_study s = {.run = run, .job = &job};
  nd_options options;
  char *work = NULL;
  nd_reading_options(&options, run->options);
  options.against[0] = '\0';
  memcpy(options.method, "digest", 7); /* exact duplicates only; other pairs are counted here */
  ND_TRY(nd_job_open(&job, run->summary, &options, run->hooks, err));
  nd_status status = nd_workdir_private(&work, options.tmp, err);
  if (status == ND_OK) status = run_job(&s, work, err);
  nd_job_finish(&job);
  nd_trials_clear(&s.trials);
  nd_free(s.copies);
  nd_free(s.group);
  nd_sampling_tallies_clear(&s);
  nd_job_close(&job);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  return status;
}
