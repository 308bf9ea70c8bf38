/* Sort and merge, out of core; see exact.h.
 *
 *   1  (fingerprint, document) of every document's distinct shingles → sort
 *   2  a run of equal fingerprints → every pair of its documents, counting 1
 *      → sort, adding up equal pairs
 *   3  common / (size_a + size_b - common), compared with the threshold
 *
 * A fingerprint that two shingles happen to share can only add to a count, so
 * nothing is missed; the verifier, which compares bytes, takes such pairs out.
 * Of MD5 all 64 bits of one half and 32 of the other are compared. */
#include "pipeline/exact.h"

#include <xxhash.h>

#include "base/threads.h"
#include "text/words.h"
#include "verify/similarity.h"

enum { JOB_DOCUMENTS = 1 << 10, ROOM = 1 << 12 };
static const uint64_t high_mask = ~(uint64_t)UINT32_MAX;

typedef struct merger {
  nd_found *found;
  const nd_text_source *source;
  nd_sorter *shingles;              /* fingerprint → rest of it | document */
  nd_sorter *counts;                /* a << 32 | b → common */
  uint32_t *size;                   /* per document and ratio: distinct shingles */
  uint8_t *level;                   /* per document: the number of its ratio; NULL: there is one */
  uint64_t modulus[ND_PLAN_GROUPS]; /* the ratios of a plan, rising */
  unsigned levels;
} merger;

/* What one thread needs for step 1. */
typedef struct printer {
  nd_texts *texts;
  nd_buf text;
  uint32_t *end;
  size_t count, cap;
  nd_fingerprints prints;
  nd_shingles shingles; /* --sample */
  nd_sampler sampler;
  nd_item *items, *spare;
  size_t item_cap, spare_cap;
} printer;

static void printer_clear(printer *p) {
  nd_texts_free(p->texts);
  nd_buf_clear(&p->text);
  nd_free(p->end);
  nd_fingerprints_clear(&p->prints);
  nd_shingles_clear(&p->shingles);
  nd_sampler_clear(&p->sampler);
  nd_free(p->items);
  nd_free(p->spare);
}

/* The sizes of what is kept by every ratio that is not finer than its own. */
static void level_sizes(merger *m, printer *p, uint32_t document) {
  uint64_t own = nd_sample_modulus(p->sampler.sample, p->count);
  uint32_t *size = m->size + (size_t)document * m->levels;
  for (unsigned l = 0; l < m->levels; l++) {
    if (m->modulus[l] == own) m->level[document] = (uint8_t)l;
    size[l] = 0;
    for (size_t i = 0; i < p->shingles.n; i++)
      size[l] += (nd_sample_key(p->shingles.fingerprint[i]) & (m->modulus[l] - 1)) == 0;
  }
}

/* --sample: of the fingerprints only those of kept shingles. */
static nd_status sample_prints(merger *m, printer *p, uint32_t document, nd_str text,
                               nd_error *err) {
  const nd_settings *s = m->source->settings;
  bool emptied;
  uint64_t digest = XXH3_64bits(text.p, text.n);
  ND_TRY(nd_shingle_make(&p->shingles, text, p->end, p->count, s->shingle, s->options->seed, false,
                         err));
  ND_TRY(nd_sampler_run(&p->sampler, &emptied, &p->shingles, p->count, digest, err));
  p->prints.n = p->shingles.n;
  for (size_t i = 0; i < p->prints.n; i++) {
    uint32_t from = p->sampler.kept[i];
    p->prints.low[i] = emptied ? digest : p->prints.low[from];
    p->prints.high[i] = emptied ? ~digest : p->prints.high[from];
  }
  if (m->level) level_sizes(m, p, document);
  return ND_OK;
}

