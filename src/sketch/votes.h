/* Updatable sketches: the sums from which a simhash or a projection is computed.
 *
 * Every fingerprint x adds +1 or -1 to each of 64 sums per word, by the bits of nd_mix(x + key);
 * a bit of the sketch is 1 if its sum is positive.  The sums of two documents add up to those of
 * both, unlike their bits.  The bits equal those of projection.h, and of simhash.h with weights
 * by frequency. */
#ifndef ND_SKETCH_VOTES_H
#define ND_SKETCH_VOTES_H

#include <stddef.h>
#include <stdint.h>

/* Adds to 64 × words sums. */
void nd_votes_count(int64_t *sums, const uint64_t *key, uint32_t words, const uint64_t *fingerprint,
                    size_t n);

#endif
