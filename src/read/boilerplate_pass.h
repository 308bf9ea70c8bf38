/* --ignore-boilerplate: which passages recur on the pages of a site? */
#ifndef ND_READ_BOILERPLATE_PASS_H
#define ND_READ_BOILERPLATE_PASS_H

#include "read/reading.h"

/* Reads all of the input once and counts, exactly and out of core; the set goes to
 * r->boilerplate and r->settings->passages. */
nd_status nd_boilerplate_pass(nd_reading *r, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
