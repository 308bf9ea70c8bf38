/* Differing tokens of two sequences, and the cosine of their counts.  Tokens are 32-bit
 * hashes. */
#ifndef ND_STUDY_COMMON_TOKEN_DIFF_H
#define ND_STUDY_COMMON_TOKEN_DIFF_H

#include "base/mem.h"

typedef struct nd_token_diff {
  uint32_t *scratch;
  size_t cap;
} nd_token_diff;
void nd_token_diff_clear(nd_token_diff *t);

/* Computes the term difference (Henzinger 2006, section 3): the number of deleted and
 * inserted tokens in a minimal diff, n + m − 2 × the longest common subsequence.  Above
 * `most` it is most + 1.  Takes time (n + m) × most and 8 × most bytes (Myers 1986). */
nd_status nd_token_difference(uint32_t *out, nd_token_diff *t, const uint32_t *a, size_t n,
                              const uint32_t *b, size_t m, uint32_t most,
                              nd_error *err) ND_MUST_CHECK;

/* Returns the cosine of the vectors of token counts; 0 if one sequence is empty. */
nd_status nd_token_cosine(double *out, nd_token_diff *t, const uint32_t *a, size_t n,
                          const uint32_t *b, size_t m, nd_error *err) ND_MUST_CHECK;

#endif
