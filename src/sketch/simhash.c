/* simhash; see simhash.h. */
#include "sketch/simhash.h"

#include "base/hash.h"

#if ND_X86
#include <immintrin.h>
#endif

#define COUNTS(name) bits_##name
#define WORD uint64_t
#include "sketch/bit_counts.h"
#undef COUNTS
#undef WORD

enum { LINES = 1 << 19, COUNTERS = 16 * LINES, IDF_BITS = 8, BLOCK = 32 };

/* --- frequencies ------------------------------------------------------------- */

nd_status nd_frequencies_init(nd_frequencies *f, nd_error *err) {
  *f = (nd_frequencies){0};
  f->count = nd_calloc(COUNTERS, sizeof *f->count);
  return f->count ? ND_OK : nd_fail_memory(err, COUNTERS * sizeof *f->count);
}

void nd_frequencies_clear(nd_frequencies *f) {
  nd_free(f->count);
  f->count = NULL;
}

/* The counters of a fingerprint: one of the first and one of the last eight of a cache line. */
static void places(size_t at[2], uint64_t fingerprint) {
  uint64_t h = nd_mix(fingerprint ^ 0x66726571u);
  size_t line = (h & (LINES - 1)) * 16;
  at[0] = line + (h >> 32 & 7);
  at[1] = line + 8 + (h >> 40 & 7);
}

/* Likewise for up to BLOCK fingerprints, whose counters are spread over memory: prefetches them. */
static void places_of(size_t at[BLOCK][2], const nd_frequencies *f, const uint64_t *fp, size_t n) {
  for (size_t t = 0; t < n; t++) {
    places(at[t], fp[t]);
    __builtin_prefetch(f->count + at[t][0]);
  }
}

static uint32_t smaller(const nd_frequencies *f, const size_t at[2]) {
  uint32_t a = atomic_load_explicit(&f->count[at[0]], memory_order_relaxed);
  uint32_t b = atomic_load_explicit(&f->count[at[1]], memory_order_relaxed);
  return a < b ? a : b;
}

uint32_t nd_frequencies_get(const nd_frequencies *f, uint64_t fingerprint) {
  size_t at[2];
  places(at, fingerprint);
  return smaller(f, at);
}

