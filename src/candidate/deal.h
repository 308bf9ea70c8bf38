/* Partitions records of a fixed size in a temporary file.
 *
 * Call order: new → add … add → finish → read … → free.  The records of a part collect in a
 * buffer; a full buffer is appended to the file, which is already unlinked, so that a killed
 * process leaves no file.
 *
 *   file:  part 3 | part 0 | part 3 | …    extents of one buffer each
 *
 * A part is read by position, in the order of adding. */
#ifndef ND_CANDIDATE_DEAL_H
#define ND_CANDIDATE_DEAL_H

#include "base/mem.h"

typedef struct nd_deal nd_deal;

/* `words` 64-bit words per record; `memory` bytes for all buffers, at least a few KiB each. */
nd_status nd_deal_new(nd_deal **out, uint32_t parts, uint32_t words, uint64_t memory,
                      const char *dir, nd_error *err) ND_MUST_CHECK;
void nd_deal_free(nd_deal *d);

nd_status nd_deal_add(nd_deal *d, uint32_t number, const uint64_t *record,
                      nd_error *err) ND_MUST_CHECK;
nd_status nd_deal_finish(nd_deal *d, nd_error *err) ND_MUST_CHECK;

uint64_t nd_deal_count(const nd_deal *d, uint32_t number);

/* Reads the records from `first` to first + n - 1 of a part. */
nd_status nd_deal_read(uint64_t *out, const nd_deal *d, uint32_t number, uint64_t first, size_t n,
                       nd_error *err) ND_MUST_CHECK;

/* Returns the number of bits for which parts of `bytes` of evenly spread records take at most
 * half of `memory`. */
unsigned nd_deal_bits(uint64_t bytes, uint64_t memory);

#endif
