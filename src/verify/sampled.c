/* Kept shingles as sorted keys, compared by merging; see sampled.h. */
#include "verify/sampled.h"

#include "text/words.h"

enum { SLOTS = 512 };

typedef struct kept {
  uint32_t document; /* UINT32_MAX: nobody's */
  uint32_t n;
  uint64_t modulus;
  uint64_t *key; /* rising */
  size_t cap;
} kept;

struct nd_sampled {
  const nd_settings *settings;
  uint64_t memory, bytes;
  size_t hand_over; /* the next slot to give up */
  nd_buf text;
  uint32_t *end;
  size_t count, end_cap;
  nd_shingles shingles;
  nd_sampler sampler;
  uint64_t *spare;
  size_t spare_cap;
  kept slot[SLOTS + 1]; /* by number modulo SLOTS; the last for one that clashes */
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
  nd_free(s->end);
  nd_shingles_clear(&s->shingles);
  nd_sampler_clear(&s->sampler);
  nd_free(s->spare);
  for (size_t i = 0; i <= SLOTS; i++) nd_free(s->slot[i].key);
  nd_free(s);
}

static nd_status load(nd_sampled *s, kept *k, nd_texts *texts, uint32_t document, nd_error *err) {
  const nd_settings *set = s->settings;
  bool emptied;
  k->document = UINT32_MAX;
  ND_TRY(nd_texts_get(&s->text, texts, document, err));
  nd_str text = nd_buf_str(&s->text);
  ND_TRY(nd_token_ends(&s->end, &s->count, &s->end_cap, text, err));
  ND_TRY(nd_shingle_make(&s->shingles, text, s->end, s->count, set->shingle, set->options->seed,
                         false, err));
  ND_TRY(nd_sampler_run(&s->sampler, &emptied, &s->shingles, s->count, 0, err));
  size_t n = emptied ? 0 : s->shingles.n;
  s->bytes -= k->cap * sizeof *k->key;
  nd_status status = nd_array_grow(&k->key, &k->cap, n, sizeof *k->key, err);
  s->bytes += k->cap * sizeof *k->key;
  ND_TRY(status);
  ND_TRY(nd_array_grow(&s->spare, &s->spare_cap, n, sizeof *s->spare, err));
  for (size_t i = 0; i < n; i++) k->key[i] = nd_sample_key(s->shingles.fingerprint[i]);
  nd_radix_u64(k->key, s->spare, n);
  size_t distinct = 0;
  for (size_t i = 0; i < n; i++)
    if (i == 0 || k->key[i] != k->key[i - 1]) k->key[distinct++] = k->key[i];
  k->n = (uint32_t)distinct;
  k->modulus = nd_sample_modulus(&set->sample, s->count);
  k->document = document;
  return ND_OK;
}

/* The kept shingles of a document; those of `other` stay where they are. */
static nd_status get(kept **out, nd_sampled *s, nd_texts *texts, uint32_t document, uint32_t other,
                     nd_error *err) {
  size_t at = document % SLOTS;
  if (s->slot[at].document == other) at = SLOTS;
  *out = &s->slot[at];
  if (s->slot[at].document == document) return ND_OK;
  for (size_t tries = 0; s->bytes > s->memory && tries < SLOTS; tries++) {
    kept *k = &s->slot[s->hand_over++ % SLOTS];
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
