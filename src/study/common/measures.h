/* Similarity of two documents under every measure. */
#ifndef ND_STUDY_COMMON_MEASURES_H
#define ND_STUDY_COMMON_MEASURES_H

#include "settings/settings.h"
#include "text/text.h"

typedef struct nd_measure {
  const char *name;
  char value[48];
  char what[96];
} nd_measure;

enum { ND_MEASURES = 12 };

/* Computes all measures; *n is their number. */
nd_status nd_measures(nd_measure out[ND_MEASURES], size_t *n, const nd_settings *s,
                      const nd_tokens *a, const nd_tokens *b, nd_error *err) ND_MUST_CHECK;

#endif
