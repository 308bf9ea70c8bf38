/* Bands × rows: the partition of a sketch whose bands similar documents share.
 *
 * Two documents of resemblance s agree in one band of r rows with probability
 * s^r, and in at least one of b bands with 1 - (1 - s^r)^b. */
#ifndef ND_CANDIDATE_BANDS_H
#define ND_CANDIDATE_BANDS_H

#include "base/mem.h"

typedef struct nd_bands {
  uint32_t bands, rows;
} nd_bands;

/* Returns the probability that a pair of resemblance s becomes a candidate. */
double nd_bands_recall(nd_bands b, double s);

/* Chooses the most rows (fewest false candidates) with which `limit` positions reach the
 * recall at the threshold or, if none does, the fewest positions that do, up to `most`.
 * bands == 0: the recall cannot be reached. */
nd_bands nd_bands_choose(double threshold, double recall, uint32_t limit, uint32_t most);

/* Chooses the best partition of exactly k positions: the most rows that reach the recall, or
 * the highest recall if none does. */
nd_bands nd_bands_cut(double threshold, double recall, uint32_t k);

/* Writes one 64-bit key per band. */
void nd_bands_keys(uint64_t *keys, nd_bands b, const uint64_t *sketch, uint64_t seed);

#endif
