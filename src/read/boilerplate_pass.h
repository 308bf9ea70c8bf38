/* --ignore-boilerplate: finds the passages that recur on the pages of a site. */
#ifndef ND_READ_BOILERPLATE_PASS_H
#define ND_READ_BOILERPLATE_PASS_H

#include "read/reading.h"

/* Reads the entire input once and counts passages, exactly and out of core.  Stores the set in
 * r->boilerplate and r->settings->passages. */
nd_status nd_boilerplate_pass(nd_reading *r, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
