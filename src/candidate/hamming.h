/* All pairs of bit vectors that differ in few bits.
 *
 * Vectors that differ in at most k bits, cut into k + 1 pieces, agree in one
 * piece at least (Manku, Jain and Das Sarma 2007; Henzinger 2006, section 3).  So
 * for every piece the vectors are brought together by its value, and those that
 * share it are compared.  A table is one flat array, used again for every piece:
 *
 *   row     4 bytes × n      ordered by the piece's value
 *   same    4 bytes × n      equal vectors, linked; made once
 *
 * 8 bytes for each document above the vectors themselves, and no chains: the
 * vectors of a bucket are fetched when it is its turn.  Where even the vectors do
 * not fit the memory, they are read from where they are, once for every piece, and
 * dealt out by its value to parts that do (hamming_far.c); only `same` stays.
 *
 * Equal vectors take part once.  A group that shares a piece and is still large is
 * cut again by the bits that tell its members apart, so that neither many
 * documents nor crowded ones are compared all with all.  A pair is given at the
 * first piece that it shares, once.
 *
 * Exact: every pair within the distance is given, for every distance.  Only
 * `pieces` (wide vectors) makes it the published method that may miss pairs, and
 * only `cap` leaves pairs out, which the stats say. */
#ifndef ND_CANDIDATE_HAMMING_H
#define ND_CANDIDATE_HAMMING_H

#include "base/sorter.h"

enum { ND_HAMMING_WORDS = 16 };

/* Gives all vectors, some at a time and each with its document's number, in any
 * order but the same one every time. */
typedef nd_status (*nd_vector_take)(void *to, const uint64_t *vector, const uint32_t *number,
                                    size_t n, nd_error *err);
typedef nd_status (*nd_vector_scan)(void *context, nd_vector_take take, void *to, nd_error *err);

typedef struct nd_hamming_request {
  uint64_t n;              /* documents, below 2^32 */
  const uint64_t *vectors; /* `words` for each document, vector after vector; NULL: scan */
  const uint64_t *present; /* a bit for each document: takes part; NULL: all do */
  nd_vector_scan scan;
  void *scan_context;
  uint64_t memory;   /* for vectors that are scanned, and … */
  const char *dir;   /* … for temporary files of them */
  uint32_t words;    /* 1 … ND_HAMMING_WORDS */
  uint32_t distance; /* at most so many differing bits; below 64 × words */
  /* 0: complete for the distance.  Else the vectors are cut into so many equal
   * pieces and only pairs that share a whole one are found: all of those that
   * differ in fewer bits than there are pieces, others by luck. */
  uint32_t pieces;
  uint32_t split; /* != 0: only pairs of a document below it and one not */
  unsigned threads;
  /* Equal vectors: a group of more than `cap` documents (0: no limit) gives star
   * edges from its first document; two groups within the distance of which one is
   * larger give their first documents' edges to all members of the other. */
  uint64_t cap;
  /* Asked now and then, also by threads; anything but ND_OK ends the work.  NULL: never. */
  nd_status (*check)(void *context, nd_error *err);
  void *check_context;
} nd_hamming_request;

typedef struct nd_hamming_stats {
  uint64_t vectors;  /* different ones */
  uint64_t compared; /* pairs of vectors that were compared */
  uint64_t pairs;    /* given */
  uint64_t hot;      /* groups of equal vectors above the cap */
  uint64_t hot_documents;
  uint64_t left_out; /* pairs not given because of the cap */
} nd_hamming_stats;

/* The distance up to which `pieces` pieces find every pair: pieces - 1. */
uint32_t nd_hamming_guaranteed(uint32_t pieces);

/* Bytes that a search among n vectors in memory takes, with the vectors. */
uint64_t nd_hamming_bytes(uint64_t n, uint32_t words);

/* Adds the pairs to `pairs`: document numbers a < b, value
 * the number of differing bits; each pair once.  The stats, too, are the same for
 * any number of threads; only `compared` depends on where the vectors are. */
nd_status nd_hamming_pairs(nd_sorter *pairs, nd_hamming_stats *stats,
                           const nd_hamming_request *request, nd_error *err) ND_MUST_CHECK;

/* Differing bits of two vectors. */
uint32_t nd_hamming_distance(const uint64_t *a, const uint64_t *b, uint32_t words);

#endif
