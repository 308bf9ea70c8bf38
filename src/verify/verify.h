/* Verification: candidate pairs → pairs with their true similarity. */
#ifndef ND_VERIFY_VERIFY_H
#define ND_VERIFY_VERIFY_H

#include "base/sorter.h"
#include "find/find.h"
#include "read/texts.h"
#include "settings/settings.h"
#include "similarity/similarity.h"

typedef struct nd_verified {
  uint64_t candidates; /* pairs compared */
  uint64_t skipped;    /* star edges that no cluster needs */
  uint64_t pairs;      /* pairs at or above the threshold */
  nd_sorter *sorted;   /* pair of first occurrences → value; finished */
} nd_verified;

/* Called after each round with the number of pairs compared; a non-zero result cancels. */
typedef int (*nd_verify_tick)(void *context, uint64_t done);

/* Sets the value of every item (a pair of positions), to ND_NOT_SIMILAR if the pair is below the
 * threshold. */
#define ND_NOT_SIMILAR UINT64_MAX
typedef nd_status (*nd_verify_judge)(void *context, nd_item *items, size_t n, nd_error *err);

typedef struct nd_verify_request {
  uint64_t documents;
  uint64_t memory; /* for the result */
  const char *tmp;
  nd_verify_judge judge;
  void *judge_context;
  nd_verify_tick tick; /* may be NULL */
  void *tick_context;
} nd_verify_request;

/* Verifies the candidates of `found` with the request's judge. */
nd_status nd_verify_by(nd_verified *out, const nd_found *found, const nd_verify_request *request,
                       nd_error *err) ND_MUST_CHECK;

/* Verifies the candidates of `found` as settings->verify says. */
nd_status nd_verify_pairs(nd_verified *out, const nd_found *found, const nd_text_source *source,
                          const char *tmp, nd_verify_tick tick, void *tick_context,
                          nd_error *err) ND_MUST_CHECK;
void nd_verified_clear(nd_verified *c);

/* Sets the value of every item (a pair) to its similarity, or to ND_NOT_SIMILAR below the threshold
 * unless `all`. */
nd_status nd_verify_list(nd_item *items, size_t n, const nd_text_source *source, bool all,
                         nd_error *err) ND_MUST_CHECK;
/* Sets the value of every item to the similarity of the documents, even if the settings decide by
 * sketches. */
nd_status nd_verify_documents(nd_item *items, size_t n, const nd_text_source *source,
                              nd_error *err) ND_MUST_CHECK;

#endif
