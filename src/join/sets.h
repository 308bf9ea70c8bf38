/* Records as token sets, laid out for the joins.
 *
 * Tokens are renumbered rarest first (by ascending document frequency, ties by first
 * appearance); the tokens of a record are ascending; records are numbered by
 * ascending size, ties by input number.  A token of only one record can match
 * nothing: it counts in the size of its record but is not stored.  Such tokens are
 * the rarest and would come first, so the position of a stored token in its record is
 *
 *     (size - stored tokens) + its index among the stored ones.
 *
 * Repeated tokens of a record count once; to count them all, number the repetitions
 * first.  Building takes at most 24 bytes per token of the input, including the 8 of
 * the input, plus 64 per record; the result takes at most 6.1 (4 per stored token, 4
 * and a bit per distinct one) plus 24 to 48 per record. */
#ifndef ND_JOIN_SETS_H
#define ND_JOIN_SETS_H

#include "base/cpu.h"
#include "base/mem.h"

typedef struct nd_sets {
  uint32_t n;        /* records */
  uint32_t distinct; /* tokens of at least two records: 0 … distinct - 1 */
  uint64_t tokens;   /* sum of the sizes */
  uint32_t *token;   /* stored tokens of record r: begin[r] … begin[r + 1] */
  uint64_t *begin;
  uint32_t *size;   /* tokens of record r, including those that are not stored */
  uint32_t *record; /* its number in the input */
  uint32_t *df;     /* records that have the token; ascending */
  /* A parity sketch of each record's stored tokens, `words` (1, 2 or 4) 64-bit words:
   * bit b is the parity of those with number = b modulo the width.  Differing bits of
   * two sketches are a lower bound of the Hamming distance of the stored tokens. */
  unsigned words;
  uint64_t *sketch;
  uint8_t *twin; /* a bit per token: set if all its records also have the preceding token */
} nd_sets;

/* Tests whether a token is a twin.  Two records that share a twin also share the token before it,
 * so a search for the first common token can skip twins. */
ND_INLINE bool nd_sets_is_twin(const uint8_t *twin, uint32_t token) {
  return twin[token >> 3] >> (token & 7) & 1;
}

/* Builds the sets of records r with the tokens raw[begin[r]] … raw[begin[r + 1] - 1], in any order;
 * at most 2^32 - 3 records and 2^31 - 1 tokens in each.  The result is the same for any number of
 * threads, at least 1. */
nd_status nd_sets_build(nd_sets *out, const uint64_t *raw, const uint64_t *begin, uint64_t n,
                        unsigned threads, nd_error *err) ND_MUST_CHECK;
void nd_sets_clear(nd_sets *s);

/* Adds n tokens to a parity sketch, or removes them, which is the same operation. */
ND_INLINE void nd_sets_flip(uint64_t *sketch, const uint32_t *token, uint64_t n, unsigned words) {
  uint64_t sum[4] = {0};
  for (uint64_t i = 0; i < n; i++) {
    /* Masks keep the sums in registers; stores would depend on one another. */
    uint64_t bit = UINT64_C(1) << (token[i] & 63);
    uint64_t odd = bit & (0 - (uint64_t)(token[i] >> 6 & 1)), even = bit ^ odd;
    uint64_t upper = 0 - (uint64_t)(token[i] >> 7 & 1);
    if (words == 1) {
      sum[0] ^= bit;
    } else if (words == 2) {
      sum[0] ^= even;
      sum[1] ^= odd;
    } else {
      sum[0] ^= even & ~upper;
      sum[1] ^= odd & ~upper;
      sum[2] ^= even & upper;
      sum[3] ^= odd & upper;
    }
  }
  for (unsigned k = 0; k < words; k++) sketch[k] ^= sum[k];
}

#endif
