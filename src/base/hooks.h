/* Cancellation: polls the caller's hooks wherever a job takes long or waits for another process. */
#ifndef ND_BASE_HOOKS_H
#define ND_BASE_HOOKS_H

#include "neardup/run.h"

/* Returns ND_ERR_CANCELLED if the hooks (may be NULL) ask to stop. */
nd_status nd_hooks_check(const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;

/* Waits until a read from `fd` would not block, polling the hooks.  Returns at once if the hooks
 * cannot ask to stop: then the read itself may wait. */
nd_status nd_hooks_wait(const nd_hooks *hooks, int fd, const char *name,
                        nd_error *err) ND_MUST_CHECK;

#endif
