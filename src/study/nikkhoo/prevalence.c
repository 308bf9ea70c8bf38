/* nd_prevalence: near-duplicates in the results of search systems (Nikkhoo 2010,
 * chapter 4).
 *
 * A document is a near-duplicate in a collection if another document of the collection
 * is similar to it.  Collections are all results for a topic, its
 * relevant documents, and the first n results of a run for a topic. */
#include "neardup/prevalence.h"

#include <math.h>
#include <stdio.h>

#include "base/hooks.h"
#include "input/line_list.h"
#include "outdir/guard.h"
#include "study/common/near.h"
#include "study/common/study_dir.h"
#include "study/common/study_report.h"
#include "study/nikkhoo/trec_run.h"

enum { TABLES, FILTERED, DIRS };
enum { LEVELS = 10, TOPS = 6, STEPS = 19, STEP = 5 };
static const size_t tops[TOPS] = {10, 20, 50, 100, 200, 500};

/* Table 4.1, in hundredths of a percent; -1: not published. */
static const int published[STEPS][TOPS] = {{-1, 6746, 7380, 8600, 9225, 9592},
                                           {4541, 4913, 5777, 6679, 7535, 8465},
                                           {4541, 3746, 4211, 5017, 5715, 6662},
                                           {2710, 3000, 3485, 3732, 4138, 4868},
                                           {2710, 2389, 2685, 2735, 2986, 3499},
                                           {1946, 2017, 2155, 2124, 2276, 2417},
                                           {1946, 1732, 1662, 1628, 1789, 1642},
                                           {1462, 1428, 1383, 1321, 1366, 1307},
                                           {1462, 1256, 1115, 1101, 1056, 1028},
                                           {1169, 1107, 992, 924, 817, 766},
                                           {1169, 969, 786, 749, 645, 552},
                                           {885, 834, 704, 586, 499, 386},
                                           {885, 685, 546, 459, 346, 270},
                                           {611, 575, 428, 344, 245, 161},
                                           {611, 439, 301, 242, 161, 96},
                                           {366, 352, 237, 155, 93, 65},
                                           {366, 245, 180, 90, 59, 28},
                                           {192, 169, 130, 51, 25, 17},
                                           {192, 76, 62, 17, 8, 8}};

typedef struct work {
  const nd_prevalence_request *request;
  nd_prevalence_summary *summary;
  const nd_hooks *hooks;
  nd_study_report *report;
  nd_trec trec;
  nd_list list;
  nd_near near;
  int64_t threshold;
  nd_study_dir dirs[DIRS];
  /* scratch, as long as the largest collection */
  uint32_t *document;
  int64_t *best;
  size_t *first;
  uint8_t *keep;
} work;

static double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : NAN;
}

/* --- topic collections (figures 4.1 to 4.5; section 3.2 for relevant ones) ----- */

typedef struct levels {
  uint64_t documents, near[LEVELS]; /* documents with a near-duplicate at (i + 1) / 10 or above */
} levels;

static void measure(levels *out, work *w, size_t m) {
  nd_near_best(w->best, &w->near, w->document, m);
  *out = (levels){.documents = m};
  for (size_t i = 0; i < m; i++) {
    for (int64_t k = 0; k < LEVELS; k++)
      out->near[k] += w->best[i] >= (k + 1) * (ND_LINE_UNIT / 10);
  }
}

static nd_status put_levels(nd_table *t, const char *name, const levels *l, nd_error *err) {
  ND_TRY(nd_table_text(t, name, err));
  ND_TRY(nd_table_count(t, l->documents, err));
  for (size_t k = LEVELS + 2 - t->columns; k < LEVELS; k++)
    ND_TRY(nd_table_real(t, percent((double)l->near[k], (double)l->documents), 2, err));
  return ND_OK;
}

