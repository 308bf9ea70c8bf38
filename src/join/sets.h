/* Records as token sets, laid out for the joins.
 *
 * Tokens are renumbered rarest first (rising document frequency, ties by first
 * appearance); a record's tokens rise; records are numbered by rising size, ties
 * by input number.  A token that only one record holds can match nothing: it
 * counts in its record's size but is not stored.  Being the rarest, such tokens
 * would stand first, so a stored token's position in its record is
 *
 *     (size - stored tokens) + its place among the stored ones.
 *
 * A token that a record repeats counts once (number the repetitions before, to
 * keep them apart).  Building takes at most 24 bytes per token of the input, the
 * 8 of the input included, plus 64 per record; what is kept takes at most 6.1 (4 per
 * stored token, 4 and a bit per distinct one) plus 24 to 48 per record. */
#ifndef ND_JOIN_SETS_H
#define ND_JOIN_SETS_H

#include "base/cpu.h"
#include "base/mem.h"

typedef struct nd_sets {
  uint32_t n;        /* records */
  uint32_t distinct; /* tokens that at least two records hold: 0 … distinct-1 */
  uint64_t tokens;   /* sum of the sizes */
  uint32_t *token;   /* stored tokens of record r: begin[r] … begin[r + 1] */
  uint64_t *begin;
  uint32_t *size;   /* tokens of record r, also those that are not stored */
  uint32_t *record; /* its number in the input */
  uint32_t *df;     /* records that hold a token; rises with the token */
  /* A parity sketch of each record's stored tokens, `words` (1, 2 or 4) 64-bit words:
   * bit b is the parity of those with number = b modulo the width.  Differing bits of
   * two sketches are a lower bound of the Hamming distance of the stored tokens. */
  unsigned words;
  uint64_t *sketch;
  uint8_t *twin; /* a bit per token: do all records that hold it hold the token before it? */
} nd_sets;

/* Two records that have a twin in common also have the token before it in common: who looks
 * for a first common token need not look at twins. */
ND_INLINE bool nd_sets_is_twin(const uint8_t *twin, uint32_t token) {
  return twin[token >> 3] >> (token & 7) & 1;
}

/* Record r of the input holds raw[begin[r]] … raw[begin[r + 1] - 1], in any order.
 * At most 2^32 - 3 records and 2^31 - 1 tokens in each.  The same for any threads (at least
 * one). */
nd_status nd_sets_build(nd_sets *out, const uint64_t *raw, const uint64_t *begin, uint64_t n,
                        unsigned threads, nd_error *err) ND_MUST_CHECK;
void nd_sets_clear(nd_sets *s);

/* Adds n tokens to a parity sketch (or takes them out of it, which is the same). */
ND_INLINE void nd_sets_flip(uint64_t *sketch, const uint32_t *token, uint64_t n, unsigned words) {
  uint64_t sum[4] = {0};
  for (uint64_t i = 0; i < n; i++) {
    /* Masks keep the sums in registers; a store per token would wait for the last one. */
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
