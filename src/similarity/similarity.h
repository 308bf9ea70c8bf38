/* How similar two documents are, from the sizes of their shingle sets:
 *
 *   jaccard      |A ∩ B| / |A ∪ B|           containment  |A ∩ B| / min(|A|, |B|)
 *   cosine       |A ∩ B| / √(|A| |B|)        overlap      |A ∩ B|
 *   edit         characters to insert, delete or replace (smaller is closer)
 *
 * Whether a pair reaches the threshold is decided in integers.  What is kept of
 * a pair is a fraction of two 32-bit numbers, to print and to compare. */
#ifndef ND_SIMILARITY_SIMILARITY_H
#define ND_SIMILARITY_SIMILARITY_H

#include "base/decimal.h"
#include "similarity/resemblance.h"

typedef enum nd_similarity {
  ND_SIMILARITY_JACCARD,
  ND_SIMILARITY_COSINE,
  ND_SIMILARITY_OVERLAP,
  ND_SIMILARITY_EDIT,
  ND_SIMILARITY_CONTAINMENT
} nd_similarity;

/* Does the pair count?  Not for edit. */
bool nd_similarity_reaches(nd_similarity kind, nd_overlap o, nd_decimal threshold);

/* Returns a packed nd_fraction; whole numbers have the denominator 1. */
uint64_t nd_similarity_pack(nd_similarity kind, nd_overlap o);

/* Whole numbers are printed as such. */
static inline bool nd_similarity_is_whole(nd_similarity kind) {
  return kind == ND_SIMILARITY_OVERLAP || kind == ND_SIMILARITY_EDIT;
}

#endif
