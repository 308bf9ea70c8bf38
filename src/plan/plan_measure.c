/* Drawing a sample of documents, counting trials, choosing ratios; see plan_measure.h. */
#include "plan/plan_measure.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/threads.h"
#include "feature/shingler.h"
#include "store/workdir.h"

/* Size classes by tokens, in steps of √2: 0 … 15, 16 … 22, 23 … 31, … 32768 and more. */
static const uint64_t bounds[] = {16,   23,   32,   45,    64,    91,    128,   181,
                                  256,  362,  512,  724,   1024,  1448,  2048,  2896,
                                  4096, 5793, 8192, 11585, 16384, 23170, 32768, UINT64_MAX};
enum {
  BINS = sizeof bounds / sizeof *bounds,
  NEIGHBOURS = 32, /* in a large bucket, each document is compared with so many others */
  JOB_RECORDS = 256
};

/* Sums over the pairs of one bin, or of several; w is a pair's weight, h the share of trials
 * that find it. */
typedef struct evidence {
  double found[ND_PLAN_RATIOS], square[ND_PLAN_RATIOS]; /* Σ w h, Σ (w h)² */
  double right[ND_PLAN_RATIOS];                         /* Σ w h of true pairs */
  double truth;                                         /* Σ w of true pairs */
  double with_pairs;                                    /* documents with at least one pair */
  uint64_t documents, shingles;
} evidence;

/* The distinct shingles of a drawn document. */
typedef struct listed {
  uint32_t record; /* UINT32_MAX: none */
  size_t n, cap;
  uint64_t *key; /* ascending */
  uint32_t cell[ND_TRIAL_CELLS];
} listed;

/* Working memory of one thread that lists shingles. */
typedef struct lister {
  nd_texts *texts;
  nd_buf text;
  nd_shingler shingler;
} lister;

typedef struct chooser {
  const nd_text_source *source;
  nd_plan_facts *out;
  nd_decimal threshold;
  double drawn; /* share of the corpus that is drawn */
  evidence bin[BINS];
  uint32_t n;
  const uint32_t *document;    /* per record */
  uint32_t *tokens, *size;     /* per record: tokens, distinct shingles */
  uint32_t *all;               /* per record: all shingles, with repetitions */
  uint8_t *seen;               /* per record: it has been in a pair */
  listed near[NEIGHBOURS + 1]; /* the next documents of a bucket */
} chooser;

static unsigned find_bin(uint64_t tokens) {
  unsigned b = 0;
  while (tokens >= bounds[b]) b++; /* the last bound is UINT64_MAX */
  return b;
}

/* Adds one pair: its shingles by class, and the number of pairs of the corpus it represents. */
static void take_pair(chooser *c, const listed *a, const listed *b, const uint32_t *common,
                      double times) {
  const nd_decimal t = c->threshold;
  uint32_t x[ND_TRIAL_SUMS], y[ND_TRIAL_SUMS], z[ND_TRIAL_SUMS];
  nd_trials_sum(x, a->cell);
  nd_trials_sum(y, b->cell);
  nd_trials_sum(z, common);
  uint64_t joint = (uint64_t)x[0] + y[0] - z[0];
  /* untaken: input that changes between two readings */
  if (z[0] == 0) return; /* equal MinHash values, but no common shingle on this reading */
  double r = (double)z[0] / (double)joint, weight = times / (c->drawn * r);
  c->out->similar[(uint64_t)z[0] * 100 / joint] += weight;
  bool right = (unsigned __int128)z[0] * t.den >= (unsigned __int128)joint * t.num;
  const listed *larger = c->tokens[a->record] > c->tokens[b->record] ? a : b;
  evidence *e = &c->bin[find_bin(c->tokens[larger->record])];
  if (right) e->truth += weight;
  for (unsigned k = 0; k < ND_PLAN_RATIOS; k++) {
    unsigned m = 2u << k, hits = 0;
    for (unsigned j = m - 1; j < 2 * m - 1; j++) {
      uint64_t u = (uint64_t)x[j] + y[j] - z[j];
      hits += z[j] && (unsigned __int128)z[j] * t.den >= (unsigned __int128)u * t.num;
    }
    if (!hits) continue;
    double share = weight * hits / m;
    e->found[k] += share;
    e->square[k] += share * share;
    if (right) e->right[k] += share;
    if (!c->seen[larger->record]) e->with_pairs++;
    c->seen[larger->record] = 1;
  }
}

