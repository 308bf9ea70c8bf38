/* --method exact: the resemblance of every pair that shares a shingle, by sort
 * and merge (Broder 1997; Ye et al. 2008, section 2.1; Nikkhoo 2010, 3.1). */
#ifndef ND_FIND_EXACT_H
#define ND_FIND_EXACT_H

#include "feature/shingler.h"
#include "find/find.h"

/* The fingerprints of a document's distinct shingles (those that --sample keeps):
 * mixed fingerprint → rest of it | document, sorted by key.  {0} is ready. */
typedef struct nd_printer {
  nd_item *items;
  size_t n;
  nd_shingler shingler; /* the shingles only with --sample */
  nd_fingerprints prints;
  nd_sampler sampler;
  nd_item *spare;
  size_t item_cap, spare_cap;
} nd_printer;

nd_status nd_printer_run(nd_printer *p, const nd_settings *s, nd_str text, uint32_t document,
                         nd_error *err) ND_MUST_CHECK;
void nd_printer_clear(nd_printer *p);

/* Adds the candidates to found->pairs, as positions; or, when every pair is
 * wanted, the pairs with their similarities, as documents (found->direct).
 * `memory` bytes at most. */
nd_status nd_exact_pairs(nd_found *found, const nd_text_source *source, uint64_t memory,
                         const char *tmp, nd_error *err) ND_MUST_CHECK;

/* Into 2^(so many) parts, of about `wanted` items each if that is possible. */
unsigned nd_exact_bits(uint64_t items, uint64_t wanted);

#endif
