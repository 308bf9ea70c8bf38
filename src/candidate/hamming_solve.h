/* Search within a bucket; internal to hamming.h.
 *
 * A bucket has rows of vectors that share a piece (or only its hash).  In a small bucket all
 * vectors are compared with each other.  In a larger one, the bits are partitioned into one
 * piece more than the differing bits that remain, with the bits that vary spread evenly, and
 * for each piece the bucket is grouped again, in place, into smaller ones.  This continues
 * while it saves comparisons.
 *
 * The vectors of a bucket (for wide ones: hashes of a piece) are fetched into `key`, which has
 * a fixed size; a larger bucket is partitioned by reading the vectors in place, or compared
 * block by block.
 *
 * levels 0 to depth-1 give the piece that the vectors of the bucket share on each: a pair
 * counts if it agrees in that piece and in none before it, so it is found once, and fewer
 * differing bits remain after the piece. */
#ifndef ND_CANDIDATE_HAMMING_SOLVE_H
#define ND_CANDIDATE_HAMMING_SOLVE_H

#include "base/bits.h"
#include "candidate/flat_table.h"
#include "candidate/hamming.h"
#include "candidate/hamming_match.h"

enum {
  ND_SOLVE_DEPTH = 12,
  ND_SOLVE_PIECES = 64 * ND_HAMMING_WORDS,
  ND_SOLVE_BLOCK = 4096,
  ND_SOLVE_SAMPLE = 256,   /* vectors of a bucket sampled to choose its partition */
  ND_SOLVE_KEYS = 1 << 16, /* keys fetched at once */
  ND_SOLVE_BATCH = 1 << 12
};

/* Vectors in memory: all, or a part. */
typedef struct nd_vector_set {
  const uint64_t *vectors;
  const uint32_t *id; /* row → document; NULL: row i is document i */
  uint64_t n;
} nd_vector_set;

/* Bits [begin, end), with at most `budget` differing bits. */
typedef struct nd_region {
  uint32_t begin, end, budget;
} nd_region;

typedef struct nd_solve_level {
  nd_region region; /* the region that is partitioned */
  uint32_t pieces;  /* number of pieces */
  uint32_t at;      /* the shared piece */
  unsigned bits;    /* 2^bits buckets */
  uint16_t bound[ND_SOLVE_PIECES + 1];
  uint32_t start[(1 << ND_FLAT_SPLIT_BITS) + 1];
} nd_solve_level;

/* State of a thread. */
typedef struct nd_solver {
  const nd_hamming_request *request;
  /* Per document: the previous one with the same vector; for the first one, the last.
   * ND_SOLVE_ABSENT: takes no part. */
  const uint32_t *same;
  const nd_vector_set *set;
  nd_sorter *pairs;
  nd_match match;
  nd_bits_differ_fn differ;
  nd_hamming_stats stats;
  unsigned depth;
  size_t out_n;
  nd_solve_level level[ND_SOLVE_DEPTH];
  nd_item out[ND_SOLVE_BATCH];
  uint32_t hit[ND_SOLVE_BLOCK + 8];
  uint64_t key[ND_SOLVE_KEYS];
} nd_solver;

#define ND_SOLVE_ABSENT UINT32_MAX

/* Tests for the first document of a group of equal vectors. */
ND_INLINE bool nd_solve_is_first(const uint32_t *same, uint64_t document) {
  return same[document] >= document && same[document] != ND_SOLVE_ABSENT;
}

/* Returns the hash that groups vectors by the bits [begin, end); keys are the vectors or, for
 * wide ones, nd_solve_piece. */
nd_flat_hash nd_solve_hash(const nd_hamming_request *r, uint32_t begin, uint32_t end);
uint64_t nd_solve_piece(const uint64_t *vector, uint32_t begin, uint32_t end);

/* Fetches the keys of rows: vectors or, for wide ones, the hash of the piece. */
void nd_solve_load(uint64_t *key, const nd_solver *s, const uint32_t *row, size_t n, uint32_t begin,
                   uint32_t end);

/* nd_flat_split without keys: reads the bits [begin, end) of the vectors in place. */
void nd_solve_split(const nd_solver *s, uint32_t *row, size_t n, uint32_t begin, uint32_t end,
                    unsigned skip, unsigned bits, uint32_t *start);

/* Counts, for each bit, the vectors that have it. */
typedef struct nd_bit_tally {
  uint32_t n;
  uint32_t ones[64 * ND_HAMMING_WORDS];
} nd_bit_tally;

static inline void nd_solve_tally_start(nd_bit_tally *t) {
  memset(t, 0, sizeof *t);
}
void nd_solve_tally(nd_bit_tally *t, const uint64_t *vector, uint32_t words);

/* Partitions a region into `pieces` pieces that distinguish vectors about equally well;
 * returns false if there are too few bits or none varies. */
bool nd_solve_cut(uint16_t *bound, const nd_bit_tally *t, nd_region region, uint32_t pieces);

/* Chooses the region to partition next: the bits after the shared piece, or all bits. */
nd_region nd_solve_region(const nd_hamming_request *r, const nd_bit_tally *t, nd_region region);

/* Tests whether a partition saves time; `squares` is the sum of the squared sizes of all buckets
 * of all pieces. */
bool nd_solve_pays(double squares, double n, uint32_t pieces);

/* Finds the pairs among rows whose levels are set; reorders the rows. */
nd_status nd_solve(nd_solver *s, uint32_t *row, size_t n, nd_region region,
                   nd_error *err) ND_MUST_CHECK;

/* Processes a bucket of level depth - 1 that shares `skip` bits of the hash: partitions it by
 * the other bits, then searches each part. */
nd_status nd_solve_bucket(nd_solver *s, uint32_t *row, size_t n, unsigned skip,
                          nd_error *err) ND_MUST_CHECK;

/* Finds the pairs of the rows [begin, end), at most ND_SOLVE_KEYS / 2, with the rows
 * [from, last); from = begin: each with all after it. */
nd_status nd_solve_range(nd_solver *s, const uint32_t *row, size_t begin, size_t end, size_t from,
                         size_t last, nd_error *err) ND_MUST_CHECK;

/* Outputs the pairs within the group of equal vectors with this first document. */
nd_status nd_solve_equal(nd_solver *s, uint32_t first, nd_error *err) ND_MUST_CHECK;

nd_status nd_solve_flush(nd_solver *s, nd_error *err) ND_MUST_CHECK;

/* In buckets up to this size, all vectors are compared with each other. */
size_t nd_solve_small(uint32_t distance);

#endif
