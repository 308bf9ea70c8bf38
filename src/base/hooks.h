/* The caller's wish to stop, polled wherever a job takes long or waits for somebody else. */
#ifndef ND_BASE_HOOKS_H
#define ND_BASE_HOOKS_H

#include "neardup/run.h"

/* ND_ERR_CANCELLED when the hooks (NULL: none) ask to stop. */
nd_status nd_hooks_check(const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;

/* Waits until a read from `fd` would not block, and polls the hooks meanwhile.  Returns at once
 * when they cannot ask to stop: then the read itself may wait. */
nd_status nd_hooks_wait(const nd_hooks *hooks, int fd, const char *name,
                        nd_error *err) ND_MUST_CHECK;

#endif
