/* Power laws: the exponent of a distribution of degrees. */
#ifndef ND_STUDY_COMMON_POWER_LAW_H
#define ND_STUDY_COMMON_POWER_LAW_H

#include <stddef.h>
#include <stdint.h>

/* count[d] nodes have degree d = 1 … most (count[0] is not looked at).
 *
 * The slope of the straight line through (ln d, ln count[d]), by least squares
 * over the degrees that occur: what a log-log plot shows, −γ for a law d^−γ.
 * NAN with fewer than two such degrees. */
double nd_power_law_slope(const uint64_t *count, size_t most);

/* The likeliest exponent γ from degree 1 on: 1 + n / Σ ln(d / ½) (Clauset,
 * Shalizi and Newman 2009, formula 3.7).  NAN without nodes. */
double nd_power_law_likely(const uint64_t *count, size_t most);

#endif
