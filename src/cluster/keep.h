/* Keep order: a rank per document, where the lowest is preferred.
 *
 * Ties go to the first document in the input, so ranks need not be unique.  A document without
 * the value ranks last. */
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
  uint64_t text_bytes; /* size of the token text */
  nd_str time, url, field;
} nd_keep_facts;

uint64_t nd_keep_rank(nd_keep keep, const nd_keep_facts *facts);

/* Parses an ISO 8601, 14-digit (ARC) or Unix time to seconds since 1970; returns false for
 * anything else. */
bool nd_keep_parse_time(int64_t *out, nd_str text);

#endif
