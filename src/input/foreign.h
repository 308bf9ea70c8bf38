/* Files that hold no documents, whatever format is asked for: known by their first bytes. */
#ifndef ND_INPUT_FOREIGN_H
#define ND_INPUT_FOREIGN_H

#include "neardup/status.h"

/* The first bytes of a sketch file (sketchfile/sketch_file.h). */
#define ND_SKETCH_MAGIC "neardupS"

/* Returns ND_ERR_USAGE, with what to do instead, if a file that begins so cannot be read. */
nd_status nd_foreign_check(nd_str head, nd_error *err) ND_MUST_CHECK;

#endif
