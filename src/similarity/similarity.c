/* Rows of the table of similarities by name; see similarity.h. */
#include "similarity/similarity.h"

const nd_similarity *nd_similarity_find(const char *name) {
  const nd_similarity *const *s = nd_similarities;
  while (*s && strcmp((*s)->name, name) != 0) s++;
  return *s;
}

const char *nd_similarity_name(size_t i) {
  return nd_similarities[i] ? nd_similarities[i]->name : NULL;
}

const char *nd_similarity_help(const char *name) {
  const nd_similarity *s = nd_similarity_find(name);
  return s ? s->help : NULL;
}
