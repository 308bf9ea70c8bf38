/* Samplers: which shingles of a document are kept.
 *
 *   sct:N        not those that more than N documents have  Nikkhoo 2010, 3.3.2
 *   mod:N[:R]    those whose key has the remainder R        Broder 1997; Ye 2008, 4.4
 *   adaptive:…   the same with R = 0 and an N by the        Ye 2008, section 6
 *                document's size in tokens
 *   min:N        the N smallest keys of those left          Heintze 1996
 *   cap:N        the first N in the text of those left      Broder 1997 (400)
 *
 * They apply in this order, each at most once.  The key is the shingle's
 * fingerprint (shingle.h), mixed, whatever the method: all methods see the same
 * sample, and N and R mean the same to all of them.
 *
 * The ratios of a plan are powers of two, so that a coarse sample is a part of
 * a finer one: two documents of different groups are compared by the coarser of
 * their ratios. */
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
  uint64_t mod, residue;        /* mod 1: all */
  uint64_t sct, min, cap;       /* 0: no limit */
  nd_decimal goal;              /* adaptive:P, until the plan is made; num 0: none */
  nd_sample_plan plan;          /* of adaptive; n = 0: none */
  const nd_shingle_set *common; /* sct: what more than N documents have; borrowed */
} nd_sample;

/* "" or "none", or samplers separated by commas.  A plan's file is read. */
nd_status nd_sample_parse(nd_sample *out, const char *text, nd_error *err) ND_MUST_CHECK;

ND_INLINE uint64_t nd_sample_key(uint64_t fingerprint) {
  return nd_mix(fingerprint);
}

/* The modulus for a document of so many tokens. */
uint64_t nd_sample_modulus(const nd_sample *s, uint64_t tokens);

/* Applies the samplers; one per thread.  {.sample = …} is ready. */
typedef struct nd_sampler {
  const nd_sample *sample;
  uint32_t *kept; /* after a run: where each kept shingle stood before */
  size_t kept_cap;
  nd_item *items, *spare;
  size_t items_cap, spare_cap;
  nd_shingle_probe probe;
  uint64_t seen, taken; /* shingles before and after, over all runs */
  uint64_t emptied;     /* documents left without any */
} nd_sampler;

/* Replaces the fingerprints by the kept ones, in text order (with min, cap and a
 * plan each once).  When
 * none is left of some, *emptied is set and one private fingerprint stands for
 * the document, made of `digest` (of its text): it meets none but its copies. */
nd_status nd_sampler_run(nd_sampler *s, bool *emptied, nd_shingles *shingles, uint64_t tokens,
                         uint64_t digest, nd_error *err) ND_MUST_CHECK;
void nd_sampler_clear(nd_sampler *s);

/* Published formulas (see sample_math.c). */

/* Under mod-n sampling every shingle of the union is kept with probability p.  The
 * probability that the kept ones of two documents with `common` shingles of `joint`
 * resemble each other by num/den or more (and are not both empty). */
double nd_sample_hit(uint32_t common, uint32_t joint, double p, nd_decimal threshold);
/* log of the binomial probability of k of n. */
double nd_binomial_log(uint32_t k, uint32_t n, double p);
/* Wilson's interval for `hits` of n at z standard deviations: the lower or upper bound. */
double nd_wilson_bound(double hits, double n, double z, bool upper);

#endif