static void add(evidence *to, const evidence *from) {
  for (unsigned k = 0; k < ND_PLAN_RATIOS; k++) {
    to->found[k] += from->found[k];
    to->square[k] += from->square[k];
    to->right[k] += from->right[k];
  }
  to->truth += from->truth;
  to->with_pairs += from->with_pairs;
  to->documents += from->documents;
  to->shingles += from->shingles;
}

/* Returns the number of pairs of equal weight with the same variance.  Pairs of one document are
 * correlated, so they count at most as one. */
static double effective_pairs(const evidence *e, unsigned k) {
  double n = e->square[k] > 0 ? e->found[k] * e->found[k] / e->square[k] : 0;
  return n < e->with_pairs ? n : e->with_pairs;
}

/* Fills in the facts of one ratio from its pairs. */
static void fill_fact(nd_plan_fact *g, const evidence *e, uint64_t modulus) {
  unsigned k = 0;
  while ((UINT64_C(2) << k) < modulus) k++;
  double n = effective_pairs(e, k);
  g->modulus = modulus;
  g->pairs = n;
  g->precision = g->low = g->high = g->recall = 1;
  if (modulus == 1) return;
  g->precision = e->right[k] / e->found[k];
  g->low = nd_wilson_bound(g->precision * n, n, ND_PLAN_Z, false);
  g->high = nd_wilson_bound(g->precision * n, n, ND_PLAN_Z, true);
  g->recall = e->right[k] / e->truth; /* a chosen ratio has true pairs */
}

static void choose_ratio(nd_plan_fact *g, const evidence *e, double goal) {
  *g = (nd_plan_fact){.documents = e->documents, .shingles = e->shingles, .best_low = NAN};
  fill_fact(g, e, 1);
  for (unsigned k = 0; k < ND_PLAN_RATIOS; k++) {
    double n = effective_pairs(e, k);
    if (n <= 0) continue;
    double low = nd_wilson_bound(e->right[k] / e->found[k] * n, n, ND_PLAN_Z, false);
    if (isnan(g->best_low) || low > g->best_low) {
      g->best_low = low;
      g->best_modulus = UINT64_C(2) << k;
    }
    if (low >= goal) fill_fact(g, e, UINT64_C(2) << k);
  }
}

/* Joins bins into groups with enough pairs, from the smallest documents up. */
static unsigned make_groups(evidence group[BINS], uint64_t below[BINS], const chooser *c) {
  unsigned n = 0;
  bool open = false;
  for (unsigned b = 0; b < BINS; b++) {
    if (!open) group[n] = (evidence){0};
    open = true;
    add(&group[n], &c->bin[b]);
    below[n] = bounds[b];
    if (effective_pairs(&group[n], 0) < ND_PLAN_EVIDENCE) continue;
    n++;
    open = false;
  }
  if (open && n) { /* too few pairs for a group: merged into the last one */
    add(&group[n - 1], &group[n]);
    below[n - 1] = UINT64_MAX;
  } else if (open) {
    below[n++] = UINT64_MAX;
  }
  return n;
}

