/* Sort and merge, out of core; see exact.h.
 *
 *   1  Write (fingerprint, document) for every distinct shingle of every document, partitioned
 *      by fingerprint (scatter.h).
 *   2  In each part, count all pairs of documents in each run of equal fingerprints
 *      (common_count.h).  If memory does not hold all counters, several rounds give partial
 *      counts, which are sorted and summed.
 *   3  Compare common / (size_a + size_b - common) with the threshold.
 *
 * A fingerprint collision can only increase a count, so no pair is missed; the verifier, which
 * compares bytes, drops false pairs.  Of MD5, 64 bits of one half and 32 of the other are
 * compared. */
#include "find/exact.h"

#include <xxhash.h>

#include "base/hash.h"
#include "base/threads.h"
#include "candidate/common_count.h"
#include "candidate/scatter.h"
#include "similarity/similarity.h"
#include "text/words.h"

enum {
  JOB_DOCUMENTS = 1 << 8, /* per job of a thread */
  ROOM = 1 << 12,         /* items that are handed on at once */
  PART_ITEMS = 1 << 16,   /* target size of a part, which is sorted in the cache */
  LEAST_BITS = 4,         /* 2^4 to 2^10 parts: some for every thread, not too many streams */
  MOST_BITS = 10,
  SMALL_DOCUMENT = 1 << 13, /* items that a pass over one digit and insertions sort faster */
  DIGIT = 8,                /* bits that this pass sorts by */
};
static const uint64_t high_mask = ~(uint64_t)UINT32_MAX;

typedef struct merger {
  nd_found *found;
  const nd_text_source *source;
  nd_scatter *shingles;             /* mixed fingerprint → rest of it | document */
  nd_common *common;                /* counts of a round */
  nd_sorter *counts;                /* pair → common, if one round is not enough */
  uint32_t *size;                   /* per document and ratio: distinct shingles */
  uint8_t *level;                   /* per document: index of its ratio; NULL: a single ratio */
  uint64_t modulus[ND_PLAN_GROUPS]; /* the ratios of a plan, ascending */
  unsigned levels;
  uint64_t fit; /* items that fit in memory at once */
  struct part_state *part;
  unsigned bits;             /* 2^bits parts */
  struct expander *expander; /* per thread */
} merger;

/* Progress within a part. */
typedef struct part_state {
  uint32_t slice;
  uint64_t done; /* items of the slice */
  bool finished;
} part_state;

/* State of a thread in steps 2 and 3. */
typedef struct expander {
  nd_gathered items;
  uint64_t *value; /* and as many to sort them with */
  uint32_t *document;
  size_t value_cap, document_cap;
  uint64_t counted; /* pairs */
  nd_item out[ROOM];
} expander;

/* State of a thread in step 1. */
typedef struct printer {
  nd_texts *texts;
  nd_buf text;
  nd_printer print;
} printer;

void nd_printer_clear(nd_printer *p) {
  nd_shingler_clear(&p->shingler);
  nd_fingerprints_clear(&p->prints);
  nd_sampler_clear(&p->sampler);
  nd_free(p->items);
  nd_free(p->spare);
}

static void printer_clear(printer *p) {
  nd_texts_free(p->texts);
  nd_buf_clear(&p->text);
  nd_printer_clear(&p->print);
}

/* Counts the document's shingles at its own ratio and at every coarser one; sizes at finer ratios
 * are not used. */
static void level_sizes(merger *m, const nd_printer *p, uint32_t document) {
  uint64_t own = nd_sample_modulus(p->sampler.sample, p->shingler.tokens);
  uint32_t *size = m->size + (size_t)document * m->levels;
  for (unsigned l = 0; l < m->levels; l++) {
    if (m->modulus[l] == own) m->level[document] = (uint8_t)l;
    size[l] = 0;
    for (size_t i = 0; i < p->shingler.shingles.n; i++)
      size[l] += (nd_sample_key(p->shingler.shingles.fingerprint[i]) & (m->modulus[l] - 1)) == 0;
  }
}

/* Computes the fingerprints of the shingles that --sample keeps. */
static nd_status sample_prints(nd_printer *p, const nd_settings *s, nd_str text, nd_error *err) {
  bool emptied;
  uint64_t digest = XXH3_64bits(text.p, text.n);
  nd_shingler *g = &p->shingler;
  ND_TRY(nd_shingle_make(&g->shingles, text, g->end, g->tokens, s->shingle, s->options->seed, false,
                         err));
  ND_TRY(nd_sampler_run(&p->sampler, &emptied, &g->shingles, g->tokens, digest, err));
  /* A document without kept shingles stands for its digest, so that it matches its duplicates; it
   * has nothing that could be counted. */
  p->prints.n = emptied && nd_similarity_is_open(s->similarity) ? 0 : g->shingles.n;
  for (size_t i = 0; i < p->prints.n; i++) {
    uint32_t from = p->sampler.kept[i];
    p->prints.low[i] = emptied ? digest : p->prints.low[from];
    p->prints.high[i] = emptied ? ~digest : p->prints.high[from];
  }
  return ND_OK;
}

