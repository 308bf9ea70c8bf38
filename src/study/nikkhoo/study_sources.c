/* Sources of near-duplicates (Nikkhoo 2010, section 4.4; Henzinger 2006, section
 * 4): the kind of difference of every pair that is found.
 *
 * Texts are read from the store of the run in the order of the pairs, so memory is bounded
 * by two documents per thread.  Above MOST pairs, one pair in every N is classified, which
 * the table reports.  Sums are of integers, so they do not depend on the threads. */
#include <stdio.h>

#include "base/threads.h"
#include "job/job.h"
#include "output/page.h"
#include "report/report_data.h"
#include "store/workdir.h"
#include "study/common/difference.h"
#include "study/common/study_run.h"
#include "text/site.h"
#include "text/words.h"

enum { MOST = 1000000 /* most pairs whose words are compared */, ROOM = 1 << 10, JOB = 32 };
enum { MILLION = 1000000 }; /* similarities are summed in millionths */

typedef struct counts {
  uint64_t pairs, same_site, other_site;
  uint64_t similarity; /* sum, in millionths */
} counts;

/* Scratch and counts of a thread. */
typedef struct judge {
  nd_texts *texts;
  nd_buf text, url[2];
  nd_tokens words[2];
  uint32_t document[2]; /* the documents whose words and URL are loaded */
  nd_diff diff;
  counts kind[ND_DIFFERENCES];
  uint64_t url_kind[ND_URL_DIFFERENCES];
} judge;

typedef struct sources {
  nd_study_run *run;
  nd_run job;
  judge *judges;
  nd_item *items; /* the current batch; borrowed */
  size_t n;
  bool copies; /* the items are pairs of exact duplicates */
  counts kind[ND_DIFFERENCES];
  uint64_t url_kind[ND_URL_DIFFERENCES];
  uint64_t all, seen, judged,
      every; /* pairs, including exact duplicates; one in `every` is classified */
} sources;

static nd_status take(judge *j, const sources *s, int side, uint32_t document, nd_error *err) {
  if (j->document[side] == document) return ND_OK;
  j->document[side] = UINT32_MAX;
  ND_TRY(nd_report_url(&j->url[side], &s->job.store, document, err));
  if (s->copies) return ND_OK; /* their words are equal */
  ND_TRY(nd_texts_get(&j->text, j->texts, document, err));
  ND_TRY(nd_tokens_from_text(&j->words[side], nd_buf_str(&j->text), err));
  j->document[side] = document;
  return ND_OK;
}

static void add(counts *c, uint64_t site_a, uint64_t site_b, uint64_t value) {
  const nd_fraction f = nd_fraction_of(value); /* not 0/0: a pair has something in common */
  c->pairs++;
  c->similarity += (uint64_t)f.num * MILLION / f.den;
  if (site_a && site_b) {
    c->same_site += site_a == site_b;
    c->other_site += site_a != site_b;
  }
}

static nd_status judge_pair(judge *j, const sources *s, const nd_item *pair, nd_error *err) {
  ND_TRY(take(j, s, 0, nd_pair_of(pair->key).a, err));
  ND_TRY(take(j, s, 1, nd_pair_of(pair->key).b, err));
  nd_str a = nd_buf_str(&j->url[0]), b = nd_buf_str(&j->url[1]);
  nd_url_difference url = ND_URL_SAME;
  ND_TRY(nd_url_compare(&url, a, b, err));
  nd_difference kind = url == ND_URL_SAME ? ND_DIFFERENCE_EXACT : ND_DIFFERENCE_URL;
  if (!s->copies) {
    const nd_tokens *x = &j->words[0], *y = &j->words[1];
    ND_TRY(nd_word_diff(&j->diff, nd_buf_str(&x->text), x->end, x->count, nd_buf_str(&y->text),
                        y->end, y->count, err));
    kind = nd_difference_kind(&j->diff, x, y, url);
  }
  add(&j->kind[kind], nd_site_key(a), nd_site_key(b), pair->value);
  if (kind == ND_DIFFERENCE_URL) j->url_kind[url]++;
  return ND_OK;
}

static nd_status judge_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  const sources *s = context;
  judge *j = &s->judges[member];
  if (!j->texts) {
    j->document[0] = j->document[1] = UINT32_MAX;
    ND_TRY(nd_texts_new(&j->texts, &s->job.source, err));
  }
  size_t end = (size_t)(job + 1) * JOB < s->n ? (size_t)(job + 1) * JOB : s->n;
  for (size_t i = (size_t)job * JOB; i < end; i++) ND_TRY(judge_pair(j, s, &s->items[i], err));
  return ND_OK;
}

