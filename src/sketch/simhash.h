/* simhash: a 64-bit projection with weights (Charikar 2002; Manku, Jain and Das
 * Sarma 2007; Williams and Giles 2013, section 3.1).
 *
 * Every token votes for the 64 bits of nd_mix(x + key), x being its fingerprint:
 * with +weight where a bit is 1, with -weight where it is 0.  A bit of the
 * document is 1 when its sum is positive.
 *
 *   ONE     1 for every distinct token
 *   TF      number of occurrences
 *   TF-IDF  number of occurrences times idf = log2(1 + N / df) in steps of 1/256, where df of
 *           N documents have the token
 *
 * Integer arithmetic only, so the bits are the same on every machine. */
#ifndef ND_SKETCH_SIMHASH_H
#define ND_SKETCH_SIMHASH_H

#include <stdatomic.h>

#include "base/cpu.h"
#include "base/hash_table.h"

typedef enum nd_weights { ND_WEIGHTS_ONE, ND_WEIGHTS_TF, ND_WEIGHTS_TFIDF } nd_weights;

/* --- document frequencies of tokens ------------------------------------------- */
/* A count-min sketch of 2^23 counters (32 MiB) for any number of documents: every token has two
 * counters in one cache line.  Its df is the smaller of them: never below the true number, and
 * above it only if other tokens use both.  Threads may add concurrently; sums do not depend on
 * the order. */
typedef struct nd_frequencies {
  _Atomic uint32_t *count; /* line after line, sixteen each */
  _Atomic uint64_t documents;
} nd_frequencies;

nd_status nd_frequencies_init(nd_frequencies *f, nd_error *err) ND_MUST_CHECK;
void nd_frequencies_clear(nd_frequencies *f);
uint32_t nd_frequencies_get(const nd_frequencies *f, uint64_t fingerprint);
/* Returns log2(1 + N / df) in steps of 1/256, rounded down; df = 0 counts as 1, N < df as df. */
uint32_t nd_idf(uint64_t documents, uint32_t df);

/* --- the sketch ---------------------------------------------------------------- */
enum { ND_IDF_SLOTS = 4096 };

/* One per thread. */
typedef struct nd_simhash {
  nd_weights weights;
  uint64_t key;
  const nd_frequencies *frequencies; /* TF-IDF; borrowed */
  nd_slots table;                    /* scratch: the distinct tokens */
  uint64_t *list;                    /* scratch: the distinct tokens, from index 1 */
  uint32_t *times;                   /* scratch: occurrences of each */
  size_t list_cap, times_cap;
  /* cache of nd_idf by frequency, for a number of documents */
  uint64_t idf_documents;
  uint32_t idf_df[ND_IDF_SLOTS], idf[ND_IDF_SLOTS];
} nd_simhash;

/* `frequencies` may be NULL unless the weights are TF-IDF. */
nd_status nd_simhash_init(nd_simhash *s, nd_weights weights, uint64_t seed,
                          const nd_frequencies *frequencies, nd_error *err) ND_MUST_CHECK;
void nd_simhash_clear(nd_simhash *s);

/* Counts the tokens of a document, each once; `s` is only scratch. */
nd_status nd_simhash_count(nd_frequencies *f, nd_simhash *s, const uint64_t *fingerprint, size_t n,
                           nd_error *err) ND_MUST_CHECK;

/* Returns the sketch of the tokens of a document (nd_shingle_make with words:1, or shingles); 0
 * if there are none.  n < 2^32. */
nd_status nd_simhash_sketch(uint64_t *out, nd_simhash *s, const uint64_t *fingerprint, size_t n,
                            nd_error *err) ND_MUST_CHECK;

/* For tests: uses a given CPU level, which must be supported. */
nd_status nd_simhash_sketch_level(uint64_t *out, nd_simhash *s, const uint64_t *fingerprint,
                                  size_t n, nd_cpu_level level, nd_error *err) ND_MUST_CHECK;

#endif