/* Sorts items by key; keys must be uniformly distributed. */
static void sort_items(nd_item *items, nd_item *spare, size_t n) {
  if (n > SMALL_DOCUMENT) {
    nd_radix_items(items, spare, n);
    return;
  }
  enum { SHIFT = 64 - DIGIT, SLOTS = 1 << DIGIT };
  uint32_t start[SLOTS + 1] = {0};
  for (size_t i = 0; i < n; i++) start[(items[i].key >> SHIFT) + 1]++;
  for (size_t k = 0; k < SLOTS; k++) start[k + 1] += start[k];
  for (size_t i = 0; i < n; i++) spare[start[items[i].key >> SHIFT]++] = items[i];
  for (size_t i = 0; i < n; i++) {
    size_t j = i;
    for (; j && items[j - 1].key > spare[i].key; j--) items[j] = items[j - 1];
    items[j] = spare[i];
  }
}

nd_status nd_printer_run(nd_printer *p, const nd_settings *s, nd_str text, uint32_t document,
                         nd_error *err) {
  p->sampler.sample = &s->sample;
  ND_TRY(nd_shingler_split(&p->shingler, text, err));
  ND_TRY(nd_fingerprint_shingles(&p->prints, text, p->shingler.end, p->shingler.tokens, s->shingle,
                                 s->fingerprint, err));
  if (s->sample.on) ND_TRY(sample_prints(p, s, text, err));
  size_t n = p->prints.n, kept = 0;
  ND_TRY(nd_array_grow(&p->items, &p->item_cap, n, sizeof *p->items, err));
  ND_TRY(nd_array_grow(&p->spare, &p->spare_cap, n, sizeof *p->spare, err));
  for (size_t i = 0; i < n; i++)
    p->items[i] = (nd_item){nd_mix(p->prints.low[i]), (p->prints.high[i] & high_mask) | document};
  sort_items(p->items, p->spare, n);
  for (size_t i = 0; i < n; i++) {
    bool seen = false; /* equal low halves are adjacent */
    /* untaken: colliding 64-bit hashes */
    for (size_t j = kept; j && p->items[j - 1].key == p->items[i].key && !seen; j--)
      seen = p->items[j - 1].value == p->items[i].value;
    if (!seen) p->items[kept++] = p->items[i];
  }
  p->n = kept;
  return ND_OK;
}

static nd_status print_document(merger *m, printer *p, uint32_t document, nd_error *err) {
  ND_TRY(nd_texts_get(&p->text, p->texts, document, err));
  ND_TRY(nd_printer_run(&p->print, m->source->settings, nd_buf_str(&p->text), document, err));
  if (m->level)
    level_sizes(m, &p->print, document);
  else
    m->size[document] = (uint32_t)p->print.n;
  return nd_scatter_add(m->shingles, p->print.items, p->print.n, err);
}

static nd_status print_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  merger *m = context;
  (void)member;
  ND_TRY(nd_hooks_check(m->source->hooks, err));
  uint64_t end = (job + 1) * JOB_DOCUMENTS, n = m->source->store->documents;
  if (end > n) end = n;
  printer p = {0};
  nd_status status = nd_texts_new(&p.texts, m->source, err);
  for (uint64_t d = job * JOB_DOCUMENTS; d < end && status == ND_OK; d++)
    if (m->found->same[d] == d) status = print_document(m, &p, (uint32_t)d, err);
  printer_clear(&p);
  return status;
}

/* Adds the documents of items with the same key, sorted; a run per fingerprint.  Sets *full if the
 * counters had no room for them. */
static nd_status give_run(bool *full, merger *m, unsigned member, const nd_item *items, size_t n,
                          nd_error *err) {
  expander *x = &m->expander[member];
  ND_TRY(nd_array_grow(&x->value, &x->value_cap, 2 * n, sizeof *x->value, err));
  ND_TRY(nd_array_grow(&x->document, &x->document_cap, n, sizeof *x->document, err));
  bool rises = true;
  for (size_t i = 0; i < n; i++) {
    x->value[i] = items[i].value;
    rises &= i == 0 || items[i - 1].value < items[i].value;
  }
  if (!rises) nd_radix_u64(x->value, x->value + n, n);
  for (size_t i = 0; i < n; i++) x->document[i] = (uint32_t)x->value[i];
  *full = false;
  for (size_t i = 0, end; i < n && !*full; i = end) { /* untaken: colliding 64-bit hashes */
    /* untaken: colliding 64-bit hashes */
    for (end = i + 1; end < n && (x->value[end] & high_mask) == (x->value[i] & high_mask);) end++;
    ND_TRY(nd_common_add(full, m->common, member, x->document + i, end - i, err));
    /* Fail rather than count the first runs of the key twice. */
    /* untaken: colliding 64-bit hashes */
    if (*full && i > 0) return nd_fail(err, ND_ERR_LIMIT, "no room for a run of fingerprints");
  }
  return ND_OK;
}

