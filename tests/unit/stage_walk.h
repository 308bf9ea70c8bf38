/* All stages of a job (neardup/stage.h) in one place after another, for a small corpus: what
 * Spark does with many.  A call that fails ends the walk, with its status.  Writes pairs.tsv,
 * clusters.tsv and kept/, which are those of nd_dedup. */
#ifndef STAGE_WALK_H
#define STAGE_WALK_H

#include "neardup/stage.h"

enum { WALK_PLACES = 256 }; /* the most keys of a job */

/* `counts`: documents and rejected records. */
nd_status stage_walk(nd_summary *counts, const char *const *inputs, size_t n, const char *dir,
                     const nd_options *o, nd_error *e);

#endif
