/* The row of a document: the sketches that a run keeps of it, concatenated in the order of the
 * table of methods (method.h).  A run keeps only the sketches that its methods and columns read. */
#ifndef ND_SETTINGS_ROW_H
#define ND_SETTINGS_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nd_sketch nd_sketch; /* method.h */

enum { ND_ROW_MOST = 16 }; /* kinds of sketches */

typedef struct nd_row_part {
  const nd_sketch *sketch;
  uint32_t at, words; /* offset and size, in words */
} nd_row_part;

typedef struct nd_row {
  nd_row_part part[ND_ROW_MOST];
  unsigned n;
  uint32_t total; /* words */
} nd_row;

/* Returns NULL if the row has no such sketch. */
static inline const nd_row_part *nd_row_find(const nd_row *r, const nd_sketch *sketch) {
  for (unsigned i = 0; i < r->n; i++)
    if (r->part[i].sketch == sketch) return &r->part[i];
  return NULL;
}

static inline bool nd_row_has(const nd_row *r, const nd_sketch *sketch) {
  return nd_row_find(r, sketch) != NULL;
}

/* Returns the part of a sketch that the row has. */
static inline const nd_row_part *nd_row_get(const nd_row *r, const nd_sketch *sketch) {
  const nd_row_part *part = r->part;
  while (part->sketch != sketch) part++;
  return part;
}

/* Returns the words of a sketch in a row that has it. */
static inline const uint64_t *nd_row_words(const nd_row *r, const nd_sketch *sketch,
                                           const uint64_t *words) {
  return words + nd_row_get(r, sketch)->at;
}

#endif
