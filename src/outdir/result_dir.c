/* Result directories; see result_dir.h. */
#include "outdir/result_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "outdir/sums.h"

enum { SUMMARY_PAGES = 1 << 20 };

/* The files of a result whose summary.json does not list them (version 0.1). */
static const char *const first_version[] = {"kept",         "pairs.tsv",   "clusters.tsv",
                                            "rejected.tsv", "report.html", NULL};

nd_result_rule nd_result_rule_of(const nd_options *options) {
  return (nd_result_rule){.force = options->force, .sync = strcmp(options->sync, "no") != 0};
}

static nd_status just_finished(const nd_result_dir *r, nd_error *err) {
  return nd_fail(err, ND_ERR_STATE, "another run has just finished in %s; try again", r->dir.path);
}

nd_status nd_result_dir_lock(int *fd, const nd_result_dir *r, const char *name, bool shared,
                             nd_error *err) {
  nd_file_info held = {0}, named = {0};
  bool got = false;
  nd_status status = nd_dir_open_file(fd, &r->hidden, name, O_RDWR | O_CREAT, 0600, err);
  if (status != ND_OK && errno == ENOENT) return just_finished(r, err); /* .neardup was removed */
  if (status == ND_OK) status = nd_io_lock(&got, *fd, shared, false, r->hidden.path, err);
  if (status == ND_OK && !got)
    status = nd_fail(err, ND_ERR_STATE,
                     "another run is writing to %s; wait for it or choose another directory",
                     r->dir.path);
  if (status == ND_OK) status = nd_io_fstat(&held, *fd, r->hidden.path, err);
  if (status == ND_OK) status = nd_dir_probe(&named, &r->hidden, name, err);
  /* The previous run may have removed the file between our open and lock. */
  if (status == ND_OK && (held.inode != named.inode || held.device != named.device))
    status = just_finished(r, err);
  return status;
}

static nd_status exists(bool *out, const nd_dir *d, const char *name, nd_error *err) {
  nd_file_info info;
  nd_status status = nd_dir_probe(&info, d, name, err);
  *out = status == ND_OK && info.exists;
  return status;
}

/* ---- ownership of the directory ---- */

static nd_status note_entry(void *context, const char *name, nd_error *err) {
  char *seen = context;
  (void)err;
  if (!seen[0]) snprintf(seen, 256, "%s", name);
  return ND_OK;
}

/* Root may replace the files of other users; nobody else may. */
static bool is_strange(const nd_file_info *info) {
  return geteuid() != 0 && info->owner != (uint32_t)geteuid();
}

static nd_status check_owner(nd_result_dir *r, nd_error *err) {
  nd_file_info info;
  ND_TRY(nd_dir_probe(&info, &r->dir, ND_SUMMARY, err));
  if (info.exists && is_strange(&info))
    return nd_fail(err, ND_ERR_STATE,
                   "%s holds the result of another user (id %" PRIu32
                   "), which is not replaced; choose another directory",
                   r->dir.path, info.owner);
  return ND_OK;
}

static nd_status find_strange(void *context, const char *name, nd_error *err) {
  bool *strange = context;
  (void)err;
  for (size_t i = 0; first_version[i]; i++)
    if (strcmp(name, first_version[i]) == 0) return ND_OK;
  if (strcmp(name, ND_SUMMARY) != 0 && strcmp(name, ".neardup") != 0) *strange = true;
  return ND_OK;
}

/* With --sync no, a power cut may leave summary.json empty or full of zeros.  If the directory
 * holds nothing but our files otherwise, it is ours. */
static nd_status is_damaged(bool *out, const nd_dir *d, nd_error *err) {
  nd_file_info info;
  nd_buf text = {0};
  bool strange = false;
  *out = false;
  ND_TRY(nd_dir_probe(&info, d, ND_SUMMARY, err));
  if (!info.regular || info.size > SUMMARY_PAGES) return ND_OK;
  nd_status status = nd_dir_read(&text, d, ND_SUMMARY, SUMMARY_PAGES, err);
  const bool zeros = status == ND_OK && (text.n == 0 || text.p[0] == '\0');
  nd_buf_clear(&text);
  if (zeros) status = nd_dir_each(d, find_strange, &strange, err);
  *out = status == ND_OK && zeros && !strange;
  return status;
}

static nd_status look(nd_result_dir *r, nd_error *err) {
  ND_TRY(nd_sums_is_result(&r->finished, &r->dir, err));
  r->damaged = false;
  return r->finished ? ND_OK : is_damaged(&r->damaged, &r->dir, err);
}

nd_status nd_result_dir_refuse_damaged(const nd_result_dir *r, nd_error *err) {
  return nd_fail(err, ND_ERR_STATE,
                 "%s/" ND_SUMMARY
                 " is damaged, which a power cut after --sync no can cause; use "
                 "--resume never to make the result again",
                 r->dir.path);
}

