/* Names of documents: the id of the record, or else its location in the input.
 *
 * Caches the ids of blocks within `memory` bytes.  Other ids are read row by row, unless they are
 * requested in input order.  An nd_ids is for one thread. */
#ifndef ND_STORE_IDS_H
#define ND_STORE_IDS_H

#include "input/walk.h"
#include "store/store.h"

typedef struct nd_ids nd_ids;

nd_status nd_ids_new(nd_ids **out, const nd_store *store, const nd_walk *walk, uint64_t memory,
                     nd_error *err) ND_MUST_CHECK;
/* Creates a table of known ids, ready to print: id[i] belongs to document[i], ascending.  Both are
 * borrowed.  If `id` is NULL, every id is empty. */
nd_status nd_ids_given(nd_ids **out, const uint32_t *document, const nd_str *id, size_t n,
                       nd_error *err) ND_MUST_CHECK;
void nd_ids_free(nd_ids *ids);

/* Appends the document's id, escaped (neardup/field.h), or else PATH:LINE, PATH or
 * PATH@OFFSET. */
nd_status nd_ids_append(nd_buf *out, nd_ids *ids, uint32_t document, nd_error *err) ND_MUST_CHECK;

/* Appends a location in the input: PATH:LINE, PATH@OFFSET, or PATH. */
nd_status nd_ids_location(nd_buf *out, const nd_ids *ids, size_t block, uint32_t file,
                          uint32_t line, uint64_t offset, nd_error *err) ND_MUST_CHECK;

/* Appends a location given by its parts; `line` counts from the start of the file, 0: no line. */
nd_status nd_ids_append_location(nd_buf *out, const char *path, uint64_t line, uint64_t offset,
                                 nd_error *err) ND_MUST_CHECK;

/* Begins another list in input order: blocks are loaded in sequence again. */
void nd_ids_rewind(nd_ids *ids);

#endif
