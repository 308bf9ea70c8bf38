/* Measurements of the runs of `study join`; internal to it. */
#ifndef ND_STUDY_XIAO_STUDY_JOIN_H
#define ND_STUDY_XIAO_STUDY_JOIN_H

#include "join/join.h"
#include "output/page.h"
#include "study/common/study_run.h"

/* Kinds of records made from a document (Xiao et al. 2008, Figure 2). */
typedef enum nd_jointset {
  ND_JOINTSET_WORDS,
  ND_JOINTSET_3GRAMS,
  ND_JOINTSET_4GRAMS,
  ND_JOINTSET_SHINGLES, /* 32 MinHash values of the 4-grams */
  ND_JOINTSETS
} nd_jointset;

/* The three methods of the paper, then ours. */
enum {
  ND_JS_METHODS = 4,
  ND_JS_THRESHOLDS = 4,
  ND_JS_SIZES = 5,
  ND_JS_CURVES = 3,
  ND_JS_SHINGLES = 32
};
extern const nd_join_method nd_js_method[ND_JS_METHODS];
extern const char *const nd_js_method_name[ND_JS_METHODS];
extern const unsigned nd_js_percent[ND_JS_THRESHOLDS]; /* 95, 90, 85, 80 */
extern const char *const nd_js_curve_name[ND_JS_CURVES];

typedef struct nd_js_run {
  uint64_t index_entries, candidates, results;
  double seconds;
} nd_js_run;

/* A row of Table 2. */
typedef struct nd_js_quality {
  double precision, recall; /* of the join of MinHash shingles */
  double estimate_recall;   /* if the share of equal shingles must reach t */
  double estimate_precision;
  double allpairs, plus, shingles, ours; /* seconds */
} nd_js_quality;

typedef struct nd_join_study {
  nd_study_run *run;
  bool have_grams; /* false for token sets */
  uint64_t documents, records;
  nd_js_run by_threshold[ND_JS_CURVES][ND_JS_THRESHOLDS][ND_JS_METHODS];
  nd_js_run by_size[2][ND_JS_SIZES][ND_JS_METHODS]; /* Jaccard, cosine at 0.9 */
  uint64_t size_records[ND_JS_SIZES];
  nd_js_quality quality[ND_JS_THRESHOLDS];
} nd_join_study;

void nd_join_study_draw(const nd_join_study *s, nd_page *page);

/* Table 2 of the paper: precision, recall, seconds of All-Pairs, ppjoin+ and the shingles. */
extern const double nd_js_table_2[ND_JS_THRESHOLDS][5];
/* Table 1: candidates of the three on DBLP at 0.95, 0.90, 0.80; 0 if not published. */
extern const double nd_js_table_1[ND_JS_THRESHOLDS][3];

#endif
