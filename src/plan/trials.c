/* Classes of shingles per document and per pair; see trials.h.
 *
 *   1  (key, record) of every record's distinct shingles, partitioned by key (scatter.h)
 *   2  each partition → runs of equal keys → the class of each, added to its records' cells
 *   3  again, and the records of each run go to the lists (trial_lists.h), which count pairs.
 *      If the lists do not fit into memory, the pairs are split into squares: pairs within one
 *      half of the records, within the other, and across, each split again as needed
 *
 * The class of a shingle in 12 bits:
 *
 *   0 … 4   key modulo 32
 *   5 … 7   how many of 64, 128, 256, 512 divide the key
 *   8 … 11  the first level that lets it pass; ND_TRIAL_LEVELS: none */
#include "plan/trials.h"

#include <stdatomic.h>

#include "base/threads.h"
#include "candidate/scatter.h"
#include "feature/shingler.h"
#include "plan/trial_lists.h"

enum { JOB_RECORDS = 1 << 8, PART_ITEMS = 1 << 16, LEAST_BITS = 4, MOST_BITS = 10 };

/* --- step 1 --- */

typedef struct lister {
  nd_texts *texts;
  nd_buf text;
  nd_shingler shingler;
  nd_item *items;
  size_t item_cap;
} lister;

static nd_status list_record(nd_trials *t, lister *l, uint32_t record, nd_error *err) {
  const nd_settings *s = t->source->settings;
  nd_shingler *g = &l->shingler;
  ND_TRY(nd_texts_get(&l->text, l->texts, t->document[record], err));
  ND_TRY(nd_shingler_run(g, nd_buf_str(&l->text), s->shingle, s->options->seed, err));
  ND_TRY(nd_shingler_keys(g, err));
  t->tokens[record] = (uint32_t)g->tokens;
  ND_TRY(nd_array_grow(&l->items, &l->item_cap, g->keys, sizeof *l->items, err));
  for (size_t i = 0; i < g->keys; i++) l->items[i] = (nd_item){g->key[i], record};
  return nd_scatter_add(t->shingles, l->items, g->keys, err);
}

static nd_status list_records(void *context, unsigned member, uint64_t job, nd_error *err) {
  nd_trials *t = context;
  (void)member;
  ND_TRY(nd_hooks_check(t->source->hooks, err));
  uint64_t end = (job + 1) * JOB_RECORDS;
  if (end > t->n) end = t->n;
  lister l = {0};
  nd_status status = nd_texts_new(&l.texts, t->source, err);
  for (uint64_t r = job * JOB_RECORDS; r < end && status == ND_OK; r++)
    status = list_record(t, &l, (uint32_t)r, err);
  nd_texts_free(l.texts);
  nd_buf_clear(&l.text);
  nd_shingler_clear(&l.shingler);
  nd_free(l.items);
  return status;
}

/* --- steps 2 and 3 --- */

static unsigned class_of(uint64_t key, size_t df) {
  unsigned deep = 0;
  while (deep < ND_TRIAL_DEEP && (key & ((UINT64_C(64) << deep) - 1)) == 0) deep++;
  size_t level = (df - 1) / ND_TRIAL_LEVEL_STEP;
  if (level > ND_TRIAL_LEVELS) level = ND_TRIAL_LEVELS;
  return (unsigned)(key % ND_TRIAL_RESIDUES) | deep << 5 | (unsigned)level << 8;
}

/* Lists the cells that count a class; returns their number. */
static unsigned cells_of(unsigned cell[2 + ND_TRIAL_DEEP], unsigned class) {
  unsigned n = 0, level = class >> 8;
  cell[n++] = class % ND_TRIAL_RESIDUES;
  for (unsigned d = 0; d < (class >> 5 & 7); d++) cell[n++] = ND_TRIAL_RESIDUES + d;
  if (level < ND_TRIAL_LEVELS) cell[n++] = ND_TRIAL_RESIDUES + ND_TRIAL_DEEP + level;
  return n;
}

/* Working memory of one thread that scans the runs of a partition. */
typedef struct walker {
  nd_gathered items;
  uint32_t *record;
  uint64_t *value, *scratch;
  size_t record_cap, value_cap, scratch_cap;
  uint64_t given, given_of[ND_TRIAL_CELLS];
} walker;

/* Pairs of a record in one range and a later record in another; the ranges are equal or disjoint.
 */
