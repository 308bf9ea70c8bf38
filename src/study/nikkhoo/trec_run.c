/* TREC runs and judgements; see trec_run.h. */
#include "study/nikkhoo/trec_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "input/line_list.h"
#include "output/tsv.h"

typedef struct reader {
  nd_trec *trec;
  nd_prevalence_summary *summary;
  nd_trec_run *run;
  const char *name;
  nd_buf id;
} reader;

void nd_trec_clear(nd_trec *t) {
  for (size_t i = 0; i < t->run_n; i++) nd_free(t->runs[i].results);
  nd_free(t->runs);
  nd_free(t->run_topics);
  nd_free(t->judged);
  nd_id_map_clear(&t->topics);
  nd_id_map_clear(&t->documents);
  *t = (nd_trec){0};
}

bool nd_trec_score(double *out, nd_str t) {
  size_t i = 0;
  bool negative = t.n && t.p[0] == '-', seen = false, point = false;
  if (t.n && (t.p[0] == '-' || t.p[0] == '+')) i++;
  uint64_t mantissa = 0;
  int power = 0;
  for (; i < t.n; i++) {
    char c = t.p[i];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      seen = true;
      if (mantissa < UINT64_MAX / 10 - 1) {
        mantissa = mantissa * 10 + (uint64_t)(c - '0');
        power -= point;
      } else {
        power += !point;
      }
    } else {
      break;
    }
  }
  if (!seen) return false;
  if (i < t.n && (t.p[i] == 'e' || t.p[i] == 'E')) {
    bool down = ++i < t.n && t.p[i] == '-';
    if (i < t.n && (t.p[i] == '-' || t.p[i] == '+')) i++;
    if (i == t.n) return false;
    int more = 0;
    for (; i < t.n && t.p[i] >= '0' && t.p[i] <= '9'; i++)
      more = more < 10000 ? more * 10 + (t.p[i] - '0') : more;
    power += down ? -more : more;
  }
  double x = power < 0 ? (double)mantissa / pow(10, -power) : (double)mantissa * pow(10, power);
  if (power < -300) x = (double)mantissa / 1e300 / pow(10, -power - 300);
  *out = negative ? -x : x;
  return i == t.n && isfinite(x);
}

static nd_status bad_line(const reader *r, uint64_t number, const char *why, nd_error *err) {
  return nd_fail(err, ND_ERR_DATA, "%s:%" PRIu64 " %s", r->name, number, why);
}

/* Ids in runs have no escapes, those in lists of pairs do. */
static nd_status number_document(uint32_t *out, reader *r, nd_str word, nd_error *err) {
  r->id.n = 0;
  ND_TRY(nd_tsv_append(&r->id, word, err));
  return nd_id_map_number(out, &r->trec->documents, nd_buf_str(&r->id), err);
}

static nd_status take_result(void *context, nd_str line, uint64_t number, nd_error *err) {
  reader *r = context;
  nd_str topic, q0, document, rank, score;
  if (!nd_line_word(&topic, &line)) return ND_OK; /* a blank line */
  if (!nd_line_word(&q0, &line) || !nd_line_word(&document, &line) || !nd_line_word(&rank, &line) ||
      !nd_line_word(&score, &line))
    return bad_line(r, number,
                    "is not a result; a line of a run is: topic Q0 document rank score name", err);
  nd_trec_line e = {.line = number};
  int64_t place;
  if (!nd_line_number(&place, rank) || place < 0)
    return bad_line(r, number, "has no rank in its fourth field", err);
  e.rank = (uint64_t)(place / ND_LINE_UNIT);
  if (!nd_trec_score(&e.score, score))
    return bad_line(r, number, "has no score in its fifth field", err);
  ND_TRY(nd_id_map_number(&e.topic, &r->trec->topics, topic, err));
  ND_TRY(number_document(&e.document, r, document, err));
  nd_trec_run *run = r->run;
  ND_TRY(nd_array_grow(&run->results, &run->cap, run->n + 1, sizeof *run->results, err));
  run->results[run->n++] = e;
  return ND_OK;
}

