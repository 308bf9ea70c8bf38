/* The documents of a corpus one by one, in input order: for studies that need
 * ids, URLs and tokens and keep of them what they want. */
#ifndef ND_STUDY_COMMON_CORPUS_H
#define ND_STUDY_COMMON_CORPUS_H

#include "neardup/run.h"
#include "text/text.h"

/* Borrowed until the function returns. */
typedef struct nd_corpus_document {
  nd_str id;  /* as pair lists name it: its own or its place, escaped */
  nd_str url; /* empty: unknown */
  const nd_tokens *tokens;
} nd_corpus_document;

typedef nd_status (*nd_corpus_each_fn)(void *context, const nd_corpus_document *d, nd_error *err);

/* Fills the summary's counts; rejected records are counted there and passed over. */
nd_status nd_corpus_each(nd_summary *summary, const char *const *inputs, size_t n,
                         const nd_options *options, const nd_hooks *hooks, nd_corpus_each_fn each,
                         void *context, nd_error *err) ND_MUST_CHECK;

#endif
