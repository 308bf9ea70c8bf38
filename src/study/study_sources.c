/* Sources of near-duplicates (Nikkhoo 2010, section 4.4; Henzinger 2006, section
 * 4): the kind of difference of every pair that is found.
 *
 * Texts are read pair by pair from the run's own store, in the order of the
 * pairs, so memory stays that of two documents.  A very large number of pairs is
 * sampled evenly, and the table says so. */
#include <stdio.h>

#include "output/page.h"
#include "pipeline/report_data.h"
#include "pipeline/workdir.h"
#include "study/difference.h"
#include "study/study_run.h"
#include "text/site.h"
#include "text/words.h"

enum { MOST = 1000000 /* pairs whose words are compared */, ROOM = 1 << 12 };

typedef struct counts {
  uint64_t pairs, same_site, other_site;
  double similarity; /* sum */
} counts;

typedef struct sources {
  nd_study_run *run;
  nd_job_run job;
  nd_texts *texts;
  nd_buf text, url[2];
  nd_tokens words[2];
  uint32_t document[2]; /* whose words and URL are at hand */
  nd_diff diff;
  counts kind[ND_DIFFERENCES];
  uint64_t url_kind[ND_URL_DIFFERENCES];
  uint64_t seen, judged, every;
} sources;

static nd_status take(sources *s, int side, uint32_t document, nd_error *err) {
  if (s->document[side] == document) return ND_OK;
  s->document[side] = UINT32_MAX;
  ND_TRY(nd_texts_get(&s->text, s->texts, document, err));
  ND_TRY(nd_tokens_from_text(&s->words[side], nd_buf_str(&s->text), err));
  ND_TRY(nd_report_url(&s->url[side], &s->job.store, document, err));
  s->document[side] = document;
  return ND_OK;
}

static void add(counts *c, uint64_t site_a, uint64_t site_b, double similarity) {
  c->pairs++;
  c->similarity += similarity;
  if (site_a && site_b) {
    c->same_site += site_a == site_b;
    c->other_site += site_a != site_b;
  }
}

static nd_status judge(sources *s, uint32_t a, uint32_t b, uint64_t value, bool copies,
                       nd_error *err) {
  if (s->seen++ % s->every) return ND_OK;
  nd_url_difference url = ND_URL_SAME;
  nd_difference kind;
  if (copies) { /* the words are known to be the same */
    ND_TRY(nd_report_url(&s->url[0], &s->job.store, a, err));
    ND_TRY(nd_report_url(&s->url[1], &s->job.store, b, err));
    s->document[0] = s->document[1] = UINT32_MAX;
    ND_TRY(nd_url_compare(&url, nd_buf_str(&s->url[0]), nd_buf_str(&s->url[1]), err));
    kind = url == ND_URL_SAME ? ND_DIFFERENCE_EXACT : ND_DIFFERENCE_URL;
  } else {
    ND_TRY(take(s, 0, a, err));
    ND_TRY(take(s, 1, b, err));
    ND_TRY(nd_url_compare(&url, nd_buf_str(&s->url[0]), nd_buf_str(&s->url[1]), err));
    const nd_tokens *x = &s->words[0], *y = &s->words[1];
    ND_TRY(nd_word_diff(&s->diff, nd_buf_str(&x->text), x->end, x->count, nd_buf_str(&y->text),
                        y->end, y->count, err));
    kind = nd_difference_kind(&s->diff, x, y, url);
  }
  uint32_t den = (uint32_t)value;
  s->judged++;
  add(&s->kind[kind], nd_site_key(nd_buf_str(&s->url[0])), nd_site_key(nd_buf_str(&s->url[1])),
      den ? (double)(value >> 32) / den : 0);
  if (kind == ND_DIFFERENCE_URL) s->url_kind[url]++;
  return ND_OK;
}

static nd_status judge_all(sources *s, nd_error *err) {
  nd_job_run *j = &s->job;
  uint64_t whole = nd_value_of_copies(j->settings.similarity), all = j->found.copies;
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  if (!items) return nd_fail_memory(err, ROOM * sizeof *items);
  nd_status status = nd_sorter_rewind(j->confirmed.sorted, err);
  size_t got = 0;
  do {
    if (status == ND_OK) status = nd_sorter_next(&got, items, ROOM, j->confirmed.sorted, err);
    all += got;
  } while (status == ND_OK && got);
  s->every = all / MOST + 1;
  for (uint32_t d = 0; status == ND_OK && d < j->store.documents; d++) {
    uint32_t first = j->found.same[d];
    if (first == ND_NO_DOCUMENT || first == d || nd_source_has_other(&j->source)) continue;
    status = judge(s, first, d, whole, true, err);
  }
  if (status == ND_OK) status = nd_sorter_rewind(j->confirmed.sorted, err);
  do {
    if (status == ND_OK) status = nd_sorter_next(&got, items, ROOM, j->confirmed.sorted, err);
    for (size_t i = 0; status == ND_OK && i < got; i++)
      status = judge(s, (uint32_t)(items[i].key >> 32), (uint32_t)items[i].key, items[i].value,
                     false, err);
    if (status == ND_OK) status = nd_job_report(j, "compare", s->seen, all, err);
  } while (status == ND_OK && got);
  nd_free(items);
  return status;
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
    if (status == ND_OK)
      status = nd_table_real(&t, c->pairs ? c->similarity / (double)c->pairs : 0, 4, err);
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
    nd_page_cell_number(&p, c->pairs ? c->similarity / (double)c->pairs : 0, 4);
    nd_page_cell(&p, nd_difference_text((nd_difference)k));
  }
  nd_page_table_end(&p);
  nd_page_paragraph(&p, "neardup explain A B INPUT shows any pair word by word.");
  return nd_page_write(&p);
}

static nd_status work_on(sources *s, const char *work, nd_error *err) {
  nd_job_run *j = &s->job;
  const nd_study_request *q = s->run->request;
  char *spool = NULL;
  ND_TRY(nd_path_join(&spool, work, "stdin", err));
  nd_status status = nd_job_plan(j, q->inputs, q->input_n, NULL, spool, err);
  nd_free(spool);
  ND_TRY(status);
  ND_TRY(nd_job_read(j, work, err));
  ND_TRY(nd_job_match(j, work, err));
  ND_TRY(nd_texts_new(&s->texts, &j->source, err));
  ND_TRY(judge_all(s, err));
  j->summary->kept = j->store.documents;
  ND_TRY(put_kinds(s, err));
  ND_TRY(put_urls(s, err));
  return put_page(s, err);
}

nd_status nd_study_sources(nd_study_run *run, nd_error *err) {
  sources s = {.run = run, .every = 1, .document = {UINT32_MAX, UINT32_MAX}};
  char *work = NULL;
  nd_status status = nd_job_open(&s.job, run->summary, run->options, run->hooks, err);
  if (status == ND_OK) status = nd_workdir_private(&work, run->options->tmp, err);
  if (status == ND_OK) status = work_on(&s, work, err);
  nd_texts_free(s.texts);
  nd_buf_clear(&s.text);
  nd_diff_clear(&s.diff);
  for (int i = 0; i < 2; i++) {
    nd_buf_clear(&s.url[i]);
    nd_tokens_clear(&s.words[i]);
  }
  nd_job_finish(&s.job);
  nd_job_close(&s.job);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  return status;
}