static nd_status take_judgement(void *context, nd_str line, uint64_t number, nd_error *err) {
  reader *r = context;
  nd_str word[5] = {{NULL, 0}};
  size_t n = 0;
  while (n < 5 && nd_line_word(&word[n], &line)) n++;
  if (n == 0) return ND_OK;
  nd_trec_line e = {.line = number};
  /* Five fields: the format with sampling probabilities, document before grade. */
  nd_str document = word[n == 5 ? 1 : 2], grade = word[n == 5 ? 2 : 3];
  if (n < 4 || !nd_trec_score(&e.score, grade))
    return bad_line(r, number, "is not a judgement; a line is: topic 0 document grade", err);
  nd_trec *t = r->trec;
  ND_TRY(nd_id_map_number(&e.topic, &t->topics, word[0], err));
  ND_TRY(number_document(&e.document, r, document, err));
  ND_TRY(nd_array_grow(&t->judged, &t->judged_cap, t->judged_n + 1, sizeof *t->judged, err));
  t->judged[t->judged_n++] = e;
  return ND_OK;
}

static int by_document(const void *x, const void *y) {
  const nd_trec_line *a = x, *b = y;
  if (a->topic != b->topic) return a->topic < b->topic ? -1 : 1;
  if (a->document != b->document) return a->document < b->document ? -1 : 1;
  return (a->line > b->line) - (a->line < b->line);
}

static int by_score(const void *x, const void *y) {
  const nd_trec_line *a = x, *b = y;
  if (a->topic != b->topic) return a->topic < b->topic ? -1 : 1;
  if (a->score != b->score) return a->score > b->score ? -1 : 1;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->line > b->line) - (a->line < b->line);
}

static void note(char *out, size_t room, const reader *r, uint64_t line, const char *what,
                 nd_str id) {
  if (!out[0]) {
    /* untaken: short names only */
    snprintf(out, room, "%s:%" PRIu64 "%s%.*s", r->name, line, what, (int)(id.n < 100 ? id.n : 100),
             id.p);
  }
}

/* Removes repeated documents of a topic, keeping the first result.  last[document] is
 * scratch: the last topic of this run that has it, + 1. */
static void drop_repeats(reader *r, uint32_t *last) {
  nd_trec_run *run = r->run;
  nd_prevalence_summary *s = r->summary;
  size_t n = 0;
  for (size_t i = 0; i < run->n; i++) {
    const nd_trec_line *e = &run->results[i];
    if (last[e->document] == e->topic + 1) {
      run->repeated++;
      note(s->first_repeated, sizeof s->first_repeated, r, e->line, ": ",
           nd_id_map_id(&r->trec->documents, e->document));
      continue;
    }
    last[e->document] = e->topic + 1;
    run->results[n++] = *e;
  }
  run->n = n;
  s->repeated += run->repeated;
}

/* Builds the run-topics, counting ties and ranks that contradict the scores. */
static nd_status cut_topics(reader *r, nd_error *err) {
  nd_trec *t = r->trec;
  nd_trec_run *run = r->run;
  nd_prevalence_summary *s = r->summary;
  for (size_t i = 0, end; i < run->n; i = end) {
    uint32_t topic = run->results[i].topic;
    for (end = i; end < run->n && run->results[end].topic == topic; end++) {
      const nd_trec_line *e = &run->results[end];
      if (end == i) continue;
      if (e->score == e[-1].score) {
        run->ties++;
        note(s->first_tie, sizeof s->first_tie, r, e->line, ", topic ",
             nd_id_map_id(&t->topics, topic));
      } else if (e->rank < e[-1].rank) {
        s->unranked++;
        note(s->first_unranked, sizeof s->first_unranked, r, e->line, ", topic ",
             nd_id_map_id(&t->topics, topic));
      }
    }
    ND_TRY(nd_array_grow(&t->run_topics, &t->run_topic_cap, t->run_topic_n + 1,
                         sizeof *t->run_topics, err));
    t->run_topics[t->run_topic_n++] = (nd_run_topic){(uint32_t)(run - t->runs), topic, i, end};
  }
  s->ties += run->ties;
  return ND_OK;
}

