/* Pages with their B and C sketches, and the similar pairs; internal to study web. */
#ifndef ND_STUDY_HENZINGER_WEB_PAIRS_H
#define ND_STUDY_HENZINGER_WEB_PAIRS_H

#include "base/pair.h"
#include "study/common/judge.h"
#include "study/common/pages.h"
#include "study/common/study_report.h"

/* Parameters of the algorithms (Henzinger 2006, section 2). */
enum {
  ND_WEB_SHINGLE = 8,
  ND_WEB_VALUES = 84,
  ND_WEB_SUPERS = 6,
  ND_WEB_B = 2, /* B-similar: agreeing super-shingles of 6 */
  ND_WEB_BITS = 384,
  ND_WEB_C = 372, /* C-similar: agreeing bits of 384 */
  ND_WEB_PIECES = 12,
  ND_WEB_COMBINED = 355,
  ND_WEB_WORDS = ND_WEB_SUPERS + ND_WEB_BITS / 64
};

typedef struct nd_web_pair {
  uint64_t key;
  uint32_t b, c; /* the two similarities */
} nd_web_pair;

typedef struct nd_web_list {
  nd_web_pair *pairs; /* ascending */
  size_t n, cap;
} nd_web_list;

typedef enum nd_web_where { ND_SAME_SITE, ND_OTHER_SITE, ND_NO_SITE } nd_web_where;

typedef struct nd_web {
  nd_pages pages;
  nd_web_list b, c;
  uint64_t hot; /* oversized buckets, which gave stars */
} nd_web;

/* Reads the pages and finds the pairs of both algorithms. */
nd_status nd_web_find(nd_web *w, nd_study_run *run, const nd_options *options,
                      nd_error *err) ND_MUST_CHECK;
void nd_web_clear(nd_web *w);

static inline nd_web_where nd_web_where_of(const nd_web *w, uint64_t key) {
  uint64_t x = w->pages.site[nd_pair_of(key).a], y = w->pages.site[nd_pair_of(key).b];
  return x == 0 || y == 0 ? ND_NO_SITE : x == y ? ND_SAME_SITE : ND_OTHER_SITE;
}

/* Writes the tables that need no ground truth (study_web_tables.c). */
nd_status nd_web_tables(nd_web *w, nd_study_report *r, nd_error *err) ND_MUST_CHECK;
nd_status nd_web_differences(nd_web *w, nd_study_report *r, const nd_options *options,
                             nd_error *err) ND_MUST_CHECK;

/* Writes the tables that need a ground truth (study_web_truth.c). */
nd_status nd_web_precision(const nd_web *w, const nd_judge *j, nd_study_report *r,
                           nd_error *err) ND_MUST_CHECK;

/* Counts the pairs of an algorithm on the same site, and the correct ones. */
typedef enum nd_web_algorithm { ND_WEB_ALG_B, ND_WEB_ALG_C, ND_WEB_ALG_COMBINED } nd_web_algorithm;
void nd_web_same_site(uint64_t *pairs, uint64_t *correct, const nd_web *w, const nd_judge *j,
                      nd_web_algorithm which);

#endif
