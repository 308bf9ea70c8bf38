/* Samplers: selection of the shingles to keep.
 *
 *   sct:N        shingles that at most N documents have       Nikkhoo 2010, 3.3.2
 *   mod:N[:R]    shingles whose key has the remainder R       Broder 1997; Ye 2008, 4.4
 *   adaptive:…   likewise with R = 0 and an N that depends    Ye 2008, section 6
 *                on the size of the document in tokens
 *   min:N        the N smallest of the remaining keys         Heintze 1996
 *   cap:N        the first N remaining shingles of the text   Broder 1997 (400)
 *
 * They apply in this order, each at most once.  The key is the mixed fingerprint of the
 * shingle (shingle.h) for every method, so all methods use the same sample.
 *
 * The ratios of a plan are powers of two, so a coarse sample is a subset of a finer one: two
 * documents of different groups are compared by the coarser of their ratios. */
#ifndef ND_FEATURE_SAMPLE_H
#define ND_FEATURE_SAMPLE_H

#include "base/decimal.h"
#include "base/hash.h"
#include "base/radix.h"
#include "feature/sample_plan.h"
#include "feature/shingle.h"
#include "feature/shingle_set.h"

typedef struct nd_sample {
  bool on;
  uint64_t mod, residue;        /* mod 1 keeps all */
  uint64_t sct, min, cap;       /* 0: no limit */
  nd_decimal goal;              /* of adaptive:P, until its plan is computed; or num 0 */
  nd_sample_plan plan;          /* of adaptive, or n = 0 */
  const nd_shingle_set *common; /* sct: shingles that more than N documents have; borrowed */
} nd_sample;

/* Parses "", "none" or samplers separated by commas; reads the file of a plan. */
nd_status nd_sample_parse(nd_sample *out, const char *text, nd_error *err) ND_MUST_CHECK;

ND_INLINE uint64_t nd_sample_key(uint64_t fingerprint) {
  return nd_mix(fingerprint);
}

/* Returns the modulus for a document with this number of tokens. */
uint64_t nd_sample_modulus(const nd_sample *s, uint64_t tokens);

/* Applies the samplers, per thread.  Initialise with {.sample = …}. */
typedef struct nd_sampler {
  const nd_sample *sample;
  uint32_t *kept; /* after a run: original position of each kept shingle */
  size_t kept_cap;
  nd_item *items, *spare;
  size_t items_cap, spare_cap;
  nd_shingle_probe probe;
  uint64_t seen, taken; /* shingles before and after, over all runs */
  uint64_t emptied;     /* documents left without any */
} nd_sampler;

/* Replaces the fingerprints by the kept ones, in text order (with min, cap and a plan, each
 * once).  If all were removed, sets *emptied and keeps a single fingerprint computed from the
 * `digest` of the text, which only exact duplicates share. */
nd_status nd_sampler_run(nd_sampler *s, bool *emptied, nd_shingles *shingles, uint64_t tokens,
                         uint64_t digest, nd_error *err) ND_MUST_CHECK;
void nd_sampler_clear(nd_sampler *s);

/* Published formulas; see sample_math.c. */

/* Returns the probability that two documents with `common` shingles of `joint` have a
 * resemblance of at least num/den (and are not both empty) under mod-n sampling, which keeps
 * every shingle of the union with probability p. */
double nd_sample_hit(uint32_t common, uint32_t joint, double p, nd_decimal threshold);
/* Returns the logarithm of the binomial probability of k of n. */
double nd_binomial_log(uint32_t k, uint32_t n, double p);
/* Returns the lower or upper bound of Wilson's interval for `hits` of n at z standard
 * deviations. */
double nd_wilson_bound(double hits, double n, double z, bool upper);

#endif
