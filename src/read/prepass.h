/* Reading all of the input once before it is read for good, to count something
 * in it.
 *
 * Records that cannot be read are passed over: the reading itself rejects them,
 * with place and reason.  That both see the same documents is checked
 * (nd_reading_counted). */
#ifndef ND_READ_PREPASS_H
#define ND_READ_PREPASS_H

#include "read/reading.h"
#include "read/sign.h"

/* Takes a document, on thread `member`.  The views last until it returns. */
typedef nd_status (*nd_prepass_each)(void *context, unsigned member, const nd_read *read,
                                     nd_error *err);

/* Members are below nd_reading_threads(r->settings). */
nd_status nd_prepass(nd_reading *r, nd_prepass_each each, void *context,
                     nd_error *err) ND_MUST_CHECK;

#endif
