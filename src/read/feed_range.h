/* Reading one range of a plain, line-based file; see feed.h. */
#ifndef ND_READ_FEED_RANGE_H
#define ND_READ_FEED_RANGE_H

#include "read/feed.h"

/* Fills a batch with the records that begin in [*at, task->end), at most ND_BATCH_RECORDS, and
 * moves *at to the next one.  If `first`, task->begin may be inside a line that belongs to the
 * preceding range. */
nd_status nd_feed_range(nd_batch *b, uint64_t *at, bool first, const nd_task *task,
                        const nd_input_file *file, const nd_input_options *o,
                        nd_error *err) ND_MUST_CHECK;

/* Adds a rejected record to a batch. */
nd_status nd_batch_reject(nd_batch *b, const nd_raw *where, nd_str reason,
                          nd_error *err) ND_MUST_CHECK;

#endif
