/* The first pass: raw records → documents → tokens → shingles → sketch → block.
 *
 * Cost per document: one reading of its bytes per step while they are in the
 * cache; no allocation once the buffers have grown. */
#ifndef ND_READ_SIGN_H
#define ND_READ_SIGN_H

#include "read/feed.h"
#include "settings/settings.h"
#include "store/block.h"

/* What one thread needs. */
typedef struct nd_signer nd_signer;

nd_status nd_signer_new(nd_signer **out, const nd_settings *settings, nd_error *err) ND_MUST_CHECK;
void nd_signer_free(nd_signer *s);

/* Signs a batch into `block` (finished: its image is ready to be written). */
nd_status nd_signer_batch(nd_block *block, nd_signer *s, const nd_batch *batch,
                          nd_error *err) ND_MUST_CHECK;

/* For stages that run apart (neardup/stage.h).  The digests depend on `secret`
 * (borrowed; at least 136 bytes, or empty) instead of the seed, so that nobody
 * can prepare two texts that share one; `keep_texts` keeps the texts of ranges
 * in their blocks too. */
void nd_signer_apart(nd_signer *s, nd_str secret, bool keep_texts);

/* `watch` (NULL: nobody) is called before a record is looked into. */
typedef void (*nd_signer_watch)(void *context, uint32_t file, uint64_t offset, nd_str raw);
void nd_signer_watched(nd_signer *s, nd_signer_watch watch, void *context);

/* The steps of nd_signer_batch: an empty block; the batch into it, not finished;
 * one document that did not come in a batch. */
void nd_signer_start(nd_block *block, const nd_signer *s, uint32_t task, uint32_t part);
nd_status nd_signer_fill(nd_block *block, nd_signer *s, const nd_batch *batch,
                         nd_error *err) ND_MUST_CHECK;
nd_status nd_signer_add(nd_block *b, nd_signer *s, const nd_document *d, const nd_raw *raw,
                        nd_error *err) ND_MUST_CHECK;

/* A record's document and its tokens, for inspect; borrowed until the next
 * call.  ND_ERR_DATA / ND_ERR_LIMIT: rejected, err says why. */
typedef struct nd_read {
  nd_document document;
  nd_str text; /* UTF-8, as the tokeniser sees it */
  const nd_tokens *tokens;
} nd_read;
nd_status nd_signer_read(nd_read *out, nd_signer *s, const nd_format *format, nd_str raw,
                         nd_error *err) ND_MUST_CHECK;

#endif
