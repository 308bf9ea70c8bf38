/* Batches of texts in memory; see neardup/memory.h and feed.h.
 *
 * A stream is one task.  Texts of chunks that stay are not copied: a record
 * points at them, and they are asked for again by number.  Others are copied
 * into the batch, and stored with the block as texts of files are. */
#ifndef ND_READ_FEED_MEMORY_H
#define ND_READ_FEED_MEMORY_H

#include "neardup/memory.h"
#include "read/feed.h"

typedef struct nd_memory nd_memory;

nd_status nd_memory_new(nd_memory **out, const nd_text_stream *stream, nd_error *err) ND_MUST_CHECK;
void nd_memory_free(nd_memory *m);

uint64_t nd_memory_bytes(const nd_memory *m); /* of texts that stay; else 0 */
uint64_t nd_memory_texts(const nd_memory *m); /* read so far */

/* Fills a batch of task `task` with what comes next; b->last at the end. */
nd_status nd_memory_batch(nd_batch *b, nd_memory *m, uint32_t task, const nd_format *format,
                          const nd_input_options *o, nd_error *err) ND_MUST_CHECK;

/* A text of a stream that stays. */
nd_str nd_memory_text(const nd_memory *m, uint32_t text);

#endif