/* Classifies one pair in every N of the current batch. */
static nd_status judge_items(sources *s, nd_item *items, size_t n, nd_error *err) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    items[kept] = items[i];
    kept += s->seen++ % s->every == 0;
  }
  s->items = items;
  s->n = kept;
  s->judged += kept;
  ND_TRY(nd_threads_run(s->job.settings.threads, (s->n + JOB - 1) / JOB, judge_job, s, err));
  return nd_run_report(&s->job, "compare", s->seen, s->all, err);
}

static nd_status count_pairs(void *context, nd_item *items, size_t n, nd_error *err) {
  (void)items;
  (void)err;
  *(uint64_t *)context += n;
  return ND_OK;
}

static nd_status judge_some(void *context, nd_item *items, size_t n, nd_error *err) {
  return judge_items(context, items, n, err);
}

static nd_status judge_all(sources *s, nd_error *err) {
  nd_run *j = &s->job;
  const uint64_t whole = nd_similarity_of_copies(j->settings.similarity);
  s->all = j->found.copies;
  ND_TRY(nd_sorter_each(j->verified.sorted, count_pairs, &s->all, err));
  s->every = s->all / MOST + 1;
  s->copies = true;
  nd_item copies[ROOM];
  size_t n = 0;
  for (uint32_t d = 0; d < j->store.documents && !nd_source_has_other(&j->source); d++) {
    uint32_t first = j->found.same[d];
    if (first == ND_NO_DOCUMENT || first == d) continue;
    copies[n++] = (nd_item){nd_pair_key(first, d), whole};
    if (n < ROOM) continue;
    ND_TRY(judge_items(s, copies, n, err));
    n = 0;
  }
  ND_TRY(judge_items(s, copies, n, err));
  s->copies = false;
  ND_TRY(nd_sorter_each(j->verified.sorted, judge_some, s, err));
  for (unsigned t = 0; t < j->settings.threads; t++) {
    for (int k = 0; k < ND_DIFFERENCES; k++) {
      const counts *c = &s->judges[t].kind[k];
      s->kind[k].pairs += c->pairs;
      s->kind[k].same_site += c->same_site;
      s->kind[k].other_site += c->other_site;
      s->kind[k].similarity += c->similarity;
    }
    for (int k = 0; k < ND_URL_DIFFERENCES; k++) s->url_kind[k] += s->judges[t].url_kind[k];
  }
  return ND_OK;
}

static double mean_similarity(const counts *c) {
  return c->pairs ? (double)c->similarity / MILLION / (double)c->pairs : 0;
}

static double share(uint64_t part, uint64_t all) {
  return all ? (double)part / (double)all : 0;
}

static nd_status put_kinds(sources *s, nd_error *err) {
  nd_table t;
  char title[200];
  snprintf(title, sizeof title,
           "Kinds of difference, of %llu of %llu pairs (copies once, with their first)",
           (unsigned long long)s->judged, (unsigned long long)s->seen);
  nd_status status =
      nd_table_start(&t, "sources", title,
                     "kind\tpairs\tshare\tsame site\tother site\tmean similarity\twhat it is", err);
  for (int k = 0; status == ND_OK && k < ND_DIFFERENCES; k++) {
    const counts *c = &s->kind[k];
    status = nd_table_text(&t, nd_difference_name((nd_difference)k), err);
    if (status == ND_OK) status = nd_table_count(&t, c->pairs, err);
    if (status == ND_OK) status = nd_table_real(&t, share(c->pairs, s->judged), 4, err);
    if (status == ND_OK) status = nd_table_count(&t, c->same_site, err);
    if (status == ND_OK) status = nd_table_count(&t, c->other_site, err);
    if (status == ND_OK) status = nd_table_real(&t, mean_similarity(c), 4, err);
    if (status == ND_OK) status = nd_table_text(&t, nd_difference_text((nd_difference)k), err);
  }
  if (status == ND_OK) status = nd_study_table(s->run, &t, err);
  nd_table_clear(&t);
  return status;
}

static nd_status put_urls(sources *s, nd_error *err) {
  nd_table t;
  nd_status status = nd_table_start(
      &t, "urls", "Pairs that differ in their URL only, by what differs", "difference\tpairs", err);
  for (int k = ND_URL_SCHEME; status == ND_OK && k < ND_URL_DIFFERENCES; k++) {
    status = nd_table_text(&t, nd_url_difference_name((nd_url_difference)k), err);
    if (status == ND_OK) status = nd_table_count(&t, s->url_kind[k], err);
  }
  if (status == ND_OK) status = nd_study_table(s->run, &t, err);
  nd_table_clear(&t);
  return status;
}

