/* Classes of shingles per document and per pair; see trials.h.
 *
 *   1  (key, record) of every record's distinct shingles → sort
 *   2  a run of equal keys → its class, added to each of its records' cells, and
 *      (pair, class) for every pair of them → sort
 *   3  equal pairs are neighbours: their classes are added up when read
 *
 * The class of a shingle in 12 bits:
 *
 *   0 … 4   key modulo 32
 *   5 … 7   of 64, 128, 256, 512 how many divide the key
 *   8 … 11  the first level that lets it pass; ND_TRIAL_LEVELS: none */
#include "pipeline/trials.h"

#include "base/threads.h"
#include "text/words.h"

enum { JOB_RECORDS = 1 << 10, ROOM = 1 << 12, BATCH = 1 << 10 };
static const uint64_t most_pairs = UINT64_C(1000000000); /* 16 GB on disk */

typedef struct maker {
  nd_trials *out;
  const nd_text_source *source;
  nd_sorter *shingles;
} maker;

static nd_status add_record(maker *m, nd_texts *texts, nd_buf *text, nd_shingles *shingles,
                            uint32_t **end, size_t *cap, uint32_t record, nd_error *err) {
  const nd_settings *s = m->source->settings;
  size_t count;
  ND_TRY(nd_texts_get(text, texts, m->out->document[record], err));
  ND_TRY(nd_token_ends(end, &count, cap, nd_buf_str(text), err));
  ND_TRY(nd_shingle_make(shingles, nd_buf_str(text), *end, count, s->shingle, s->options->seed,
                         false, err));
  m->out->tokens[record] = (uint32_t)count;
  nd_item items[512];
  size_t n = 0;
  for (size_t i = 0; i < shingles->n; i++) {
    items[n++] = (nd_item){nd_sample_key(shingles->fingerprint[i]), record};
    if (n < sizeof items / sizeof *items && i + 1 < shingles->n) continue;
    ND_TRY(nd_sorter_add(m->shingles, items, n, err));
    n = 0;
  }
  return ND_OK;
}

static nd_status add_records(void *context, unsigned member, uint64_t job, nd_error *err) {
  maker *m = context;
  (void)member;
  ND_TRY(nd_hooks_check(m->source->hooks, err));
  uint64_t end = (job + 1) * JOB_RECORDS;
  if (end > m->out->n) end = m->out->n;
  nd_texts *texts = NULL;
  nd_buf text = {0};
  nd_shingles shingles = {0};
  uint32_t *ends = NULL;
  size_t cap = 0;
  nd_status status = nd_texts_new(&texts, m->source, err);
  for (uint64_t r = job * JOB_RECORDS; r < end && status == ND_OK; r++)
    status = add_record(m, texts, &text, &shingles, &ends, &cap, (uint32_t)r, err);
  nd_texts_free(texts);
  nd_buf_clear(&text);
  nd_shingles_clear(&shingles);
  nd_free(ends);
  return status;
}

static unsigned class_of(uint64_t key, size_t df) {
  unsigned deep = 0;
  while (deep < ND_TRIAL_DEEP && (key & ((UINT64_C(64) << deep) - 1)) == 0) deep++;
  size_t level = (df - 1) / ND_TRIAL_LEVEL_STEP;
  if (level > ND_TRIAL_LEVELS) level = ND_TRIAL_LEVELS;
  return (unsigned)(key % ND_TRIAL_RESIDUES) | deep << 5 | (unsigned)level << 8;
}

ND_INLINE void count_class(uint32_t *cell, unsigned class) {
  unsigned level = class >> 8;
  cell[class % ND_TRIAL_RESIDUES]++;
  for (unsigned d = 0; d < (class >> 5 & 7); d++) cell[ND_TRIAL_RESIDUES + d]++;
  if (level < ND_TRIAL_LEVELS) cell[ND_TRIAL_RESIDUES + ND_TRIAL_DEEP + level]++;
}

/* The records of one shingle, and pairs on their way out. */
typedef struct run_of {
  uint32_t *record;
  size_t n, cap;
  nd_item out[ROOM];
  size_t out_n;
} run_of;

static nd_status give_run(maker *m, run_of *r, uint64_t key, nd_error *err) {
  nd_trials *t = m->out;
  if (r->n == 0) return ND_OK;
  unsigned class = class_of(key, r->n);
  uint64_t pairs = (uint64_t)r->n * (r->n - 1) / 2;
  t->given += pairs;
  if (t->given > most_pairs)
    return nd_fail(err, ND_ERR_LIMIT,
                   "shingles that many documents have give more than %llu million pairs to count "
                   "(16 bytes each); take a part of the corpus, or --ignore-boilerplate",
                   (unsigned long long)(most_pairs / 1000000));
  uint32_t once[ND_TRIAL_CELLS] = {0};
  count_class(once, class);
  for (unsigned i = 0; i < ND_TRIAL_CELLS; i++) t->given_of[i] += once[i] * pairs;
  for (size_t i = 0; i < r->n; i++) {
    count_class(t->cell + (size_t)r->record[i] * ND_TRIAL_CELLS, class);
    for (size_t j = i + 1; j < r->n; j++) {
      r->out[r->out_n++] = (nd_item){(uint64_t)r->record[i] << 32 | r->record[j], class};
      if (r->out_n < ROOM) continue;
      r->out_n = 0;
      ND_TRY(nd_sorter_add(t->pairs, r->out, ROOM, err));
    }
    if ((i & 1023) == 1023) ND_TRY(nd_hooks_check(m->source->hooks, err));
  }
  r->n = 0;
  return ND_OK;
}

