/* Weights that depend on the entire corpus (--weights tfidf): when all documents have been read,
 * counts the document frequencies of their tokens and computes every simhash. */
#ifndef ND_READ_CORPUS_WEIGHTS_H
#define ND_READ_CORPUS_WEIGHTS_H

#include "read/texts.h"

/* Fills store->deferred, in a temporary file, if the settings ask for it; otherwise does nothing.
 * Uses 32 MiB of memory while it counts. */
nd_status nd_corpus_weights(nd_store *store, const nd_text_source *source,
                            nd_error *err) ND_MUST_CHECK;

#endif
