/* Power laws: the exponent of a distribution of degrees. */
#ifndef ND_STUDY_COMMON_POWER_LAW_H
#define ND_STUDY_COMMON_POWER_LAW_H

#include <stddef.h>
#include <stdint.h>

/* count[d] nodes have degree d, from 1 to `most` (count[0] is ignored).
 *
 * Returns the slope of the line through (ln d, ln count[d]), by least squares over the
 * degrees that occur: −γ for a law d^−γ.  NAN with fewer than two such degrees. */
double nd_power_law_slope(const uint64_t *count, size_t most);

/* Returns the maximum-likelihood exponent γ for degrees from 1: 1 + n / Σ ln(d / ½)
 * (Clauset, Shalizi and Newman 2009, formula 3.7).  NAN without nodes. */
double nd_power_law_likely(const uint64_t *count, size_t most);

#endif
