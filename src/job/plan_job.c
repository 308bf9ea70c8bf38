/* nd_plan: derives a sampling plan, parameters and a prediction for the entire corpus from
 * measurements on a sample. */
#include "neardup/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "candidate/bands.h"
#include "job/job.h"
#include "plan/plan_measure.h"
#include "sketch/minhash.h"
#include "store/workdir.h"

enum { USUAL_PERMUTATIONS = 128, TIMED_SHINGLES = 1 << 18, TIMED_SIZE = 1 << 10 };

static void take_groups(nd_plan_result *out, const nd_plan_facts *f, nd_decimal goal) {
  double wanted = (double)goal.num / (double)goal.den;
  out->groups = f->n;
  out->reached = 1;
  out->best = 1;
  for (unsigned i = 0; i < f->n; i++) {
    const nd_plan_fact *g = &f->group[i];
    nd_plan_group *to = &out->group[i];
    *to = (nd_plan_group){.from = g->from,
                          .below = g->below,
                          .modulus = g->modulus,
                          .documents = g->documents,
                          .pairs = g->pairs,
                          .precision = g->precision,
                          .low = g->low,
                          .high = g->high,
                          .recall = g->recall,
                          .reached = g->modulus > 1 || g->best_low >= wanted,
                          .best_modulus = g->best_modulus,
                          .best_low = g->best_low};
    if (!to->reached) out->reached = 0;
    double best = isnan(g->best_low) ? 0 : g->best_low;
    if (best < out->best) out->best = best;
  }
}

/* Reading is measured on the corpus.  --method exact reads twice and sorts the shingles kept, and
 * counting takes about as long as sorting. */
static void predict_exact(nd_plan_result *out, const nd_plan_facts *f, const nd_run *j) {
  double read_seconds = j->summary->read_seconds;
  double sort = 2 * f->sort_seconds / j->settings.threads;
  out->shingles = f->shingles;
  out->share = f->share;
  out->kept = f->share * (double)f->shingles;
  out->plan_bytes = 16 * out->kept + 30 * (double)f->documents;
  out->plan_seconds = 2 * read_seconds + sort * out->kept;
  out->exact_seconds = 2 * read_seconds + sort * (double)f->shingles;
}

static nd_status time_sketches(double *seconds, uint32_t permutations, uint64_t shingles,
                               unsigned threads, nd_error *err) {
  nd_minhash m = {0};
  uint64_t *sketch = nd_malloc(permutations * sizeof *sketch);
  uint64_t *some = nd_malloc(TIMED_SIZE * sizeof *some);
  nd_status status = sketch && some ? ND_OK : nd_fail_memory(err, permutations * sizeof *sketch);
  if (status == ND_OK) status = nd_minhash_init(&m, permutations, 1, err);
  uint64_t done = 0, most = shingles < TIMED_SHINGLES ? shingles : TIMED_SHINGLES;
  double began = nd_clock_now();
  while (status == ND_OK && done < most) {
    for (size_t i = 0; i < TIMED_SIZE; i++) some[i] = nd_mix(done + i);
    status = nd_minhash_sketch(sketch, &m, some, TIMED_SIZE, err);
    done += TIMED_SIZE;
  }
  *seconds = done ? (nd_clock_now() - began) / (double)done * (double)shingles / threads : 0;
  nd_minhash_clear(&m);
  nd_free(sketch);
  nd_free(some);
  return status;
}

static nd_status plan_minhash(nd_plan_result *out, const nd_plan_facts *f, const nd_run *j,
                              const nd_options *o, nd_error *err) {
  double t = (double)o->threshold.num / (double)o->threshold.den;
  double recall = (double)o->recall.num / (double)o->recall.den;
  nd_bands cut = nd_bands_choose(t, recall, USUAL_PERMUTATIONS, ND_MINHASH_MAX);
  if (cut.bands == 0) { /* the recall cannot be reached: takes the best possible */
    nd_bands best = nd_bands_cut(t, recall, ND_MINHASH_MAX);
    out->recall = nd_bands_recall(best, t);
    return ND_OK;
  }
  out->bands = cut.bands;
  out->rows = cut.rows;
  out->permutations = cut.bands * cut.rows;
  out->recall = nd_bands_recall(cut, t);
  double found = 0, all = 0;
  for (unsigned i = 0; i <= 100; i++) {
    double middle = i < 100 ? (i + 0.5) / 100 : 1;
    double p = nd_bands_recall(cut, middle);
    out->candidates += p * f->similar[i];
    if (middle < t) continue;
    found += p * f->similar[i];
    all += f->similar[i];
  }
  out->recall_of_pairs = all > 0 ? found / all : NAN;
  out->minhash_bytes = (double)f->documents * (8.0 * cut.bands + 100);
  ND_TRY(time_sketches(&out->minhash_seconds, out->permutations, f->shingles, j->settings.threads,
                       err));
  out->minhash_seconds += j->summary->read_seconds;
  return ND_OK;
}