/* Writes a row per topic, then their mean and the total. */
static nd_status put_topics(work *w, nd_table *t, const levels *of, nd_error *err) {
  levels all = {0};
  double mean[LEVELS] = {0}, topics = 0;
  for (uint32_t topic = 0; topic < w->trec.topics.n; topic++) {
    const levels *l = &of[topic];
    if (l->documents == 0) continue;
    nd_str id = nd_id_map_id(&w->trec.topics, topic);
    char name[128];
    /* untaken: short names only */
    snprintf(name, sizeof name, "%.*s", (int)(id.n < 120 ? id.n : 120), id.p);
    ND_TRY(put_levels(t, name, l, err));
    topics++;
    all.documents += l->documents;
    for (int k = 0; k < LEVELS; k++) {
      all.near[k] += l->near[k];
      mean[k] += percent((double)l->near[k], (double)l->documents);
    }
  }
  ND_TRY(nd_table_text(t, "mean", err));
  ND_TRY(nd_table_real(t, topics > 0 ? (double)all.documents / topics : NAN, 1, err));
  for (size_t k = LEVELS + 2 - t->columns; k < LEVELS; k++)
    ND_TRY(nd_table_real(t, topics > 0 ? mean[k] / topics : NAN, 2, err));
  return put_levels(t, "all", &all, err);
}

/* Collects the distinct documents of a topic in w->document: of all runs, or the relevant
 * ones.  seen[document] is the last topic + 1. */
static size_t collect(work *w, uint32_t topic, bool relevant, uint32_t *seen) {
  const nd_trec *t = &w->trec;
  size_t m = 0;
  for (size_t i = 0; relevant && i < t->judged_n; i++) {
    if (t->judged[i].topic == topic && t->judged[i].score > 0)
      w->document[m++] = t->judged[i].document;
  }
  for (size_t i = 0; !relevant && i < t->run_topic_n; i++) {
    const nd_run_topic *rt = &t->run_topics[i];
    if (rt->topic != topic) continue;
    for (size_t k = rt->begin; k < rt->end; k++) {
      uint32_t d = t->runs[rt->run].results[k].document;
      if (seen[d] != topic + 1) w->document[m++] = d;
      seen[d] = topic + 1;
    }
  }
  return m;
}

/* Pairs with numbers have levels; clusters, and pairs without numbers, do not. */
static bool levels_known(const work *w) {
  return w->list.kind == ND_LIST_PAIRS && w->list.notes.valued;
}

/* Figure 4.5: the mean over topics by resemblance. */
static void mean_chart(work *w, const levels *of, bool relevant) {
  double x[LEVELS], y[LEVELS] = {0}, topics = 0;
  for (uint32_t topic = 0; topic < w->trec.topics.n; topic++) topics += of[topic].documents > 0;
  for (int k = 0; k < LEVELS; k++) {
    x[k] = (k + 1) / 10.0;
    for (uint32_t topic = 0; topic < w->trec.topics.n; topic++) {
      if (of[topic].documents)
        y[k] += percent((double)of[topic].near[k], (double)of[topic].documents) / topics;
    }
  }
  nd_series series = {.name = "mean of the topics", .x = x, .y = y, .n = LEVELS};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = relevant ? "relevant" : "topics",
                    .title = relevant ? "Near-duplicates among relevant documents"
                                      : "Near-duplicates in topic collections",
                    .x_label = "resemblance, at least",
                    .y_label = "near-duplicates",
                    .y_unit = "%",
                    .series = &series,
                    .series_n = 1};
  nd_study_report_chart(w->report, &chart);
}

static nd_status topic_table(work *w, bool relevant, nd_error *err) {
  size_t topics = w->trec.topics.n;
  levels *of = nd_calloc(topics + 1, sizeof *of);
  uint32_t *seen = nd_calloc(w->trec.documents.n + 1, sizeof *seen);
  nd_table t = {0};
  nd_status status = ND_OK;
  if (!of || !seen) status = nd_fail_memory(err, (topics + 1) * sizeof *of);
  for (uint32_t topic = 0; topic < topics && status == ND_OK; topic++) {
    status = nd_hooks_check(w->hooks, err);
    measure(&of[topic], w, collect(w, topic, relevant, seen));
    w->summary->unjudged += relevant && of[topic].documents == 0;
  }
  if (status == ND_OK)
    status = nd_table_start(
        &t, relevant ? "relevant" : "topics",
        relevant ? "Near-duplicates among the relevant documents of each topic, in %, at RR >= x "
                   "(Nikkhoo 2010, section 3.2: 17.36 at 0.5 and 7.44 at 0.9 over TREC 2004)"
                 : "Near-duplicates in the topic collections, in %, at RR >= x (Nikkhoo 2010, "
                   "figures 4.1 to 4.5)",
        /* Clusters, and pairs without numbers, have only the last level. */
        levels_known(w) ? "topic\tdocuments\t0.1\t0.2\t0.3\t0.4\t0.5\t0.6\t0.7\t0.8\t0.9\t1.0"
                        : "topic\tdocuments\tnear-duplicates",
        err);
  if (status == ND_OK) status = put_topics(w, &t, of, err);
  status = nd_study_report_table(w->report, &t, status, err);
  if (status == ND_OK && levels_known(w)) mean_chart(w, of, relevant);
  nd_free(of);
  nd_free(seen);
  return status;
}

