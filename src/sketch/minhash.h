/* MinHash sketches: k positions, each equal in two documents with a probability of exactly
 * their resemblance.
 *
 * The family is "fast similarity sketching" (Dahlgaard, Knudsen, Thorup, FOCS
 * 2017): in each round every shingle is assigned to one of the k positions at random, and a
 * position keeps the smallest value of the first round that reached it.  Rounds continue until
 * no position is empty; rounds k to 2k-1 visit one position each, so the algorithm ends.  The
 * estimate is unbiased with a variance of at most that of k independent permutations, but a
 * document of n shingles costs about max(n, k ln k) steps instead of k n.
 *
 *   value = round (12 bits) | random (52 bits)
 */
#ifndef ND_SKETCH_MINHASH_H
#define ND_SKETCH_MINHASH_H

#include "base/mem.h"
#include "sketch/linear.h"

enum { ND_MINHASH_MAX = 2000 }; /* 2k rounds fit 12 bits */

/* FAST: as above.  LINEAR: k functions (A x + B) mod p, see linear.h. */
typedef enum nd_family { ND_FAMILY_FAST, ND_FAMILY_LINEAR } nd_family;

typedef struct nd_minhash {
  nd_family family;
  uint32_t k;
  uint64_t seed;
  uint64_t *round_key; /* 2k of them */
  uint64_t *set;       /* scratch: distinct fingerprints */
  size_t set_cap;
  nd_linear linear;
} nd_minhash;

nd_status nd_minhash_init(nd_minhash *m, uint32_t k, uint64_t seed, nd_error *err) ND_MUST_CHECK;
/* Likewise with a given family; the other functions work for both. */
nd_status nd_minhash_init_family(nd_minhash *m, nd_family family, uint32_t k, uint64_t seed,
                                 nd_error *err) ND_MUST_CHECK;
void nd_minhash_clear(nd_minhash *m);

/* Writes k values to `out`, all UINT64_MAX if there are no shingles. */
nd_status nd_minhash_sketch(uint64_t *out, nd_minhash *m, const uint64_t *fingerprint, size_t n,
                            nd_error *err) ND_MUST_CHECK;

/* Returns the share of positions that agree: the estimated resemblance. */
double nd_minhash_estimate(const uint64_t *a, const uint64_t *b, uint32_t k);

#endif
