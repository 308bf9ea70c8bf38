/* The table of files that are refused; see foreign.h. */
#include "input/foreign.h"

#include <string.h>

static const struct {
  const char *magic, *why;
} foreign[] = {
    {ND_SKETCH_MAGIC, "a sketch file among documents: name sketches alone, or documents alone"},
};

nd_status nd_foreign_check(nd_str head, nd_error *err) {
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    const size_t n = strlen(foreign[i].magic);
    if (head.n >= n && memcmp(head.p, foreign[i].magic, n) == 0)
      return nd_fail(err, ND_ERR_USAGE, "%s", foreign[i].why);
  }
  return ND_OK;
}