static nd_status put_page(sources *s, nd_error *err) {
  if (!s->run->request->directory) return ND_OK;
  nd_str names[ND_DIFFERENCES], urls[ND_URL_DIFFERENCES];
  double n[ND_DIFFERENCES], u[ND_URL_DIFFERENCES];
  for (int k = 0; k < ND_DIFFERENCES; k++) {
    names[k] = nd_str_of(nd_difference_name((nd_difference)k));
    n[k] = (double)s->kind[k].pairs;
  }
  for (int k = ND_URL_SCHEME; k < ND_URL_DIFFERENCES; k++) {
    urls[k - 1] = nd_str_of(nd_url_difference_name((nd_url_difference)k));
    u[k - 1] = (double)s->url_kind[k];
  }
  nd_series by_kind = {.name = "pairs", .y = n, .n = ND_DIFFERENCES};
  nd_series by_url = {.name = "pairs", .y = u, .n = ND_URL_DIFFERENCES - 1};
  nd_chart kinds = {.kind = ND_CHART_BARS,
                    .name = "kinds",
                    .title = "Kinds of difference",
                    .x_label = "pairs",
                    .y_label = "kind",
                    .series = &by_kind,
                    .series_n = 1,
                    .categories = names,
                    .category_n = ND_DIFFERENCES};
  nd_chart in_url = {.kind = ND_CHART_BARS,
                     .name = "urls",
                     .title = "Same words, other URL: what differs",
                     .x_label = "pairs",
                     .y_label = "difference",
                     .series = &by_url,
                     .series_n = 1,
                     .categories = urls,
                     .category_n = ND_URL_DIFFERENCES - 1};
  const char *columns[] = {"kind", "pairs#", "share#", "mean similarity#", "what it is"};
  nd_page p;
  nd_page_start(&p, s->run->request->directory, "Sources of near-duplicates",
                "What kind of difference lies between the two documents of each pair.", err);
  nd_page_chart(&p, &kinds);
  nd_page_chart(&p, &in_url);
  nd_page_table(&p, "Pairs by kind", columns, 5);
  for (int k = 0; k < ND_DIFFERENCES; k++) {
    const counts *c = &s->kind[k];
    nd_page_cell(&p, nd_difference_name((nd_difference)k));
    nd_page_cell_count(&p, c->pairs);
    nd_page_cell_number(&p, share(c->pairs, s->judged), 4);
    nd_page_cell_number(&p, mean_similarity(c), 4);
    nd_page_cell(&p, nd_difference_text((nd_difference)k));
  }
  nd_page_table_end(&p);
  nd_page_paragraph(&p, "neardup explain A B INPUT shows any pair word by word.");
  return nd_page_write(&p);
}

static nd_status work_on(sources *s, const char *work, nd_error *err) {
  nd_run *j = &s->job;
  const nd_study_request *q = s->run->request;
  char *spool = NULL;
  ND_TRY(nd_path_join(&spool, work, "stdin", err));
  nd_status status = nd_job_input(j, q->inputs, q->input_n, NULL, spool, err);
  nd_free(spool);
  ND_TRY(status);
  ND_TRY(nd_job_read(j, work, err));
  ND_TRY(nd_job_match(j, work, err));
  unsigned threads = j->settings.threads;
  s->judges = nd_calloc(threads, sizeof *s->judges);
  if (!s->judges) return nd_fail_memory(err, threads * sizeof *s->judges);
  ND_TRY(judge_all(s, err));
  j->summary->kept = j->store.documents;
  ND_TRY(put_kinds(s, err));
  ND_TRY(put_urls(s, err));
  return put_page(s, err);
}

static void clear_judge(judge *j) {
  nd_texts_free(j->texts);
  nd_buf_clear(&j->text);
  nd_diff_clear(&j->diff);
  for (int i = 0; i < 2; i++) {
    nd_buf_clear(&j->url[i]);
    nd_tokens_clear(&j->words[i]);
  }
}

nd_status nd_study_sources(nd_study_run *run, nd_error *err) {
  sources s = {.run = run, .every = 1};
  char *work = NULL;
  ND_TRY(nd_job_open(&s.job, run->summary, run->options, run->hooks, err));
  nd_status status = nd_workdir_private(&work, run->options->tmp, err);
  if (status == ND_OK) status = work_on(&s, work, err);
  for (unsigned t = 0; s.judges && t < s.job.settings.threads; t++) clear_judge(&s.judges[t]);
  nd_free(s.judges);
  nd_job_finish(&s.job);
  nd_job_close(&s.job);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  return status;
}