/* --- run-topics (table 4.1) and runs --------------------------------------------- */

typedef struct run_sums {
  double share[TOPS], run_topics; /* sums of the shares in the first n results */
  uint64_t documents, redundant;
} run_sums;

typedef struct top_counts {
  uint64_t least[STEPS][TOPS], more[STEPS][TOPS], run_topics, shorter[TOPS];
} top_counts;

static void measure_run_topic(work *w, const nd_run_topic *rt, top_counts *c, run_sums *run) {
  const nd_trec_line *results = w->trec.runs[rt->run].results + rt->begin;
  size_t m = rt->end - rt->begin;
  for (size_t i = 0; i < m; i++) w->document[i] = results[i].document;
  nd_near_first(w->first, &w->near, w->document, m, w->threshold);
  c->run_topics++;
  run->run_topics++;
  for (int k = 0; k < TOPS; k++) {
    size_t n = tops[k] < m ? tops[k] : m, near = 0;
    for (size_t i = 0; i < n; i++) near += w->first[i] <= n;
    c->shorter[k] += n < tops[k];
    run->share[k] += percent((double)near, (double)n);
    for (int s = 0; s < STEPS; s++) {
      size_t least = (size_t)(s + 1) * STEP * n; /* hundredths of documents */
      c->least[s][k] += 100 * near >= least;
      c->more[s][k] += 100 * near > least;
    }
  }
  nd_near_filter(w->keep, &w->near, w->document, m, w->threshold);
  run->documents += m;
  for (size_t i = 0; i < m; i++) run->redundant += !w->keep[i];
}

static nd_status top_table(work *w, const top_counts *c, bool more, nd_error *err) {
  nd_table t = {0};
  nd_status status = nd_table_start(
      &t, more ? "run_topics_more" : "run_topics",
      more ? "Run-topics with more than x % near-duplicates in their first n results, in %, beside "
             "the published figures (Nikkhoo 2010, table 4.1)"
           : "Run-topics with at least x % near-duplicates in their first n results, in %",
      more ? "x\tn=10\tn=20\tn=50\tn=100\tn=200\tn=500\tpublished n=10\tpublished n=20\tpublished "
             "n=50\tpublished n=100\tpublished n=200\tpublished n=500"
           : "x\tn=10\tn=20\tn=50\tn=100\tn=200\tn=500",
      err);
  for (int s = 0; s < STEPS && status == ND_OK; s++) {
    status = nd_table_count(&t, (uint64_t)(s + 1) * STEP, err);
    for (int k = 0; k < TOPS && status == ND_OK; k++) {
      uint64_t n = more ? c->more[s][k] : c->least[s][k];
      status = nd_table_real(&t, percent((double)n, (double)c->run_topics), 2, err);
    }
    for (int k = 0; more && k < TOPS && status == ND_OK; k++)
      status = nd_table_real(&t, published[s][k] < 0 ? NAN : published[s][k] / 100.0, 2, err);
  }
  return nd_study_report_table(w->report, &t, status, err);
}

