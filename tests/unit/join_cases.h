/* Random records for the tests of the joins, and a naive join of them. */
#ifndef JOIN_CASES_H
#define JOIN_CASES_H

#include "base/rng.h"
#include "join/join.h"

typedef struct cases {
  uint64_t *raw;
  uint64_t *begin;
  uint32_t n;
  size_t raw_cap, begin_cap;
  /* sorted and distinct: the naive side */
  uint64_t *set;
  uint32_t *size;
} cases;

void cases_clear(cases *c);

void cases_token(cases *c, uint64_t token);

void cases_end(cases *c);

void cases_finish(cases *c);

/* One of several kinds: skewed, tiny, with empty records, copies, tokens that come together,
 * and pairs whose similarity is exactly num/den. */
void cases_random(cases *c, nd_rng *rng, uint64_t num, uint64_t den);

/* Similarities of sets. */
extern const nd_similarity *const set_similarities[4];

/* Are so many common tokens enough for sizes x and y?  By the definition alone. */
bool naive_similar(const nd_similarity *s, uint64_t num, uint64_t den, uint64_t common, uint64_t x,
                   uint64_t y);

typedef struct found {
  nd_join_pair *pair;
  size_t n, cap;
} found;

nd_status found_add(void *context, const nd_join_pair *pair, size_t n, nd_error *err);

/* Sinks: one that looks at nothing, one that wants no more. */
nd_status count_only(void *context, const nd_join_pair *pair, size_t n, nd_error *err);

nd_status refuse(void *context, const nd_join_pair *pair, size_t n, nd_error *err);

void found_sort(found *f);

void naive_join(found *out, const cases *c, const nd_join_options *o);

#endif
