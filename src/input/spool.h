/* Stores standard input in a file, so that it can be read more than once. */
#ifndef ND_INPUT_SPOOL_H
#define ND_INPUT_SPOOL_H

#include "base/hooks.h"
#include "base/io.h"

typedef struct nd_spool {
  const char *path;      /* the file to make; one that a killed run left there is replaced */
  uint64_t most;         /* bytes; 0: half of the free space where the file is */
  const nd_hooks *hooks; /* may be NULL */
} nd_spool;

/* Reads standard input to its end.  ND_ERR_LIMIT: it is longer than allowed.  A failure removes the
 * file. */
nd_status nd_spool_stdin(nd_file_info *out, const nd_spool *s, nd_error *err) ND_MUST_CHECK;

#endif
