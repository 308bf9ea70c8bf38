/* The output directory of dedup: a result (result_dir.h) that an interrupted run can resume.
 *
 *   DIR/.neardup/
 *       manifest            options and inputs of the run
 *       blocks-*            blocks stored so far, unless --tmp is given
 *       tmp                 with --tmp: the path of the work directory there, which has an
 *                           unpredictable name
 *       turn                lock held by the shard that checks the manifest
 *
 * A directory is complete, resumable, or refused. */
#ifndef ND_STORE_WORKDIR_H
#define ND_STORE_WORKDIR_H

#include "input/walk.h"
#include "outdir/result_dir.h"
#include "settings/settings.h"

typedef struct nd_workdir {
  nd_result_dir result;
  const char *out; /* directory in which the results are written */
  char *work;      /* owned: the directory of blocks and temporary files; set by agree */
  char *spool;     /* owned: path of the spool file for standard input */
  int shard_lock;
  bool complete;        /* DIR holds the result of exactly this run */
  bool begun;           /* a manifest exists, so stored blocks can be resumed */
  uint64_t rejected;    /* if complete: the number of rejected records */
  uint64_t fingerprint; /* of the manifest */
} nd_workdir;
#define ND_WORKDIR_CLOSED ((nd_workdir){.result = ND_RESULT_CLOSED, .shard_lock = -1})

/* Creates and locks the directory.  Fails if another process uses it, and if `piped` and it holds a
 * complete result: standard input cannot be compared with the input of that result. */
nd_status nd_workdir_open(nd_workdir *w, const char *dir, const nd_settings *settings, bool piped,
                          nd_error *err) ND_MUST_CHECK;

/* Compares the manifest of this run with the one in the directory, or writes it; `tasks` is the
 * fingerprint of the tasks.  Returns ND_ERR_STATE, with the difference, if they differ. */
nd_status nd_workdir_agree(nd_workdir *w, const nd_settings *settings, const nd_walk *walk,
                           uint64_t tasks, nd_error *err) ND_MUST_CHECK;

/* Commits the results and removes everything else. */
nd_status nd_workdir_commit(nd_workdir *w, nd_error *err) ND_MUST_CHECK;

/* Declares the stored blocks useless: nd_workdir_close removes them. */
void nd_workdir_drop(nd_workdir *w);

/* Unlocks and frees; unfinished work remains for a later run to resume. */
void nd_workdir_close(nd_workdir *w);

/* Returns the directory for temporary files: `tmp`, or if it is "", $TMPDIR or /tmp. */
const char *nd_workdir_tmp(const char *tmp);

/* Creates a private directory in nd_workdir_tmp(tmp), for jobs without an output directory; the
 * caller owns the path. */
nd_status nd_workdir_private(char **out, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
