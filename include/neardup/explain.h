/* Why two documents are near-duplicates: how similar under every measure, what
 * differs, and what kind of difference it is. */
#ifndef NEARDUP_EXPLAIN_H
#define NEARDUP_EXPLAIN_H

#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nd_explain_form {
  ND_EXPLAIN_TEXT, /* for a terminal or a pipe */
  ND_EXPLAIN_HTML  /* a page with both documents side by side */
} nd_explain_form;

typedef struct nd_explain_request {
  const char *a, *b; /* ids, as lists of pairs name them; without inputs: two files */
  const char *const *inputs;
  size_t input_n;
  nd_explain_form form;
  int colour;     /* TEXT: with escape sequences */
  unsigned width; /* TEXT: columns; 0: 80 */
  int whole;      /* TEXT: long passages that are the same are not folded */
  const nd_sink *sink;
  uint64_t reserved[8]; /* 0 */
} nd_explain_request;

/* Finds both documents and writes the explanation to the sink.  If the ids are equal,
 * compares the first two documents with that id.  ND_ERR_USAGE: a document is missing. */
ND_API nd_status nd_explain(nd_summary *out, const nd_explain_request *request,
                            const nd_options *options, const nd_hooks *hooks,
                            nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
