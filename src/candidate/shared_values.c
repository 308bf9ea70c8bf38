/* Pairs of documents that share values; see shared_values.h. */
#include "candidate/shared_values.h"

#include "base/threads.h"
#include "candidate/flat_table.h"
#include "sketch/supershingle.h"

uint64_t nd_rows_value(const void *rows, uint64_t row, uint32_t place) {
  const nd_rows *r = rows;
  return r->values[row * r->places + place];
}

uint64_t nd_rows_mega(const void *rows, uint64_t row, uint32_t place) {
  const nd_rows *r = rows;
  return nd_mega(r->values + row * r->places, r->places, place);
}

uint32_t nd_rows_agree(const nd_rows *rows, uint64_t a, uint64_t b) {
  return nd_super_agree(rows->values + a * rows->places, rows->values + b * rows->places,
                        rows->places);
}

enum { BATCH = 1 << 12 }; /* pairs that are handed to the sorter at once */

/* A batch of pairs, per thread. */
typedef struct giver {
  nd_bucket_stats stats;
  size_t n;
  nd_item out[BATCH];
} giver;

typedef struct search {
  const nd_shared_request *request;
  nd_sorter *pairs;
  nd_flat table;
  uint32_t place;
  unsigned threads;
  giver *giver; /* one per thread */
} search;

static nd_status flush(const search *s, giver *g, nd_error *err) {
  size_t n = g->n;
  g->n = 0;
  return n ? nd_sorter_add(s->pairs, g->out, n, err) : ND_OK;
}

static nd_status give(const search *s, giver *g, uint32_t i, uint32_t j, nd_error *err) {
  const nd_shared_request *r = s->request;
  uint32_t a = r->number ? r->number[i] : i, b = r->number ? r->number[j] : j;
  if (r->split && (a >= r->split || b < r->split)) return ND_OK;
  g->stats.edges++;
  g->out[g->n++] = (nd_item){nd_pair_key(a, b), 1};
  return g->n == BATCH ? flush(s, g, err) : ND_OK;
}

/* Outputs the pairs of the rows that share a value, ascending. */
static nd_status give_run(const search *s, giver *g, const uint32_t *row, uint64_t n,
                          nd_error *err) {
  if (n < 2) return ND_OK;
  nd_bucket_stats *stats = &g->stats;
  stats->buckets++;
  if (n > stats->largest) stats->largest = n;
  bool hot = s->request->cap && n > s->request->cap;
  stats->hot += hot;
  stats->hot_documents += hot ? n : 0;
  for (uint64_t i = 0; i < (hot ? 1 : n); i++) {
    for (uint64_t j = i + 1; j < n; j++) ND_TRY(give(s, g, row[i], row[j], err));
  }
  return ND_OK;
}

static size_t values_of(uint64_t *key, uint32_t *row, const void *context, uint64_t first,
                        size_t count) {
  const search *s = context;
  const nd_shared_request *r = s->request;
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t value = r->value(r->context, first + i, s->place);
    if (value == UINT64_MAX) continue;
    key[n] = value;
    row[n++] = (uint32_t)(first + i);
  }
  return n;
}

static nd_status bucket_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  const search *s = context;
  const nd_flat *t = &s->table;
  uint64_t end = t->start[job + 1];
  /* untaken: asked in the middle of a search */
  if (s->request->check) ND_TRY(s->request->check(s->request->check_context, err));
  nd_flat_sort(t->key + t->start[job], t->row + t->start[job], (size_t)(end - t->start[job]));
  for (uint64_t i = t->start[job]; i < end;) {
    uint64_t j = i + 1;
    while (j < end && t->key[j] == t->key[i]) j++;
    ND_TRY(give_run(s, &s->giver[member], t->row + i, j - i, err));
    i = j;
  }
  return ND_OK;
}

static nd_status run(search *s, nd_error *err) {
  const nd_shared_request *r = s->request;
  nd_flat_hash hash = {~(uint64_t)0, 0x9e3779b97f4a7c15u};
  for (s->place = 0; s->place + r->needed <= r->places; s->place++) {
    ND_TRY(nd_flat_fill(&s->table, r->n, values_of, s, hash, s->threads, err));
    ND_TRY(nd_threads_run(s->threads, (uint64_t)1 << s->table.bits, bucket_job, s, err));
  }
  for (unsigned i = 0; i < s->threads; i++) ND_TRY(flush(s, &s->giver[i], err));
  return ND_OK;
}

nd_status nd_shared_pairs(nd_sorter *pairs, nd_bucket_stats *stats,
                          const nd_shared_request *request, nd_error *err) {
  *stats = (nd_bucket_stats){0};
  /* untaken: more than 2^31 things */
  if (request->needed < 1 || request->needed > request->places || request->n > UINT32_MAX)
    return nd_fail(err, ND_ERR_USAGE, "%u of %u values that must agree", request->needed,
                   request->places);
  if (request->n < 2) return ND_OK;
  search s = {
      .request = request, .pairs = pairs, .threads = request->threads ? request->threads : 1};
  s.giver = nd_calloc(s.threads, sizeof *s.giver);
  if (!s.giver) return nd_fail_memory(err, s.threads * sizeof *s.giver);
  nd_status status = nd_flat_init(&s.table, request->n, true, err);
  if (status == ND_OK) status = run(&s, err);
  for (unsigned i = 0; i < s.threads; i++) nd_bucket_stats_add(stats, &s.giver[i].stats);
  nd_flat_clear(&s.table);
  nd_free(s.giver);
  return status;
}