static void choose(chooser *c, nd_decimal goal) {
  nd_plan_facts *out = c->out;
  evidence group[BINS];
  uint64_t below[BINS];
  unsigned n = make_groups(group, below, c);
  double wanted = (double)goal.num / (double)goal.den;
  nd_plan_fact fact[BINS];
  for (unsigned g = 0; g < n; g++) choose_ratio(&fact[g], &group[g], wanted);
  /* A pair across two groups is compared with the coarser ratio, and was counted with its larger
   * document: groups of smaller documents must not have coarser ratios. */
  for (unsigned g = n; g > 1; g--)
    if (fact[g - 2].modulus > fact[g - 1].modulus)
      fill_fact(&fact[g - 2], &group[g - 2], fact[g - 1].modulus);
  double kept = 0, all = 0; /* a plan keeps repeated shingles once */
  for (uint32_t r = 0; r < c->n; r++) all += c->all[r];
  nd_sample_plan *plan = &out->plan;
  plan->precision = goal;
  plan->threshold = c->threshold;
  for (unsigned g = 0; g < n; g++) {
    fact[g].from = g ? below[g - 1] : 0;
    fact[g].below = below[g];
    out->group[out->n++] = fact[g];
    kept += (double)fact[g].shingles / (double)fact[g].modulus;
    /* Adjacent groups with the same ratio become one group of the sampler. */
    if (plan->n && plan->group[plan->n - 1].modulus == fact[g].modulus) plan->n--;
    plan->group[plan->n].below = below[g];
    plan->group[plan->n++].modulus = fact[g].modulus;
  }
  out->share = all > 0 ? kept / all : 1;
  nd_sample_plan_seal(plan);
}

typedef struct drawing {
  uint32_t *document;
  uint64_t *key; /* MinHash value of each document */
  size_t n, cap, key_cap;
  nd_item *digest, *scratch; /* digest → index in `document` */
  size_t digest_cap, scratch_cap;
} drawing;

/* Draws the documents of a block whose MinHash value is below the limit. */
static nd_status draw_block(drawing *d, const nd_text_source *source, size_t block, uint64_t limit,
                            uint64_t *key, nd_digest *digest, uint32_t *shingles, uint64_t *total,
                            nd_error *err) {
  const nd_block_ref *b = &source->store->blocks[block];
  ND_TRY(nd_store_band(source->store, block, 0, key, err));
  ND_TRY(nd_store_column(source->store, block, ND_COL_DIGEST, sizeof *digest, digest, err));
  ND_TRY(nd_store_column(source->store, block, ND_COL_SHINGLES, sizeof *shingles, shingles, err));
  for (uint32_t i = 0; i < b->head.docs; i++) {
    *total += shingles[i];
    if (!shingles[i] || nd_mix(key[i]) > limit) continue;
    ND_TRY(nd_array_grow(&d->document, &d->cap, d->n + 1, sizeof *d->document, err));
    ND_TRY(nd_array_grow(&d->digest, &d->digest_cap, d->n + 1, sizeof *d->digest, err));
    ND_TRY(nd_array_grow(&d->key, &d->key_cap, d->n + 1, sizeof *d->key, err));
    d->digest[d->n] = (nd_item){digest[i].low, d->n};
    d->key[d->n] = key[i];
    d->document[d->n++] = b->first + i;
  }
  return ND_OK;
}

/* Drops exact duplicates (Ye, section 4.2): the first of equal digests is kept. */
static nd_status drop_copies(drawing *d, nd_error *err) {
  ND_TRY(nd_array_grow(&d->scratch, &d->scratch_cap, d->n, sizeof *d->scratch, err));
  nd_radix_items(d->digest, d->scratch, d->n);
  for (size_t i = 1; i < d->n; i++)
    if (d->digest[i].key == d->digest[i - 1].key) d->document[d->digest[i].value] = UINT32_MAX;
  size_t kept = 0;
  for (size_t i = 0; i < d->n; i++) {
    if (d->document[i] == UINT32_MAX) continue;
    d->key[kept] = d->key[i];
    d->document[kept++] = d->document[i];
  }
  d->n = kept;
  return ND_OK;
}

