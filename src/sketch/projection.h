/* Random projections (Charikar 2002; Henzinger 2006, section 2, algorithm C).
 *
 * Every token has `bits` random entries of +1 or -1, the same for all documents.
 * The vector of a document is their sum over all its tokens, including repeats; bit i of the
 * sketch is 1 if entry i of the sum is positive.  Two documents whose
 * token counts form the angle θ agree in a bit with probability 1 - θ/π.
 *
 * The entries of the token with the fingerprint x are the bits of the words
 * nd_mix(x + key[w]): bit i of the sketch is bit i % 64 of word i / 64.
 *
 * Fingerprints may be those of tokens (nd_shingle_make with words:1) or of shingles. */
#ifndef ND_SKETCH_PROJECTION_H
#define ND_SKETCH_PROJECTION_H

#include "base/cpu.h"
#include "base/mem.h"

enum { ND_PROJECTION_MAX = 1024 };

typedef struct nd_projection {
  uint32_t bits, words;
  uint64_t key[ND_PROJECTION_MAX / 64];
} nd_projection;

/* Returns ND_ERR_USAGE unless `bits` is a multiple of 64 from 64 to ND_PROJECTION_MAX. */
nd_status nd_projection_init(nd_projection *p, uint32_t bits, uint64_t seed,
                             nd_error *err) ND_MUST_CHECK;

/* Writes p->words words, all 0 if there are no fingerprints.  n < 2^32. */
void nd_projection_sketch(uint64_t *out, const nd_projection *p, const uint64_t *fingerprint,
                          size_t n);

/* For tests: uses a given CPU level, which must be supported. */
void nd_projection_sketch_level(uint64_t *out, const nd_projection *p, const uint64_t *fingerprint,
                                size_t n, nd_cpu_level level);

/* Returns the number of agreeing bits of two sketches: the C-similarity. */
uint32_t nd_projection_agree(const uint64_t *a, const uint64_t *b, uint32_t words);

#endif
