/* Joins documents as sets or strings in memory; see setjoin.h.
 *
 * The join compares 64-bit fingerprints of shingles, so it misses no pair; the verifier, which
 * compares bytes, drops false ones. */
#include "find/setjoin.h"

#include <xxhash.h>

#include "base/clock.h"
#include "base/threads.h"
#include "feature/shingler.h"
#include "find/setjoin_work.h"
#include "join/edit_join.h"

enum { JOB_DOCUMENTS = 1 << 10 }; /* per job of a thread */

/* Scratch of a thread. */
typedef struct reader {
  nd_texts *texts;
  nd_buf text;
  nd_shingler shingler;
  nd_sampler sampler;
} reader;

static nd_status add_document(nd_setjoin_part *p, reader *r, const nd_setjoin *j, uint32_t document,
                              nd_error *err) {
  const nd_settings *s = j->source->settings;
  ND_TRY(nd_texts_get(&r->text, r->texts, document, err));
  nd_str text = nd_buf_str(&r->text);
  if (j->texts) {
    ND_TRY(nd_buf_append(&p->bytes, text.p, text.n, err));
  } else {
    nd_shingler *g = &r->shingler;
    ND_TRY(nd_shingler_run(g, text, s->shingle, s->options->seed, err));
    bool emptied;
    if (s->sample.on)
      ND_TRY(nd_sampler_run(&r->sampler, &emptied, &g->shingles, g->tokens,
                            XXH3_64bits(text.p, text.n), err));
    if (j->spill) ND_TRY(nd_shingler_sort(g, err)); /* records of blocks are sorted */
    ND_TRY(nd_buf_append(&p->bytes, g->shingles.fingerprint, g->shingles.n * 8, err));
  }
  ND_TRY(nd_array_grow(&p->end, &p->cap, p->n + 1, sizeof *p->end, err));
  p->end[p->n++] = p->bytes.n;
  return ND_OK;
}

typedef struct reading {
  nd_setjoin *join;
  nd_setjoin_take take;
  uint64_t bytes_at_once;
} reading;

static nd_status read_share(const reading *all, reader *r, nd_setjoin_part *p, uint64_t first,
                            uint64_t end, nd_error *err) {
  nd_setjoin *j = all->join;
  for (uint64_t i = first; i < end; i++) {
    ND_TRY(add_document(p, r, j, j->document[i], err));
    if (p->bytes.n < all->bytes_at_once && i + 1 < end) continue;
    ND_TRY(all->take(j, first, p, err));
    first = i + 1;
  }
  return ND_OK;
}

static nd_status read_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  const reading *all = context;
  nd_setjoin *j = all->join;
  (void)member;
  ND_TRY(nd_hooks_check(j->source->hooks, err));
  uint64_t end = (job + 1) * JOB_DOCUMENTS;
  if (end > j->n) end = j->n;
  nd_setjoin_part part = {0};
  reader r = {.sampler = {.sample = &j->source->settings->sample}};
  nd_status status = nd_texts_new(&r.texts, j->source, err);
  if (status == ND_OK) status = read_share(all, &r, &part, job * JOB_DOCUMENTS, end, err);
  nd_buf_clear(&part.bytes);
  nd_free(part.end);
  nd_texts_free(r.texts);
  nd_buf_clear(&r.text);
  nd_shingler_clear(&r.shingler);
  nd_sampler_clear(&r.sampler);
  return status;
}

