/* Reads the entire input before the main pass, to count something in it.
 *
 * Records that cannot be read are skipped: the main pass rejects them, with location and reason.
 * nd_reading_counted checks that both passes see the same documents. */
#ifndef ND_READ_PREPASS_H
#define ND_READ_PREPASS_H

#include "read/reading.h"
#include "read/sign.h"

/* Receives a document on thread `member`.  The views in `read` are valid during the call. */
typedef nd_status (*nd_prepass_each)(void *context, unsigned member, const nd_read *read,
                                     nd_error *err);

/* Calls `each` for every document; members are below nd_reading_threads(r->settings). */
nd_status nd_prepass(nd_reading *r, nd_prepass_each each, void *context,
                     nd_error *err) ND_MUST_CHECK;

#endif
