/* The output directory of dedup: a result (result_dir.h) that an interrupted run can resume.
 *
 *   DIR/.neardup/
 *       manifest            options and inputs of the run
 *       blocks-*            what was read so far, unless --tmp is given
 *       tmp                 then: the path of the work directory below --tmp, which has a name
 *                           that nobody can guess
 *       turn                held while shards agree on the manifest
 *
 * A directory is complete, resumable, or refused. */
#ifndef ND_STORE_WORKDIR_H
#define ND_STORE_WORKDIR_H

#include "input/walk.h"
#include "outdir/result_dir.h"
#include "settings/settings.h"

typedef struct nd_workdir {
  nd_result_dir result;
  const char *out; /* where the results are written */
  char *work;      /* owned: the directory of blocks and temporary files; set by agree */
  char *spool;     /* owned: the file for standard input */
  int shard_lock;
  bool complete;        /* DIR holds the result of exactly this run */
  bool begun;           /* there is a manifest: what was read can be resumed */
  uint64_t rejected;    /* if complete: records it rejected */
  uint64_t fingerprint; /* of the manifest */
} nd_workdir;
#define ND_WORKDIR_CLOSED ((nd_workdir){.result = ND_RESULT_CLOSED, .shard_lock = -1})

/* Makes and locks the directory.  A second process on it is refused; so is `piped` input if a
 * complete result is there, since nobody can tell whether that is its own. */
nd_status nd_workdir_open(nd_workdir *w, const char *dir, const nd_settings *settings, bool piped,
                          nd_error *err) ND_MUST_CHECK;

/* Compares the manifest of this run with the one found, or writes it; `plan` is
 * the fingerprint of the tasks.  ND_ERR_STATE says what differs. */
nd_status nd_workdir_agree(nd_workdir *w, const nd_settings *settings, const nd_walk *walk,
                           uint64_t plan, nd_error *err) ND_MUST_CHECK;

/* Makes the results complete and removes the rest. */
nd_status nd_workdir_commit(nd_workdir *w, nd_error *err) ND_MUST_CHECK;

/* Nothing can resume from what is stored: nd_workdir_close removes it. */
void nd_workdir_drop(nd_workdir *w);

/* Unlocks and frees; what is unfinished stays for a resume. */
void nd_workdir_close(nd_workdir *w);

/* Where temporary files go: `tmp`; "": $TMPDIR, or else /tmp. */
const char *nd_workdir_tmp(const char *tmp);

/* A private directory below `tmp` ("": the system's place), owned: for jobs without an output
 * directory. */
nd_status nd_workdir_private(char **out, const char *tmp, nd_error *err) ND_MUST_CHECK;

#endif
