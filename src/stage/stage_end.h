/* The state of settling; see neardup/stage.h. */
#ifndef ND_STAGE_STAGE_END_H
#define ND_STAGE_STAGE_END_H

#include "result/survivors.h"
#include "stage/stage_work.h"

struct nd_settle {
  nd_options options;
  nd_summary summary;
  nd_run job; /* without store, walk and feed */
  nd_chooser chooser;
  nd_clusters clusters;
  bool clustered;
  uint32_t *size; /* members per centre */
  uint64_t *missing;
  size_t missing_n;
  char *tmp;
  uint32_t *asked; /* documents whose texts the report needs */
  size_t asked_n, asked_cap;
};

/* Returns the counts of an engine, completed from the settings. */
nd_summary nd_settle_summary(const nd_settle *t, const nd_summary *summary);

#endif
