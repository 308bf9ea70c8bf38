/* The first pass: raw records → documents → tokens → shingles → sketch → block.
 *
 * Each step reads a document once, while it is in the cache; nothing is allocated
 * once the buffers have grown. */
#ifndef ND_READ_SIGN_H
#define ND_READ_SIGN_H

#include "read/feed.h"
#include "settings/settings.h"
#include "store/block.h"

/* Working memory of one thread. */
typedef struct nd_signer nd_signer;

nd_status nd_signer_new(nd_signer **out, const nd_settings *settings, nd_error *err) ND_MUST_CHECK;
void nd_signer_free(nd_signer *s);

/* Turns a batch into a finished `block`, ready to be written. */
nd_status nd_signer_batch(nd_block *block, nd_signer *s, const nd_batch *batch,
                          nd_error *err) ND_MUST_CHECK;

/* For stages of a distributed run (neardup/stage.h).  Digests depend on `secret` (borrowed; at
 * least 136 bytes, or empty) instead of the seed, so that nobody can prepare two texts with equal
 * digests. With `keep_texts`, texts of ranges are stored in their blocks, too. */
void nd_signer_for_stage(nd_signer *s, nd_str secret, bool keep_texts);

/* Sets a function (may be NULL) that is called with every record before it is parsed. */
typedef void (*nd_signer_watch)(void *context, uint32_t file, uint64_t offset, nd_str raw);
void nd_signer_watched(nd_signer *s, nd_signer_watch watch, void *context);

/* The steps of nd_signer_batch: start an empty block, add a batch to it, or add one document that
 * is not in a batch.  The block is not finished. */
void nd_signer_start(nd_block *block, const nd_signer *s, uint32_t task, uint32_t part);
nd_status nd_signer_fill(nd_block *block, nd_signer *s, const nd_batch *batch,
                         nd_error *err) ND_MUST_CHECK;
nd_status nd_signer_add(nd_block *b, nd_signer *s, const nd_document *d, const nd_raw *raw,
                        nd_error *err) ND_MUST_CHECK;

/* Reads a record's document and tokens; borrowed until the next call.  ND_ERR_DATA and ND_ERR_LIMIT
 * mean that the record is rejected, for the reason in err. */
typedef struct nd_read {
  nd_document document;
  nd_str text; /* UTF-8, as the tokeniser sees it */
  const nd_tokens *tokens;
} nd_read;
nd_status nd_signer_read(nd_read *out, nd_signer *s, const nd_format *format, nd_str raw,
                         nd_error *err) ND_MUST_CHECK;

#endif
