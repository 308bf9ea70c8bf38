/* Jobs with results in memory; see neardup/memory.h. */
#include <math.h>
#include <stdio.h>

#include "job/job.h"
#include "neardup/memory.h"
#include "result/best_pairs.h"
#include "result/lines.h"
#include "result/survivors.h"
#include "settings/method.h"
#include "store/workdir.h"

typedef struct collector {
  nd_run job;
  nd_options options;
  nd_result *result;
  nd_clusters clusters;
  uint32_t *number; /* document → text; NULL: the numbers are the same */
  size_t a_cap, b_cap, value_cap, rejection_cap;
  nd_buf strings;
} collector;

void nd_result_clear(nd_result *r) {
  nd_free(r->keep);
  nd_free(r->cluster);
  nd_free(r->similarity);
  nd_free(r->a);
  nd_free(r->b);
  nd_free(r->value);
  nd_free(r->rejections);
  nd_free(r->strings);
  nd_free(r->id_end);
  nd_free(r->ids);
  *r = (nd_result){.summary = r->summary};
}

static double value_of(const nd_similarity *kind, uint64_t value) {
  const nd_fraction f = nd_fraction_of(value);
  return kind->counts ? f.num : (double)f.num / (double)f.den;
}

static uint32_t number_of(const collector *c, uint32_t document) {
  return c->number ? c->number[document] : document;
}

/* Maps documents to texts: texts that are null or rejected have numbers, but are not documents. */
static nd_status number_documents(collector *c, nd_error *err) {
  const nd_store *s = &c->job.store;
  uint64_t n = nd_feed_texts(c->job.feed, 0);
  bool other = nd_source_has_other(&c->job.source);
  uint64_t all = n + (other ? nd_feed_texts(c->job.feed, 1) : 0);
  if (all >= UINT32_MAX)
    return nd_fail(err, ND_ERR_LIMIT, "more than 4,294,967,294 texts; split the input");
  c->result->n = n;
  if (all == s->documents) return ND_OK;
  c->number = nd_malloc(s->documents * sizeof *c->number);
  if (!c->number) return nd_fail_memory(err, s->documents * sizeof *c->number);
  for (size_t i = 0; i < s->block_n; i++) {
    const nd_block_ref *b = &s->blocks[i];
    uint64_t *place = nd_malloc(b->head.docs * sizeof *place);
    if (!place) return nd_fail_memory(err, b->head.docs * sizeof *place);
    nd_status status = nd_store_column(s, i, ND_COL_OFFSET, sizeof *place, place, err);
    for (uint32_t k = 0; k < b->head.docs && status == ND_OK; k++)
      c->number[b->first + k] = (uint32_t)(place[k] + (b->head.task ? n : 0));
    nd_free(place);
    ND_TRY(status);
  }
  return ND_OK;
}

static nd_status take_pair(void *context, uint32_t a, uint32_t b, uint64_t value, nd_error *err) {
  collector *c = context;
  nd_result *r = c->result;
  size_t n = r->pair_n + 1;
  ND_TRY(nd_array_grow(&r->a, &c->a_cap, n, sizeof *r->a, err));
  ND_TRY(nd_array_grow(&r->b, &c->b_cap, n, sizeof *r->b, err));
  ND_TRY(nd_array_grow(&r->value, &c->value_cap, n, sizeof *r->value, err));
  r->a[n - 1] = number_of(c, a);
  r->b[n - 1] = number_of(c, b);
  r->value[n - 1] = value_of(c->job.settings.similarity, value);
  r->pair_n = n;
  return ND_OK;
}

static nd_status take_reject(void *context, const nd_reject *reject, nd_error *err) {
  collector *c = context;
  nd_result *r = c->result;
  nd_rejection out = {.text = UINT64_MAX, .place = c->strings.n};
  ND_TRY(nd_array_grow(&r->rejections, &c->rejection_cap, r->rejection_n + 1, sizeof *r->rejections,
                       err));
  if (c->job.walk.n == 0 && reject->block != SIZE_MAX)
    out.text = reject->offset + (reject->file ? r->n : 0);
  else if (reject->block == SIZE_MAX)
    ND_TRY(nd_buf_append(&c->strings, reject->path, strlen(reject->path), err));
  else
    ND_TRY(nd_ids_location(&c->strings, c->job.ids, reject->block, reject->file, reject->line,
                           reject->offset, err));
  ND_TRY(nd_buf_append(&c->strings, "", 1, err));
  out.reason = c->strings.n;
  ND_TRY(nd_buf_append(&c->strings, reject->reason.p, reject->reason.n, err));
  ND_TRY(nd_buf_append(&c->strings, "", 1, err));
  r->rejections[r->rejection_n++] = out;
  return ND_OK;
}

