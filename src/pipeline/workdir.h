/* The output directory of dedup: complete, resumable or refused, never half
 * true.
 *
 *   DIR/.neardup/           while a run is on its way
 *       lock                held by the running process
 *       manifest            options and inputs of the run
 *       blocks-*            what was read so far (under --tmp when given)
 *       out/                results being written
 *   DIR/kept … summary.json the result; .neardup is gone
 *
 * Results move from out/ into place at the very end, summary.json last; then
 * .neardup goes.  While .neardup is there, the rest of DIR means nothing. */
#ifndef ND_PIPELINE_WORKDIR_H
#define ND_PIPELINE_WORKDIR_H

#include "input/walk.h"
#include "pipeline/settings.h"

typedef struct nd_workdir {
  char *dir, *hidden, *out, *work, *spool; /* owned paths */
  int lock, shard_lock;
  bool created, locked;
  bool complete;        /* DIR holds the result of exactly this run */
  uint64_t rejected;    /* then: records it rejected */
  uint64_t fingerprint; /* of the manifest */
} nd_workdir;

/* Makes and locks the directory.  A second process on it is refused. */
nd_status nd_workdir_open(nd_workdir *w, const char *dir, const nd_settings *settings,
                          nd_error *err) ND_MUST_CHECK;

/* Compares the manifest of this run with the one found, or writes it; `plan` is
 * the fingerprint of the tasks.  ND_ERR_STATE says what differs. */
nd_status nd_workdir_agree(nd_workdir *w, const nd_settings *settings, const nd_walk *walk,
                           uint64_t plan, nd_error *err) ND_MUST_CHECK;

/* Moves the results into place and removes the rest. */
nd_status nd_workdir_commit(nd_workdir *w, nd_error *err) ND_MUST_CHECK;

/* Unlocks and frees; what is unfinished stays for a resume. */
void nd_workdir_close(nd_workdir *w);

/* Where temporary files go: `tmp`; "": $TMPDIR, or else /tmp. */
const char *nd_workdir_tmp(const char *tmp);

/* A private directory below `tmp` ("": the system's place), owned: for jobs without an output
 * directory. */
nd_status nd_workdir_private(char **out, const char *tmp, nd_error *err) ND_MUST_CHECK;

/* Removes a directory tree (or file).  A missing one is no failure. */
nd_status nd_remove_tree(const char *path, nd_error *err) ND_MUST_CHECK;

/* a/b, owned. */
nd_status nd_path_join(char **out, const char *a, const char *b, nd_error *err) ND_MUST_CHECK;

#endif