static nd_status write_file(const nd_sink *sink, const nd_plan_result *r, const nd_plan_facts *f,
                            nd_error *err) {
  nd_buf text = {0};
  nd_status status = nd_sample_plan_append(&text, &f->plan, err);
  if (status == ND_OK)
    status = nd_buf_printf(&text, err,
                           "# from %" PRIu64 " documents, %" PRIu64
                           " of them different, drawn from %" PRIu64
                           "\n# predicted: %.2f %% of the shingles kept\n"
                           "# tokens\tkept\tpairs\tprecision\tlow\thigh\trecall\n",
                           r->drawn, r->different, r->documents, 100 * r->share);
  for (unsigned i = 0; i < r->groups && status == ND_OK; i++) {
    const nd_plan_group *g = &r->group[i];
    char range[48];
    if (g->below == UINT64_MAX)
      snprintf(range, sizeof range, "%" PRIu64 "+", g->from);
    else
      snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, g->from, g->below - 1);
    status = nd_buf_printf(&text, err, "# %s\t1/%" PRIu64 "\t%.0f\t%.4f\t%.4f\t%.4f\t%.4f\n", range,
                           g->modulus, g->pairs, g->precision, g->low, g->high, g->recall);
  }
  if (status == ND_OK) status = sink->write(sink->context, text.p, text.n, err);
  nd_buf_clear(&text);
  return status;
}

static nd_status run(nd_plan_result *out, nd_run *j, const nd_plan_request *q, nd_decimal goal,
                     const nd_options *o, const char *work, nd_error *err) {
  char *spool = NULL;
  ND_TRY(nd_path_join(&spool, work, "stdin", err));
  nd_status status = nd_job_input(j, q->inputs, q->input_n, NULL, spool, err);
  nd_free(spool);
  ND_TRY(status);
  ND_TRY(nd_job_read(j, work, err));
  j->summary->kept = j->store.documents;
  nd_plan_facts *f = nd_malloc(sizeof *f);
  if (!f) return nd_fail_memory(err, sizeof *f);
  status = nd_plan_measure(f, &j->source, goal, o->threshold, q->documents, err);
  if (status == ND_OK) {
    out->documents = f->documents;
    out->drawn = f->drawn;
    out->different = f->different;
    for (unsigned i = 0; i <= 100; i++)
      if (i * o->threshold.den >= 100 * o->threshold.num) out->near_duplicates += f->similar[i];
    if (goal.num) take_groups(out, f, goal);
    predict_exact(out, f, j);
    status = plan_minhash(out, f, j, o, err);
  }
  if (status == ND_OK && goal.num && q->sink) status = write_file(q->sink, out, f, err);
  nd_free(f);
  return status;
}

nd_status nd_plan(nd_plan_result *out, const nd_plan_request *request, const nd_options *options,
                  const nd_hooks *hooks, nd_error *err) {
  nd_run job;
  nd_options own;
  char *work = NULL;
  nd_decimal goal = {0, 1}, t = options->threshold;
  *out = (nd_plan_result){0};
  const char *precision = request->precision;
  if (precision &&
      (!nd_decimal_parse(&goal, nd_str_of(precision)) || !goal.num || goal.num > goal.den))
    return nd_fail(err, ND_ERR_USAGE, "--precision takes a decimal above 0 and at most 1, not %s",
                   precision);
  if (!t.den || t.num == 0 || t.num > t.den)
    return nd_fail(err, ND_ERR_USAGE, "--threshold is out of range: above 0, at most 1");
  if (!options->recall.den || options->recall.num == 0 ||
      options->recall.num >= options->recall.den)
    return nd_fail(err, ND_ERR_USAGE, "--recall is out of range: above 0, below 1");
  if (request->input_n == 0)
    return nd_fail(err, ND_ERR_USAGE, "no input given; name files or directories, or -");
  nd_plan_options(&own, options);
  nd_status status = nd_job_open(&job, &out->summary, &own, hooks, err);
  if (status == ND_OK) status = nd_workdir_private(&work, own.tmp, err);
  if (status == ND_OK) status = run(out, &job, request, goal, options, work, err);
  nd_job_finish(&job);
  nd_job_close(&job);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  return status;
}
