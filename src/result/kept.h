/* Writing the kept documents: every input file without its dropped and rejected records, in
 * kept/, in the same format and compression. */
#ifndef ND_RESULT_KEPT_H
#define ND_RESULT_KEPT_H

#include "outdir/sums.h"
#include "result/run_state.h"

/* Work that one thread does while the others copy. */
typedef nd_status (*nd_kept_beside)(void *context, nd_error *err);

/* The files of the walk that have a kept part, with size and checksum. */
typedef struct nd_kept {
  bool again; /* set by the caller: replace the files of an earlier attempt */
  bool *written;
  nd_file_sum *sum;
} nd_kept;
void nd_kept_clear(nd_kept *k);

/* Writes the documents with centre[d] == d into `dir`.  A kept file gets no more read permissions
 * than its original has.  Clear `out` also after a failure. */
nd_status nd_kept_write(nd_kept *out, nd_run *j, const uint32_t *centre, const char *dir,
                        nd_kept_beside beside, void *context, nd_error *err) ND_MUST_CHECK;

#endif