nd_status nd_setjoin_read(nd_setjoin *j, nd_setjoin_take take, uint64_t bytes_at_once,
                          nd_error *err) {
  reading all = {j, take, bytes_at_once};
  uint64_t jobs = (j->n + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS;
  return nd_threads_run(j->source->settings->threads, jobs, read_job, &all, err);
}

/* Adds a pair of records to the candidates; `last` flushes the batch. */
static nd_status give(nd_setjoin *j, uint32_t x, uint32_t y, bool last, nd_error *err) {
  const nd_order *order = &j->found->order;
  uint32_t p = nd_order_position(order, j->joined[x]);
  uint32_t q = nd_order_position(order, j->joined[y]);
  j->out[j->out_n++] = (nd_item){nd_pair_ascending(p, q), ND_PAIR_FULL};
  if (!last && j->out_n < sizeof j->out / sizeof *j->out) return ND_OK;
  size_t n = j->out_n;
  j->out_n = 0;
  return nd_sorter_add(j->found->pairs, j->out, n, err);
}

static nd_status take_sets(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  for (size_t i = 0; i < n; i++) ND_TRY(give(context, pair[i].a, pair[i].b, i + 1 == n, err));
  return ND_OK;
}

static nd_status take_edits(void *context, const nd_edit_pair *pair, size_t n, nd_error *err) {
  for (size_t i = 0; i < n; i++) ND_TRY(give(context, pair[i].a, pair[i].b, i + 1 == n, err));
  return ND_OK;
}

/* Adds the counts of one batch to those of all. */
static void add_counts(nd_join_counts *to, const nd_join_counts *from) {
  to->given = 1;
  to->index_entries += from->index_entries;
  to->after_size += from->after_size;
  to->after_positional += from->after_positional;
  to->after_suffix += from->after_suffix;
  to->verified += from->verified;
  to->results += from->results;
  to->join_seconds += from->join_seconds;
}

static nd_status join_sets(nd_setjoin *j, nd_setjoin_batch *b, nd_error *err) {
  const nd_settings *s = j->source->settings;
  nd_join_options o = {.method = j->method,
                       .similarity = s->similarity,
                       .num = s->threshold.num,
                       .den = s->threshold.den,
                       .threads = s->threads,
                       .memory = nd_budget(j->memory, ND_SHARE_JOIN),
                       .split = b->split};
  nd_sets sets = {0};
  nd_join_stats stats = {0};
  nd_status status = nd_sets_build(&sets, (const uint64_t *)(const void *)b->bytes.p, b->begin,
                                   b->n, s->threads, err);
  nd_buf_clear(&b->bytes);
  if (status == ND_OK) status = nd_join_run(&sets, &o, take_sets, j, &stats, err);
  nd_sets_clear(&sets);
  if (!j->spill) { /* setjoin_blocks.c counts its records itself */
    j->found->join.records = stats.records;
    j->found->join.tokens = stats.tokens;
  }
  add_counts(&j->found->join, &(nd_join_counts){.index_entries = stats.index_entries,
                                                .after_size = stats.after_size,
                                                .after_positional = stats.after_positional,
                                                .after_suffix = stats.after_suffix,
                                                .verified = stats.verified,
                                                .results = stats.results,
                                                .join_seconds = stats.seconds});
  return status;
}

static nd_status join_texts(nd_setjoin *j, nd_setjoin_batch *b, nd_error *err) {
  const nd_settings *s = j->source->settings;
  nd_edit_options o = {.method = (nd_edit_method)j->method,
                       .tau = (uint32_t)s->threshold.num,
                       .q = s->shingle.kind == ND_SHINGLE_CHARS ? s->shingle.size : 0,
                       .threads = s->threads,
                       .memory = nd_budget(j->memory, ND_SHARE_JOIN),
                       .split = b->split};
  nd_edit_stats stats = {0};
  nd_status status =
      nd_edit_join((nd_edit_input){b->bytes.p, b->begin, b->n}, &o, take_edits, j, &stats, err);
  nd_buf_clear(&b->bytes);
  if (!j->spill) {
    j->found->join.records = stats.strings;
    j->found->join.tokens = stats.points;
  }
  add_counts(&j->found->join, &(nd_join_counts){.index_entries = stats.index_entries,
                                                .after_size = stats.candidates,
                                                .after_positional = stats.after_positional,
                                                .after_suffix = stats.after_suffix,
                                                .verified = stats.verified,
                                                .results = stats.results,
                                                .join_seconds = stats.join});
  return status;
}

nd_status nd_setjoin_run(nd_setjoin *j, nd_setjoin_batch *b, nd_error *err) {
  j->joined = b->document;
  j->found->join.joins++;
  return j->texts ? join_texts(j, b, err) : join_sets(j, b, err);
}

/* --- all in memory ---------------------------------------------------------------------------*/
typedef struct gathering {
  nd_setjoin join; /* first, because readers cast to it */
  nd_setjoin_part *part;
} gathering;

static nd_status keep_part(nd_setjoin *j, uint64_t first, nd_setjoin_part *p, nd_error *err) {
  (void)err;
  ((gathering *)j)->part[first / JOB_DOCUMENTS] = *p;
  *p = (nd_setjoin_part){0};
  return ND_OK;
}

/* Concatenates the parts. */
static nd_status gather(nd_setjoin_batch *b, gathering *g, uint64_t parts, nd_error *err) {
  const size_t unit = nd_setjoin_unit(&g->join);
  size_t total = 0;
  for (uint64_t i = 0; i < parts; i++) total += g->part[i].bytes.n;
  b->begin = nd_malloc(((size_t)b->n + 1) * sizeof *b->begin);
  if (!b->begin) return nd_fail_memory(err, ((size_t)b->n + 1) * sizeof *b->begin);
  ND_TRY(nd_buf_reserve(&b->bytes, total, err));
  size_t at = 0;
  b->begin[0] = 0;
  for (uint64_t i = 0; i < parts; i++) {
    nd_setjoin_part *p = &g->part[i];
    for (size_t k = 0; k < p->n; k++) b->begin[++at] = (b->bytes.n + p->end[k]) / unit;
    ND_TRY(nd_buf_append(&b->bytes, p->bytes.p, p->bytes.n, err));
    nd_buf_clear(&p->bytes);
  }
  return ND_OK;
}

static nd_status join_in_memory(gathering *g, nd_error *err) {
  nd_setjoin *j = &g->join;
  const uint64_t parts = (j->n + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS;
  nd_setjoin_batch b = {.document = j->document, .n = j->n, .split = j->split};
  g->part = nd_calloc(parts, sizeof *g->part);
  if (!g->part) return nd_fail_memory(err, parts * sizeof *g->part);
  nd_status status = nd_setjoin_read(j, keep_part, UINT64_MAX, err);
  if (status == ND_OK) status = gather(&b, g, parts, err);
  if (status == ND_OK) status = nd_setjoin_run(j, &b, err);
  nd_buf_clear(&b.bytes);
  nd_free(b.begin);
  for (uint64_t i = 0; i < parts; i++) {
    nd_buf_clear(&g->part[i].bytes);
    nd_free(g->part[i].end);
  }
  nd_free(g->part);
  return status;
}

/* Estimates the memory of a join of all documents. */
static uint64_t estimate(const nd_setjoin *j) {
  const nd_store *s = j->source->store;
  uint64_t units = j->texts ? 0 : nd_source_shingles(j->source);
  for (size_t i = 0; i < s->block_n && j->texts; i++) units += s->blocks[i].head.raw_bytes;
  return nd_setjoin_cost(j, units) + (uint64_t)j->n * ND_SETJOIN_RECORD;
}

static nd_status run(gathering *g, nd_error *err) {
  nd_setjoin *j = &g->join;
  j->began = nd_clock_now();
  const bool other = nd_source_has_other(j->source);
  uint64_t n = j->source->store->documents;
  const uint32_t *same = j->found->same;
  j->document = nd_malloc(n * sizeof *j->document);
  if (!j->document) return nd_fail_memory(err, n * sizeof *j->document);
  for (uint32_t d = 0; d < n; d++) {
    if (other && d == j->source->split) j->split = j->n;
    if (same[d] == d) j->document[j->n++] = d;
  }
  /* If one collection has nothing to compare, there is no pair. */
  if (other && (j->split == 0 || j->split == j->n)) return ND_OK;
  ND_TRY(estimate(j) <= j->memory ? join_in_memory(g, err) : nd_setjoin_blocks(j, err));
  nd_join_counts *c = &j->found->join;
  c->average = c->records ? (double)c->tokens / (double)c->records : 0;
  c->prepare_seconds = nd_clock_now() - j->began - c->join_seconds;
  return ND_OK;
}

nd_status nd_setjoin_pairs(nd_finder *f, nd_join_method method, nd_error *err) {
  gathering g = {.join = {.method = method,
                          .found = f->out,
                          .source = f->source,
                          .memory = f->memory,
                          .tmp = f->tmp,
                          .texts = f->settings->similarity->joined == ND_JOINED_EDITS}};
  nd_status status = run(&g, err);
  nd_free(g.join.document);
  return status;
}
