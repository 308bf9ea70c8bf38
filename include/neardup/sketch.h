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

#endif
