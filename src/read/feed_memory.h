/* Batches of texts in memory; see neardup/memory.h and feed.h.
 *
 * A stream is one task.  Texts of chunks that stay in memory are not copied: a record points to its
 * text, which is requested again by number.  Other texts are copied into the batch, and stored with
 * the block like texts of files. */
#ifndef ND_READ_FEED_MEMORY_H
#define ND_READ_FEED_MEMORY_H

#include "neardup/memory.h"
#include "read/feed.h"

typedef struct nd_memory nd_memory;

nd_status nd_memory_new(nd_memory **out, const nd_text_stream *stream, nd_error *err) ND_MUST_CHECK;
void nd_memory_free(nd_memory *m);

uint64_t nd_memory_bytes(const nd_memory *m); /* of texts that stay; otherwise 0 */
uint64_t nd_memory_texts(const nd_memory *m); /* read so far */

/* Fills a batch of task `task` with the next texts; b->last is set at the end. */
nd_status nd_memory_batch(nd_batch *b, nd_memory *m, uint32_t task, const nd_format *format,
                          const nd_input_options *o, nd_error *err) ND_MUST_CHECK;

/* Returns a text of a stream whose texts stay in memory. */
nd_str nd_memory_text(const nd_memory *m, uint32_t text);

#endif