static nd_status read_run(reader *r, nd_error *err) {
  nd_trec_run *run = r->run;
  ND_TRY(nd_line_list_read(run->path, r->trec->hooks, take_result, r, err));
  run->lines = run->n;
  if (run->n == 0)
    return nd_fail(err, ND_ERR_DATA, "%s is empty; a run has at least one line", r->name);
  qsort(run->results, run->n, sizeof *run->results, by_score);
  size_t n = r->trec->documents.n;
  uint32_t *last = nd_calloc(n + 1, sizeof *last);
  if (!last) return nd_fail_memory(err, (n + 1) * sizeof *last);
  drop_repeats(r, last);
  nd_free(last);
  return cut_topics(r, err);
}

static nd_status read_judgements(reader *r, const char *path, nd_error *err) {
  nd_trec *t = r->trec;
  nd_prevalence_summary *s = r->summary;
  r->name = nd_line_list_name(path);
  ND_TRY(nd_line_list_read(path, t->hooks, take_judgement, r, err));
  if (t->judged_n == 0) return nd_fail(err, ND_ERR_DATA, "%s has no judgements", r->name);
  qsort(t->judged, t->judged_n, sizeof *t->judged, by_document);
  size_t n = 0;
  for (size_t i = 0; i < t->judged_n; i++) {
    const nd_trec_line *e = &t->judged[i], *before = n ? &t->judged[n - 1] : NULL;
    if (!before || before->topic != e->topic || before->document != e->document) {
      t->judged[n++] = *e;
      continue;
    }
    s->qrels_repeated++;
    if (before->score == e->score) continue;
    s->qrels_disagreeing++;
    note(s->first_disagreeing, sizeof s->first_disagreeing, r, e->line, ": ",
         nd_id_map_id(&t->documents, e->document));
  }
  t->judged_n = n;
  return ND_OK;
}

/* Counts topics of other runs or the judgements that a run lacks. */
static nd_status find_missing(const nd_trec *t, nd_prevalence_summary *s, nd_error *err) {
  size_t topics = t->topics.n;
  uint8_t *there = nd_calloc(t->run_n * topics + 1, 1);
  if (!there) return nd_fail_memory(err, t->run_n * topics + 1);
  for (size_t i = 0; i < t->run_topic_n; i++)
    there[t->run_topics[i].run * topics + t->run_topics[i].topic] = 1;
  for (size_t i = 0; i < t->run_n * topics; i++) {
    if (there[i]) continue;
    s->missing++;
    nd_str topic = nd_id_map_id(&t->topics, (uint32_t)(i % topics));
    if (!s->first_missing[0])
      snprintf(s->first_missing, sizeof s->first_missing, "%.100s, topic %.*s",
               /* untaken: short names only */
               nd_line_list_name(t->runs[i / topics].path), (int)(topic.n < 100 ? topic.n : 100),
               topic.p);
  }
  nd_free(there);
  return ND_OK;
}

static nd_status read_all(reader *r, const nd_prevalence_request *q, nd_error *err) {
  for (size_t i = 0; i < q->run_n; i++) {
    r->run = &r->trec->runs[i];
    r->name = nd_line_list_name(q->runs[i]);
    ND_TRY(read_run(r, err));
  }
  return q->qrels ? read_judgements(r, q->qrels, err) : ND_OK;
}

nd_status nd_trec_read(nd_trec *t, nd_prevalence_summary *s, const nd_prevalence_request *q,
                       const nd_hooks *hooks, nd_error *err) {
  *t = (nd_trec){.hooks = hooks};
  t->runs = nd_calloc(q->run_n + 1, sizeof *t->runs);
  if (!t->runs) return nd_fail_memory(err, (q->run_n + 1) * sizeof *t->runs);
  t->run_n = q->run_n;
  for (size_t i = 0; i < q->run_n; i++) t->runs[i].path = q->runs[i];
  reader r = {.trec = t, .summary = s};
  nd_status status = read_all(&r, q, err);
  nd_buf_clear(&r.id);
  ND_TRY(status);
  s->runs = t->run_n;
  s->topics = t->topics.n;
  s->run_topics = t->run_topic_n;
  s->documents = t->documents.n;
  return find_missing(t, s, err);
}
