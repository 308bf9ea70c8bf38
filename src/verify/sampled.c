/* Kept shingles as sorted keys, compared by merging; see sampled.h. */
#include "verify/sampled.h"

#include "feature/shingler.h"

enum { SLOTS = 512 };

typedef struct kept {
  uint32_t document; /* UINT32_MAX: the slot is empty */
  uint32_t n;
  uint64_t modulus;
  uint64_t *key; /* ascending */
  size_t cap;
} kept;

struct nd_sampled {
  const nd_settings *settings;
  uint64_t memory, bytes;
  size_t oldest; /* the next slot to evict */
  nd_buf text;
  nd_shingler shingler;
  nd_sampler sampler;
  kept slot[SLOTS + 1]; /* by number modulo SLOTS; the last is for a collision within a pair */
};

nd_status nd_sampled_new(nd_sampled **out, const nd_settings *settings, uint64_t memory,
                         nd_error *err) {
  nd_sampled *s = nd_calloc(1, sizeof *s);
  if (!s) return nd_fail_memory(err, sizeof *s);
  s->settings = settings;
  s->memory = memory;
  s->sampler.sample = &settings->sample;
  for (size_t i = 0; i <= SLOTS; i++) s->slot[i].document = UINT32_MAX;
  *out = s;
  return ND_OK;
}

void nd_sampled_free(nd_sampled *s) {
  if (!s) return;
  nd_buf_clear(&s->text);
  nd_shingler_clear(&s->shingler);
  nd_sampler_clear(&s->sampler);
  for (size_t i = 0; i <= SLOTS; i++) nd_free(s->slot[i].key);
  nd_free(s);
}

static nd_status load(nd_sampled *s, kept *k, nd_texts *texts, uint32_t document, nd_error *err) {
  const nd_settings *set = s->settings;
  bool emptied;
  k->document = UINT32_MAX;
  ND_TRY(nd_texts_get(&s->text, texts, document, err));
  nd_shingler *g = &s->shingler;
  ND_TRY(nd_shingler_run(g, nd_buf_str(&s->text), set->shingle, set->options->seed, err));
  ND_TRY(nd_sampler_run(&s->sampler, &emptied, &g->shingles, g->tokens, 0, err));
  ND_TRY(nd_shingler_keys(g, err));
  const size_t n = emptied ? 0 : g->keys;
  s->bytes -= k->cap * sizeof *k->key;
  nd_status status = nd_array_grow(&k->key, &k->cap, n, sizeof *k->key, err);
  s->bytes += k->cap * sizeof *k->key;
  ND_TRY(status);
  if (n) memcpy(k->key, g->key, n * sizeof *k->key);
  k->n = (uint32_t)n;
  k->modulus = nd_sample_modulus(&set->sample, g->tokens);
  k->document = document;
  return ND_OK;
}

/* Returns the kept shingles of a document, without evicting those of `other`. */
static nd_status get(kept **out, nd_sampled *s, nd_texts *texts, uint32_t document, uint32_t other,
                     nd_error *err) {
  size_t at = document % SLOTS;
  if (s->slot[at].document == other) at = SLOTS;
  *out = &s->slot[at];
  if (s->slot[at].document == document) return ND_OK;
  for (size_t tries = 0; s->bytes > s->memory && tries < SLOTS; tries++) {
    kept *k = &s->slot[s->oldest++ % SLOTS];
    if (k->document == other || k == *out) continue;
    s->bytes -= k->cap * sizeof *k->key;
    nd_free(k->key);
    *k = (kept){.document = UINT32_MAX};
  }
  return load(s, *out, texts, document, err);
}

nd_status nd_sampled_compare(nd_overlap *out, nd_sampled *s, nd_texts *texts, uint32_t a,
                             uint32_t b, nd_error *err) {
  kept *x, *y;
  ND_TRY(get(&x, s, texts, a, b, err));
  ND_TRY(get(&y, s, texts, b, a, err));
  uint64_t coarser = x->modulus > y->modulus ? x->modulus : y->modulus;
  uint64_t mask = x->modulus == y->modulus ? 0 : coarser - 1; /* powers of two */
  uint32_t left = 0, right = 0, common = 0;
  for (uint32_t i = 0; i < x->n; i++) left += (x->key[i] & mask) == 0;
  for (uint32_t i = 0; i < y->n; i++) right += (y->key[i] & mask) == 0;
  for (uint32_t i = 0, j = 0; i < x->n && j < y->n;) {
    uint64_t p = x->key[i], q = y->key[j];
    common += p == q;
    i += p <= q;
    j += q <= p;
  }
  *out = (nd_overlap){common, left + right - common, left};
  return ND_OK;
}
