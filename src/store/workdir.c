/* The output directory of a resumable run; see workdir.h. */
#include "store/workdir.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "outdir/sums.h"
#include "store/manifest.h"

#define PREFIX "neardup-" /* of work directories under --tmp */

const char *nd_workdir_tmp(const char *tmp) {
  const char *base = tmp[0] ? tmp : getenv("TMPDIR");
  return base && base[0] ? base : "/tmp";
}

nd_status nd_workdir_private(char **out, const char *tmp, nd_error *err) {
  const char *base = nd_workdir_tmp(tmp);
  ND_TRY(nd_path_join(out, base, PREFIX "XXXXXX", err));
  nd_status status = nd_io_make_private(*out, base, err);
  if (status == ND_OK) return ND_OK;
  nd_free(*out);
  *out = NULL;
  return status;
}

/* No option replaces a foreign directory: fails before the work is done, not after it. */
static nd_status refuse_kept(const nd_workdir *w, nd_error *err) {
  nd_file_info info;
  ND_TRY(nd_dir_probe(&info, &w->result.dir, "kept", err));
  if (!info.exists || !info.directory) return ND_OK;
  return nd_fail(err, ND_ERR_STATE,
                 "%s/kept is in the way and not part of a result of neardup; move it away, and run "
                 "the same command again",
                 w->result.dir.path);
}

nd_status nd_workdir_open(nd_workdir *w, const char *dir, const nd_settings *settings, bool piped,
                          nd_error *err) {
  *w = ND_WORKDIR_CLOSED;
  nd_result_rule rule = nd_result_rule_of(settings->options);
  rule.shared = settings->shards > 1;
  ND_TRY(nd_result_dir_open(&w->result, dir, rule, err));
  w->out = w->result.out;
  if (rule.shared) {
    char name[32];
    snprintf(name, sizeof name, "lock-%u", settings->shard);
    ND_TRY(nd_result_dir_lock(&w->shard_lock, &w->result, name, false, err));
  }
  if (rule.force && !w->result.finished) ND_TRY(refuse_kept(w, err));
  if (piped && w->result.finished && strcmp(settings->options->resume, "never") != 0)
    return nd_fail(err, ND_ERR_STATE,
                   "%s holds a complete result, and standard input cannot be compared with what it "
                   "was made from; choose another directory, or use --resume never to replace it",
                   dir);
  return nd_path_join(&w->spool, w->result.hidden.path, "stdin", err);
}

static nd_status exists(bool *out, const nd_workdir *w, const char *name, nd_error *err) {
  nd_file_info info;
  nd_status status = nd_dir_probe(&info, &w->result.hidden, name, err);
  *out = status == ND_OK && info.exists;
  return status;
}

/* ---- the work directory ---- */

/* Reads the recorded path of the work directory under --tmp, or "". */
static nd_status read_record(nd_buf *out, const nd_workdir *w, nd_error *err) {
  bool there;
  out->n = 0;
  ND_TRY(exists(&there, w, "tmp", err));
  if (there) ND_TRY(nd_dir_read(out, &w->result.hidden, "tmp", PATH_MAX, err));
  return nd_buf_append(out, "", 1, err);
}

/* Opens the parent of the recorded directory.  *ours is false, without an error, if the directory
 * is missing or not ours. */
static nd_status open_record(bool *ours, nd_dir *parent, char **name, const char *path,
                             nd_error *err) {
  const char *slash = strrchr(path, '/');
  nd_dir d = ND_DIR_CLOSED;
  *ours = false;
  *parent = ND_DIR_CLOSED;
  *name = NULL;
  if (!slash || strncmp(slash + 1, PREFIX, strlen(PREFIX)) != 0) return ND_OK;
  char *folder = nd_malloc((size_t)(slash - path) + 2);
  if (!folder) return nd_fail_memory(err, (size_t)(slash - path) + 2);
  memcpy(folder, path, (size_t)(slash - path) + 1);
  folder[slash == path ? 1 : slash - path] = '\0';
  *ours = nd_dir_open(parent, folder, NULL) == ND_OK &&
          nd_dir_private(&d, parent, slash + 1, false, NULL) == ND_OK;
  nd_dir_close(&d);
  nd_free(folder);
  *name = nd_malloc(strlen(slash));
  if (!*name) return nd_fail_memory(err, strlen(slash));
  strcpy(*name, slash + 1);
  return ND_OK;
}

