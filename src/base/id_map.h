/* Ids → numbers: opaque byte strings, numbered as they appear.
 *
 * All ids lie in one buffer; the table is open addressing over their XXH3, at
 * most half full.  About (id + 20) bytes each. */
#ifndef ND_BASE_ID_MAP_H
#define ND_BASE_ID_MAP_H

#include "base/mem.h"

#define ND_NO_ID UINT32_MAX

/* {0} is an empty map. */
typedef struct nd_id_map {
  nd_buf text;   /* all ids */
  uint64_t *end; /* per number, where it ends in the text */
  size_t n, cap;
  uint32_t *slot; /* number + 1; 0: free */
  size_t slots;   /* a power of two */
} nd_id_map;

void nd_id_map_clear(nd_id_map *m);

/* The number of an id, a new one when it is seen for the first time. */
nd_status nd_id_map_number(uint32_t *out, nd_id_map *m, nd_str id, nd_error *err) ND_MUST_CHECK;

/* The number of an id that is there, or ND_NO_ID. */
uint32_t nd_id_map_find(const nd_id_map *m, nd_str id);

/* The id of a number; borrowed until the next id is added. */
static inline nd_str nd_id_map_id(const nd_id_map *m, uint32_t number) {
  uint64_t begin = number ? m->end[number - 1] : 0;
  return (nd_str){m->text.p + begin, m->end[number] - begin};
}

#endif
