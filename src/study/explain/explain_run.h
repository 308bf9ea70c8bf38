/* Two documents and all there is to tell about them. */
#ifndef ND_STUDY_EXPLAIN_EXPLAIN_RUN_H
#define ND_STUDY_EXPLAIN_EXPLAIN_RUN_H

#include "neardup/explain.h"
#include "output/tsv.h"
#include "study/common/difference.h"
#include "study/common/measures.h"
#include "text/words.h"

typedef struct nd_explained_side {
  bool found;
  nd_buf id, url;
  nd_tokens words;
} nd_explained_side;

typedef struct nd_explained {
  nd_explained_side side[2];
  nd_measure measures[ND_MEASURES];
  size_t measure_n;
  nd_url_difference url;
  nd_difference kind;
  nd_diff diff;
} nd_explained;

/* explain_html.c: a page with both side by side. */
nd_status nd_explained_html(nd_buf *out, const nd_explained *e, nd_error *err) ND_MUST_CHECK;

#endif
