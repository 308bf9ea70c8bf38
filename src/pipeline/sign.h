/* The first pass: raw records → documents → tokens → shingles → sketch → block.
 *
 * Cost per document: one reading of its bytes per step while they are in the
 * cache; no allocation once the buffers have grown. */
#ifndef ND_PIPELINE_SIGN_H
#define ND_PIPELINE_SIGN_H

#include "pipeline/block.h"
#include "pipeline/feed.h"
#include "pipeline/settings.h"

/* What one thread needs. */
typedef struct nd_signer nd_signer;

nd_status nd_signer_new(nd_signer **out, const nd_settings *settings, nd_error *err) ND_MUST_CHECK;
void nd_signer_free(nd_signer *s);

/* Signs a batch into `block` (finished: its image is ready to be written). */
nd_status nd_signer_batch(nd_block *block, nd_signer *s, const nd_batch *batch,
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