static nd_status print_document(merger *m, printer *p, uint32_t document, nd_error *err) {
  const nd_settings *s = m->source->settings;
  ND_TRY(nd_texts_get(&p->text, p->texts, document, err));
  nd_str text = nd_buf_str(&p->text);
  ND_TRY(nd_token_ends(&p->end, &p->count, &p->cap, text, err));
  ND_TRY(
      nd_fingerprint_shingles(&p->prints, text, p->end, p->count, s->shingle, s->fingerprint, err));
  if (s->sample.on) ND_TRY(sample_prints(m, p, document, text, err));
  size_t n = p->prints.n, kept = 0;
  ND_TRY(nd_array_grow(&p->items, &p->item_cap, n, sizeof *p->items, err));
  ND_TRY(nd_array_grow(&p->spare, &p->spare_cap, n, sizeof *p->spare, err));
  for (size_t i = 0; i < n; i++)
    p->items[i] = (nd_item){p->prints.low[i], (p->prints.high[i] & high_mask) | document};
  nd_radix_items(p->items, p->spare, n);
  for (size_t i = 0; i < n; i++) {
    bool seen = false; /* equal low halves are next to one another */
    for (size_t j = kept; j && p->items[j - 1].key == p->items[i].key && !seen; j--)
      seen = p->items[j - 1].value == p->items[i].value;
    if (!seen) p->items[kept++] = p->items[i];
  }
  if (!m->level) m->size[document] = (uint32_t)kept;
  return nd_sorter_add(m->shingles, p->items, kept, err);
}

static nd_status print_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  merger *m = context;
  (void)member;
  ND_TRY(nd_hooks_check(m->source->hooks, err));
  uint64_t end = (job + 1) * JOB_DOCUMENTS, n = m->source->store->documents;
  if (end > n) end = n;
  printer p = {.sampler = {.sample = &m->source->settings->sample}};
  nd_status status = nd_texts_new(&p.texts, m->source, err);
  for (uint64_t d = job * JOB_DOCUMENTS; d < end && status == ND_OK; d++)
    if (m->found->same[d] == d) status = print_document(m, &p, (uint32_t)d, err);
  printer_clear(&p);
  return status;
}

/* The documents of one shingle, and pairs on their way out. */
typedef struct run_of {
  uint32_t *document;
  size_t n, cap;
  nd_item out[ROOM];
  size_t out_n;
} run_of;

static nd_status give_run(merger *m, run_of *r, nd_error *err) {
  const bool other = nd_source_has_other(m->source);
  const uint32_t split = m->source->split;
  for (size_t i = 0; i < r->n; i++) {
    for (size_t j = i + 1; j < r->n; j++) {
      if (other && (r->document[i] >= split || r->document[j] < split)) continue;
      r->out[r->out_n++] = (nd_item){(uint64_t)r->document[i] << 32 | r->document[j], 1};
      if (r->out_n < ROOM) continue;
      r->out_n = 0;
      ND_TRY(nd_sorter_add(m->counts, r->out, ROOM, err));
    }
    if ((i & 1023) == 1023) ND_TRY(nd_hooks_check(m->source->hooks, err));
  }
  r->n = 0;
  return ND_OK;
}

static nd_status expand_runs(merger *m, run_of *r, nd_item *items, nd_error *err) {
  uint64_t key = 0, high = 0;
  for (;;) {
    size_t n;
    ND_TRY(nd_sorter_next(&n, items, ROOM, m->shingles, err));
    if (n == 0) break;
    for (size_t i = 0; i < n; i++) {
      if (items[i].key != key || (items[i].value & high_mask) != high) {
        ND_TRY(give_run(m, r, err));
        key = items[i].key;
        high = items[i].value & high_mask;
      }
      ND_TRY(nd_array_grow(&r->document, &r->cap, r->n + 1, sizeof *r->document, err));
      r->document[r->n++] = (uint32_t)items[i].value;
    }
  }
  ND_TRY(give_run(m, r, err));
  return nd_sorter_add(m->counts, r->out, r->out_n, err);
}

/* By the coarser ratio of the two, when they differ. */
static nd_overlap overlap_of(const merger *m, uint32_t a, uint32_t b, uint32_t common) {
  unsigned l = 0;
  if (m->level) l = m->level[a] > m->level[b] ? m->level[a] : m->level[b];
  uint32_t left = m->size[(size_t)a * m->levels + l], right = m->size[(size_t)b * m->levels + l];
  return (nd_overlap){common, left + right - common, left};
}

