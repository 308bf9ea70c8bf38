/* Choice of bands and rows, and band keys; see bands.h. */
#include "candidate/bands.h"

#include <math.h>

#include "base/hash.h"

double nd_bands_recall(nd_bands b, double s) {
  return 1 - pow(1 - pow(s, b.rows), b.bands);
}

/* Returns the number of bands needed with r rows, or 0 if it exceeds `most`. */
static uint32_t bands_needed(double threshold, double recall, uint32_t r, uint32_t most) {
  if (recall >= 1) return 0;
  double p = pow(threshold, r);
  if (p >= 1) return 1;
  double need = ceil(log1p(-recall) / log1p(-p) - 1e-9);
  if (need < 1) need = 1;
  return need <= most ? (uint32_t)need : 0;
}

nd_bands nd_bands_choose(double threshold, double recall, uint32_t limit, uint32_t most) {
  /* (1 - s^r)^b >= (1 - s)^(r b): no partition needs fewer positions than bands of one row. */
  nd_bands best = {bands_needed(threshold, recall, 1, most), 1};
  for (uint32_t r = 1; r <= 64 && r <= most; r++) {
    uint32_t b = bands_needed(threshold, recall, r, most / r);
    if (b && b * r <= limit) best = (nd_bands){b, r};
  }
  return best;
}

nd_bands nd_bands_cut(double threshold, double recall, uint32_t k) {
  nd_bands best = {k, 1};
  for (uint32_t r = 1; r <= k; r++) {
    nd_bands cut = {k / r, r};
    if (nd_bands_recall(cut, threshold) + 1e-9 >= recall) best = cut;
  }
  return best;
}

void nd_bands_keys(uint64_t *keys, nd_bands b, const uint64_t *sketch, uint64_t seed) {
  for (uint32_t i = 0; i < b.bands; i++) {
    uint64_t h = nd_mix(seed + i + 1);
    for (uint32_t j = 0; j < b.rows; j++) {
      h = nd_fold(h ^ sketch[j], 0xa0761d6478bd642fu) + 0xe7037ed1a0b428dbu;
    }
    keys[i] = nd_mix(h);
    sketch += b.rows;
  }
}
