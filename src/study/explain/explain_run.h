/* Two documents and the data that explains their similarity. */
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

/* Writes a page with both documents side by side (explain_html.c). */
nd_status nd_explained_html(nd_buf *out, const nd_explained *e, nd_error *err) ND_MUST_CHECK;

#endif