static nd_status expand_runs(maker *m, run_of *r, nd_item *items, nd_error *err) {
  uint64_t key = 0;
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, ROOM, m->shingles, err));
    if (n == 0) break;
    for (size_t i = 0; i < n; i++) {
      if (items[i].key != key) {
        ND_TRY(give_run(m, r, key, err));
        key = items[i].key;
      }
      /* A record's repeated shingles are neighbours. */
      if (r->n && r->record[r->n - 1] == items[i].value) continue;
      ND_TRY(nd_array_grow(&r->record, &r->cap, r->n + 1, sizeof *r->record, err));
      r->record[r->n++] = (uint32_t)items[i].value;
    }
  }
  ND_TRY(give_run(m, r, key, err));
  return nd_sorter_add(m->out->pairs, r->out, r->out_n, err);
}

static nd_status make(maker *m, uint64_t memory, const char *tmp, nd_error *err) {
  nd_trials *t = m->out;
  const nd_settings *s = m->source->settings;
  ND_TRY(nd_sorter_new(&m->shingles, memory / 2, tmp, false, err));
  nd_sorter_by_value(m->shingles);
  uint64_t jobs = ((uint64_t)t->n + JOB_RECORDS - 1) / JOB_RECORDS;
  ND_TRY(nd_threads_run(s->threads, jobs, add_records, m, err));
  ND_TRY(nd_sorter_finish(m->shingles, err));
  ND_TRY(nd_sorter_new(&t->pairs, memory / 2, tmp, false, err));
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  run_of *run = nd_calloc(1, sizeof *run);
  nd_status status = items && run ? ND_OK : nd_fail_memory(err, sizeof *run);
  if (status == ND_OK) status = expand_runs(m, run, items, err);
  nd_free(items);
  if (run) nd_free(run->record);
  nd_free(run);
  nd_sorter_free(m->shingles);
  m->shingles = NULL;
  ND_TRY(status);
  return nd_sorter_finish(t->pairs, err);
}

nd_status nd_trials_make(nd_trials *out, const nd_text_source *source, const uint32_t *document,
                         uint32_t n, uint64_t memory, const char *tmp, nd_error *err) {
  *out = (nd_trials){.n = n};
  uint64_t cells = (uint64_t)n * (ND_TRIAL_CELLS + 2) * sizeof *out->cell;
  if (cells > memory)
    return nd_fail(err, ND_ERR_LIMIT,
                   "trials on %u documents need %llu MB beside the sorting; give more --memory, or "
                   "fewer documents",
                   n, (unsigned long long)(cells >> 20));
  out->document = nd_malloc((n + (size_t)1) * sizeof *out->document);
  out->tokens = nd_calloc(n + (size_t)1, sizeof *out->tokens);
  out->cell = nd_calloc(n + (size_t)1, ND_TRIAL_CELLS * sizeof *out->cell);
  if (!out->document || !out->tokens || !out->cell) return nd_fail_memory(err, cells);
  if (n) memcpy(out->document, document, n * sizeof *document);
  maker m = {.out = out, .source = source};
  nd_status status = make(&m, memory, tmp, err);
  nd_sorter_free(m.shingles);
  return status;
}

void nd_trials_clear(nd_trials *t) {
  nd_free(t->document);
  nd_free(t->tokens);
  nd_free(t->cell);
  nd_sorter_free(t->pairs);
  *t = (nd_trials){0};
}

static nd_status each_pair(nd_trials *t, nd_item *items, nd_trial_pair *batch, nd_trials_take each,
                           void *context, nd_error *err) {
  size_t filled = 0; /* the last of them is not complete yet */
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, ROOM, t->pairs, err));
    if (n == 0) break;
    for (size_t i = 0; i < n; i++) {
      uint32_t a = (uint32_t)(items[i].key >> 32), b = (uint32_t)items[i].key;
      if (!filled || batch[filled - 1].a != a || batch[filled - 1].b != b) {
        if (filled == BATCH) {
          ND_TRY(each(context, batch, filled, err));
          filled = 0;
        }
        batch[filled++] = (nd_trial_pair){.a = a, .b = b};
      }
      count_class(batch[filled - 1].cell, (unsigned)items[i].value);
    }
  }
  return filled ? each(context, batch, filled, err) : ND_OK;
}

nd_status nd_trials_each(nd_trials *t, nd_trials_take each, void *context, nd_error *err) {
  ND_TRY(nd_sorter_rewind(t->pairs, err));
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  nd_trial_pair *batch = nd_malloc(BATCH * sizeof *batch);
  nd_status status = items && batch ? ND_OK : nd_fail_memory(err, BATCH * sizeof *batch);
  if (status == ND_OK) status = each_pair(t, items, batch, each, context, err);
  nd_free(items);
  nd_free(batch);
  return status;
}