static nd_status draw(drawing *d, const nd_text_source *source, uint64_t limit, nd_plan_facts *out,
                      nd_error *err) {
  uint32_t most = 1;
  for (size_t i = 0; i < source->store->block_n; i++)
    if (source->store->blocks[i].head.docs > most) most = source->store->blocks[i].head.docs;
  uint64_t *key = nd_malloc(most * sizeof *key);
  nd_digest *digest = nd_malloc(most * sizeof *digest);
  uint32_t *shingles = nd_malloc(most * sizeof *shingles);
  nd_status status = key && digest && shingles ? ND_OK : nd_fail_memory(err, most * 28u);
  for (size_t i = 0; i < source->store->block_n && status == ND_OK; i++)
    status = draw_block(d, source, i, limit, key, digest, shingles, &out->shingles, err);
  nd_free(key);
  nd_free(digest);
  nd_free(shingles);
  out->drawn = d->n;
  if (status == ND_OK) status = drop_copies(d, err);
  out->different = d->n;
  return status;
}

static void lister_clear(lister *l) {
  nd_texts_free(l->texts);
  nd_buf_clear(&l->text);
  nd_shingler_clear(&l->shingler);
}

static nd_status list_shingles(listed *out, lister *l, chooser *c, uint32_t record, nd_error *err) {
  const nd_settings *s = c->source->settings;
  out->record = UINT32_MAX;
  ND_TRY(nd_texts_get(&l->text, l->texts, c->document[record], err));
  nd_shingler *g = &l->shingler;
  ND_TRY(nd_shingler_run(g, nd_buf_str(&l->text), s->shingle, s->options->seed, err));
  ND_TRY(nd_shingler_keys(g, err));
  ND_TRY(nd_array_grow(&out->key, &out->cap, g->keys, sizeof *out->key, err));
  out->n = g->keys;
  memset(out->cell, 0, sizeof out->cell);
  for (size_t i = 0; i < g->keys; i++) {
    out->key[i] = g->key[i];
    out->cell[g->key[i] % ND_TRIAL_RESIDUES]++;
  }
  out->record = record;
  return ND_OK;
}

/* Counts the tokens and distinct shingles of some records. */
static nd_status measure_sizes(void *context, unsigned member, uint64_t job, nd_error *err) {
  chooser *c = context;
  (void)member;
  ND_TRY(nd_hooks_check(c->source->hooks, err));
  uint64_t end = (job + 1) * JOB_RECORDS;
  if (end > c->n) end = c->n;
  lister l = {0};
  listed one = {0};
  nd_status status = nd_texts_new(&l.texts, c->source, err);
  for (uint64_t r = job * JOB_RECORDS; r < end && status == ND_OK; r++) {
    status = list_shingles(&one, &l, c, (uint32_t)r, err);
    c->tokens[r] = (uint32_t)l.shingler.tokens;
    c->size[r] = (uint32_t)one.n;
    c->all[r] = (uint32_t)l.shingler.shingles.n;
  }
  lister_clear(&l);
  nd_free(one.key);
  return status;
}

static void compare(chooser *c, const listed *a, const listed *b, double times) {
  uint32_t common[ND_TRIAL_CELLS] = {0};
  for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
    uint64_t p = a->key[i], q = b->key[j];
    common[p % ND_TRIAL_RESIDUES] += p == q;
    i += p <= q;
    j += q <= p;
  }
  take_pair(c, a, b, common, times);
}

/* Compares the pairs of one bucket.  In a large bucket, every document is compared with the next
 * ones in a random circle, and each pair represents several. */
static nd_status compare_bucket(chooser *c, lister *l, nd_item *member, nd_item *scratch, size_t n,
                                nd_error *err) {
  size_t next = n - 1 < NEIGHBOURS ? n - 1 : NEIGHBOURS;
  bool all = n <= NEIGHBOURS + 1;
  double times = all ? 1 : (double)(n - 1) / (2.0 * (double)next);
  for (size_t i = 0; i < n; i++) member[i].key = nd_mix(c->document[member[i].value]);
  nd_radix_items(member, scratch, n);
  for (size_t i = 0; i <= NEIGHBOURS; i++) c->near[i].record = UINT32_MAX;
  for (size_t i = 0; i < n; i++) {
    ND_TRY(nd_hooks_check(c->source->hooks, err));
    for (size_t k = 0; k <= next; k++) {
      uint32_t record = (uint32_t)member[(i + k) % n].value;
      listed *at = &c->near[(i + k) % (NEIGHBOURS + 1)];
      if (all && i + k >= n) break; /* compared already */
      if (at->record != record) ND_TRY(list_shingles(at, l, c, record, err));
      if (k) compare(c, &c->near[i % (NEIGHBOURS + 1)], at, times);
    }
  }
  return ND_OK;
}

