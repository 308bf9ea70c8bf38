/* What the tests of Hamming distances share: random vectors, all pairs compared one by one, and
 * the search inside and outside of the memory held against that. */
#ifndef HAMMING_CASES_H
#define HAMMING_CASES_H

#include <stddef.h>
#include <stdint.h>

#include "candidate/hamming.h"
#include "tools.h"

uint32_t naive_distance(const uint64_t *a, const uint64_t *b, uint32_t words);

typedef struct list {
  nd_item *items;
  size_t n, cap;
} list;

void push(list *l, uint32_t a, uint32_t b, uint32_t d);

list ours(const nd_hamming_request *r, nd_hamming_stats *stats);

void same_list(const list *a, const list *b, const char *what, uint32_t k);

/* Gives the vectors of a request from the last to the first, an odd number at a time. */
nd_status scan_vectors(void *context, nd_vector_take take, void *to, nd_error *e);

size_t compare(nd_hamming_request r, const char *what);

void flip(uint64_t *v, uint32_t bits, nd_rng *rng);

/* Some random, the others copies of an earlier one with a few bits flipped. */
void make(uint64_t *v, size_t n, uint32_t words, double fresh, uint32_t most, nd_rng *rng);

#endif
