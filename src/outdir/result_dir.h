/* The directory of a result: it becomes complete at one moment, or not at all.
 *
 *   DIR/.neardup/       mode 0700, while a run is under way
 *       lock            held by the running process
 *       out/            files of the result as they are written
 *       result/         the same, complete and on disk: `out` renamed
 *       old/            files of the result that is replaced
 *   DIR/…               the result; .neardup is gone
 *
 * The rename of `out` to `result` is the commit: before it a new run writes `out` again, after it
 * only moves are left, and whoever opens the directory next finishes them.  The old files move
 * away, the new ones into DIR, summary.json last.  While .neardup/result exists, the rest of DIR
 * means nothing.
 *
 * A directory holds a result of ours if its summary.json begins as ours do; its list of files says
 * what belongs to that result.  Other files are left alone, and refused without `force`. */
#ifndef ND_OUTDIR_RESULT_DIR_H
#define ND_OUTDIR_RESULT_DIR_H

#include "base/dir.h"
#include "neardup/options.h"

typedef struct nd_result_rule {
  bool force;  /* other files may be in DIR */
  bool sync;   /* a committed result is on disk */
  bool shared; /* several processes work in .neardup, each with its own lock besides */
} nd_result_rule;

typedef struct nd_result_dir {
  nd_result_rule rule;
  nd_dir dir, hidden;
  char *out; /* owned: the path of DIR/.neardup/out, which the caller makes */
  int lock;
  bool created;  /* DIR did not exist */
  bool finished; /* DIR holds a complete result */
  bool damaged;  /* DIR holds a result whose summary.json is not readable */
  bool removed;  /* .neardup is gone */
} nd_result_dir;
#define ND_RESULT_CLOSED ((nd_result_dir){.dir = {.fd = -1}, .hidden = {.fd = -1}, .lock = -1})

/* What the options say. */
nd_result_rule nd_result_rule_of(const nd_options *options);

/* Makes and locks the directory; finishes the moves of an interrupted commit.  ND_ERR_STATE: it
 * holds files of others or of another user, or another run has it. */
nd_status nd_result_dir_open(nd_result_dir *r, const char *dir, nd_result_rule rule,
                             nd_error *err) ND_MUST_CHECK;

/* For runs that cannot be resumed: ND_ERR_STATE if a complete result is there and `options` do not
 * say --resume never.  Makes an empty `out`. */
nd_status nd_result_dir_begin(nd_result_dir *r, const nd_options *options,
                              nd_error *err) ND_MUST_CHECK;

/* ND_ERR_STATE, with the remedy. */
nd_status nd_result_dir_refuse_damaged(const nd_result_dir *r, nd_error *err) ND_MUST_CHECK;

/* Makes what is in `out` the result, in place of an older one.  Closing removes the rest. */
nd_status nd_result_dir_commit(nd_result_dir *r, nd_error *err) ND_MUST_CHECK;

/* Removes .neardup, the lock last. */
nd_status nd_result_dir_remove_work(nd_result_dir *r, nd_error *err) ND_MUST_CHECK;

/* Unlocks and frees.  A closed one is allowed. */
void nd_result_dir_close(nd_result_dir *r);

/* Takes the lock `name`; ND_ERR_STATE if another process has it. */
nd_status nd_result_dir_lock(int *fd, const nd_result_dir *r, const char *name, bool shared,
                             nd_error *err) ND_MUST_CHECK;

#endif