static nd_status list_ids(collector *c, nd_error *err) {
  nd_result *r = c->result;
  nd_buf ids = {0};
  r->id_end = nd_malloc((r->n + 1) * sizeof *r->id_end);
  if (!r->id_end) return nd_fail_memory(err, (r->n + 1) * sizeof *r->id_end);
  r->id_end[0] = 0;
  nd_status status = ND_OK;
  for (uint64_t d = 0; d < r->n && status == ND_OK; d++) {
    status = nd_ids_append(&ids, c->job.ids, (uint32_t)d, err);
    r->id_end[d + 1] = ids.n;
  }
  r->ids = ids.p;
  return status;
}

static nd_status list_clusters(collector *c, nd_error *err) {
  nd_result *r = c->result;
  nd_summary *s = c->job.summary;
  const nd_similarity *kind = c->job.settings.similarity;
  size_t bytes = (size_t)(r->n + 7) / 8;
  /* Arrow requires units of 64 bytes; padding bits are 0. */
  r->keep = nd_calloc((bytes + 63) / 64 * 64 + 64, 1);
  r->cluster = nd_malloc((r->n + 1) * sizeof *r->cluster);
  r->similarity = nd_malloc((r->n + 1) * sizeof *r->similarity);
  if (!r->keep || !r->cluster || !r->similarity) return nd_fail_memory(err, r->n * 13);
  for (uint64_t i = 0; i < r->n; i++) {
    r->keep[i >> 3] |= (uint8_t)(1 << (i & 7));
    r->cluster[i] = (uint32_t)i;
    r->similarity[i] = value_of(kind, nd_similarity_of_copies(kind));
  }
  uint32_t *size;
  ND_TRY(nd_survivors_count(&size, s, &c->clusters, err));
  nd_free(size);
  for (uint32_t d = 0; d < c->clusters.n; d++) {
    uint32_t centre = c->clusters.centre[d], i = number_of(c, d);
    if (centre == d) continue; /* always so for the reference collection */
    r->keep[i >> 3] &= (uint8_t) ~(1 << (i & 7));
    r->cluster[i] = number_of(c, centre);
    r->similarity[i] = value_of(kind, c->clusters.value[d]);
  }
  for (uint64_t k = 0; k < r->rejection_n; k++) {
    uint64_t i = r->rejections[k].text;
    if (i < r->n) r->keep[i >> 3] &= (uint8_t) ~(1 << (i & 7));
  }
  return ND_OK;
}

static nd_status plan(collector *c, const nd_corpus *corpus, const char *work, nd_error *err) {
  nd_run *j = &c->job;
  if (corpus->texts) {
    const nd_format *format = j->settings.format ? j->settings.format : &nd_format_memory;
    j->walk.inputs = 1; /* the first task; the second is the reference collection */
    ND_TRY(nd_feed_of_memory(&j->feed, corpus, format, &j->settings.input, err));
    j->summary->bytes = nd_feed_bytes(j->feed);
    return ND_OK;
  }
  char *spool = NULL;
  ND_TRY(nd_path_join(&spool, work, "stdin", err));
  nd_status status = nd_job_input(j, corpus->files, corpus->file_n, NULL, spool, err);
  nd_free(spool);
  return status;
}

