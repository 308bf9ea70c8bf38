/* Input arguments → the list of files to read.
 *
 * A directory is walked with its entries sorted by bytes; symbolic links to files
 * are followed, those to directories are not.  Each file has the path used in ids
 * and the relative name of its copy in kept/, which is the end of its path.
 *
 * A file takes its path and 41 bytes. */
#ifndef ND_INPUT_WALK_H
#define ND_INPUT_WALK_H

#include "base/mem.h"
#include "input/spool.h"

typedef struct nd_input_file {
  const char *path; /* as reached from the argument; the ids use it */
  const char *real; /* the path to read (differs for stored standard input) */
  const char *name; /* relative, for the output */
  uint64_t size;
  int64_t mtime_ns;
} nd_input_file;

typedef struct nd_walk_problem {
  const char *path;
  const char *reason;
} nd_walk_problem;

typedef struct nd_walk {
  nd_input_file *files;
  size_t n, cap;
  size_t inputs;             /* files of the input; the others are the reference collection */
  nd_walk_problem *problems; /* entries that cannot be read */
  size_t problem_n, problem_cap;
  struct nd_walk_chunk *chunks; /* of all strings */
  char *free;                   /* room in the last one that is shared */
  size_t left;
} nd_walk;

/* An argument that does not exist is an error; an entry of a directory that
 * cannot be read is a problem.  `avoid` (NULL: none) is a directory that is
 * left out: the output's.  "-" is stored as `spool` says, or refused when that is NULL. */
nd_status nd_walk_inputs(nd_walk *out, const char *const *inputs, size_t n, const char *avoid,
                         const nd_spool *spool, nd_error *err) ND_MUST_CHECK;
/* Adds the reference collection after the inputs. */
nd_status nd_walk_against(nd_walk *w, const char *other, nd_error *err) ND_MUST_CHECK;
void nd_walk_clear(nd_walk *w);

#endif
