/* A result directory, which becomes complete atomically.
 *
 *   DIR/.neardup/       mode 0700, while a run is under way
 *       lock            held by the running process
 *       out/            files of the result while they are written
 *       result/         `out` renamed: the files are complete and on disk
 *       old/            files of the result that is being replaced
 *   DIR/…               the result; .neardup is gone
 *
 * Renaming `out` to `result` is the commit.  Before it, a new run writes `out` again; after it,
 * only moves remain, which the next one to open the directory finishes.  The old files move away,
 * the new ones into DIR, summary.json last.  While .neardup/result exists, the rest of DIR is
 * meaningless.
 *
 * A directory holds a result of ours if its summary.json begins like ours; the list in it says
 * which files belong to the result.  Other files are left alone, and refused without `force`. */
#ifndef ND_OUTDIR_RESULT_DIR_H
#define ND_OUTDIR_RESULT_DIR_H

#include "base/dir.h"
#include "settings/option_fields.h"

typedef struct nd_result_rule {
  bool force;  /* DIR may hold other files */
  bool sync;   /* flush a committed result to disk */
  bool shared; /* several processes work in .neardup, each with its own lock as well */
} nd_result_rule;

typedef struct nd_result_dir {
  nd_result_rule rule;
  nd_dir dir, hidden;
  char *out; /* owned: path of DIR/.neardup/out, which the caller creates */
  int lock;
  bool created;  /* DIR did not exist */
  bool finished; /* DIR holds a complete result */
  bool damaged;  /* DIR holds a result with an unreadable summary.json */
  bool removed;  /* .neardup is gone */
} nd_result_dir;
#define ND_RESULT_CLOSED ((nd_result_dir){.dir = {.fd = -1}, .hidden = {.fd = -1}, .lock = -1})

/* Returns the rule that the options ask for. */
nd_result_rule nd_result_rule_of(const nd_options *options);

/* Creates and locks the directory, and finishes the moves of an interrupted commit.  Returns
 * ND_ERR_STATE if it holds other files, belongs to another user, or is used by another run. */
nd_status nd_result_dir_open(nd_result_dir *r, const char *dir, nd_result_rule rule,
                             nd_error *err) ND_MUST_CHECK;

/* Begins a run that cannot be resumed: creates an empty `out`.  Returns ND_ERR_STATE if a complete
 * result is there and `options` do not include --resume never. */
nd_status nd_result_dir_begin(nd_result_dir *r, const nd_options *options,
                              nd_error *err) ND_MUST_CHECK;

/* Fails with ND_ERR_STATE and the remedy. */
nd_status nd_result_dir_refuse_damaged(const nd_result_dir *r, nd_error *err) ND_MUST_CHECK;

/* Makes `out` the result, replacing an older one.  Closing removes the rest. */
nd_status nd_result_dir_commit(nd_result_dir *r, nd_error *err) ND_MUST_CHECK;

/* Removes .neardup, its lock last. */
nd_status nd_result_dir_remove_work(nd_result_dir *r, nd_error *err) ND_MUST_CHECK;

/* Unlocks and frees; a closed directory is allowed. */
void nd_result_dir_close(nd_result_dir *r);

/* Takes the lock `name`.  Returns ND_ERR_STATE if another process has it. */
nd_status nd_result_dir_lock(int *fd, const nd_result_dir *r, const char *name, bool shared,
                             nd_error *err) ND_MUST_CHECK;

#endif