static nd_status meet_all(chooser *c, const drawing *d, nd_error *err) {
  nd_item *items = nd_malloc((d->n + 1) * sizeof *items);
  nd_item *scratch = nd_malloc((d->n + 1) * sizeof *scratch);
  lister l = {0};
  nd_status status = items && scratch ? ND_OK : nd_fail_memory(err, d->n * sizeof *items);
  if (status == ND_OK) status = nd_texts_new(&l.texts, c->source, err);
  if (status == ND_OK) {
    for (size_t i = 0; i < d->n; i++) items[i] = (nd_item){d->key[i], i};
    nd_radix_items(items, scratch, d->n);
  }
  for (size_t i = 0, end; i < d->n && status == ND_OK; i = end) {
    uint64_t key = items[i].key;
    for (end = i + 1; end < d->n && items[end].key == key;) end++;
    if (end - i > 1) status = compare_bucket(c, &l, items + i, scratch, end - i, err);
  }
  lister_clear(&l);
  for (size_t i = 0; i <= NEIGHBOURS; i++) {
    nd_free(c->near[i].key);
    c->near[i].key = NULL;
  }
  nd_free(items);
  nd_free(scratch);
  return status;
}

/* Measures the seconds to sort one item on one thread. */
static nd_status time_sorting(double *out, nd_error *err) {
  enum { ITEMS = 1 << 17 };
  nd_item *items = nd_malloc(2 * (size_t)ITEMS * sizeof *items);
  if (!items) return nd_fail_memory(err, 2 * (size_t)ITEMS * sizeof *items);
  for (uint64_t i = 0; i < ITEMS; i++) items[i] = (nd_item){nd_mix(i), i};
  double began = nd_clock_now();
  nd_radix_items(items, items + ITEMS, ITEMS);
  *out = (nd_clock_now() - began) / ITEMS;
  nd_free(items);
  return ND_OK;
}

static nd_status count(chooser *c, const drawing *d, nd_error *err) {
  c->n = (uint32_t)d->n;
  c->document = d->document;
  c->tokens = nd_calloc(d->n + 1, sizeof *c->tokens);
  c->size = nd_calloc(d->n + 1, sizeof *c->size);
  c->all = nd_calloc(d->n + 1, sizeof *c->all);
  c->seen = nd_calloc(d->n + 1, 1);
  if (!c->tokens || !c->size || !c->all || !c->seen) return nd_fail_memory(err, d->n * 13);
  uint64_t jobs = (d->n + JOB_RECORDS - 1) / JOB_RECORDS;
  ND_TRY(nd_threads_run(c->source->settings->threads, jobs, measure_sizes, c, err));
  for (uint32_t r = 0; r < c->n; r++) {
    evidence *e = &c->bin[find_bin(c->tokens[r])];
    e->documents++;
    e->shingles += c->size[r];
  }
  ND_TRY(time_sorting(&c->out->sort_seconds, err));
  return meet_all(c, d, err);
}

void nd_reading_options(nd_options *out, const nd_options *from) {
  static const char *const names[] = {"ignore-boilerplate",
                                      "boilerplate-share",
                                      "format",
                                      "id-field",
                                      "text-field",
                                      "url-field",
                                      "time-field",
                                      "tokens",
                                      "shingle",
                                      "seed",
                                      "against",
                                      "max-document",
                                      "threads",
                                      "memory",
                                      "tmp",
                                      "max-stdin",
                                      "progress"};
  nd_options_init(out);
  for (const nd_option_row *o = nd_option_rows(); o->info.name; o++)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (strcmp(o->info.name, names[i]) == 0)
        memcpy((char *)out + o->offset, (const char *)from + o->offset, o->size);
}