/* Expands the rest of a slice until memory is full. */
static nd_status expand_slice(bool *full, merger *m, unsigned member, part_state *p,
                              nd_error *err) {
  const nd_item *items = m->expander[member].items.items;
  const size_t n = m->expander[member].items.n;
  for (size_t i = (size_t)p->done, end; i < n; i = end) {
    for (end = i + 1; end < n && items[end].key == items[i].key;) end++;
    if (end - i > 1) ND_TRY(give_run(full, m, member, items + i, end - i, err));
    if (*full) return ND_OK;
    p->done = end;
  }
  return ND_OK;
}

static nd_status expand_part(void *context, unsigned member, uint64_t job, nd_error *err) {
  merger *m = context;
  part_state *p = &m->part[job];
  if (p->finished) return ND_OK;
  ND_TRY(nd_hooks_check(m->source->hooks, err));
  const uint64_t count = nd_scatter_count(m->shingles, (uint32_t)job);
  unsigned slice_bits = 0;
  while (count >> slice_bits > m->fit) slice_bits++;
  bool full = false;
  for (; p->slice >> slice_bits == 0; p->slice++, p->done = 0) {
    ND_TRY(nd_scatter_take(&m->expander[member].items, m->shingles, (uint32_t)job, p->slice,
                           slice_bits, err));
    ND_TRY(expand_slice(&full, m, member, p, err));
    if (full) return ND_OK;
  }
  p->finished = true;
  nd_scatter_drop(m->shingles, (uint32_t)job);
  return ND_OK;
}

/* Computes the overlap of two documents, at the coarser of their ratios. */
static nd_overlap overlap_of(const merger *m, uint32_t a, uint32_t b, uint32_t common) {
  unsigned l = 0;
  if (m->level) l = m->level[a] > m->level[b] ? m->level[a] : m->level[b];
  uint32_t left = m->size[(size_t)a * m->levels + l], right = m->size[(size_t)b * m->levels + l];
  return (nd_overlap){common, left + right - common, left};
}

/* Step 3: turns a count into a pair; returns false if it is below the threshold. */
static bool judge(nd_item *out, const merger *m, uint32_t a, uint32_t b, uint32_t common) {
  const nd_settings *s = m->source->settings;
  const nd_found *f = m->found;
  nd_overlap o = overlap_of(m, a, b, common);
  if (!s->every_pair && !nd_similarity_reaches(s->similarity, o, s->threshold)) return false;
  if (f->direct) {
    *out = (nd_item){nd_pair_key(a, b), s->similarity->value(o)};
  } else {
    uint32_t p = nd_order_position(&f->order, a), q = nd_order_position(&f->order, b);
    *out = (nd_item){nd_pair_ascending(p, q), ND_PAIR_FULL};
  }
  return true;
}

/* Takes the counts of a single round, which are final. */
static nd_status take_counts(void *context, unsigned member, const nd_common_pair *pair, size_t n,
                             nd_error *err) {
  merger *m = context;
  expander *x = &m->expander[member];
  ND_TRY(nd_hooks_check(m->source->hooks, err));
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    kept += judge(&x->out[kept], m, pair[i].a, pair[i].b, pair[i].common);
    if (kept < ROOM) continue;
    ND_TRY(nd_sorter_add(m->found->pairs, x->out, kept, err));
    kept = 0;
  }
  x->counted += n;
  return nd_sorter_add(m->found->pairs, x->out, kept, err);
}

/* Takes the counts of one of several rounds, to be summed. */
static nd_status put_counts(void *context, unsigned member, const nd_common_pair *pair, size_t n,
                            nd_error *err) {
  merger *m = context;
  nd_item *out = m->expander[member].out;
  ND_TRY(nd_hooks_check(m->source->hooks, err));
  for (size_t done = 0; done < n;) {
    size_t part = n - done < ROOM ? n - done : ROOM;
    for (size_t i = 0; i < part; i++, done++)
      out[i] = (nd_item){nd_pair_key(pair[done].a, pair[done].b), pair[done].common};
    ND_TRY(nd_sorter_add(m->counts, out, part, err));
  }
  return ND_OK;
}

static nd_status judge_sums(void *context, nd_item *items, size_t n, nd_error *err) {
  merger *m = context;
  size_t kept = 0;
  m->expander[0].counted += n;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    kept += judge(&items[kept], m, p.a, p.b, (uint32_t)items[i].value);
  }
  return nd_sorter_add(m->found->pairs, items, kept, err);
}