/* Step 3: counts → similarities → pairs. */
static nd_status judge(merger *m, nd_item *items, nd_error *err) {
  const nd_settings *s = m->source->settings;
  nd_found *f = m->found;
  for (;;) {
    size_t n, kept = 0;
    ND_TRY(nd_sorter_next(&n, items, ROOM, m->counts, err));
    if (n == 0) return ND_OK;
    for (size_t i = 0; i < n; i++) {
      uint32_t a = (uint32_t)(items[i].key >> 32), b = (uint32_t)items[i].key;
      uint32_t common = (uint32_t)items[i].value;
      nd_overlap o = overlap_of(m, a, b, common);
      bool reached = s->every_pair || nd_similarity_reaches(s->similarity, o, s->threshold);
      f->counted++;
      if (reached && f->direct) {
        items[kept++] = (nd_item){items[i].key, nd_similarity_pack(s->similarity, o)};
      } else if (reached) {
        uint64_t p = nd_order_position(&f->order, a), q = nd_order_position(&f->order, b);
        items[kept++] = (nd_item){p < q ? p << 32 | q : q << 32 | p, ND_PAIR_FULL};
      }
    }
    ND_TRY(nd_sorter_add(f->pairs, items, kept, err));
  }
}

static nd_status merge(merger *m, uint64_t memory, const char *tmp, nd_error *err) {
  const nd_settings *s = m->source->settings;
  uint64_t n = m->source->store->documents;
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  run_of *run = nd_calloc(1, sizeof *run);
  nd_status status = items && run ? ND_OK : nd_fail_memory(err, sizeof *run);
  if (status == ND_OK) status = nd_sorter_new(&m->shingles, memory / 2, tmp, false, err);
  if (status == ND_OK) {
    nd_sorter_by_value(m->shingles);
    status = nd_threads_run(s->threads, (n + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS, print_job, m, err);
  }
  if (status == ND_OK) status = nd_sorter_finish(m->shingles, err);
  if (status == ND_OK) status = nd_sorter_new(&m->counts, memory / 2, tmp, true, err);
  if (status == ND_OK) {
    nd_sorter_sum(m->counts);
    status = expand_runs(m, run, items, err);
  }
  nd_sorter_free(m->shingles);
  m->shingles = NULL;
  if (status == ND_OK) status = nd_sorter_finish(m->counts, err);
  if (status == ND_OK) status = judge(m, items, err);
  nd_free(items);
  if (run) nd_free(run->document);
  nd_free(run);
  return status;
}

/* The different ratios of a plan, rising. */
static void find_levels(merger *m, const nd_sample_plan *plan) {
  for (unsigned i = 0; i < plan->n; i++) {
    uint64_t modulus = plan->group[i].modulus;
    unsigned l = 0;
    while (l < m->levels && m->modulus[l] < modulus) l++;
    if (l < m->levels && m->modulus[l] == modulus) continue;
    memmove(m->modulus + l + 1, m->modulus + l, (m->levels - l) * sizeof *m->modulus);
    m->modulus[l] = modulus;
    m->levels++;
  }
  if (m->levels == 0) m->levels = 1;
}

nd_status nd_exact_pairs(nd_found *found, const nd_text_source *source, uint64_t memory,
                         const char *tmp, nd_error *err) {
  merger m = {.found = found, .source = source};
  uint64_t n = source->store->documents;
  const nd_settings *s = source->settings;
  find_levels(&m, &s->sample.plan);
  m.size = nd_calloc(n, m.levels * sizeof *m.size);
  if (m.levels > 1) m.level = nd_calloc(n, 1);
  nd_status status = m.size && (m.levels == 1 || m.level)
                         ? ND_OK
                         : nd_fail_memory(err, n * m.levels * sizeof *m.size);
  /* What is kept is counted here already; the true similarity needs the verifier. */
  found->direct = s->sample.on ? s->verify == ND_VERIFY_SAMPLE : s->every_pair;
  if (status == ND_OK) status = merge(&m, memory, tmp, err);
  nd_sorter_free(m.counts);
  nd_free(m.size);
  nd_free(m.level);
  return status;
}
