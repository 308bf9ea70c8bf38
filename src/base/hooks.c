/* Polling the caller's hooks; see hooks.h. */
#include "base/hooks.h"

#include "base/io.h"

enum { POLL_MS = 20 }; /* poll interval; a signal interrupts the wait earlier */

nd_status nd_hooks_check(const nd_hooks *h, nd_error *err) {
  if (h && h->cancelled && h->cancelled(h->context))
    return nd_fail(err, ND_ERR_CANCELLED, "interrupted");
  return ND_OK;
}

nd_status nd_hooks_wait(const nd_hooks *h, int fd, const char *name, nd_error *err) {
  bool ready = !h || !h->cancelled;
  while (!ready) {
    ND_TRY(nd_hooks_check(h, err));
    ND_TRY(nd_io_wait(&ready, fd, POLL_MS, name, err));
  }
  return nd_hooks_check(h, err);
}
