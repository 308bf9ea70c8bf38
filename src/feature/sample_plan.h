/* A plan: the share of shingles to keep by document size (Ye 2008, section 6), and its file
 * format.
 *
 *   neardup-plan 1
 *   threshold 0.85
 *   precision 0.85
 *   shingle words:5
 *   tokens words
 *   group 500 2          fewer than 500 tokens: one shingle in 2
 *   group 1000 8
 *   group - 16           all others
 *   end 3                number of groups
 *
 * Lines that start with # are comments.  Sizes ascend, ratios are powers of two up to 2^20,
 * the last group has no limit. */
#ifndef ND_FEATURE_SAMPLE_PLAN_H
#define ND_FEATURE_SAMPLE_PLAN_H

#include "base/decimal.h"
#include "base/mem.h"

enum { ND_PLAN_GROUPS = 32, ND_PLAN_VERSION = 1 };
#define ND_PLAN_MOST_MODULUS (UINT64_C(1) << 20)

typedef struct nd_sample_plan {
  unsigned n; /* number of groups; 0: no plan */
  struct {
    uint64_t below; /* in tokens; UINT64_MAX: no limit */
    uint64_t modulus;
  } group[ND_PLAN_GROUPS];
  nd_decimal threshold, precision;
  char shingle[32], tokens[16];
  uint64_t digest; /* identifies the plan */
} nd_sample_plan;

/* Parses and validates a plan; `name` is for messages. */
nd_status nd_sample_plan_parse(nd_sample_plan *out, nd_str text, const char *name,
                               nd_error *err) ND_MUST_CHECK;
nd_status nd_sample_plan_read(nd_sample_plan *out, const char *path, nd_error *err) ND_MUST_CHECK;

/* Appends the lines of the plan, without comments. */
nd_status nd_sample_plan_append(nd_buf *out, const nd_sample_plan *plan,
                                nd_error *err) ND_MUST_CHECK;

/* Returns the group of a document with this number of tokens. */
unsigned nd_sample_plan_group(const nd_sample_plan *plan, uint64_t tokens);

/* Parses a decimal above 0 and at most 1; returns false for anything else. */
bool nd_sample_share(nd_decimal *out, nd_str text);

/* Computes the digest. */
void nd_sample_plan_seal(nd_sample_plan *plan);

#endif