static nd_status refuse_foreign(nd_result_dir *r, nd_error *err) {
  bool begun = false;
  char entry[256] = "";
  ND_TRY(look(r, err));
  if (r->finished || r->damaged) return check_owner(r, err);
  ND_TRY(exists(&begun, &r->dir, ".neardup", err));
  if (begun || r->rule.force) return ND_OK;
  ND_TRY(nd_dir_each(&r->dir, note_entry, entry, err));
  if (entry[0])
    return nd_fail(err, ND_ERR_STATE,
                   "%s is not empty (it holds %s) and is not a result of neardup; name a new or "
                   "empty directory, or use --force to keep its files beside the result",
                   r->dir.path, entry);
  return ND_OK;
}

/* ---- the moves of a commit ---- */

typedef struct moving {
  nd_result_dir *r;
  const nd_dir *from, *to;
} moving;

static nd_status move_entry(void *context, const char *name, nd_error *err) {
  const moving *m = context;
  if (strcmp(name, ND_SUMMARY) == 0) return ND_OK; /* moved last */
  return nd_dir_rename(m->from, name, m->to, name, err);
}

/* Moves a file of the old result, or its directory `kept`. */
static nd_status move_old(void *context, const char *name, nd_error *err) {
  const moving *m = context;
  bool there = false;
  ND_TRY(exists(&there, m->from, name, err));
  return there ? nd_dir_rename(m->from, name, m->to, name, err) : ND_OK;
}

/* Moves the old result away.  Its summary.json, which lists its files, goes last, so that the list
 * survives an interruption. */
static nd_status move_old_away(nd_result_dir *r, nd_error *err) {
  bool done = false, ours = false;
  ND_TRY(exists(&done, &r->hidden, "old", err));
  if (done) return ND_OK;
  nd_dir part;
  ND_TRY(nd_dir_private(&part, &r->hidden, "old.part", true, err));
  moving m = {r, &r->dir, &part};
  nd_status status = nd_sums_is_result(&ours, &r->dir, err);
  bool damaged = false;
  if (status == ND_OK && !ours) status = is_damaged(&damaged, &r->dir, err);
  if (status == ND_OK && (ours || damaged)) {
    bool listed = false;
    if (ours) status = nd_sums_tops(&listed, &r->dir, move_old, &m, err);
    for (size_t i = 0; status == ND_OK && !listed && first_version[i]; i++)
      status = move_old(&m, first_version[i], err);
    if (status == ND_OK) status = move_old(&m, ND_SUMMARY, err);
  }
  if (status == ND_OK && r->rule.sync) status = nd_dir_sync(&part, err);
  nd_dir_close(&part);
  if (status == ND_OK) status = nd_dir_rename(&r->hidden, "old.part", &r->hidden, "old", err);
  return status;
}

/* Checks that an entry of the new result would not replace a foreign file: only --force allows
 * that, and nothing allows replacing a directory. */
static nd_status check_entry(void *context, const char *name, nd_error *err) {
  const moving *m = context;
  nd_file_info info;
  bool replaces = false, removed = false;
  ND_TRY(nd_dir_probe(&info, m->to, name, err));
  /* An old result without kept documents lists no file of `kept`, so that was not moved. */
  if (info.directory) ND_TRY(exists(&replaces, &m->r->hidden, "old/" ND_SUMMARY, err));
  if (replaces) ND_TRY(nd_dir_remove_empty(&removed, m->to, name, err));
  if (info.exists && !removed && (info.directory || !m->r->rule.force))
    return nd_fail(err, ND_ERR_STATE,
                   "%s/%s is in the way and not part of a result of neardup; move it away, and run "
                   "the same command again",
                   m->to->path, name);
  return ND_OK;
}

/* After the commit: moves the old result away and the new one into DIR.  Every step can be
 * repeated. */
static nd_status finish_moves(nd_result_dir *r, nd_error *err) {
  nd_dir from;
  bool there = false;
  ND_TRY(nd_dir_private(&from, &r->hidden, "result", false, err));
  moving m = {r, &from, &r->dir};
  nd_status status = exists(&there, &from, ND_SUMMARY, err);
  if (status == ND_OK && there) { /* otherwise all moves are done */
    status = move_old_away(r, err);
    if (status == ND_OK) status = nd_dir_each(&from, check_entry, &m, err);
    if (status == ND_OK) status = nd_dir_each(&from, move_entry, &m, err);
    if (status == ND_OK && r->rule.sync) status = nd_dir_sync(&r->dir, err);
    if (status == ND_OK) status = nd_dir_rename(&from, ND_SUMMARY, &r->dir, ND_SUMMARY, err);
  }
  if (status == ND_OK && r->rule.sync) status = nd_dir_sync(&r->dir, err);
  nd_dir_close(&from);
  /* The manifest goes first: without it, nothing resumes from the rest of .neardup. */
  if (status == ND_OK) status = nd_dir_remove(&r->hidden, "manifest", err);
  /* `old` must be gone before `result`: otherwise the next commit would take it for its own. */
  if (status == ND_OK) status = nd_dir_remove(&r->hidden, "old", err);
  if (status == ND_OK) status = nd_dir_remove(&r->hidden, "result", err);
  if (status == ND_OK) r->finished = true;
  return status;
}

