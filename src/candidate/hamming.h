/* All pairs of bit vectors that differ in few bits.
 *
 * Vectors that differ in at most k bits, partitioned into k + 1 pieces, agree in at least one
 * piece (Manku, Jain and Das Sarma 2007; Henzinger 2006, section 3).  For each piece, the
 * vectors are grouped by its value, and those in a group are compared.  The table is one flat
 * array, reused for every piece:
 *
 *   row     4 bytes × n      grouped by the value of the piece
 *   same    4 bytes × n      equal vectors, linked; computed once
 *
 * This takes 8 bytes per document in addition to the vectors, without chains: the vectors of a
 * bucket are fetched when it is processed.  If the vectors do not fit the memory, they are
 * scanned once per piece and partitioned by its value into parts that fit (hamming_far.c); only
 * `same` stays in memory.
 *
 * Equal vectors take part once.  A large group that shares a piece is partitioned again by the
 * bits that vary within it, so that neither many nor similar vectors are all compared with each
 * other.  A pair is reported once, at the first piece that it shares.
 *
 * The search is exact: every pair within the distance is found, for every distance.  Only
 * `pieces` (wide vectors) selects the published method, which may miss pairs, and only `cap`
 * leaves pairs out, which the stats count. */
#ifndef ND_CANDIDATE_HAMMING_H
#define ND_CANDIDATE_HAMMING_H

#include "base/sorter.h"

enum { ND_HAMMING_WORDS = 16 };

/* Scans all vectors, in batches with their document numbers, in any order, which must be the
 * same for every scan. */
typedef nd_status (*nd_vector_take)(void *to, const uint64_t *vector, const uint32_t *number,
                                    size_t n, nd_error *err);
typedef nd_status (*nd_vector_scan)(void *context, nd_vector_take take, void *to, nd_error *err);

typedef struct nd_hamming_request {
  uint64_t n;              /* documents, below 2^32 */
  const uint64_t *vectors; /* `words` per document; NULL: use scan */
  const uint64_t *present; /* a bit per document that takes part; NULL: all do */
  nd_vector_scan scan;
  void *scan_context;
  uint64_t memory;   /* for scanned vectors */
  const char *dir;   /* for temporary files of scanned vectors */
  uint32_t words;    /* 1 to ND_HAMMING_WORDS */
  uint32_t distance; /* most differing bits; below 64 × words */
  /* 0: complete for the distance.  Otherwise the number of equal pieces; only pairs that share
   * an entire piece are found: all with fewer differing bits than pieces, others by chance. */
  uint32_t pieces;
  uint32_t split; /* != 0: only pairs of a document below it and one not */
  unsigned threads;
  /* Equal vectors: a group of more than `cap` documents (0: no limit) gives star edges from its
   * first document.  If one of two groups within the distance is larger, the first document of
   * each is paired with all members of the other. */
  uint64_t cap;
  /* Polled, also by threads, unless NULL; any status other than ND_OK ends the search. */
  nd_status (*check)(void *context, nd_error *err);
  void *check_context;
} nd_hamming_request;

typedef struct nd_hamming_stats {
  uint64_t vectors;  /* distinct vectors */
  uint64_t compared; /* pairs of vectors compared */
  uint64_t pairs;    /* pairs found */
  uint64_t hot;      /* groups of equal vectors above the cap */
  uint64_t hot_documents;
  uint64_t left_out; /* pairs left out because of the cap */
} nd_hamming_stats;

/* Returns the distance up to which `pieces` pieces find every pair: pieces - 1. */
uint32_t nd_hamming_guaranteed(uint32_t pieces);

/* Returns the bytes needed to search n vectors in memory, including the vectors. */
uint64_t nd_hamming_bytes(uint64_t n, uint32_t words);

/* Adds the pairs to `pairs`: document numbers a < b, value
 * the number of differing bits; each pair once.  The stats, too, are the same for
 * any number of threads; only `compared` depends on where the vectors are. */
nd_status nd_hamming_pairs(nd_sorter *pairs, nd_hamming_stats *stats,
                           const nd_hamming_request *request, nd_error *err) ND_MUST_CHECK;

/* Returns the number of differing bits of two vectors. */
uint32_t nd_hamming_distance(const uint64_t *a, const uint64_t *b, uint32_t words);

#endif