typedef struct square {
  uint32_t a, a_end, b, b_end;
} square;

/* A scan of all runs, to count cells (no lists) or to fill the lists for a square. */
typedef struct walk {
  nd_trials *t;
  walker *walker; /* per thread */
  nd_trial_lists *lists;
  square at;
  uint64_t fit;      /* items of a partition that fit into memory */
  _Atomic bool full; /* the lists are full */
} walk;

static nd_status take_run(walk *k, walker *w, uint64_t key, const nd_item *items, size_t n,
                          nd_error *err) {
  nd_trials *t = k->t;
  const unsigned class = class_of(key, n);
  if (!k->lists) {
    unsigned cell[2 + ND_TRIAL_DEEP], cells = cells_of(cell, class);
    const uint64_t pairs = (uint64_t)n * (n - 1) / 2;
    w->given += pairs;
    for (unsigned c = 0; c < cells; c++) {
      w->given_of[cell[c]] += pairs;
      for (size_t i = 0; i < n; i++)
        __atomic_fetch_add(&t->cell[(size_t)items[i].value * ND_TRIAL_CELLS + cell[c]], 1,
                           __ATOMIC_RELAXED);
    }
    return ND_OK;
  }
  if (n < 2) return ND_OK;
  ND_TRY(nd_array_grow(&w->value, &w->value_cap, n, sizeof *w->value, err));
  ND_TRY(nd_array_grow(&w->record, &w->record_cap, n, sizeof *w->record, err));
  ND_TRY(nd_array_grow(&w->scratch, &w->scratch_cap, n, sizeof *w->scratch, err));
  bool rises = true;
  for (size_t i = 0; i < n; i++) {
    w->value[i] = items[i].value;
    rises &= i == 0 || items[i - 1].value < items[i].value;
  }
  if (!rises) nd_radix_u64(w->value, w->scratch, n);
  /* Keeps only the records of the list that the square needs. */
  const square q = k->at;
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    const uint32_t r = (uint32_t)w->value[i];
    if ((r >= q.a && r < q.a_end) || (r >= q.b && r < q.b_end)) w->record[kept++] = r;
  }
  if (kept < 2 || w->record[0] >= q.a_end || w->record[kept - 1] < q.b) return ND_OK;
  bool full;
  ND_TRY(nd_trial_lists_add(&full, k->lists, w->record, kept, class, err));
  if (full) k->full = true;
  return ND_OK;
}

static nd_status walk_part(void *context, unsigned member, uint64_t job, nd_error *err) {
  walk *k = context;
  walker *w = &k->walker[member];
  ND_TRY(nd_hooks_check(k->t->source->hooks, err));
  const uint64_t count = nd_scatter_count(k->t->shingles, (uint32_t)job);
  unsigned slice_bits = 0;
  while (count >> slice_bits > k->fit) slice_bits++;
  for (uint32_t slice = 0; slice >> slice_bits == 0; slice++) {
    if (k->full) return ND_OK;
    ND_TRY(nd_scatter_take(&w->items, k->t->shingles, (uint32_t)job, slice, slice_bits, err));
    const nd_item *items = w->items.items;
    for (size_t i = 0, end; i < w->items.n; i = end) {
      for (end = i + 1; end < w->items.n && items[end].key == items[i].key;) end++;
      ND_TRY(take_run(k, w, items[i].key, items + i, end - i, err));
    }
  }
  return ND_OK;
}

static nd_status walk_all(walk *k, nd_error *err) {
  const unsigned threads = k->t->source->settings->threads;
  nd_trials *t = k->t;
  k->fit = nd_budget(t->memory, ND_SHARE_EXACT_SLICES) / threads / (2 * sizeof(nd_item));
  if (k->fit < PART_ITEMS) k->fit = PART_ITEMS;
  k->walker = nd_calloc(threads, sizeof *k->walker);
  if (!k->walker) return nd_fail_memory(err, threads * sizeof *k->walker);
  nd_status status = nd_threads_run(threads, UINT64_C(1) << t->bits, walk_part, k, err);
  for (unsigned i = 0; i < threads; i++) {
    walker *w = &k->walker[i];
    t->given += w->given;
    for (unsigned c = 0; c < ND_TRIAL_CELLS; c++) t->given_of[c] += w->given_of[c];
    nd_gathered_clear(&w->items);
    nd_free(w->record);
    nd_free(w->value);
    nd_free(w->scratch);
  }
  nd_free(k->walker);
  k->walker = NULL;
  return status;
}

