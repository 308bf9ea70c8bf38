/* --method exact: the resemblance of every pair that shares a shingle, by sort
 * and merge (Broder 1997; Ye et al. 2008, section 2.1; Nikkhoo 2010, 3.1). */
#ifndef ND_PIPELINE_EXACT_H
#define ND_PIPELINE_EXACT_H

#include "pipeline/find.h"

/* Adds the candidates to found->pairs, as positions; or, when every pair is
 * wanted, the pairs with their similarities, as documents (found->direct).
 * `memory` bytes at most. */
nd_status nd_exact_pairs(nd_found *found, const nd_text_source *source, uint64_t memory,
                         const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