nd_status nd_result_dir_commit(nd_result_dir *r, nd_error *err) {
  if (r->rule.sync) ND_TRY(nd_dir_sync_all(&r->hidden, err));
  ND_TRY(nd_dir_rename(&r->hidden, "out", &r->hidden, "result", err));
  if (r->rule.sync) ND_TRY(nd_dir_sync(&r->hidden, err));
  return finish_moves(r, err);
}

/* ---- opening and closing ---- */

static nd_status remove_but_locks(void *context, const char *name, nd_error *err) {
  const nd_result_dir *r = context;
  return strncmp(name, "lock", 4) == 0 ? ND_OK : nd_dir_remove(&r->hidden, name, err);
}

static nd_status remove_locks(void *context, const char *name, nd_error *err) {
  const nd_result_dir *r = context;
  return strcmp(name, "lock") == 0 ? ND_OK : nd_dir_remove(&r->hidden, name, err);
}

nd_status nd_result_dir_remove_work(nd_result_dir *r, nd_error *err) {
  ND_TRY(nd_dir_remove(&r->hidden, "manifest", err));
  ND_TRY(nd_dir_each(&r->hidden, remove_but_locks, r, err));
  ND_TRY(nd_dir_each(&r->hidden, remove_locks, r, err));
  ND_TRY(nd_dir_remove(&r->hidden, "lock", err));
  /* From here on, another run may use .neardup: then it is not empty, and stays. */
  r->removed = true;
  bool empty;
  return nd_dir_remove_empty(&empty, &r->dir, ".neardup", err);
}

nd_status nd_result_dir_open(nd_result_dir *r, const char *dir, nd_result_rule rule,
                             nd_error *err) {
  *r = ND_RESULT_CLOSED;
  r->rule = rule;
  if (!dir[0]) return nd_fail(err, ND_ERR_USAGE, "the output directory has no name");
  nd_file_info before;
  bool committed = false;
  ND_TRY(nd_io_probe(&before, dir, err));
  r->created = !before.exists;
  ND_TRY(nd_io_mkdirs(dir, err));
  ND_TRY(nd_dir_open(&r->dir, dir, err));
  ND_TRY(refuse_foreign(r, err));
  ND_TRY(nd_dir_private(&r->hidden, &r->dir, ".neardup", true, err));
  ND_TRY(nd_path_join(&r->out, r->hidden.path, "out", err));
  ND_TRY(nd_result_dir_lock(&r->lock, r, "lock", rule.shared, err));
  ND_TRY(exists(&committed, &r->hidden, "result", err));
  if (!committed) return ND_OK;
  ND_TRY(finish_moves(r, err));
  return look(r, err); /* if it was not synced, a committed result may be damaged */
}

nd_status nd_result_dir_begin(nd_result_dir *r, const nd_options *options, nd_error *err) {
  if (r->damaged && strcmp(options->resume, "never") != 0)
    return nd_result_dir_refuse_damaged(r, err);
  if (r->finished && strcmp(options->resume, "never") != 0)
    return nd_fail(err, ND_ERR_STATE,
                   "%s holds a complete result; choose another directory, or use --resume never to "
                   "replace it",
                   r->dir.path);
  ND_TRY(nd_dir_each(&r->hidden, remove_but_locks, r, err));
  return nd_dir_make(&r->hidden, "out", 0700, err);
}

void nd_result_dir_close(nd_result_dir *r) {
  bool alone = r->lock >= 0 && !r->removed;
  if (alone && r->rule.shared &&
      nd_io_lock(&alone, r->lock, false, false, r->hidden.path, NULL) != ND_OK)
    alone = false;
  if (alone) {
    /* A directory that holds only our lock is removed. */
    bool begun = true, out = true;
    if (exists(&begun, &r->hidden, "manifest", NULL) == ND_OK && !begun &&
        exists(&out, &r->hidden, "result", NULL) == ND_OK && !out) {
      nd_status ignored = nd_result_dir_remove_work(r, NULL);
      (void)ignored;
      if (r->created && !r->finished) rmdir(r->dir.path);
    }
  }
  if (r->lock >= 0) close(r->lock);
  nd_dir_close(&r->hidden);
  nd_dir_close(&r->dir);
  nd_free(r->out);
  *r = ND_RESULT_CLOSED;
}