void nd_plan_options(nd_options *out, const nd_options *from) {
  nd_reading_options(out, from);
  out->permutations = out->bands = out->rows = 1;
}

static void shingle_name(char *out, size_t room, nd_shingle_spec s) {
  static const char *const kinds[] = {
      [ND_SHINGLE_WORDS] = "words", [ND_SHINGLE_CHARS] = "chars", [ND_SHINGLE_ALIGNED] = "aligned"};
  snprintf(out, room, "%s:%u", kinds[s.kind], s.size);
}

nd_status nd_plan_measure(nd_plan_facts *out, const nd_text_source *source, nd_decimal goal,
                          nd_decimal threshold, uint64_t wanted, nd_error *err) {
  *out = (nd_plan_facts){.documents = source->store->documents, .share = 1};
  if (wanted == 0) wanted = ND_PLAN_DRAWN;
  double share =
      source->store->documents > wanted ? (double)wanted / (double)source->store->documents : 1;
  uint64_t limit = share < 1 ? (uint64_t)(share * 0x1p64) : UINT64_MAX;
  chooser c = {.source = source, .out = out, .threshold = threshold, .drawn = share};
  drawing d = {0};
  nd_status status = draw(&d, source, limit, out, err);
  if (status == ND_OK) status = count(&c, &d, err);
  shingle_name(out->plan.shingle, sizeof out->plan.shingle, source->settings->shingle);
  snprintf(out->plan.tokens, sizeof out->plan.tokens, "%s", source->settings->options->tokens);
  if (status == ND_OK && goal.num) choose(&c, goal);
  nd_free(c.tokens);
  nd_free(c.size);
  nd_free(c.all);
  nd_free(c.seen);
  nd_free(d.document);
  nd_free(d.key);
  nd_free(d.digest);
  nd_free(d.scratch);
  return status;
}

/* Reads the input of `r` into a separate store in `work`, and measures it. */
static nd_status measure_input(nd_plan_facts *out, nd_store *store, nd_feed **feed,
                               const nd_reading *r, const nd_options *options, const char *work,
                               nd_error *err) {
  nd_settings settings;
  nd_text_source source;
  ND_TRY(nd_settings_resolve(&settings, options, err));
  settings.passages = r->settings->passages; /* counted before, in the same input */
  ND_TRY(nd_feed_new(feed, r->walk, settings.format, &settings.input, err));
  ND_TRY(nd_io_mkdirs(work, err));
  ND_TRY(nd_store_open(store, work, err));
  nd_reading part = {.settings = &settings,
                     .walk = r->walk,
                     .feed = *feed,
                     .store = store,
                     .hooks = r->hooks,
                     .counted = r->counted,
                     .count_documents = r->count_documents,
                     .count_rejects = r->count_rejects};
  ND_TRY(nd_reading_run(&part, 0, err));
  ND_TRY(nd_reading_seal(&source, &part, err));
  return nd_plan_measure(out, &source, r->settings->sample.goal, r->settings->threshold, 0, err);
}

nd_status nd_plan_for_reading(nd_reading *r, const char *tmp, nd_error *err) {
  nd_options options;
  nd_store store = {0};
  nd_feed *feed = NULL;
  char *work = NULL;
  nd_plan_facts *facts = nd_malloc(sizeof *facts);
  nd_plan_options(&options, r->settings->options);
  shingle_name(options.shingle, sizeof options.shingle, r->settings->shingle);
  nd_status status = facts ? ND_OK : nd_fail_memory(err, sizeof *facts);
  if (status == ND_OK) status = nd_path_join(&work, tmp, "plan", err);
  if (status == ND_OK) status = measure_input(facts, &store, &feed, r, &options, work, err);
  if (status == ND_OK) r->settings->sample.plan = facts->plan;
  nd_store_close(&store);
  nd_feed_free(feed);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  nd_free(facts);
  return status;
}