/* Removes the recorded work directory, then the record. */
static nd_status discard_record(const nd_workdir *w, nd_error *err) {
  nd_buf path = {0};
  nd_dir parent = ND_DIR_CLOSED;
  char *name = NULL;
  bool ours = false;
  nd_status status = read_record(&path, w, err);
  if (status == ND_OK && path.p[0]) status = open_record(&ours, &parent, &name, path.p, err);
  if (status == ND_OK && ours) status = nd_dir_remove(&parent, name, err);
  if (status == ND_OK && path.p[0]) status = nd_dir_remove(&w->result.hidden, "tmp", err);
  nd_dir_close(&parent);
  nd_free(name);
  nd_buf_clear(&path);
  return status;
}

/* Creates a work directory in `tmp`, a real path; its name is recorded before it exists. */
static nd_status make_below(nd_workdir *w, const char *tmp, nd_error *err) {
  char unique[ND_DIR_UNIQUE], name[40];
  nd_dir parent, made = ND_DIR_CLOSED;
  ND_TRY(nd_dir_open(&parent, tmp, err));
  nd_dir_unique(unique);
  snprintf(name, sizeof name, PREFIX "%s", unique);
  nd_status status = nd_path_join(&w->work, strcmp(tmp, "/") == 0 ? "" : tmp, name, err);
  if (status == ND_OK)
    status = nd_dir_write(&w->result.hidden, "tmp", nd_str_of(w->work), w->result.rule.sync, err);
  if (status == ND_OK) status = nd_dir_private(&made, &parent, name, true, err);
  nd_dir_close(&made);
  nd_dir_close(&parent);
  return status;
}

/* Removes an old log of blocks, which belongs to another run. */
static nd_status remove_block(void *context, const char *name, nd_error *err) {
  const nd_workdir *w = context;
  return strncmp(name, "blocks-", 7) == 0 ? nd_dir_remove(&w->result.hidden, name, err) : ND_OK;
}

/* Sets the directory of the blocks: the recorded one if `resumes` and --tmp is unchanged; otherwise
 * a new one, which replaces that of an earlier run. */
static nd_status find_work(nd_workdir *w, const char *tmp, bool resumes, nd_error *err) {
  nd_buf path = {0};
  nd_dir parent = ND_DIR_CLOSED;
  char *name = NULL, real[PATH_MAX] = "";
  bool ours = false;
  nd_status status = read_record(&path, w, err);
  if (status == ND_OK && tmp[0]) status = nd_io_real_path(real, tmp, err);
  if (status == ND_OK && path.p[0]) status = open_record(&ours, &parent, &name, path.p, err);
  if (status == ND_OK) {
    const bool same = tmp[0] ? ours && strcmp(parent.path, real) == 0 : !path.p[0];
    if (same && resumes) {
      status = nd_path_join(&w->work, tmp[0] ? real : w->result.dir.path,
                            tmp[0] ? name : ".neardup", err);
    } else {
      status = nd_dir_each(&w->result.hidden, remove_block, w, err);
      if (status == ND_OK) status = discard_record(w, err);
      if (status == ND_OK)
        status = tmp[0] ? make_below(w, real, err)
                        : nd_path_join(&w->work, w->result.dir.path, ".neardup", err);
    }
  }
  nd_dir_close(&parent);
  nd_free(name);
  nd_buf_clear(&path);
  return status;
}

/* ---- the manifest ---- */

