/* Verifying: candidate pairs → pairs with their true similarity. */
#ifndef ND_PIPELINE_CONFIRM_H
#define ND_PIPELINE_CONFIRM_H

#include "base/sorter.h"
#include "pipeline/find.h"
#include "pipeline/settings.h"
#include "pipeline/texts.h"
#include "verify/resemblance.h"

/* A pair's value: common << 32 | joint. */
static inline uint64_t nd_overlap_pack(nd_overlap o) { return (uint64_t)o.common << 32 | o.joint; }
static inline nd_overlap nd_overlap_unpack(uint64_t x) {
  return (nd_overlap){(uint32_t)(x >> 32), (uint32_t)x};
}

typedef struct nd_confirmed {
  uint64_t candidates; /* pairs compared */
  uint64_t spared;     /* star edges that nothing depended on */
  uint64_t pairs;      /* of them, at or above the threshold */
  nd_sorter *sorted;   /* a << 32 | b (firsts) → overlap; finished */
} nd_confirmed;

/* Called now and then with the number of pairs done; non-zero stops the work. */
typedef int (*nd_confirm_tick)(void *context, uint64_t done);

/* Compares every candidate pair of `found` as settings->verify says. */
nd_status nd_confirm(nd_confirmed *out, const nd_found *found, const nd_text_source *source,
                     const char *tmp, nd_confirm_tick tick, void *tick_context,
                     nd_error *err) ND_MUST_CHECK;
void nd_confirmed_clear(nd_confirmed *c);

/* Fills the value of every item (a << 32 | b) with its exact overlap, whatever
 * it is. */
nd_status nd_confirm_list(nd_item *items, size_t n, const nd_text_source *source,
                          nd_error *err) ND_MUST_CHECK;

#endif
