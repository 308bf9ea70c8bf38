/* Names of documents: the id a record has, or the place where it stands.
 *
 * Keeps the ids of blocks in a share of the memory; what does not fit is read row
 * by row, unless it is read in order.  One per thread. */
#ifndef ND_STORE_IDS_H
#define ND_STORE_IDS_H

#include "input/walk.h"
#include "store/store.h"

typedef struct nd_ids nd_ids;

nd_status nd_ids_new(nd_ids **out, const nd_store *store, const nd_walk *walk, uint64_t memory,
                     nd_error *err) ND_MUST_CHECK;
/* Ids that came from elsewhere, ready to print: those of `document[i]`, rising.
 * Borrowed.  id NULL: every document's is empty. */
nd_status nd_ids_given(nd_ids **out, const uint32_t *document, const nd_str *id, size_t n,
                       nd_error *err) ND_MUST_CHECK;
void nd_ids_free(nd_ids *ids);

/* Appends the document's id, escaped (neardup/field.h): its own; else PATH:LINE,
 * PATH, or PATH@OFFSET. */
nd_status nd_ids_append(nd_buf *out, nd_ids *ids, uint32_t document, nd_error *err) ND_MUST_CHECK;

/* Appends a place in the input: PATH:LINE, PATH@OFFSET, or PATH. */
nd_status nd_ids_place(nd_buf *out, const nd_ids *ids, size_t block, uint32_t file, uint32_t line,
                       uint64_t offset, nd_error *err) ND_MUST_CHECK;

/* The same from its parts; `line` counts from the file's beginning. */
nd_status nd_place_append(nd_buf *out, const char *path, uint64_t line, uint64_t offset,
                          nd_error *err) ND_MUST_CHECK;

/* Another list in input order begins: its blocks are loaded one after the other again. */
void nd_ids_rewind(nd_ids *ids);

#endif
