/* A first look at the whole corpus, before it is read for good: which shingles
 * do too many documents have (--sample sct:N)?
 *
 * The other collection of --against and all shards are counted; copies count
 * once.  Counts are exact, out of core: (shingle, digest of the document) is
 * sorted, and equal ones are neighbours. */
#ifndef ND_READ_CENSUS_H
#define ND_READ_CENSUS_H

#include "read/reading.h"

/* Counts for --sample sct:N into r->common, and hands that to the sampler of r->settings. */
nd_status nd_census(nd_reading *r, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