/* Checks that the unfinished run in the directory is this run.  Piped input cannot be compared, so
 * such a run starts over, but does not discard the work of a run that had files. */
static nd_status compare_manifest(bool *resumes, const nd_workdir *w, const nd_manifest *now,
                                  bool piped, nd_error *err) {
  nd_manifest_difference found;
  ND_TRY(nd_manifest_compare(&found, &w->result.hidden, now, err));
  *resumes = !found.differs && !piped;
  if (!found.differs || (piped && found.piped)) return ND_OK;
  return nd_manifest_differ(w->result.dir.path, &found, err);
}

static nd_status agree(nd_workdir *w, const nd_settings *settings, const nd_walk *walk,
                       uint64_t tasks, nd_error *err) {
  const nd_manifest now = {settings, walk, tasks};
  const bool never = strcmp(settings->options->resume, "never") == 0;
  bool unfinished = false, piped = false, resumes = false;
  ND_TRY(nd_manifest_fingerprint(&w->fingerprint, &now, err));
  ND_TRY(exists(&unfinished, w, "manifest", err));
  for (size_t i = 0; i < walk->n; i++) piped |= strcmp(walk->files[i].path, "-") == 0;
  if (w->result.finished && !unfinished && !never && !piped) {
    ND_TRY(discard_record(w, err)); /* left by a run that was stopped during cleanup */
    ND_TRY(nd_manifest_check_result(&w->rejected, &w->result.dir, w->fingerprint, settings, err));
    ND_TRY(nd_sums_check(&w->result.dir, err));
    w->complete = true;
    return ND_OK;
  }
  if (w->result.damaged && !unfinished && !never)
    return nd_result_dir_refuse_damaged(&w->result, err);
  if (unfinished && !never) ND_TRY(compare_manifest(&resumes, w, &now, piped, err));
  if (settings->shards == 1) ND_TRY(nd_dir_remove(&w->result.hidden, "out", err));
  if (settings->shards == 1) ND_TRY(nd_dir_make(&w->result.hidden, "out", 0700, err));
  nd_status status = find_work(w, settings->options->tmp, resumes, err);
  if (status == ND_OK && !resumes)
    status = nd_manifest_write(&w->result.hidden, &now, w->result.rule.sync, err);
  w->begun = status == ND_OK;
  if (status == ND_OK || resumes) return status;
  nd_status ignored = discard_record(w, NULL); /* nothing would remove it later */
  (void)ignored;
  return status;
}

nd_status nd_workdir_agree(nd_workdir *w, const nd_settings *settings, const nd_walk *walk,
                           uint64_t tasks, nd_error *err) {
  int turn = -1;
  bool got;
  /* Shards that start at the same time take turns. */
  nd_status status =
      nd_dir_open_file(&turn, &w->result.hidden, "turn", O_RDWR | O_CREAT, 0600, err);
  if (status == ND_OK) status = nd_io_lock(&got, turn, false, true, w->result.hidden.path, err);
  if (status == ND_OK) status = agree(w, settings, walk, tasks, err);
  if (turn >= 0) close(turn);
  return status;
}

nd_status nd_workdir_commit(nd_workdir *w, nd_error *err) {
  ND_TRY(nd_result_dir_commit(&w->result, err));
  ND_TRY(discard_record(w, err));
  return nd_result_dir_remove_work(&w->result, err);
}

void nd_workdir_drop(nd_workdir *w) {
  bool committed = true;
  if (exists(&committed, w, "result", NULL) != ND_OK || committed) return;
  nd_status ignored = discard_record(w, NULL);
  if (ignored == ND_OK) ignored = nd_dir_remove(&w->result.hidden, "manifest", NULL);
  (void)ignored;
}

void nd_workdir_close(nd_workdir *w) {
  nd_result_dir_close(&w->result);
  if (w->shard_lock >= 0) close(w->shard_lock);
  nd_free(w->work);
  nd_free(w->spool);
  *w = ND_WORKDIR_CLOSED;
}
