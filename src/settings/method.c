/* Look-up of methods and sketches, and the layout of rows; see method.h. */
#include "settings/method.h"

#include <string.h>

const nd_method *nd_method_find(const char *name) {
  for (const nd_method *const *m = nd_methods; *m; m++)
    if (strcmp((*m)->name, name) == 0) return *m;
  return NULL;
}

const char *nd_method_name(size_t i) {
  return nd_methods[i] ? nd_methods[i]->name : NULL;
}

const char *nd_method_help(const char *name) {
  const nd_method *m = nd_method_find(name);
  return m ? m->help : NULL;
}

const nd_sketch *nd_sketch_at(size_t i) {
  size_t n = 0;
  for (const nd_method *const *m = nd_methods; *m && n < ND_ROW_MOST; m++)
    if ((*m)->sketch && n++ == i) return (*m)->sketch;
  return NULL;
}

const char *nd_sketch_name(size_t i) {
  const nd_sketch *k = nd_sketch_at(i);
  return k ? k->name : NULL;
}

bool nd_sketch_in(const nd_sketch *const *list, const nd_sketch *sketch) {
  while (*list && *list != sketch) list++;
  return *list != NULL;
}

const nd_row_part *nd_row_deferred(const nd_settings *s) {
  for (unsigned i = 0; i < s->row.n; i++) {
    const nd_sketch *k = s->row.part[i].sketch;
    if (k->deferred && k->deferred(s)) return &s->row.part[i];
  }
  return NULL;
}

void nd_settings_keep(nd_settings *s, const nd_sketch *sketch) {
  const nd_row old = s->row;
  nd_row *r = &s->row;
  const nd_sketch *k;
  r->n = r->total = 0;
  for (size_t i = 0; (k = nd_sketch_at(i)); i++) {
    if (k != sketch && !nd_row_has(&old, k)) continue;
    const uint32_t words = k->words(s);
    r->part[r->n++] = (nd_row_part){k, r->total, words};
    r->total += words;
  }
}
