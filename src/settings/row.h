/* A document's row of sketches: what of it later steps decide by.
 *
 *   minhash        permutations words, a min value each
 *   supershingle   a word per super-shingle
 *   projection     bits / 64 words
 *   simhash        1 word
 *   site           1 word: a hash of the page's site; 0: unknown
 *
 * A run keeps only the parts that its methods and columns read; they stand
 * one after another, in this order. */
#ifndef ND_SETTINGS_ROW_H
#define ND_SETTINGS_ROW_H

#include <stdint.h>

typedef enum nd_part {
  ND_PART_MINHASH,
  ND_PART_SUPERSHINGLE,
  ND_PART_PROJECTION,
  ND_PART_SIMHASH,
  ND_PART_SITE,
  ND_PARTS
} nd_part;

/* Sets of parts. */
enum {
  ND_HAS_MINHASH = 1 << ND_PART_MINHASH,
  ND_HAS_SUPERSHINGLE = 1 << ND_PART_SUPERSHINGLE,
  ND_HAS_PROJECTION = 1 << ND_PART_PROJECTION,
  ND_HAS_SIMHASH = 1 << ND_PART_SIMHASH,
  ND_HAS_SITE = 1 << ND_PART_SITE
};

typedef struct nd_row {
  uint32_t at[ND_PARTS];    /* words before the part */
  uint32_t words[ND_PARTS]; /* 0: the run has no such part */
  uint32_t total;
} nd_row;

#endif
