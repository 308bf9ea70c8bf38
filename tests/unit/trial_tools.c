#include "trial_tools.h"

nd_status refuse_pairs(void *context, unsigned member, const nd_trial_pair *pairs, size_t n,
                       nd_error *e) {
  (void)context;
  (void)member;
  (void)pairs;
  (void)n;
  return nd_fail(e, ND_ERR_IO, "no more of them");
}
