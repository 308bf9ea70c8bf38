/* How similar two documents are, in one table:
 *
 *   jaccard      |A ∩ B| / |A ∪ B|           containment  |A ∩ B| / min(|A|, |B|)
 *   cosine       |A ∩ B| / √(|A| |B|)        overlap      |A ∩ B|
 *   edit         characters to insert, delete or replace (smaller is closer)
 *
 * A row computes the value of a pair, decides in integers whether it reaches the threshold, and
 * gives bounds for joins.  A new similarity is a file similarity_NAME.c, a word in ND_SIMILARITIES
 * and a test.  The value is stored as a fraction of two 32-bit numbers (base/pair.h). */
#ifndef ND_SIMILARITY_SIMILARITY_H
#define ND_SIMILARITY_SIMILARITY_H

#include "base/cpu.h"
#include "base/decimal.h"
#include "base/pair.h"
#include "similarity/edit_distance.h"
#include "similarity/resemblance.h"
#include "similarity/set_bounds.h"

/* Ways to find pairs.  Each method uses one; a similarity lists those that work for it. */
enum {
  ND_WAY_SKETCHES = 1,   /* sketches, which estimate the resemblance */
  ND_WAY_MERGE = 2,      /* counts of common shingles (exact) */
  ND_WAY_JOIN = 4,       /* the block join, or Pass-Join */
  ND_WAY_PREFIX_JOIN = 8 /* the joins of the literature */
};

/* How joins find a similarity.  One that neither finds leaves ND_WAY_JOIN out. */
typedef enum nd_joined {
  ND_JOINED_SETS, /* by shingle sets and `bounds` */
  ND_JOINED_EDITS /* by texts, within an edit distance */
} nd_joined;

typedef struct nd_similarity {
  const char *name;
  const char *help;    /* the value in words */
  nd_decimal standard; /* default threshold; den 0: none, it must be given */
  bool counts;         /* values and thresholds are whole numbers; else at most 1 */
  bool distance;       /* smaller is closer, and the threshold is a maximum */
  unsigned ways;       /* ND_WAY_… */
  nd_joined joined;    /* with ND_WAY_JOIN or ND_WAY_PREFIX_JOIN */
  /* Similarities of shingle sets: test whether a pair that overlaps reaches the threshold, compute
   * its value, and set the bounds for joins at the threshold b->num / b->den. */
  bool (*reaches)(nd_overlap o, nd_decimal threshold);
  uint64_t (*value)(nd_overlap o);
  void (*bounds)(nd_set_bounds *b);
  /* Similarities of texts, instead of these three: computes min(distance, most + 1). */
  nd_status (*of_texts)(uint32_t *out, nd_edit_scratch *s, nd_str a, nd_str b, uint32_t most,
                        nd_error *err);
} nd_similarity;

/* The table.  The first similarity is the default. */
#define ND_SIMILARITIES(ROW) ROW(jaccard) ROW(cosine) ROW(overlap) ROW(edit) ROW(containment)

#define ND_SIMILARITY_DECLARATION(name) extern const nd_similarity nd_similarity_##name;
ND_SIMILARITIES(ND_SIMILARITY_DECLARATION)

/* Ends with NULL; weak (base/cpu.h). */
#define ND_SIMILARITY_ROW(name) &nd_similarity_##name,
extern const nd_similarity *const nd_similarities[];

const nd_similarity *nd_similarity_find(const char *name); /* NULL: unknown */
const char *nd_similarity_name(size_t i);                  /* of row i; NULL past the last */
const char *nd_similarity_help(const char *name);          /* NULL: unknown */

static inline bool nd_similarity_reaches(const nd_similarity *s, nd_overlap o, nd_decimal t) {
  return o.common && s->reaches(o, t);
}

/* Returns the value of exact duplicates. */
static inline uint64_t nd_similarity_of_copies(const nd_similarity *s) {
  return nd_fraction_pack(!s->distance, 1);
}

/* Returns true if the value has no upper limit, so that two equal short documents may miss the
 * threshold. */
static inline bool nd_similarity_is_open(const nd_similarity *s) {
  return s->counts && !s->distance;
}

#endif