uint32_t nd_idf(uint64_t documents, uint32_t df) {
  if (df == 0) df = 1;
  if (documents < df) documents = df;
  /* y = 1 + N / df with 32 fractional bits, then log2 bit by bit: squaring a number in [1, 2)
   * doubles its logarithm. */
  if (documents > UINT32_MAX) documents = UINT32_MAX; /* untaken: more than 2^31 things */
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

/* --- distinct tokens ----------------------------------------------------------- */

/* Fills list (and times, if requested) with the *n distinct tokens.  Token t of the table is
 * list[t + 1]. */
ND_INLINE nd_status distinct(nd_simhash *s, const uint64_t *fp, size_t *n, bool times,
                             nd_error *err) {
  ND_TRY(nd_slots_reset(&s->table, 2 * *n, err)); /* a quarter full: probes are short */
  ND_TRY(nd_array_grow(&s->list, &s->list_cap, *n + 1, sizeof *s->list, err));
  if (times) ND_TRY(nd_array_grow(&s->times, &s->times_cap, *n + 1, sizeof *s->times, err));
  const nd_slots table = s->table;
  uint32_t *slot = table.slot;
  uint64_t *list = s->list, secret = nd_hash_secret();
  list[0] = 0;
  size_t found = 0;
  for (size_t i = 0; i < *n; i++) {
    uint64_t x = fp[i];
    size_t at = nd_slots_first(&table, nd_hash_salted(x, secret));
    while (slot[at] && list[slot[at]] != x) at = nd_slots_next(&table, at);
    /* Unpredictable, so no branch. */
    bool fresh = slot[at] == 0;
    found += fresh;
    slot[at] = fresh ? (uint32_t)found : slot[at];
    list[slot[at]] = x;
    if (times) s->times[slot[at]] = fresh ? 1 : s->times[slot[at]] + 1;
  }
  *n = found;
  return ND_OK;
}

nd_status nd_simhash_count(nd_frequencies *f, nd_simhash *s, const uint64_t *fingerprint, size_t n,
                           nd_error *err) {
  ND_TRY(distinct(s, fingerprint, &n, false, err));
  for (size_t i = 1; i <= n; i += BLOCK) {
    size_t m = n + 1 - i < BLOCK ? n + 1 - i : BLOCK, at[BLOCK][2];
    places_of(at, f, s->list + i, m);
    for (size_t t = 0; t < m; t++) {
      atomic_fetch_add_explicit(&f->count[at[t][0]], 1, memory_order_relaxed);
      atomic_fetch_add_explicit(&f->count[at[t][1]], 1, memory_order_relaxed);
    }
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
  nd_slots_clear(&s->table);
  nd_free(s->list);
  nd_free(s->times);
  *s = (nd_simhash){0};
}

/* Computes votes of equal weight. */
static uint64_t count_votes(const uint64_t *fp, size_t n, uint64_t key) {
  bits_counter c;
  bits_start(&c);
  for (size_t i = 0; i < n; i += 16) {
    uint64_t w[16] = {0};
    size_t m = n - i < 16 ? n - i : 16;
    for (size_t t = 0; t < m; t++) w[t] = nd_mix(fp[i + t] + key);
    bits_sixteen(&c, w);
  }
  uint64_t positive;
  bits_at_least(&positive, &c, n / 2 + 1);
  return positive;
}

/* --- votes with weights ----------------------------------------------------------- */

/* Adds the weights of the tokens that have each bit. */
ND_INLINE void add_weights(uint64_t sum[64], const uint64_t *word, const uint64_t *weight,
                           size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (int b = 0; b < 64; b++) sum[b] += weight[i] & -(word[i] >> b & 1);
  }
}

static void add_weights_base(uint64_t sum[64], const uint64_t *word, const uint64_t *weight,
                             size_t n) {
  add_weights(sum, word, weight, n);
}
#if ND_X86
ND_TARGET_AVX2 static void add_weights_avx2(uint64_t sum[64], const uint64_t *word,
                                            const uint64_t *weight, size_t n) {
  add_weights(sum, word, weight, n);
}

ND_TARGET_AVX512 static void add_weights_avx512(uint64_t sum[64], const uint64_t *word,
                                                const uint64_t *weight, size_t n) {
  __m512i s[8];
  for (int b = 0; b < 8; b++) s[b] = _mm512_loadu_si512(sum + 8 * b);
  for (size_t i = 0; i < n; i++) {
    __m512i w = _mm512_set1_epi64((long long)weight[i]);
    for (int b = 0; b < 8; b++)
      s[b] = _mm512_mask_add_epi64(s[b], (__mmask8)(word[i] >> 8 * b), s[b], w);
  }
  for (int b = 0; b < 8; b++) _mm512_storeu_si512(sum + 8 * b, s[b]);
}
#endif

static void add_weights_level(uint64_t sum[64], const uint64_t *word, const uint64_t *weight,
                              size_t n, nd_cpu_level level) {
#if ND_X86
  if (level == ND_CPU_AVX512) {
    add_weights_avx512(sum, word, weight, n);
    return;
  }
  if (level == ND_CPU_AVX2) {
    add_weights_avx2(sum, word, weight, n);
    return;
  }
#endif
  (void)level;
  add_weights_base(sum, word, weight, n);
}

/* Computes tf-idf of the distinct tokens in list and times, which start at index 1. */
static uint64_t weigh_votes(nd_simhash *s, size_t n, nd_cpu_level level) {
  const nd_frequencies *f = s->frequencies;
  uint64_t documents = atomic_load_explicit(&f->documents, memory_order_relaxed);
  uint64_t sum[64] = {0}, total = 0, out = 0;
  if (documents != s->idf_documents) {
    memset(s->idf_df, 0xff, sizeof s->idf_df);
    s->idf[UINT32_MAX % ND_IDF_SLOTS] = nd_idf(documents, UINT32_MAX);
    s->idf_documents = documents;
  }
  for (size_t i = 1; i <= n; i += BLOCK) {
    uint64_t word[BLOCK], weight[BLOCK];
    size_t m = n + 1 - i < BLOCK ? n + 1 - i : BLOCK, at[BLOCK][2];
    places_of(at, f, s->list + i, m);
    for (size_t t = 0; t < m; t++) {
      uint32_t df = smaller(f, at[t]);
      size_t slot = df % ND_IDF_SLOTS;
      if (s->idf_df[slot] != df) {
        s->idf_df[slot] = df;
        s->idf[slot] = nd_idf(documents, df);
      }
      weight[t] = (uint64_t)s->times[i + t] * s->idf[slot];
      word[t] = nd_mix(s->list[i + t] + s->key);
      total += weight[t];
    }
    add_weights_level(sum, word, weight, m, level);
  }
  for (int b = 0; b < 64; b++) out |= (uint64_t)(2 * sum[b] > total) << b;
  return out;
}

nd_status nd_simhash_sketch_level(uint64_t *out, nd_simhash *s, const uint64_t *fingerprint,
                                  size_t n, nd_cpu_level level, nd_error *err) {
  *out = 0;
  if (n == 0) return ND_OK;
  if (s->weights == ND_WEIGHTS_TF) {
    *out = count_votes(fingerprint, n, s->key);
    return ND_OK;
  }
  if (s->weights == ND_WEIGHTS_ONE) {
    ND_TRY(distinct(s, fingerprint, &n, false, err));
    *out = count_votes(s->list + 1, n, s->key);
    return ND_OK;
  }
  ND_TRY(distinct(s, fingerprint, &n, true, err));
  *out = weigh_votes(s, n, level);
  return ND_OK;
}

nd_status nd_simhash_sketch(uint64_t *out, nd_simhash *s, const uint64_t *fingerprint, size_t n,
                            nd_error *err) {
  return nd_simhash_sketch_level(out, s, fingerprint, n, nd_cpu(), err);
}
