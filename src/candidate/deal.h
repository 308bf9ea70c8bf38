/* Records of one size, dealt out to parts of a temporary file.
 *
 * Call order: new → add … add → finish → read … → free.  A part's records collect in a
 * buffer; a full one is appended to the file, which has no name any more, so that a killed
 * process leaves nothing.
 *
 *   file:  part 3 | part 0 | part 3 | …    an extent each: as many records as a buffer holds
 *
 * A part is read back by place, in the order of adding. */
#ifndef ND_CANDIDATE_DEAL_H
#define ND_CANDIDATE_DEAL_H

#include "base/mem.h"

typedef struct nd_deal nd_deal;

/* `words` 64-bit words a record; `memory` bytes for all buffers, a few KiB each at least. */
nd_status nd_deal_new(nd_deal **out, uint32_t parts, uint32_t words, uint64_t memory,
                      const char *dir, nd_error *err) ND_MUST_CHECK;
void nd_deal_free(nd_deal *d);

nd_status nd_deal_add(nd_deal *d, uint32_t number, const uint64_t *record,
                      nd_error *err) ND_MUST_CHECK;
nd_status nd_deal_finish(nd_deal *d, nd_error *err) ND_MUST_CHECK;

uint64_t nd_deal_count(const nd_deal *d, uint32_t number);

/* The records first … first + n - 1 of a part. */
nd_status nd_deal_read(uint64_t *out, const nd_deal *d, uint32_t number, uint64_t first, size_t n,
                       nd_error *err) ND_MUST_CHECK;

/* So many bits of parts that `bytes` of records come in parts of at most half of
 * `memory`, if they are spread evenly. */
unsigned nd_deal_bits(uint64_t bytes, uint64_t memory);

#endif
