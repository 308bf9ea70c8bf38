/* Union-find: sets that only merge, as an array of parents.
 *
 * parent[x] is another member of the set of x, or x itself if x is the root.  The root is always
 * the smallest member, so the result does not depend on the order of the unions.  Paths are halved
 * while they are walked (Tarjan, van Leeuwen 1984). */
#ifndef ND_CLUSTER_UNION_FIND_H
#define ND_CLUSTER_UNION_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

/* Every number below n becomes a set of its own. */
ND_INLINE void nd_union_start(uint32_t *parent, uint32_t n) {
  for (uint32_t x = 0; x < n; x++) parent[x] = x;
}

ND_INLINE uint32_t nd_union_root(uint32_t *parent, uint32_t x) {
  while (parent[x] != x) x = parent[x] = parent[parent[x]];
  return x;
}

/* Merges the sets of a and b; returns false if they were one set before. */
ND_INLINE bool nd_union_join(uint32_t *parent, uint32_t a, uint32_t b) {
  a = nd_union_root(parent, a);
  b = nd_union_root(parent, b);
  if (a == b) return false;
  parent[a > b ? a : b] = a > b ? b : a;
  return true;
}

/* Afterwards parent[x] is the root of x. */
ND_INLINE void nd_union_flatten(uint32_t *parent, uint32_t n) {
  for (uint32_t x = 0; x < n; x++) parent[x] = nd_union_root(parent, x);
}

#endif
