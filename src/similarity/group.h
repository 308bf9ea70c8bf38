/* Many pairs among a few documents: the exact resemblance of any two of a group.
 *
 * The distinct shingles of the group are numbered as they appear, so a document
 * is a set of bits and |A ∩ B| a count of common ones.  Each document is read
 * once, however many pairs it is in:
 *
 *     shingle   the cat sat on the   cat sat on the mat   …      number 0, 1, …
 *     document  1111 0111 1100 …     bit i: it has shingle i
 *
 * Fingerprints only propose, as in resemblance.h: shingles have one number when
 * their bytes are equal.  Where a document runs on like one that is there, the
 * numbers are taken over from it, without a look-up. */
#ifndef ND_SIMILARITY_GROUP_H
#define ND_SIMILARITY_GROUP_H

#include "similarity/resemblance.h"

typedef struct nd_group nd_group;

nd_status nd_group_new(nd_group **out, nd_shingle_spec spec, uint64_t seed,
                       nd_error *err) ND_MUST_CHECK;
void nd_group_free(nd_group *g);

/* Forgets all documents. */
void nd_group_empty(nd_group *g);

/* The member that was added with this key, or UINT32_MAX. */
uint32_t nd_group_find(const nd_group *g, uint32_t key);

/* Where the next member's token text goes (emptied; NULL: no memory); then it is
 * added, *out is its number. */
nd_buf *nd_group_next(nd_group *g, nd_error *err);
nd_status nd_group_add(uint32_t *out, nd_group *g, uint32_t key, nd_error *err) ND_MUST_CHECK;

uint32_t nd_group_count(const nd_group *g);
size_t nd_group_bytes(const nd_group *g); /* of memory in use, about */

/* Two members. */
nd_overlap nd_group_compare(const nd_group *g, uint32_t a, uint32_t b);

#endif
