/* Pairs within a Hamming distance; see hamming.h. */
#include "candidate/hamming.h"

uint32_t nd_hamming_guaranteed(uint32_t pieces) {
  return pieces ? pieces - 1 : 0;
}

uint32_t nd_hamming_distance(const uint64_t *a, const uint64_t *b, uint32_t words) {
  uint32_t differ = 0;
  for (uint32_t w = 0; w < words; w++) differ += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
  return differ;
}

static nd_status give(nd_sorter *pairs, nd_hamming_stats *stats, const nd_hamming_request *r,
                      uint64_t i, uint64_t j, uint32_t distance, nd_error *err) {
  uint32_t a = r->number ? r->number[i] : (uint32_t)i, b = r->number ? r->number[j] : (uint32_t)j;
  if (r->split && (a >= r->split || b < r->split)) return ND_OK;
  stats->pairs++;
  nd_item item = {(uint64_t)a << 32 | b, distance};
  return nd_sorter_add(pairs, &item, 1, err);
}

nd_status nd_hamming_pairs(nd_sorter *pairs, nd_hamming_stats *stats,
                           const nd_hamming_request *request, nd_error *err) {
  const nd_hamming_request *r = request;
  *stats = (nd_hamming_stats){.vectors = r->n};
  for (uint64_t i = 0; i < r->n; i++) {
    for (uint64_t j = i + 1; j < r->n; j++) {
      uint32_t d =
          nd_hamming_distance(r->vectors + i * r->words, r->vectors + j * r->words, r->words);
      stats->compared++;
      if (d <= r->distance) ND_TRY(give(pairs, stats, r, i, j, d, err));
    }
  }
  return ND_OK;
}
