/* Comparing what --sample keeps of two documents. */
#ifndef ND_VERIFY_SAMPLED_H
#define ND_VERIFY_SAMPLED_H

#include "read/texts.h"
#include "settings/settings.h"
#include "similarity/resemblance.h"

/* What one thread needs: kept shingles of documents that come again and again
 * stay, within `memory` bytes. */
typedef struct nd_sampled nd_sampled;

nd_status nd_sampled_new(nd_sampled **out, const nd_settings *settings, uint64_t memory,
                         nd_error *err) ND_MUST_CHECK;
void nd_sampled_free(nd_sampled *s); /* NULL is allowed */

/* The overlap of the kept shingles, by the coarser of the two ratios.  A document
 * of which nothing is kept has nothing in common with any. */
nd_status nd_sampled_compare(nd_overlap *out, nd_sampled *s, nd_texts *texts, uint32_t a,
                             uint32_t b, nd_error *err) ND_MUST_CHECK;

#endif