nd_status nd_trials_make(nd_trials *out, const nd_text_source *source, const uint32_t *document,
                         uint32_t n, uint64_t memory, const char *tmp, nd_error *err) {
  *out = (nd_trials){.n = n, .memory = memory, .source = source, .most_work = ND_TRIAL_MOST_WORK};
  const uint64_t cells = (uint64_t)n * (ND_TRIAL_CELLS + 2) * sizeof *out->cell;
  if (cells > nd_budget(memory, ND_SHARE_TRIAL_LISTS))
    return nd_fail(
        err, ND_ERR_LIMIT,
        "cannot run trials on %u documents: they need %llu MiB besides the sorting; raise "
        "--memory or use fewer documents",
        n, (unsigned long long)(cells >> 20));
  out->document = nd_malloc((n + (size_t)1) * sizeof *out->document);
  out->tokens = nd_calloc(n + (size_t)1, sizeof *out->tokens);
  out->cell = nd_calloc(n + (size_t)1, ND_TRIAL_CELLS * sizeof *out->cell);
  if (!out->document || !out->tokens || !out->cell) return nd_fail_memory(err, cells);
  if (n) memcpy(out->document, document, n * sizeof *document);
  const uint64_t items = nd_source_shingles(source);
  for (out->bits = LEAST_BITS; out->bits < MOST_BITS && items >> out->bits > PART_ITEMS;)
    out->bits++;
  ND_TRY(
      nd_scatter_new(&out->shingles, out->bits, nd_budget(memory, ND_SHARE_TRIAL_ITEMS), tmp, err));
  ND_TRY(nd_threads_run(source->settings->threads, ((uint64_t)n + JOB_RECORDS - 1) / JOB_RECORDS,
                        list_records, out, err));
  walk k = {.t = out};
  return walk_all(&k, err);
}

void nd_trials_clear(nd_trials *t) {
  nd_free(t->document);
  nd_free(t->tokens);
  nd_free(t->cell);
  nd_scatter_free(t->shingles);
  *t = (nd_trials){0};
}

/* Splits a square that is too large; its parts replace it on the stack. */
static unsigned cut(square out[3], square q) {
  if (q.a == q.b) {
    const uint32_t middle = q.a + (q.a_end - q.a) / 2;
    out[0] = (square){q.a, middle, q.a, middle};
    out[1] = (square){middle, q.a_end, middle, q.a_end};
    out[2] = (square){q.a, middle, middle, q.a_end};
    return 3;
  }
  out[0] = out[1] = q;
  if (q.a_end - q.a > q.b_end - q.b)
    out[0].a_end = out[1].a = q.a + (q.a_end - q.a) / 2;
  else
    out[0].b_end = out[1].b = q.b + (q.b_end - q.b) / 2;
  return 2;
}

nd_status nd_trials_each(nd_trials *t, nd_trials_take each, void *context, nd_error *err) {
  enum { DEPTH = 3 * 66 };
  square stack[DEPTH];
  unsigned depth = 0;
  uint64_t work = 0;
  walk k = {.t = t};
  ND_TRY(nd_trial_lists_new(&k.lists, t->n, t->source->settings->threads,
                            nd_budget(t->memory, ND_SHARE_TRIAL_LISTS), err));
  nd_status status = ND_OK;
  if (t->n > 1) stack[depth++] = (square){0, t->n, 0, t->n};
  while (depth && status == ND_OK) {
    k.at = stack[--depth];
    k.full = false;
    status = walk_all(&k, err);
    if (status == ND_OK && work + nd_trial_lists_work(k.lists) > t->most_work)
      status =
          nd_fail(err, ND_ERR_LIMIT,
                  "cannot count pairs: shingles of many documents give more than %llu billion; use "
                  "a part of the corpus, or --ignore-boilerplate",
                  (unsigned long long)(t->most_work / 1000000000));
    if (status == ND_OK && !k.full) {
      work += nd_trial_lists_work(k.lists);
      status = nd_trial_lists_count(k.lists, k.at.a, k.at.a_end, k.at.b, each, context, err);
    } else if (status == ND_OK) {
      nd_trial_lists_clear(k.lists);
      depth += cut(stack + depth, k.at);
    }
  }
  nd_trial_lists_free(k.lists);
  return status;
}
