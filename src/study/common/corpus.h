/* Iteration over the documents of a corpus, in input order, with ids, URLs and tokens. */
#ifndef ND_STUDY_COMMON_CORPUS_H
#define ND_STUDY_COMMON_CORPUS_H

#include "neardup/run.h"
#include "text/text.h"

/* Borrowed until the callback returns. */
typedef struct nd_corpus_document {
  nd_str id;  /* escaped, as in lists of pairs; its location if it has no id */
  nd_str url; /* empty if unknown */
  const nd_tokens *tokens;
} nd_corpus_document;

typedef nd_status (*nd_corpus_each_fn)(void *context, const nd_corpus_document *d, nd_error *err);

/* Calls the function for every document and fills the counts of the summary, which
 * include rejected records. */
nd_status nd_corpus_each(nd_summary *summary, const char *const *inputs, size_t n,
                         const nd_options *options, const nd_hooks *hooks, nd_corpus_each_fn each,
                         void *context, nd_error *err) ND_MUST_CHECK;

#endif
