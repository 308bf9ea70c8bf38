/* A document at a time: min-hash sketches and exact resemblance, for programs
 * that keep their own index or compare a few documents. */
#ifndef NEARDUP_SKETCH_H
#define NEARDUP_SKETCH_H

#include "neardup/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Turns texts (UTF-8) into sketches.  Not for several threads at once: make
 * one per thread.  Equal options give equal sketches everywhere. */
typedef struct nd_sketcher nd_sketcher;

/* Makes a sketcher, which copies the options; free it by nd_sketcher_free.
 * ND_ERR_USAGE: the method is not minhash, or an option needs a whole corpus. */
ND_API nd_status nd_sketcher_new(nd_sketcher **out, const nd_options *options,
                                 nd_error *err) ND_MUST_CHECK;
/* Frees a sketcher; NULL is allowed. */
ND_API void nd_sketcher_free(nd_sketcher *s);

/* Returns the number of values in a sketch. */
ND_API uint32_t nd_sketcher_length(const nd_sketcher *s);

/* Writes the sketch of a text, nd_sketcher_length values, to `out`.  *shingles (may be
 * NULL) becomes the number of shingle occurrences; with 0 the text has no tokens and
 * matches nothing. */
ND_API nd_status nd_sketcher_text(uint64_t *out, uint64_t *shingles, nd_sketcher *s, nd_str text,
                                  nd_error *err) ND_MUST_CHECK;

/* Returns the estimated resemblance of two sketches: the share of equal values. */
ND_API double nd_sketcher_estimate(const nd_sketcher *s, const uint64_t *a, const uint64_t *b);

/* Sets *resemblance to the exact one of two texts: |common shingles| / |all
 * shingles|. */
ND_API nd_status nd_sketcher_compare(double *resemblance, nd_sketcher *s, nd_str a, nd_str b,
                                     nd_error *err) ND_MUST_CHECK;

/* --- in parts, for programs with features and indexes of their own ---------- */

/* Sets *out to the *n fingerprints of a text's shingles, repeats included; they are
 * borrowed until the next call on `s`. */
ND_API nd_status nd_sketcher_fingerprints(const uint64_t **out, size_t *n, nd_sketcher *s,
                                          nd_str text, nd_error *err) ND_MUST_CHECK;
/* Returns the fingerprint of a feature that the caller made: any bytes. */
ND_API uint64_t nd_sketcher_feature(const nd_sketcher *s, nd_str feature);
/* Writes the sketch of a set of fingerprints, nd_sketcher_length values, to `out`. */
ND_API nd_status nd_sketcher_sketch(uint64_t *out, nd_sketcher *s, const uint64_t *fingerprint,
                                    size_t n, nd_error *err) ND_MUST_CHECK;
/* Turns `sketch` into the sketch of the union of both documents. */
ND_API void nd_sketcher_merge(uint64_t *sketch, const nd_sketcher *s, const uint64_t *other);
/* Returns the number of bands, chosen from threshold and recall unless set.  Documents
 * that share the key of a band are candidates. */
ND_API uint32_t nd_sketcher_bands(const nd_sketcher *s);
/* Returns the number of values in a band. */
ND_API uint32_t nd_sketcher_rows(const nd_sketcher *s);
/* Writes the keys of a sketch, one per band, to `keys`. */
ND_API void nd_sketcher_keys(uint64_t *keys, const nd_sketcher *s, const uint64_t *sketch);

/* Simhash (64 bits) and random projections (a multiple of 64 bits, at most 1024)
 * as sums, one a bit, that can be added to: the sketches of documents put
 * together are the signs of their added sums. */
typedef enum nd_votes { ND_VOTES_SIMHASH, ND_VOTES_PROJECTION } nd_votes;
typedef struct nd_votes_spec {
  nd_votes kind;
  uint32_t bits; /* as many sums */
  uint64_t seed;
} nd_votes_spec;
/* Adds features, given by their fingerprints, to spec->bits sums, which begin at 0.
 * ND_ERR_USAGE: the number of bits is not allowed. */
ND_API nd_status nd_votes_add(int64_t *sums, const nd_votes_spec *spec, const uint64_t *fingerprint,
                              size_t n, nd_error *err) ND_MUST_CHECK;
/* Writes the sketch of `bits` sums: bit i % 64 of word i / 64 says whether sum i is
 * positive. */
ND_API void nd_votes_bits(uint64_t *out, const int64_t *sums, uint32_t bits);

#ifdef __cplusplus
}
#endif

#endif
