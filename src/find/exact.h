/* --method exact: the resemblance of every pair that shares a shingle, by sort
 * and merge (Broder 1997; Ye et al. 2008, section 2.1; Nikkhoo 2010, 3.1). */
#ifndef ND_FIND_EXACT_H
#define ND_FIND_EXACT_H

#include "feature/shingler.h"
#include "find/find.h"

/* The fingerprints of a document's distinct shingles (those that --sample keeps), sorted: the key
 * is the mixed fingerprint, the value its other half and the document.  {0} is empty. */
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

/* Adds the candidates to found->pairs as positions or, without a threshold, the pairs of documents
 * with their similarities (found->direct).  Uses at most `memory` bytes. */
nd_status nd_exact_pairs(nd_found *found, const nd_text_source *source, uint64_t memory,
                         const char *tmp, nd_error *err) ND_MUST_CHECK;

/* Returns b such that 2^b parts have at most `most` items each, if possible. */
unsigned nd_exact_bits(uint64_t items, uint64_t most);

#endif
