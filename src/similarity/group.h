/* Exact resemblance of any two documents of a group, for many pairs among few documents.
 *
 * The distinct shingles of the group are numbered as they appear, so a document
 * is a bitmap and |A ∩ B| the number of common bits.  Each document is read once,
 * for any number of pairs:
 *
 *     shingle   the cat sat on the   cat sat on the mat   …      number 0, 1, …
 *     document  1111 0111 1100 …     bit i: it has shingle i
 *
 * Shingles have the same number only if their bytes are equal, as in resemblance.h.
 * While a document continues like a member, it takes the member's numbers without
 * look-ups. */
#ifndef ND_SIMILARITY_GROUP_H
#define ND_SIMILARITY_GROUP_H

#include "similarity/resemblance.h"

typedef struct nd_group nd_group;

nd_status nd_group_new(nd_group **out, nd_shingle_spec spec, uint64_t seed,
                       nd_error *err) ND_MUST_CHECK;
void nd_group_free(nd_group *g);

/* Forgets all documents. */
void nd_group_empty(nd_group *g);

/* Returns the member with this key, or UINT32_MAX. */
uint32_t nd_group_find(const nd_group *g, uint32_t key);

/* nd_group_next returns the empty buffer for the next member's token text, or NULL if memory is
 * exhausted.  nd_group_add then adds the member and sets *out to its number. */
nd_buf *nd_group_next(nd_group *g, nd_error *err);
nd_status nd_group_add(uint32_t *out, nd_group *g, uint32_t key, nd_error *err) ND_MUST_CHECK;

uint32_t nd_group_count(const nd_group *g);
size_t nd_group_bytes(const nd_group *g); /* estimate of the memory in use */

/* Compares two members. */
nd_overlap nd_group_compare(const nd_group *g, uint32_t a, uint32_t b);

#endif
