/* --sample sct:N: finds the shingles that more than N documents have, in a pass over the entire
 * corpus before the main pass.
 *
 * The reference collection and all shards are counted; exact duplicates count once.  Counts are
 * exact and computed out of core: (shingle, digest of the document) pairs are sorted, so that
 * equal ones are adjacent. */
#ifndef ND_READ_CENSUS_H
#define ND_READ_CENSUS_H

#include "read/reading.h"

/* Stores the shingles in r->common and makes the sampler of r->settings use them. */
nd_status nd_census(nd_reading *r, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
