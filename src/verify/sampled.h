/* Comparison of the shingles that --sample keeps of two documents. */
#ifndef ND_VERIFY_SAMPLED_H
#define ND_VERIFY_SAMPLED_H

#include "read/texts.h"
#include "settings/settings.h"
#include "similarity/resemblance.h"

/* Cache of one thread: the kept shingles of recent documents, within `memory` bytes. */
typedef struct nd_sampled nd_sampled;

nd_status nd_sampled_new(nd_sampled **out, const nd_settings *settings, uint64_t memory,
                         nd_error *err) ND_MUST_CHECK;
void nd_sampled_free(nd_sampled *s); /* accepts NULL */

/* Computes the overlap of the kept shingles, at the coarser ratio of the two documents.  If nothing
 * of a document is kept, the overlap is 0. */
nd_status nd_sampled_compare(nd_overlap *out, nd_sampled *s, nd_texts *texts, uint32_t a,
                             uint32_t b, nd_error *err) ND_MUST_CHECK;

#endif
