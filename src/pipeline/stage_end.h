/* What settling keeps; see neardup/stage.h. */
#ifndef ND_PIPELINE_STAGE_END_H
#define ND_PIPELINE_STAGE_END_H

#include "pipeline/stage_work.h"
#include "pipeline/survivors.h"

struct nd_settle {
  nd_options options;
  nd_summary summary;
  nd_job_run job; /* without a store, a walk or a feed */
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
