/* The table of methods; see methods.h. */
#include "settings/methods.h"

#include "candidate/hamming.h"
#include "find/exact.h"
#include "find/finder.h"
#include "find/setjoin.h"
#include "similarity/similarity.h"
#include "sketch/projection.h"
#include "sketch/supershingle.h"

/* --- what sketches show ---------------------------------------------------------- */

uint32_t nd_shown_minhash(const nd_settings *s, const uint64_t *a, const uint64_t *b) {
  uint32_t at = s->row.at[ND_PART_MINHASH], same = 0;
  for (uint32_t i = at; i < at + s->permutations; i++) same += a[i] == b[i];
  return same;
}

uint32_t nd_shown_supershingles(const nd_settings *s, const uint64_t *a, const uint64_t *b) {
  uint32_t at = s->row.at[ND_PART_SUPERSHINGLE];
  return nd_super_agree(a + at, b + at, s->supershingles);
}

uint32_t nd_shown_projection(const nd_settings *s, const uint64_t *a, const uint64_t *b) {
  uint32_t at = s->row.at[ND_PART_PROJECTION];
  return nd_projection_agree(a + at, b + at, s->bits / 64);
}

uint32_t nd_shown_simhash(const nd_settings *s, const uint64_t *a, const uint64_t *b) {
  uint32_t at = s->row.at[ND_PART_SIMHASH];
  return nd_hamming_distance(a + at, b + at, 1);
}

/* --- finding ------------------------------------------------------------------ */

static nd_status find_minhash(nd_finder *f, nd_error *err) {
  return f->settings->family == ND_FAMILY_LINEAR ? nd_find_values(f, err) : nd_find_bands(f, err);
}

/* Combined by site: pairs on one site come from super-shingles, others from
 * projections; which they are shows only when there is a pair. */
static nd_status find_either(nd_finder *f, nd_error *err) {
  ND_TRY(nd_find_supershingles(f, err));
  return nd_find_projections(f, err);
}

static nd_status find_exact(nd_finder *f, nd_error *err) {
  return nd_exact_pairs(f->out, f->source, f->spare, f->tmp, err);
}

static nd_status find_join(nd_finder *f, nd_error *err) {
  return nd_setjoin_pairs(f->out, f->source, f->spare, f->tmp, err);
}

/* --- judging ------------------------------------------------------------------ */

/* The share of min values that agree estimates the resemblance. */
static bool judge_minhash(uint64_t *value, const nd_settings *s, const uint64_t *a,
                          const uint64_t *b) {
  uint32_t k = s->permutations, same = nd_shown_minhash(s, a, b);
  *value = nd_fraction_pack(same, k);
  return nd_similarity_reaches(&nd_similarity_jaccard, (nd_overlap){same, k, k}, s->threshold);
}

/* B-similar: enough super-shingles agree (Henzinger 2006, section 2). */
static bool judge_supershingle(uint64_t *value, const nd_settings *s, const uint64_t *a,
                               const uint64_t *b) {
  uint32_t same = nd_shown_supershingles(s, a, b);
  *value = nd_fraction_pack(same, s->supershingles);
  return same >= s->agree;
}

/* C-similar: enough bits agree. */
static bool judge_projection(uint64_t *value, const nd_settings *s, const uint64_t *a,
                             const uint64_t *b) {
  uint32_t same = nd_shown_projection(s, a, b);
  *value = nd_fraction_pack(same, s->bits);
  return same >= s->agree_bits;
}

/* Few of the 64 bits differ (Manku et al. 2007). */
static bool judge_simhash(uint64_t *value, const nd_settings *s, const uint64_t *a,
                          const uint64_t *b) {
  uint32_t differ = nd_shown_simhash(s, a, b);
  *value = nd_fraction_pack(64 - differ, 64);
  return differ <= s->hamming;
}

/* B-similar pairs that are C-similar at a lower threshold (Henzinger 2006, the combined
 * algorithm). */
static bool judge_combined(uint64_t *value, const nd_settings *s, const uint64_t *a,
                           const uint64_t *b) {
  uint64_t bits;
  (void)judge_projection(&bits, s, a, b);
  bool similar = judge_supershingle(value, s, a, b);
  *value = bits;
  return similar && nd_fraction_of(bits).num >= s->combined_bits;
}

/* Pairs on different sites as algorithm C finds them, others as the combined
 * one.  A page whose site is unknown is on a site of its own. */
static bool judge_combined_site(uint64_t *value, const nd_settings *s, const uint64_t *a,
                                const uint64_t *b) {
  uint32_t at = s->row.at[ND_PART_SITE];
  if (a[at] == b[at] && a[at]) return judge_combined(value, s, a, b);
  return judge_projection(value, s, a, b);
}

enum {
  BOTH = ND_HAS_SUPERSHINGLE | ND_HAS_PROJECTION,
};

const nd_method_row nd_methods[] = {
    [ND_METHOD_MINHASH] = {"minhash", find_minhash, 0, judge_minhash, ND_HAS_MINHASH, false, false},
    [ND_METHOD_DIGEST] = {"digest", NULL, 0, NULL, 0, false, false},
    [ND_METHOD_EXACT] = {"exact", find_exact, 0, NULL, 0, false, true},
    [ND_METHOD_JOIN] = {"join", find_join, 0, NULL, 0, false, true},
    [ND_METHOD_ALLPAIRS] = {"allpairs", find_join, 0, NULL, 0, false, true},
    [ND_METHOD_PPJOIN] = {"ppjoin", find_join, 0, NULL, 0, false, true},
    [ND_METHOD_PPJOIN_PLUS] = {"ppjoin+", find_join, 0, NULL, 0, false, true},
    [ND_METHOD_SUPERSHINGLE] = {"supershingle", nd_find_supershingles, ND_HAS_SUPERSHINGLE,
                                judge_supershingle, ND_HAS_SUPERSHINGLE, true, false},
    [ND_METHOD_SIMHASH] = {"simhash", nd_find_simhashes, ND_HAS_SIMHASH, judge_simhash,
                           ND_HAS_SIMHASH, true, false},
    [ND_METHOD_PROJECTION] = {"projection", nd_find_projections, ND_HAS_PROJECTION,
                              judge_projection, ND_HAS_PROJECTION, true, false},
    [ND_METHOD_COMBINED] = {"combined", nd_find_supershingles, ND_HAS_SUPERSHINGLE, judge_combined,
                            BOTH, true, false},
    [ND_METHOD_COMBINED_SITE] = {"combined-site", find_either, BOTH, judge_combined_site,
                                 BOTH | ND_HAS_SITE, true, false},
};

nd_method nd_method_find(const char *name) {
  size_t i = sizeof nd_methods / sizeof *nd_methods - 1;
  while (i && strcmp(nd_methods[i].name, name) != 0) i--;
  return (nd_method)i; /* minhash is the first one */
}
