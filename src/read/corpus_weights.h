/* Weights that only the whole collection knows (--weights tfidf): when all
 * documents have been read, their tokens' document frequencies are counted, and
 * every simhash is made then. */
#ifndef ND_READ_CORPUS_WEIGHTS_H
#define ND_READ_CORPUS_WEIGHTS_H

#include "read/texts.h"

/* Fills store->deferred when the settings ask for it; else does nothing.  They
 * are in a file; 32 MiB of memory while it counts. */
nd_status nd_corpus_weights(nd_store *store, const nd_text_source *source,
                            nd_error *err) ND_MUST_CHECK;

#endif
