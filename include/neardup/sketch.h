/* A document at a time: min-hash sketches and exact resemblance, for programs
 * that keep their own index or compare a few documents. */
#ifndef NEARDUP_SKETCH_H
#define NEARDUP_SKETCH_H

#include "neardup/options.h"

/* Turns texts (UTF-8) into sketches.  Not for several threads at once: make
 * one per thread.  Equal options give equal sketches everywhere. */
typedef struct nd_sketcher nd_sketcher;

ND_API nd_status nd_sketcher_new(nd_sketcher **out, const nd_options *options,
                                 nd_error *err) ND_MUST_CHECK;
ND_API void nd_sketcher_free(nd_sketcher *s); /* NULL is allowed */

/* Values in a sketch. */
ND_API uint32_t nd_sketcher_length(const nd_sketcher *s);

/* Writes nd_sketcher_length values; *shingles (may be NULL) is the number of
 * shingle occurrences; with 0 the document has no tokens and matches nothing. */
ND_API nd_status nd_sketcher_text(uint64_t *out, uint64_t *shingles, nd_sketcher *s, nd_str text,
                                  nd_error *err) ND_MUST_CHECK;

/* Estimated resemblance of two sketches: the share of equal values. */
ND_API double nd_sketcher_estimate(const nd_sketcher *s, const uint64_t *a, const uint64_t *b);

/* Exact resemblance of two texts: |common shingles| / |all shingles|. */
ND_API nd_status nd_sketcher_compare(double *resemblance, nd_sketcher *s, nd_str a, nd_str b,
                                     nd_error *err) ND_MUST_CHECK;

/* --- in parts, for programs with features and indexes of their own ---------- */

/* The fingerprints of a text's shingles, repeats included; borrowed until the
 * next call. */
ND_API nd_status nd_sketcher_fingerprints(const uint64_t **out, size_t *n, nd_sketcher *s,
                                          nd_str text, nd_error *err) ND_MUST_CHECK;
/* The fingerprint of a feature that the caller made: any bytes. */
ND_API uint64_t nd_sketcher_feature(const nd_sketcher *s, nd_str feature);
/* The sketch of a set of fingerprints. */
ND_API nd_status nd_sketcher_sketch(uint64_t *out, nd_sketcher *s, const uint64_t *fingerprint,
                                    size_t n, nd_error *err) ND_MUST_CHECK;
/* Makes a sketch that of the union of two documents. */
ND_API void nd_sketcher_merge(uint64_t *sketch, const nd_sketcher *s, const uint64_t *other);
/* Documents that share the key of a band are candidates: as many keys as bands,
 * chosen from threshold and recall unless given. */
ND_API uint32_t nd_sketcher_bands(const nd_sketcher *s);
ND_API uint32_t nd_sketcher_rows(const nd_sketcher *s); /* of a band */
ND_API void nd_sketcher_keys(uint64_t *keys, const nd_sketcher *s, const uint64_t *sketch);

/* Simhash (64 bits) and random projections (a multiple of 64 bits, at most 1024)
 * as sums, one a bit, that can be added to: the sketches of documents put
 * together are the signs of their added sums. */
typedef enum nd_votes { ND_VOTES_SIMHASH, ND_VOTES_PROJECTION } nd_votes;
ND_API nd_status nd_votes_add(int64_t *sums, nd_votes kind, uint32_t bits, uint64_t seed,
                              const uint64_t *fingerprint, size_t n, nd_error *err) ND_MUST_CHECK;
/* The sketch: bit i % 64 of word i / 64 tells whether sum i is positive. */
ND_API void nd_votes_bits(uint64_t *out, const int64_t *sums, uint32_t bits);

#endif
