/* Somebody who takes no pairs of trials. */
#ifndef TRIAL_TOOLS_H
#define TRIAL_TOOLS_H

#include "plan/trials.h"

static nd_status refuse(void *context, unsigned member, const nd_trial_pair *pairs, size_t n,
                        nd_error *e) {
  (void)context;
  (void)member;
  (void)pairs;
  (void)n;
  return nd_fail(e, ND_ERR_IO, "no more of them");
}

#endif
