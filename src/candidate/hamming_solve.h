/* Inside of hamming.h: the work on one bucket, and the pairs it gives.
 *
 * A bucket holds rows of vectors that share a piece (or only its hash).  Small ones
 * are compared all with all.  In a larger one the bits are cut into one piece more
 * than errors are left, each with an equal share of what tells the vectors apart,
 * and for each piece the bucket is ordered again, in place, into smaller ones.  That
 * goes on while it saves comparisons.
 *
 * A bucket's vectors (wide ones: hashes of a piece) are fetched into `key`, which is
 * of a fixed size; a bucket that is larger is cut by looking at the vectors where
 * they lie, or compared block by block.
 *
 * levels 0 … depth-1 say which piece the vectors of the bucket share on each: a
 * pair counts where it agrees in that piece and in none before it, so that it is
 * given once, and so that the bits behind the piece hold fewer errors. */
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
  ND_SOLVE_SAMPLE = 256,   /* vectors of a bucket that say how to cut it */
  ND_SOLVE_KEYS = 1 << 16, /* fetched at once */
  ND_SOLVE_BATCH = 1 << 12
};

/* Vectors in memory: all of them, or a part. */
typedef struct nd_vector_set {
  const uint64_t *vectors;
  const uint32_t *id; /* row → document; NULL: row i is document i */
  uint64_t n;
} nd_vector_set;

/* Bits [begin, end) hold at most `budget` errors. */
typedef struct nd_region {
  uint32_t begin, end, budget;
} nd_region;

typedef struct nd_solve_level {
  nd_region region; /* what is cut … */
  uint32_t pieces;  /* … into so many, … */
  uint32_t at;      /* … of which this one is shared */
  unsigned bits;    /* 2^bits buckets */
  uint16_t bound[ND_SOLVE_PIECES + 1];
  uint32_t start[(1 << ND_FLAT_SPLIT_BITS) + 1];
} nd_solve_level;

/* What one thread needs. */
typedef struct nd_solver {
  const nd_hamming_request *request;
  /* Per document: the one before it of the same vector; the first one's is the last.
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

/* The first of its equals? */
ND_INLINE bool nd_solve_is_first(const uint32_t *same, uint64_t document) {
  return same[document] >= document && same[document] != ND_SOLVE_ABSENT;
}

/* The hash that brings the vectors together by the bits [begin, end), of keys that
 * are the vectors, or for wide ones nd_solve_piece. */
nd_flat_hash nd_solve_hash(const nd_hamming_request *r, uint32_t begin, uint32_t end);
uint64_t nd_solve_piece(const uint64_t *vector, uint32_t begin, uint32_t end);

/* Fetches the keys of rows: vectors; of wide ones the piece's hash. */
void nd_solve_load(uint64_t *key, const nd_solver *s, const uint32_t *row, size_t n, uint32_t begin,
                   uint32_t end);

/* nd_flat_split without keys: by the bits [begin, end) of the vectors where they lie. */
void nd_solve_split(const nd_solver *s, uint32_t *row, size_t n, uint32_t begin, uint32_t end,
                    unsigned skip, unsigned bits, uint32_t *start);

/* How many of some vectors have each bit. */
typedef struct nd_bit_tally {
  uint32_t n;
  uint32_t ones[64 * ND_HAMMING_WORDS];
} nd_bit_tally;

static inline void nd_solve_tally_start(nd_bit_tally *t) {
  memset(t, 0, sizeof *t);
}
void nd_solve_tally(nd_bit_tally *t, const uint64_t *vector, uint32_t words);

/* Cuts a region into `pieces` pieces that tell vectors apart about equally well;
 * false when there are not as many bits, or none tells anything. */
bool nd_solve_cut(uint16_t *bound, const nd_bit_tally *t, nd_region region, uint32_t pieces);

/* The region that is better cut next: the bits behind the shared piece, or all of
 * them. */
nd_region nd_solve_region(const nd_hamming_request *r, const nd_bit_tally *t, nd_region region);

/* Is it worth the while?  `squares`: the sum over all buckets of all pieces of
 * their size squared. */
bool nd_solve_pays(double squares, double n, uint32_t pieces);

/* The pairs among rows whose levels are set; the rows are put in another order. */
nd_status nd_solve(nd_solver *s, uint32_t *row, size_t n, nd_region region,
                   nd_error *err) ND_MUST_CHECK;

/* A bucket of the level `depth - 1`, of which `skip` bits of the hash are shared: cut
 * by the rest of it, then each part solved. */
nd_status nd_solve_bucket(nd_solver *s, uint32_t *row, size_t n, unsigned skip,
                          nd_error *err) ND_MUST_CHECK;

/* The pairs of the rows at the places [begin, end), at most ND_SOLVE_KEYS / 2 of them,
 * with those at [from, last): from = begin: each with all after it. */
nd_status nd_solve_range(nd_solver *s, const uint32_t *row, size_t begin, size_t end, size_t from,
                         size_t last, nd_error *err) ND_MUST_CHECK;

/* The pairs inside the group of equal vectors whose first document this is. */
nd_status nd_solve_equal(nd_solver *s, uint32_t first, nd_error *err) ND_MUST_CHECK;

nd_status nd_solve_flush(nd_solver *s, nd_error *err) ND_MUST_CHECK;

/* Buckets up to this size are compared all with all. */
size_t nd_solve_small(uint32_t distance);

#endif
