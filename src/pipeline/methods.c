/* The table of methods; see methods.h. */
#include "pipeline/methods.h"

#include "pipeline/exact.h"
#include "pipeline/setjoin.h"
#include "verify/similarity.h"

uint32_t nd_agree_words(const uint64_t *a, const uint64_t *b, uint32_t n) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < n; i++) same += a[i] == b[i];
  return same;
}

uint32_t nd_agree_bits(const uint64_t *a, const uint64_t *b, uint32_t words) {
  uint32_t differ = 0;
  for (uint32_t i = 0; i < words; i++) differ += (uint32_t)__builtin_popcountll(a[i] ^ b[i]);
  return words * 64 - differ;
}

/* --- finding ------------------------------------------------------------------ */

static nd_status find_exact(nd_finder *f, nd_error *err) {
  return nd_exact_pairs(f->out, f->source, f->spare, f->tmp, err);
}

static nd_status find_join(nd_finder *f, nd_error *err) {
  return nd_setjoin_pairs(f->out, f->source, f->spare, f->tmp, err);
}

/* --- judging ------------------------------------------------------------------ */

static uint64_t ratio(uint32_t part, uint32_t whole) {
  return (uint64_t)part << 32 | whole;
}

/* The share of min values that agree estimates the resemblance. */
static bool judge_minhash(uint64_t *value, const nd_settings *s, const uint64_t *a,
                          const uint64_t *b) {
  uint32_t at = s->row.at[ND_PART_MINHASH], k = s->permutations;
  uint32_t same = nd_agree_words(a + at, b + at, k);
  *value = ratio(same, k);
  return nd_similarity_reaches(ND_SIMILARITY_JACCARD, (nd_overlap){same, k, k}, s->threshold);
}

const nd_method_row nd_methods[] = {
    [ND_METHOD_MINHASH] = {"minhash", nd_find_bands, 0, judge_minhash, ND_HAS_MINHASH, false,
                           false},
    [ND_METHOD_DIGEST] = {"digest", NULL, 0, NULL, 0, false, false},
    [ND_METHOD_EXACT] = {"exact", find_exact, 0, NULL, 0, false, true},
    [ND_METHOD_JOIN] = {"join", find_join, 0, NULL, 0, false, true},
    [ND_METHOD_ALLPAIRS] = {"allpairs", find_join, 0, NULL, 0, false, true},
    [ND_METHOD_PPJOIN] = {"ppjoin", find_join, 0, NULL, 0, false, true},
    [ND_METHOD_PPJOIN_PLUS] = {"ppjoin+", find_join, 0, NULL, 0, false, true},
};

nd_method nd_method_find(const char *name) {
  const size_t n = sizeof nd_methods / sizeof *nd_methods;
  for (size_t i = 0; i < n; i++)
    if (strcmp(nd_methods[i].name, name) == 0) return (nd_method)i;
  return ND_METHOD_MINHASH;
}