/* Figure 4.6: run-topics by share of near-duplicates, and two published curves. */
static void top_chart(work *w, const top_counts *c) {
  static const char *const names[TOPS] = {"n = 10",  "n = 20",  "n = 50",
                                          "n = 100", "n = 200", "n = 500"};
  static const char source[] = "Nikkhoo 2010, Table 4.1";
  double x[STEPS], y[TOPS + 2][STEPS];
  nd_series series[TOPS + 2];
  for (int s = 0; s < STEPS; s++) {
    x[s] = (s + 1) * STEP;
    for (int k = 0; k < TOPS; k++) y[k][s] = percent((double)c->more[s][k], (double)c->run_topics);
    y[TOPS][s] = published[s][0] < 0 ? NAN : published[s][0] / 100.0;
    y[TOPS + 1][s] = published[s][TOPS - 1] / 100.0;
  }
  for (int k = 0; k < TOPS; k++)
    series[k] = (nd_series){.name = names[k], .x = x, .y = y[k], .n = STEPS};
  series[TOPS] = (nd_series){
      .name = "n = 10", .x = x, .y = y[TOPS], .n = STEPS, .published = true, .source = source};
  series[TOPS + 1] = (nd_series){
      .name = "n = 500", .x = x, .y = y[TOPS + 1], .n = STEPS, .published = true, .source = source};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = "run-topics",
                    .title = "Run-topics by near-duplicates in their first n results",
                    .x_label = "near-duplicates, more than",
                    .x_unit = "%",
                    .y_label = "run-topics",
                    .y_unit = "%",
                    .series = series,
                    .series_n = TOPS + 2};
  nd_study_report_chart(w->report, &chart);
}

static nd_status put_run(nd_table *t, const nd_trec_run *run, const run_sums *s, size_t topics,
                         nd_error *err) {
  ND_TRY(nd_table_text(t, nd_line_list_name(run->path), err));
  ND_TRY(nd_table_count(t, (uint64_t)s->run_topics, err));
  ND_TRY(nd_table_count(t, topics - (uint64_t)s->run_topics, err));
  ND_TRY(nd_table_count(t, s->documents, err));
  ND_TRY(nd_table_count(t, run->repeated, err));
  ND_TRY(nd_table_count(t, run->ties, err));
  for (int k = 0; k < TOPS; k++) ND_TRY(nd_table_real(t, s->share[k] / s->run_topics, 2, err));
  ND_TRY(nd_table_count(t, s->redundant, err));
  return nd_table_real(t, percent((double)s->redundant, (double)s->documents), 2, err);
}

static nd_status run_table(work *w, const run_sums *sums, nd_error *err) {
  nd_table t = {0};
  nd_status status = nd_table_start(
      &t, "runs",
      "Near-duplicates per run: the mean share in the first n results of its topics, in %, and the "
      "results that have a near-duplicate before them",
      "run\ttopics\tmissing "
      "topics\tresults\trepeated\tties\tn=10\tn=20\tn=50\tn=100\tn=200\tn=500\t"
      "redundant\tredundant %",
      err);
  for (size_t i = 0; i < w->trec.run_n && status == ND_OK; i++)
    status = put_run(&t, &w->trec.runs[i], &sums[i], w->trec.topics.n, err);
  return nd_study_report_table(w->report, &t, status, err);
}

static nd_status run_tables(work *w, nd_error *err) {
  run_sums *sums = nd_calloc(w->trec.run_n + 1, sizeof *sums);
  if (!sums) return nd_fail_memory(err, (w->trec.run_n + 1) * sizeof *sums);
  top_counts c = {0};
  nd_status status = ND_OK;
  for (size_t i = 0; i < w->trec.run_topic_n && status == ND_OK; i++) {
    status = nd_hooks_check(w->hooks, err);
    const nd_run_topic *rt = &w->trec.run_topics[i];
    measure_run_topic(w, rt, &c, &sums[rt->run]);
  }
  if (status == ND_OK) status = top_table(w, &c, false, err);
  if (status == ND_OK) status = top_table(w, &c, true, err);
  if (status == ND_OK) top_chart(w, &c);
  if (status == ND_OK) status = run_table(w, sums, err);
  nd_free(sums);
  return status;
}

/* --- the whole ----------------------------------------------------------------------- */