static bool all_finished(const merger *m) {
  for (uint64_t i = 0; i < UINT64_C(1) << m->bits; i++)
    if (!m->part[i].finished) return false;
  return true;
}

/* Steps 2 and 3. */
static nd_status expand(merger *m, uint64_t memory, const char *tmp, nd_error *err) {
  const unsigned threads = m->source->settings->threads;
  nd_common_options o = {.documents = (uint32_t)m->source->store->documents,
                         .split = nd_source_has_other(m->source) ? m->source->split : 0,
                         .threads = threads,
                         .memory = nd_budget(memory, ND_SHARE_EXACT_COUNTS)};
  ND_TRY(nd_common_new(&m->common, &o, err));
  for (bool last = false; !last;) {
    ND_TRY(nd_threads_run(threads, UINT64_C(1) << m->bits, expand_part, m, err));
    last = all_finished(m);
    if (!last && !m->counts) {
      ND_TRY(nd_sorter_new(&m->counts, nd_budget(memory, ND_SHARE_EXACT_COUNTS), tmp, true, err));
      nd_sorter_sum(m->counts);
    }
    ND_TRY(nd_common_round(m->common, m->counts ? put_counts : take_counts, m, err));
  }
  if (!m->counts) return ND_OK;
  ND_TRY(nd_sorter_finish(m->counts, err));
  return nd_sorter_each(m->counts, judge_sums, m, err);
}

unsigned nd_exact_bits(uint64_t items, uint64_t most) {
  unsigned bits = LEAST_BITS;
  while (bits < MOST_BITS && items >> bits > most) bits++;
  return bits;
}

static nd_status merge(merger *m, uint64_t memory, const char *tmp, nd_error *err) {
  const nd_settings *s = m->source->settings;
  const uint64_t n = m->source->store->documents;
  const uint64_t items = nd_source_shingles(m->source);
  m->fit = nd_budget(memory, ND_SHARE_EXACT_SLICES) / s->threads / (2 * sizeof(nd_item));
  if (m->fit < ROOM) m->fit = ROOM;
  m->bits = nd_exact_bits(items, m->fit < PART_ITEMS ? m->fit : PART_ITEMS);
  m->part = nd_calloc((size_t)1 << m->bits, sizeof *m->part);
  m->expander = nd_calloc(s->threads, sizeof *m->expander);
  if (!m->part || !m->expander) return nd_fail_memory(err, s->threads * sizeof *m->expander);
  ND_TRY(nd_scatter_new(&m->shingles, m->bits, nd_budget(memory, ND_SHARE_EXACT_ITEMS), tmp, err));
  ND_TRY(nd_threads_run(s->threads, (n + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS, print_job, m, err));
  ND_TRY(expand(m, memory, tmp, err));
  for (unsigned i = 0; i < s->threads; i++) m->found->counted += m->expander[i].counted;
  return ND_OK;
}

static void merger_clear(merger *m, unsigned threads) {
  for (unsigned i = 0; m->expander && i < threads; i++) {
    expander *x = &m->expander[i];
    nd_gathered_clear(&x->items);
    nd_free(x->value);
    nd_free(x->document);
  }
  nd_free(m->expander);
  nd_free(m->part);
  nd_scatter_free(m->shingles);
  nd_common_free(m->common);
  nd_sorter_free(m->counts);
  nd_free(m->size);
}

/* Lists the distinct ratios of a plan, ascending; they are powers of two. */
static void find_levels(merger *m, const nd_sample_plan *plan) {
  uint64_t moduli = 0;
  for (unsigned i = 0; i < plan->n; i++) moduli |= plan->group[i].modulus;
  for (; moduli; moduli &= moduli - 1) m->modulus[m->levels++] = moduli & (~moduli + 1);
  if (m->levels == 0) m->levels = 1;
}

nd_status nd_exact_pairs(nd_found *found, const nd_text_source *source, uint64_t memory,
                         const char *tmp, nd_error *err) {
  merger m = {.found = found, .source = source};
  uint64_t n = source->store->documents;
  const nd_settings *s = source->settings;
  find_levels(&m, &s->sample.plan);
  size_t each = m.levels * sizeof *m.size + (m.levels > 1);
  m.size = nd_calloc(n, each);
  nd_status status = m.size ? ND_OK : nd_fail_memory(err, n * each);
  if (m.levels > 1) m.level = (uint8_t *)(m.size + n * m.levels);
  /* Counts of kept shingles are final under --verify sample; otherwise the verifier follows. */
  found->direct = s->sample.on ? s->verify == ND_VERIFY_SAMPLE : s->every_pair;
  if (status == ND_OK) status = merge(&m, memory, tmp, err);
  merger_clear(&m, s->threads);
  return status;
}
