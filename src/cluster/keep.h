/* Which member of a cluster stays: a rank per document, smaller is better.
 *
 * Ties go to the document that came first in the input, so a rank need not be
 * unique.  A document without the wanted value ranks last. */
#ifndef ND_CLUSTER_KEEP_H
#define ND_CLUSTER_KEEP_H

#include "base/mem.h"

typedef enum nd_keep {
  ND_KEEP_FIRST,
  ND_KEEP_LONGEST,
  ND_KEEP_SHORTEST,
  ND_KEEP_OLDEST,
  ND_KEEP_NEWEST,
  ND_KEEP_URL,
  ND_KEEP_CENTRE,
  ND_KEEP_FIELD
} nd_keep;

typedef struct nd_keep_facts {
  uint64_t text_bytes; /* of the token text */
  nd_str time, url, field;
} nd_keep_facts;

uint64_t nd_keep_rank(nd_keep keep, const nd_keep_facts *facts);

/* Seconds since 1970 of an ISO 8601, 14-digit (ARC) or Unix time; false: none. */
bool nd_keep_parse_time(int64_t *out, nd_str text);

#endif
