/* Sizes and sites of all documents of a comparison, for groups. */
#ifndef ND_STUDY_COMMON_DOCUMENTS_H
#define ND_STUDY_COMMON_DOCUMENTS_H

#include "base/id_map.h"
#include "neardup/eval.h"

typedef struct nd_documents {
  nd_id_map *ids;   /* id → document number */
  uint32_t *tokens; /* per document */
  uint64_t *site;   /* per document: nd_site_key of its URL, or 0 */
  size_t cap, site_cap;
  uint64_t repeated; /* repeated ids */
  uint64_t rejected; /* documents of a corpus that could not be read */
} nd_documents;

/* Reads a list of id, tokens and URL; the last two may be missing. */
nd_status nd_documents_list(nd_documents *d, const char *path, const nd_hooks *hooks,
                            nd_error *err) ND_MUST_CHECK;
/* Reads the documents of a corpus. */
nd_status nd_documents_corpus(nd_documents *d, const char *const *inputs, size_t n,
                              const nd_options *options, const nd_hooks *hooks,
                              nd_error *err) ND_MUST_CHECK;
void nd_documents_clear(nd_documents *d);

/* Returns the size group of a number of tokens, one of 11 (Ye et al. 2008, table 3). */
enum { ND_SIZE_GROUPS = 11 };
unsigned nd_size_group(uint64_t tokens);
void nd_size_group_name(char *out, size_t room, unsigned group);

#endif
