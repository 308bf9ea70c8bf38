/* Writing the kept documents: every input file without its dropped and
 * rejected records, under kept/, in the file's own format and packing. */
#ifndef ND_RESULT_KEPT_H
#define ND_RESULT_KEPT_H

#include "outdir/sums.h"
#include "result/run_state.h"

/* Something else to be done by one thread meanwhile. */
typedef nd_status (*nd_kept_beside)(void *context, nd_error *err);

/* Which files of the walk have a kept part, and its size and checksum. */
typedef struct nd_kept {
  bool again; /* set by the caller: files of an earlier attempt may be there, and are replaced */
  bool *written;
  nd_file_sum *sum;
} nd_kept;
void nd_kept_clear(nd_kept *k);

/* `centre[d] != d` means dropped.  A kept file may be read by nobody who may not read its
 * original.  Clear `out` also after a failure. */
nd_status nd_kept_write(nd_kept *out, nd_run *j, const uint32_t *centre, const char *dir,
                        nd_kept_beside beside, void *context, nd_error *err) ND_MUST_CHECK;

#endif