static nd_status read_pairs(work *w, nd_error *err) {
  const nd_prevalence_request *q = w->request;
  nd_list_rule rule = {.closed = true, .hooks = w->hooks};
  ND_TRY(nd_list_kind_of(&rule.kind, q->pairs_kind, "--pairs-kind", err));
  ND_TRY(nd_list_read(&w->list, q->pairs, &rule, &w->trec.documents, err));
  w->summary->pairs = w->list.n; /* 0 for clusters */
  return nd_near_init(&w->near, &w->list, (uint32_t)w->trec.documents.n, err);
}

static nd_status make_room(work *w, nd_error *err) {
  size_t n = w->trec.documents.n + 1; /* a collection has distinct documents */
  w->document = nd_malloc(n * sizeof *w->document);
  w->best = nd_malloc(n * sizeof *w->best);
  w->first = nd_malloc(n * sizeof *w->first);
  w->keep = nd_malloc(n);
  if (!w->document || !w->best || !w->first || !w->keep)
    return nd_fail_memory(err, n * sizeof *w->best);
  return ND_OK;
}

static nd_status run_all(work *w, nd_error *err) {
  const nd_prevalence_request *q = w->request;
  ND_TRY(nd_trec_read(&w->trec, w->summary, q, w->hooks, err));
  ND_TRY(read_pairs(w, err));
  ND_TRY(make_room(w, err));
  ND_TRY(topic_table(w, false, err));
  if (q->qrels) ND_TRY(topic_table(w, true, err));
  ND_TRY(run_tables(w, err));
  if (!w->dirs[FILTERED].out) return ND_OK;
  return nd_trec_filter(&w->summary->removed, &w->trec, &w->near, w->threshold,
                        w->dirs[FILTERED].out, err);
}

static nd_status open_all(work *w, const nd_options *options, nd_error *err) {
  const nd_prevalence_request *q = w->request;
  w->threshold = ND_LINE_UNIT / 2;
  if (q->threshold && (!nd_line_number(&w->threshold, nd_str_of(q->threshold)) || w->threshold < 0))
    return nd_fail(err, ND_ERR_USAGE, "--threshold must be a number, not %s", q->threshold);
  const nd_output_path outputs[] = {{"-o", q->directory, 1}, {"--filter-runs", q->filtered, 1}};
  const nd_output_path inputs[] = {{"--qrels", q->qrels, 0}, {"--pairs", q->pairs, 0}};
  const nd_guard guard = {.outputs = outputs,
                          .output_n = 2,
                          .inputs = q->runs,
                          .input_n = q->run_n,
                          .role = "--run",
                          .more = inputs,
                          .more_n = 2};
  ND_TRY(nd_guard_check(&guard, err));
  ND_TRY(nd_study_dir_open(&w->dirs[TABLES], q->directory, options, err));
  return nd_study_dir_open(&w->dirs[FILTERED], q->filtered, options, err);
}

nd_status nd_prevalence(nd_prevalence_summary *out, const nd_prevalence_request *request,
                        const nd_options *options, const nd_hooks *hooks, nd_error *err) {
  *out = (nd_prevalence_summary){0};
  nd_study_report report;
  work w = {.request = request, .summary = out, .hooks = hooks, .report = &report};
  nd_status status = open_all(&w, options, err);
  if (status == ND_OK) {
    nd_study_request tables = {.name = "prevalence", .directory = w.dirs[TABLES].out};
    nd_study_run study = {.request = &tables, .options = options, .sink = request->sink};
    nd_study_report_start(&report, &study, "Near-duplicates in search results",
                          "What search systems returned, and how much of it is near-duplicate "
                          "(Nikkhoo 2010, chapter 4).",
                          err);
    status = nd_study_report_end(&report, run_all(&w, err));
  }
  for (int i = 0; i < DIRS; i++) {
    if (status == ND_OK) status = nd_study_dir_commit(&w.dirs[i], "prevalence", err);
  }
  for (int i = 0; i < DIRS; i++) nd_study_dir_close(&w.dirs[i]);
  nd_trec_clear(&w.trec);
  nd_list_clear(&w.list);
  nd_near_clear(&w.near);
  nd_free(w.document);
  nd_free(w.best);
  nd_free(w.first);
  nd_free(w.keep);
  return status;
}
