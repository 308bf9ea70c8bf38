/* What settling keeps; see neardup/stage.h. */
#ifndef ND_STAGE_STAGE_END_H
#define ND_STAGE_STAGE_END_H

#include "result/survivors.h"
#include "stage/stage_work.h"

struct nd_settle {
  nd_options options;
  nd_summary summary;
  nd_run job; /* without a store, a walk or a feed */
  nd_chooser chooser;
  nd_clusters clusters;
  bool clustered;
  uint32_t *size; /* per centre: members */
  uint64_t *missing;
  size_t missing_n;
  char *tmp;
  uint32_t *asked; /* documents whose texts a report shows */
  size_t asked_n, asked_cap;
};

/* The counts of an engine with what the settings add. */
nd_summary nd_settle_summary(const nd_settle *t, const nd_summary *summary);

#endif
