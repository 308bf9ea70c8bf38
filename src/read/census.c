/* Counting the documents of shingles before the main pass; see census.h. */
#include "read/census.h"

#include <xxhash.h>

#include "base/sorter.h"
#include "read/prepass.h"

/* Working memory of one thread. */
typedef struct counter {
  nd_shingles shingles;
  nd_item *items;
  size_t cap;
} counter;

typedef struct census {
  nd_reading *reading;
  nd_sorter *sorter; /* fingerprint → digest of the document */
  uint64_t modulus, residue;
  counter *counters; /* one per thread */
} census;

static nd_status count_document(void *context, unsigned member, const nd_read *read,
                                nd_error *err) {
  census *c = context;
  counter *t = &c->counters[member];
  const nd_settings *s = c->reading->settings;
  if (read->tokens->count == 0) return ND_OK;
  nd_str text = nd_buf_str(&read->tokens->text);
  uint64_t digest = XXH3_64bits(text.p, text.n);
  ND_TRY(nd_shingle_make(&t->shingles, text, read->tokens->end, read->tokens->count, s->shingle,
                         s->options->seed, false, err));
  ND_TRY(nd_array_grow(&t->items, &t->cap, t->shingles.n, sizeof *t->items, err));
  size_t n = 0;
  for (size_t i = 0; i < t->shingles.n; i++) {
    /* Shingles that the sampling plan drops anyway are not counted. */
    uint64_t fingerprint = t->shingles.fingerprint[i];
    t->items[n] = (nd_item){fingerprint, digest};
    n += nd_sample_key(fingerprint) % c->modulus == c->residue;
  }
  return nd_sorter_add(c->sorter, t->items, n, err);
}

/* Collects the fingerprints that more than --sample sct documents have. */
static nd_status take_common(void *context, nd_item last, uint64_t count, nd_error *err) {
  const nd_reading *r = context;
  return count > r->settings->sample.sct ? nd_shingle_set_add(r->common, last.key, err) : ND_OK;
}

static nd_status run(census *c, const char *tmp, nd_error *err) {
  nd_reading *r = c->reading;
  nd_settings *s = r->settings;
  unsigned threads = nd_reading_threads(s);
  c->counters = nd_calloc(threads, sizeof *c->counters);
  if (!c->counters) return nd_fail_memory(err, threads * sizeof *c->counters);
  ND_TRY(nd_sorter_new(&c->sorter, nd_budget(s->memory, ND_SHARE_PREPASS), tmp, false, err));
  nd_sorter_by_value(c->sorter);
  ND_TRY(nd_prepass(r, count_document, c, err));
  ND_TRY(nd_sorter_finish(c->sorter, err));
  ND_TRY(nd_shingle_set_new(&r->common, nd_budget(s->memory, ND_SHARE_SHINGLE_SET), tmp, err));
  ND_TRY(nd_sorter_count_values(c->sorter, take_common, r, err));
  return nd_shingle_set_finish(r->common, err);
}

nd_status nd_census(nd_reading *r, const char *tmp, nd_error *err) {
  nd_settings *s = r->settings;
  census c = {.reading = r, .modulus = s->sample.mod, .residue = s->sample.residue};
  if (s->sample.plan.n) { /* counts by the finest ratio of the plan */
    c.modulus = ND_PLAN_MOST_MODULUS;
    for (unsigned i = 0; i < s->sample.plan.n; i++)
      if (s->sample.plan.group[i].modulus < c.modulus) c.modulus = s->sample.plan.group[i].modulus;
  }
  nd_status status = run(&c, tmp, err);
  nd_sorter_free(c.sorter);
  for (unsigned i = 0; c.counters && i < nd_reading_threads(s); i++) {
    nd_shingles_clear(&c.counters[i].shingles);
    nd_free(c.counters[i].items);
  }
  nd_free(c.counters);
  s->sample.common = r->common;
  return status;
}
