/* simhash; see simhash.h. */
#include "sketch/simhash.h"

#include "base/hash.h"

enum { ROW_BITS = 22, ROW = 1 << ROW_BITS, IDF_BITS = 8 };

/* --- frequencies ------------------------------------------------------------- */

nd_status nd_frequencies_init(nd_frequencies *f, nd_error *err) {
  *f = (nd_frequencies){0};
  f->count = nd_calloc(2 * (size_t)ROW, sizeof *f->count);
  return f->count ? ND_OK : nd_fail_memory(err, 2 * (size_t)ROW * sizeof *f->count);
}

void nd_frequencies_clear(nd_frequencies *f) {
  nd_free(f->count);
  f->count = NULL;
}

/* A fingerprint's counters. */
static void places(size_t at[2], uint64_t fingerprint) {
  uint64_t h = nd_mix(fingerprint ^ 0x66726571u);
  at[0] = h & (ROW - 1);
  at[1] = ROW + (h >> 32 & (ROW - 1));
}

uint32_t nd_frequencies_get(const nd_frequencies *f, uint64_t fingerprint) {
  size_t at[2];
  places(at, fingerprint);
  uint32_t a = atomic_load_explicit(&f->count[at[0]], memory_order_relaxed);
  uint32_t b = atomic_load_explicit(&f->count[at[1]], memory_order_relaxed);
  return a < b ? a : b;
}

uint32_t nd_idf(uint64_t documents, uint32_t df) {
  if (df == 0) df = 1;
  if (documents < df) documents = df;
  /* y = 1 + N / df with 32 bits after the point, then log2 bit by bit: squaring
   * a number of [1, 2) doubles its logarithm. */
  if (documents > UINT32_MAX) documents = UINT32_MAX;
  uint64_t y = (UINT64_C(1) << 32) + ((documents << 32) / df - (documents == UINT32_MAX));
  unsigned whole = 31 - (unsigned)__builtin_clzll(y);
  uint32_t log = whole << IDF_BITS;
  y = y << (31 - whole) >> 1; /* now in [2^62, 2^63) */
  for (int bit = IDF_BITS - 1; bit >= 0; bit--) {
    y = (uint64_t)((unsigned __int128)y * y >> 62);
    if (y >> 63) {
      log |= 1u << bit;
      y >>= 1;
    }
  }
  return log;
}

/* --- different tokens ---------------------------------------------------------- */

/* Fills list and times; *n becomes the number of different fingerprints. */
static nd_status distinct(nd_simhash *s, const uint64_t *fp, size_t *n, nd_error *err) {
  size_t slots = 64;
  while (slots < 2 * *n) slots *= 2;
  ND_TRY(nd_array_grow(&s->slot, &s->slot_cap, slots, sizeof *s->slot, err));
  ND_TRY(nd_array_grow(&s->list, &s->list_cap, *n, sizeof *s->list, err));
  ND_TRY(nd_array_grow(&s->times, &s->times_cap, *n, sizeof *s->times, err));
  memset(s->slot, 0, slots * sizeof *s->slot); /* 1 + place in the list */
  size_t found = 0;
  for (size_t i = 0; i < *n; i++) {
    size_t at = nd_mix(fp[i] ^ s->key) & (slots - 1);
    while (s->slot[at] && s->list[s->slot[at] - 1] != fp[i]) at = (at + 1) & (slots - 1);
    if (s->slot[at]) {
      s->times[s->slot[at] - 1]++;
      continue;
    }
    s->list[found] = fp[i];
    s->times[found] = 1;
    s->slot[at] = ++found;
  }
  *n = found;
  return ND_OK;
}

nd_status nd_simhash_count(nd_frequencies *f, nd_simhash *s, const uint64_t *fingerprint, size_t n,
                           nd_error *err) {
  ND_TRY(distinct(s, fingerprint, &n, err));
  for (size_t i = 0; i < n; i++) {
    size_t at[2];
    places(at, s->list[i]);
    atomic_fetch_add_explicit(&f->count[at[0]], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&f->count[at[1]], 1, memory_order_relaxed);
  }
  atomic_fetch_add_explicit(&f->documents, 1, memory_order_relaxed);
  return ND_OK;
}

/* --- the sketch ------------------------------------------------------------------ */

nd_status nd_simhash_init(nd_simhash *s, nd_weights weights, uint64_t seed,
                          const nd_frequencies *frequencies, nd_error *err) {
  *s = (nd_simhash){
      .weights = weights, .key = nd_mix(seed ^ 0x73696d68u), .frequencies = frequencies};
  if (weights == ND_WEIGHTS_TFIDF && !frequencies)
    return nd_fail(err, ND_ERR_USAGE, "tf-idf weights need the frequencies of the tokens");
  return ND_OK;
}

void nd_simhash_clear(nd_simhash *s) {
  nd_free(s->slot);
  nd_free(s->list);
  nd_free(s->times);
  *s = (nd_simhash){0};
}

nd_status nd_simhash_sketch(uint64_t *out, nd_simhash *s, const uint64_t *fingerprint, size_t n,
                            nd_error *err) {
  *out = 0;
  if (n == 0) return ND_OK;
  const uint64_t *fp = fingerprint;
  if (s->weights != ND_WEIGHTS_TF) {
    ND_TRY(distinct(s, fingerprint, &n, err));
    fp = s->list;
  }
  uint64_t documents = 0;
  if (s->weights == ND_WEIGHTS_TFIDF)
    documents = atomic_load_explicit(&s->frequencies->documents, memory_order_relaxed);
  int64_t sum[64] = {0};
  for (size_t i = 0; i < n; i++) {
    int64_t weight = 1;
    if (s->weights == ND_WEIGHTS_TFIDF)
      weight = (int64_t)s->times[i] * nd_idf(documents, nd_frequencies_get(s->frequencies, fp[i]));
    uint64_t h = nd_mix(fp[i] + s->key);
    for (int b = 0; b < 64; b++) sum[b] += h >> b & 1 ? weight : -weight;
  }
  for (int b = 0; b < 64; b++) *out |= (uint64_t)(sum[b] > 0) << b;
  return ND_OK;
}
