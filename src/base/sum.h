/* A running XXH3 checksum (64 bits, no seed), as `xxhsum -H3` prints it.  The state must not be
 * copied or moved. */
#ifndef ND_BASE_SUM_H
#define ND_BASE_SUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct nd_sum {
  unsigned char room[640]; /* the XXH3 state, aligned to 64 bytes inside */
} nd_sum;

void nd_sum_begin(nd_sum *s);
void nd_sum_add(nd_sum *s, const void *p, size_t n);
uint64_t nd_sum_value(const nd_sum *s);

#endif