static nd_status run(collector *c, const nd_corpus *corpus, bool dedup, const char *work,
                     nd_error *err) {
  nd_run *j = &c->job;
  nd_result *r = c->result;
  if (dedup && j->settings.every_pair) { /* applies to listing only; see dedup.c */
    j->settings.every_pair = false;
    j->settings.threshold = j->options->threshold;
    if (j->settings.threshold.num == 0)
      return nd_fail(err, ND_ERR_USAGE, "--threshold 0 is out of range: above 0, at most 1");
  }
  ND_TRY(plan(c, corpus, work, err));
  ND_TRY(nd_job_read(j, work, err));
  ND_TRY(nd_job_match(j, work, err));
  r->n = j->source.split;
  if (corpus->texts) ND_TRY(number_documents(c, err));
  ND_TRY(nd_run_rejects(j, take_reject, c, err));
  nd_lines lines = {.take = take_pair, .context = c};
  if (dedup) {
    ND_TRY(nd_survivors(&c->clusters, j, work, err));
    ND_TRY(list_clusters(c, err));
    ND_TRY(nd_lines_pairs_collapsed(&lines, j, err));
  } else {
    if (j->options->top) ND_TRY(nd_best_pairs(j, (uint32_t)j->options->top, work, err));
    if (j->options->collapse)
      ND_TRY(nd_lines_pairs_collapsed(&lines, j, err));
    else
      ND_TRY(nd_lines_pairs_all(&lines, j, work, err));
  }
  if (!corpus->texts) ND_TRY(list_ids(c, err));
  nd_summary *s = j->summary;
  s->against_documents = j->store.documents - j->source.split;
  s->documents -= s->against_documents;
  s->kept = j->source.split - s->dropped;
  s->write_seconds = nd_job_lap(j);
  return ND_OK;
}

static nd_status check(const nd_corpus *corpus, const nd_options *o, nd_error *err) {
  if (!corpus->texts && corpus->file_n == 0)
    return nd_fail(err, ND_ERR_USAGE, "no input given; name texts, files or directories");
  if (o->shard[0])
    return nd_fail(err, ND_ERR_USAGE, "--shard needs an output directory, which shards share");
  if (o->csv)
    return nd_fail(err, ND_ERR_USAGE,
                   "--csv applies to lists that are written to files; leave it out");
  if (!corpus->texts) return ND_OK;
  if (o->against[0])
    return nd_fail(err, ND_ERR_USAGE,
                   "cannot compare texts in memory with files of --against; read the files");
  bool facts = corpus->texts->next || corpus->texts->facts;
  bool wants = strcmp(o->keep, "oldest") == 0 || strcmp(o->keep, "newest") == 0 ||
               strcmp(o->keep, "url") == 0 || strncmp(o->keep, "field:", 6) == 0;
  if (wants && !facts)
    return nd_fail(err, ND_ERR_USAGE, "--keep %s needs a value for every text", o->keep);
  return ND_OK;
}

/* Refuses sketches of URLs: all sites would be unknown. */
static nd_status check_row(const nd_settings *s, nd_error *err) {
  for (unsigned i = 0; i < s->row.n; i++) {
    if (s->row.part[i].sketch->from != ND_FROM_URL) continue;
    return nd_fail(err, ND_ERR_USAGE,
                   "cannot tell the sites of texts in memory, which have no URLs; use files, or "
                   "methods and columns without sites");
  }
  return ND_OK;
}

static nd_status work_memory(nd_result *result, const nd_corpus *corpus, const nd_options *options,
                             bool dedup, const nd_hooks *hooks, nd_error *err) {
  collector c = {.options = *options, .result = result};
  char *work = NULL;
  *result = (nd_result){0};
  nd_status status = check(corpus, options, err);
  /* A non-empty --against tells the other modules that there is a reference collection. */
  if (status == ND_OK && corpus->texts && corpus->against)
    snprintf(c.options.against, sizeof c.options.against, "texts in memory");
  if (status != ND_OK) return status;
  status = nd_job_open(&c.job, &result->summary, &c.options, hooks, err);
  if (status == ND_OK && corpus->texts) status = check_row(&c.job.settings, err);
  if (status == ND_OK) status = nd_workdir_private(&work, options->tmp, err);
  if (status == ND_OK) status = run(&c, corpus, dedup, work, err);
  nd_job_finish(&c.job);
  nd_clusters_clear(&c.clusters);
  nd_job_close(&c.job);
  nd_free(c.number);
  result->strings = c.strings.p;
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  if (status != ND_OK) nd_result_clear(result);
  return status;
}

nd_status nd_dedup_memory(nd_result *out, const nd_corpus *corpus, const nd_options *options,
                          const nd_hooks *hooks, nd_error *err) {
  return work_memory(out, corpus, options, true, hooks, err);
}

nd_status nd_pairs_memory(nd_result *out, const nd_corpus *corpus, const nd_options *options,
                          const nd_hooks *hooks, nd_error *err) {
  return work_memory(out, corpus, options, false, hooks, err);
}
