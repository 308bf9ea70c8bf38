/* Comparison of two lists, by groups of pairs; internal to eval. */
#ifndef ND_STUDY_COMMON_COMPARE_H
#define ND_STUDY_COMMON_COMPARE_H

#include "study/common/documents.h"
#include "study/common/list.h"

typedef enum nd_eval_by { ND_BY_NONE, ND_BY_SIZE, ND_BY_SITE } nd_eval_by;

typedef struct nd_compare {
  nd_id_map ids;
  nd_documents documents;
  nd_list truth, result;
  nd_eval_by by;
  bool judged;
  uint32_t n;       /* documents */
  uint8_t *without; /* per document: 1 if its lines contradict */
  nd_eval_result *out;
} nd_compare;

/* Returns the group of a pair or a document: an index above 0 into out->group, or
 * 0 if it has none.  The size of a pair is that of its smaller document. */
unsigned nd_compare_pair_group(const nd_compare *c, uint32_t a, uint32_t b);
unsigned nd_compare_document_group(const nd_compare *c, uint32_t d);

/* Adds the pairs of documents with equal labels in x and, unless NULL, in y to
 * out[group] and to the total out[0].  Label ND_NO_ID: a cluster of one. */
nd_status nd_compare_count_pairs(uint64_t out[ND_EVAL_GROUPS], const nd_compare *c,
                                 const uint32_t *x, const uint32_t *y, nd_error *err) ND_MUST_CHECK;

/* Compute the measures of pairs and of clusters. */
nd_status nd_compare_pairs(nd_compare *c, nd_error *err) ND_MUST_CHECK;
nd_status nd_compare_clusters(nd_compare *c, nd_error *err) ND_MUST_CHECK;

/* Computes precision, recall and F1 from the counts. */
void nd_compare_ratios(nd_eval_group *g);
double nd_compare_f1(double precision, double recall);

/* Mean, two variances and the covariance in one pass (Welford). */
typedef struct nd_moments {
  double n, mean_x, mean_y, xx, yy, xy, error;
} nd_moments;
void nd_moments_add(nd_moments *m, double x, double y);
double nd_moments_error(const nd_moments *m);       /* mean |x − y| */
double nd_moments_correlation(const nd_moments *m); /* Pearson's r */

#endif
