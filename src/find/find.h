/* Exact duplicates by digest, then candidate pairs by the chosen method.
 *
 * Reads a sealed store; gives for every document the first occurrence of its tokens, and the
 * candidate pairs among first occurrences. */
#ifndef ND_FIND_FIND_H
#define ND_FIND_FIND_H

#include "candidate/buckets.h"
#include "find/order.h"
#include "read/texts.h"
#include "settings/settings.h"
#include "store/store.h"

#define ND_NO_DOCUMENT UINT32_MAX

typedef struct nd_found {
  uint32_t *same;  /* per document: its first occurrence; ND_NO_DOCUMENT: it has no tokens */
  uint64_t copies; /* exact duplicates */
  uint64_t repeated_ids;
  uint32_t *repeated_id; /* the first few documents with a repeated id */
  size_t repeated_id_n;
  nd_bucket_stats buckets;
  nd_order order;
  bool direct;         /* the pairs are results: documents with their values */
  uint64_t counted;    /* direct: pairs that share a shingle */
  nd_join_counts join; /* counts of a join method */
  nd_sorter *pairs;    /* pairs of positions; finished */
} nd_found;

nd_status nd_find(nd_found *out, const nd_text_source *source, const char *tmp,
                  nd_error *err) ND_MUST_CHECK;
void nd_found_clear(nd_found *f);

#endif
