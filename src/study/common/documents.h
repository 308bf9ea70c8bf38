/* All documents of a comparison with their sizes and sites, for groups. */
#ifndef ND_STUDY_COMMON_DOCUMENTS_H
#define ND_STUDY_COMMON_DOCUMENTS_H

#include "base/id_map.h"
#include "neardup/eval.h"

typedef struct nd_documents {
  nd_id_map *ids;   /* numbers are the map's */
  uint32_t *tokens; /* per document */
  uint64_t *site;   /* per document: nd_site_key of its URL, 0 when there is none */
  size_t cap, site_cap;
  uint64_t repeated; /* ids that came before */
  uint64_t rejected; /* documents of a corpus that could not be read */
} nd_documents;

/* A list (id, tokens, URL; the last two may be missing). */
nd_status nd_documents_list(nd_documents *d, const char *path, const nd_hooks *hooks,
                            nd_error *err) ND_MUST_CHECK;
/* The documents themselves. */
nd_status nd_documents_corpus(nd_documents *d, const char *const *inputs, size_t n,
                              const nd_options *options, const nd_hooks *hooks,
                              nd_error *err) ND_MUST_CHECK;
void nd_documents_clear(nd_documents *d);

/* The size group of a number of tokens (Ye et al. 2008, table 3): 11 groups. */
enum { ND_SIZE_GROUPS = 11 };
unsigned nd_size_group(uint64_t tokens);
void nd_size_group_name(char *out, size_t room, unsigned group);

#endif
