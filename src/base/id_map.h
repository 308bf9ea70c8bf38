/* Map from ids, opaque byte strings, to numbers in order of first appearance.
 *
 * All ids share one buffer; a hash table finds them by their XXH3.  Memory: about id length + 20
 * bytes per id. */
#ifndef ND_BASE_ID_MAP_H
#define ND_BASE_ID_MAP_H

#include "base/hash_table.h"

#define ND_NO_ID UINT32_MAX

/* {0} is an empty map. */
typedef struct nd_id_map {
  nd_buf text;   /* all ids, concatenated */
  uint64_t *end; /* for each number, the end of its id in `text` */
  size_t n, cap;
  nd_slots table;
} nd_id_map;

void nd_id_map_clear(nd_id_map *m);

/* Returns the number of an id; a new id gets the next number. */
nd_status nd_id_map_number(uint32_t *out, nd_id_map *m, nd_str id, nd_error *err) ND_MUST_CHECK;

/* Returns the number of a known id, or ND_NO_ID. */
uint32_t nd_id_map_find(const nd_id_map *m, nd_str id);

/* Returns the id of a number; borrowed until the next id is added. */
static inline nd_str nd_id_map_id(const nd_id_map *m, uint32_t number) {
  uint64_t begin = number ? m->end[number - 1] : 0;
  return (nd_str){m->text.p + begin, m->end[number] - begin};
}

#endif
