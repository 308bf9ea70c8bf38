/* A running checksum; see sum.h. */
#include "base/sum.h"

#include <assert.h>
#include <string.h>

#define XXH_STATIC_LINKING_ONLY /* for the size of the state */
#include <xxhash.h>

static_assert(sizeof(XXH3_state_t) + 64 <= sizeof(nd_sum), "the state of XXH3 has grown");

static XXH3_state_t *state_of(const nd_sum *s) {
  uintptr_t at = ((uintptr_t)s->room + 63) & ~(uintptr_t)63;
  return (XXH3_state_t *)at;
}

void nd_sum_begin(nd_sum *s) {
  memset(s->room, 0, sizeof s->room);
  XXH3_INITSTATE(state_of(s));
  (void)XXH3_64bits_reset(state_of(s));
}

void nd_sum_add(nd_sum *s, const void *p, size_t n) {
  (void)XXH3_64bits_update(state_of(s), p, n);
}

uint64_t nd_sum_value(const nd_sum *s) {
  return XXH3_64bits_digest(state_of(s));
}
