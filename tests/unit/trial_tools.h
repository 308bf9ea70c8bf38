/* Somebody who takes no pairs of trials. */
#ifndef TRIAL_TOOLS_H
#define TRIAL_TOOLS_H

#include "plan/trials.h"

nd_status refuse_pairs(void *context, unsigned member, const nd_trial_pair *pairs, size_t n,
                       nd_error *e);

#endif
