/* The yardstick of the join bench. */
#ifndef ND_BENCH_JOIN_PPJOIN_H
#define ND_BENCH_JOIN_PPJOIN_H

#include <stdint.h>

/* Records by rising size, tokens by rising document frequency, all of them. */
typedef struct plain_sets {
  uint32_t n, vocabulary;
  uint64_t *begin;
  uint32_t *token;
} plain_sets;

/* Pairs whose Jaccard similarity is at least num/den; *verified: candidates compared. */
uint64_t plain_ppjoin(const plain_sets *s, uint64_t num, uint64_t den, uint64_t *verified);

#endif
