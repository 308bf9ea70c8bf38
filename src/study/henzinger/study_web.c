/* study web: Henzinger (2006), near-duplicate web pages by algorithms B and C.
 *
 * Pages with equal token sequences are removed first.  Then both algorithms run with the
 * published parameters, and their pairs are compared with each other and with the ground
 * truth, if there is one. */
#include <inttypes.h>
#include <math.h>

#include "settings/option_fields.h"
#include "study/henzinger/web_pairs.h"

/* Writes the counts of the corpus. */
static nd_status input_table(const nd_web *w, nd_study_report *r, nd_error *err) {
  const nd_summary *s = r->run->summary;
  nd_table t = {0};
  nd_status status = nd_table_start(&t, "pages", "The pages",
                                    "read\trejected\tempty\tequal token sequences\trepeated "
                                    "ids\tcompared\tcrowded values",
                                    err);
  uint64_t row[] = {s->documents,      s->rejected,    w->pages.small, w->pages.copies,
                    w->pages.repeated, w->pages.ids.n, w->hot};
  for (size_t i = 0; i < sizeof row / sizeof *row && status == ND_OK; i++)
    status = nd_table_count(&t, row[i], err);
  return nd_study_report_table(r, &t, status, err);
}

/* --- with and without boilerplate ------------------------------------------------- */

typedef struct measured {
  uint64_t pairs[ND_WEB_ALG_COMBINED + 1], correct[ND_WEB_ALG_COMBINED + 1];
} measured;

static measured measure_same_site(const nd_web *w, const nd_judge *j) {
  measured m;
  for (int k = ND_WEB_ALG_B; k <= ND_WEB_ALG_COMBINED; k++)
    nd_web_same_site(&m.pairs[k], &m.correct[k], w, j, (nd_web_algorithm)k);
  return m;
}

static nd_status put_measured(nd_table *t, const measured *m, int k, nd_error *err) {
  ND_TRY(nd_table_count(t, m->pairs[k], err));
  ND_TRY(nd_table_count(t, m->correct[k], err));
  double precision = m->pairs[k] ? (double)m->correct[k] / (double)m->pairs[k] : NAN;
  return nd_table_real(t, precision, 4, err);
}

static nd_status boilerplate_table(nd_study_report *r, const measured *plain,
                                   const measured *without, nd_error *err) {
  static const char *const names[] = {"B", "C", "combined"};
  nd_table t = {0};
  nd_status status = nd_table_start(
      &t, "boilerplate",
      "Pairs on the same site, with all text and with --ignore-boilerplate (the paper's closing "
      "wish; "
      "published precision with all text: B 0.34, C 0.36)",
      "algorithm\tpairs\tcorrect\tprecision\tpairs without\tcorrect without\tprecision without",
      err);
  for (int k = ND_WEB_ALG_B; k <= ND_WEB_ALG_COMBINED && status == ND_OK; k++) {
    status = nd_table_text(&t, names[k], err);
    if (status == ND_OK) status = put_measured(&t, plain, k, err);
    if (status == ND_OK) status = put_measured(&t, without, k, err);
  }
  return nd_study_report_table(r, &t, status, err);
}

/* Repeats the comparison with the other choice of --ignore-boilerplate. */
static nd_status compare_boilerplate(const nd_web *w, const nd_judge *j, nd_study_report *r,
                                     const nd_options *options, nd_error *err) {
  nd_options other = *options;
  bool sited = false;
  for (size_t i = 0; i < w->pages.ids.n; i++) sited |= w->pages.site[i] != 0;
  if (!sited) return ND_OK;
  other.ignore_boilerplate = !options->ignore_boilerplate;
  nd_summary summary;
  nd_study_run again = *r->run;
  again.summary = &summary;
  nd_web second = {0};
  nd_judge judge = {0};
  nd_status status = nd_web_find(&second, &again, &other, err);
  const nd_summary *first = r->run->summary;
  if (status == ND_OK &&
      (summary.documents != first->documents || summary.rejected != first->rejected))
    status = nd_fail(err, ND_ERR_IO,
                     "the second pass over the input, without boilerplate, read %" PRIu64
                     " documents and %" PRIu64 " rejected records, not %" PRIu64 " and %" PRIu64
                     "; the input must not change during the run",
                     summary.documents, summary.rejected, first->documents, first->rejected);
  if (status == ND_OK)
    status = nd_judge_open(&judge, r->run->request->truth, &second.pages.ids, r->run->hooks, err);
  if (status == ND_OK) {
    measured a = measure_same_site(w, j), b = measure_same_site(&second, &judge);
    status = options->ignore_boilerplate ? boilerplate_table(r, &b, &a, err)
                                         : boilerplate_table(r, &a, &b, err);
  }
  nd_judge_close(&judge);
  nd_web_clear(&second);
  return status;
}

static nd_status fill(nd_web *w, nd_judge *j, nd_study_report *r, const nd_options *options,
                      nd_error *err) {
  nd_study_run *run = r->run;
  ND_TRY(nd_web_find(w, run, options, err));
  ND_TRY(input_table(w, r, err));
  ND_TRY(nd_web_tables(w, r, err));
  ND_TRY(nd_web_differences(w, r, options, err));
  if (!run->request->truth) return ND_OK;
  ND_TRY(nd_judge_open(j, run->request->truth, &w->pages.ids, run->hooks, err));
  ND_TRY(nd_web_precision(w, j, r, err));
  return compare_boilerplate(w, j, r, options, err);
}

nd_status nd_study_web(nd_study_run *run, nd_error *err) {
  nd_web w = {0};
  nd_judge j = {0};
  nd_study_report r;
  /* The tokens of the paper, unless --tokens is given. */
  nd_options options = *run->options;
  options.sample[0] = '\0'; /* sketches use all shingles */
  if (strcmp(options.tokens, "words") == 0) {
    nd_status known = nd_options_set(&options, "tokens", "web", NULL);
    (void)known;
  }
  nd_study_report_start(
      &r, run, "Near-duplicate web pages",
      "Algorithms B (six super-shingles) and C (384 random projections) of Henzinger "
      "(SIGIR 2006) on this corpus.",
      err);
  nd_status status = fill(&w, &j, &r, &options, err);
  nd_judge_close(&j);
  nd_web_clear(&w);
  return nd_study_report_end(&r, status);
}
