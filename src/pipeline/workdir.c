/* The output directory's states; see workdir.h. */
#include "pipeline/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/writer.h"

static const char *const results[] = {"kept",         "pairs.tsv",   "clusters.tsv",
                                      "rejected.tsv", "report.html", "summary.json"};
enum { RESULTS = sizeof results / sizeof *results, SUMMARY_MOST = 1 << 20 };

nd_status nd_path_join(char **out, const char *a, const char *b, nd_error *err) {
  size_t room = strlen(a) + strlen(b) + 2;
  *out = nd_malloc(room);
  if (!*out) return nd_fail_memory(err, room);
  snprintf(*out, room, "%s/%s", a, b);
  return ND_OK;
}

const char *nd_workdir_tmp(const char *tmp) {
  const char *base = tmp[0] ? tmp : getenv("TMPDIR");
  return base && base[0] ? base : "/tmp";
}

nd_status nd_workdir_private(char **out, const char *tmp, nd_error *err) {
  const char *base = nd_workdir_tmp(tmp);
  ND_TRY(nd_path_join(out, base, "neardup-XXXXXX", err));
  nd_status status = nd_io_make_private(*out, base, err);
  if (status == ND_OK) return ND_OK;
  nd_free(*out);
  *out = NULL;
  return status;
}

nd_status nd_remove_tree(const char *path, nd_error *err) {
  struct stat st;
  if (lstat(path, &st) != 0)
    return errno == ENOENT ? ND_OK : nd_io_fail(err, "look at", path, errno);
  if (!S_ISDIR(st.st_mode)) return nd_io_unlink(path, err);
  DIR *d;
  ND_TRY(nd_io_open_dir(&d, path, err));
  nd_status status;
  const struct dirent *e;
  while ((status = nd_io_read_dir(&e, d, path, err)) == ND_OK && e) {
    char *entry = NULL;
    ND_TRY_GOTO(nd_path_join(&entry, path, e->d_name, err), done);
    status = nd_remove_tree(entry, err);
    nd_free(entry);
    if (status != ND_OK) break;
  }
done:
  closedir(d);
  return status == ND_OK ? nd_io_remove_dir(path, err) : status;
}

/* Takes a lock file; `shared` for shards, which run side by side. */
static nd_status take_lock(int *fd, const char *dir, const char *name, bool shared,
                           const char *shown, nd_error *err) {
  char *path = NULL;
  ND_TRY(nd_path_join(&path, dir, name, err));
  bool got = false;
  nd_file_info held, named;
  nd_status status = nd_io_open(fd, path, O_RDWR | O_CREAT, 0600, err);
  if (status == ND_OK) status = nd_io_lock(&got, *fd, shared, false, path, err);
  if (status == ND_OK && !got)
    status =
        nd_fail(err, ND_ERR_STATE,
                "another run is writing to %s; wait for it or choose another directory", shown);
  if (status == ND_OK) status = nd_io_fstat(&held, *fd, path, err);
  if (status == ND_OK) status = nd_io_probe(&named, path, err);
  /* The run before us may have removed the file between our open and lock. */
  if (status == ND_OK && held.inode != named.inode)
    status = nd_fail(err, ND_ERR_STATE, "another run has just finished in %s; try again", shown);
  nd_free(path);
  return status;
}

static nd_status exists(bool *out, const char *dir, const char *name, nd_error *err) {
  char *path = NULL;
  nd_file_info info;
  ND_TRY(nd_path_join(&path, dir, name, err));
  nd_status status = nd_io_probe(&info, path, err);
  *out = status == ND_OK && info.exists;
  nd_free(path);
  return status;
}

static nd_status read_text(nd_buf *out, const char *path, nd_error *err) {
  int fd;
  nd_file_info info;
  ND_TRY(nd_io_open(&fd, path, O_RDONLY, 0, err));
  nd_status status = nd_io_fstat(&info, fd, path, err);
  if (status == ND_OK) status = nd_buf_reserve(out, info.size + 1, err);
  if (status == ND_OK) status = nd_io_read_full(fd, out->p, info.size, path, err);
  close(fd);
  if (status != ND_OK) return status;
  out->n = info.size;
  out->p[out->n] = '\0';
  return ND_OK;
}

/* Is there a summary.json, and is it one of ours? */
static nd_status holds_result(bool *out, const char *dir, nd_error *err) {
  char *path = NULL;
  nd_buf text = {0};
  nd_file_info info = {0};
  *out = false;
  ND_TRY(nd_path_join(&path, dir, "summary.json", err));
  nd_status status = nd_io_probe(&info, path, err);
  if (status == ND_OK && info.regular && info.size < SUMMARY_MOST) {
    status = read_text(&text, path, err);
    *out = status == ND_OK && strstr(text.p, "\"neardup\": ") != NULL;
  }
  nd_buf_clear(&text);
  nd_free(path);
  return status;
}

/* A directory with files of somebody else is not ours to write to. */
static nd_status refuse_foreign(const char *dir, nd_error *err) {
  bool ours = false;
  ND_TRY(holds_result(&ours, dir, err));
  if (ours) return ND_OK;
  ND_TRY(exists(&ours, dir, ".neardup", err));
  if (ours) return ND_OK;
  DIR *d;
  const struct dirent *e;
  ND_TRY(nd_io_open_dir(&d, dir, err));
  nd_status status = nd_io_read_dir(&e, d, dir, err);
  if (status == ND_OK && e)
    status = nd_fail(err, ND_ERR_STATE,
                     "%s is not empty (it holds %s) and is no result of neardup; name a new or "
                     "empty directory",
                     dir, e->d_name);
  closedir(d);
  return status;
}

static nd_status remove_results(const nd_workdir *w, nd_error *err) {
  for (size_t i = 0; i < RESULTS; i++) {
    char *path = NULL;
    ND_TRY(nd_path_join(&path, w->dir, results[i], err));
    nd_status status = nd_remove_tree(path, err);
    nd_free(path);
    ND_TRY(status);
  }
  return ND_OK;
}

static nd_status remove_work(const nd_workdir *w, nd_error *err) {
  if (strcmp(w->work, w->hidden) != 0) ND_TRY(nd_remove_tree(w->work, err));
  return nd_remove_tree(w->hidden, err);
}

/* Under --tmp, the name of the output directory tells runs apart. */
static nd_status work_path(nd_workdir *w, const char *tmp, nd_error *err) {
  if (!tmp[0]) return nd_path_join(&w->work, w->dir, ".neardup", err);
  char real[PATH_MAX], leaf[64];
  ND_TRY(nd_io_real_path(real, w->dir, err));
  snprintf(leaf, sizeof leaf, "neardup-%016" PRIx64, (uint64_t)XXH3_64bits(real, strlen(real)));
  return nd_path_join(&w->work, tmp, leaf, err);
}

nd_status nd_workdir_open(nd_workdir *w, const char *dir, const nd_settings *settings,
                          nd_error *err) {
  *w = (nd_workdir){.lock = -1, .shard_lock = -1};
  if (!dir[0]) return nd_fail(err, ND_ERR_USAGE, "the output directory has no name");
  nd_file_info before;
  ND_TRY(nd_io_probe(&before, dir, err));
  w->created = !before.exists;
  ND_TRY(nd_io_mkdirs(dir, err));
  ND_TRY(refuse_foreign(dir, err));
  size_t n = strlen(dir);
  w->dir = nd_malloc(n + 1);
  if (!w->dir) return nd_fail_memory(err, n + 1);
  memcpy(w->dir, dir, n + 1);
  ND_TRY(nd_path_join(&w->hidden, dir, ".neardup", err));
  ND_TRY(nd_path_join(&w->out, w->hidden, "out", err));
  ND_TRY(nd_path_join(&w->spool, w->hidden, "stdin", err));
  ND_TRY(work_path(w, settings->options->tmp, err));
  ND_TRY(nd_io_mkdirs(w->hidden, err));
  bool shard = settings->shards > 1;
  ND_TRY(take_lock(&w->lock, w->hidden, "lock", shard, dir, err));
  if (shard) {
    char name[32];
    snprintf(name, sizeof name, "lock-%u", settings->shard);
    ND_TRY(take_lock(&w->shard_lock, w->hidden, name, false, dir, err));
  }
  w->locked = true;
  return nd_io_mkdirs(w->work, err);
}

/* Options that cannot change a byte of the result. */
static bool is_neutral(const char *name) {
  static const char *const neutral[] = {"threads",  "memory",       "tmp",   "shard", "resume",
                                        "progress", "max-document", "force", "sync",  "max-stdin"};
  for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
    if (strcmp(name, neutral[i]) == 0) return true;
  return false;
}

static nd_status make_manifest(nd_buf *out, const nd_settings *s, const nd_walk *walk,
                               uint64_t plan, nd_error *err) {
  ND_TRY(nd_buf_printf(out, err, "neardup %s\n", ND_VERSION));
  for (const nd_option_info *info = nd_option_table(); info->name; info++) {
    if (!(info->commands & ND_FOR_DEDUP) || is_neutral(info->name)) continue;
    char value[1100];
    nd_options_get(value, sizeof value, s->options, info);
    ND_TRY(nd_buf_printf(out, err, "--%s %s\n", info->name, value));
  }
  if (s->sample.plan.n)
    ND_TRY(nd_buf_printf(out, err, "sampling plan %016" PRIx64 "\n", s->sample.plan.digest));
  ND_TRY(nd_buf_printf(out, err, "--max-document %" PRIu64 "\n", s->input.max_document));
  for (size_t i = 0; i < walk->n; i++) {
    const nd_input_file *f = &walk->files[i];
    ND_TRY(nd_buf_printf(out, err, "%s: %" PRIu64 " bytes, changed at %" PRId64 "\n", f->path,
                         f->size, f->mtime_ns));
  }
  /* A file that could not be opened, and now can, is read in other shares. */
  ND_TRY(nd_buf_printf(out, err, "shares of the input: %016" PRIx64 "\n", plan));
  return nd_buf_append(out, "", 1, err);
}

/* Says in which line two manifests differ, for they do. */
static nd_status differ(const nd_workdir *w, const char *old, const char *now, nd_error *err) {
  size_t m, n;
  while ((m = strcspn(old, "\n")) == (n = strcspn(now, "\n")) && memcmp(old, now, n) == 0) {
    old += m + (old[m] == '\n');
    now += n + (now[n] == '\n');
  }
  return nd_fail(err, ND_ERR_STATE,
                 "%s was made by another run: there [%.*s], now [%.*s]; repeat that run, use "
                 "--resume never to replace its result, or choose another directory",
                 w->dir, (int)(m < 300 ? m : 300), old, (int)(n < 300 ? n : 300), now);
}

/* Small files are written under another name and renamed: whole or not at all. */
static nd_status write_text(const char *dir, const char *name, nd_str text, nd_error *err) {
  char *path = NULL, *fresh = NULL;
  nd_status status = nd_path_join(&path, dir, name, err);
  char unique[64];
  snprintf(unique, sizeof unique, "%s.%ld", name, (long)getpid());
  if (status == ND_OK) status = nd_path_join(&fresh, dir, unique, err);
  if (status == ND_OK) status = nd_writer_file(fresh, text, true, err);
  if (status == ND_OK) status = nd_io_rename(fresh, path, err);
  nd_free(path);
  nd_free(fresh);
  return status;
}

/* Does the finished summary name this manifest? */
static nd_status check_complete(nd_workdir *w, nd_error *err) {
  char *path = NULL;
  nd_buf text = {0};
  ND_TRY(nd_path_join(&path, w->dir, "summary.json", err));
  nd_status status = read_text(&text, path, err);
  char mark[64];
  snprintf(mark, sizeof mark, "\"run\": \"%016" PRIx64 "\"", w->fingerprint);
  w->complete = status == ND_OK && strstr(text.p, mark) != NULL;
  const char *rejected = status == ND_OK ? strstr(text.p, "\"rejected\": ") : NULL;
  if (rejected) w->rejected = strtoull(rejected + strlen("\"rejected\": "), NULL, 10);
  if (status == ND_OK && !w->complete)
    status =
        nd_fail(err, ND_ERR_STATE,
                "%s holds the result of another run (other options, inputs or version); choose "
                "another directory, or use --resume never to replace it",
                w->dir);
  nd_free(path);
  nd_buf_clear(&text);
  return status;
}

/* Is there a file of exactly this text? */
static nd_status holds_text(bool *out, const char *dir, const char *name, const char *text,
                            nd_error *err) {
  nd_buf found = {0};
  char *path = NULL;
  ND_TRY(exists(out, dir, name, err));
  if (!*out) return ND_OK;
  nd_status status = nd_path_join(&path, dir, name, err);
  if (status == ND_OK) status = read_text(&found, path, err);
  *out = status == ND_OK && strcmp(found.p, text) == 0;
  nd_buf_clear(&found);
  nd_free(path);
  return status;
}

/* Old blocks, if any, belong to something else. */
static nd_status remove_blocks(const nd_workdir *w, nd_error *err) {
  DIR *d;
  ND_TRY(nd_io_open_dir(&d, w->work, err));
  nd_status status;
  const struct dirent *e;
  while ((status = nd_io_read_dir(&e, d, w->work, err)) == ND_OK && e) {
    if (strncmp(e->d_name, "blocks-", 7) != 0) continue;
    char *stale = NULL;
    ND_TRY_GOTO(nd_path_join(&stale, w->work, e->d_name, err), done);
    status = nd_io_unlink(stale, err);
    nd_free(stale);
    if (status != ND_OK) break;
  }
done:
  closedir(d);
  return status;
}

static nd_status agree(nd_workdir *w, const nd_settings *settings, const nd_walk *walk,
                       uint64_t plan, nd_buf *now, nd_buf *old, char **path, nd_error *err) {
  ND_TRY(make_manifest(now, settings, walk, plan, err));
  w->fingerprint = XXH3_64bits(now->p, now->n);
  ND_TRY(nd_path_join(path, w->hidden, "manifest", err));
  bool unfinished = false, finished = false, piped = false;
  ND_TRY(exists(&unfinished, w->hidden, "manifest", err));
  ND_TRY(exists(&finished, w->dir, "summary.json", err));
  for (size_t i = 0; i < walk->n; i++) piped |= strcmp(walk->files[i].path, "-") == 0;
  /* What came through a pipe cannot be compared: start over. */
  bool over = strcmp(settings->options->resume, "never") == 0 || piped;
  if (finished && !unfinished && !over) return check_complete(w, err);
  if (unfinished && !over) {
    ND_TRY(read_text(old, *path, err));
    if (strcmp(old->p, now->p) != 0) return differ(w, old->p, now->p, err);
  }
  if (settings->shards == 1) {
    ND_TRY(remove_results(w, err));
    ND_TRY(nd_remove_tree(w->out, err));
  }
  /* Under --tmp the blocks may be those of a run before the unfinished one. */
  bool resumes = unfinished && !over, apart = strcmp(w->work, w->hidden) != 0;
  if (resumes && apart) ND_TRY(holds_text(&resumes, w->work, "manifest", now->p, err));
  if (resumes) return ND_OK;
  ND_TRY(remove_blocks(w, err));
  if (apart) ND_TRY(write_text(w->work, "manifest", (nd_str){now->p, now->n - 1}, err));
  return write_text(w->hidden, "manifest", (nd_str){now->p, now->n - 1}, err);
}

nd_status nd_workdir_agree(nd_workdir *w, const nd_settings *settings, const nd_walk *walk,
                           uint64_t plan, nd_error *err) {
  nd_buf now = {0}, old = {0};
  char *path = NULL, *turn_path = NULL;
  int turn = -1;
  /* Shards that start together come to an agreement one after another. */
  nd_status status = nd_path_join(&turn_path, w->hidden, "turn", err);
  if (status == ND_OK) status = nd_io_open(&turn, turn_path, O_RDWR | O_CREAT, 0600, err);
  bool got;
  if (status == ND_OK) status = nd_io_lock(&got, turn, false, true, turn_path, err);
  if (status == ND_OK) status = agree(w, settings, walk, plan, &now, &old, &path, err);
  if (turn >= 0) close(turn);
  nd_free(turn_path);
  nd_buf_clear(&now);
  nd_buf_clear(&old);
  nd_free(path);
  return status;
}

nd_status nd_workdir_commit(nd_workdir *w, nd_error *err) {
  for (size_t i = 0; i < RESULTS; i++) {
    bool made = false;
    ND_TRY(exists(&made, w->out, results[i], err));
    if (!made) continue;
    char *from = NULL, *to = NULL;
    nd_status status = nd_path_join(&from, w->out, results[i], err);
    if (status == ND_OK) status = nd_path_join(&to, w->dir, results[i], err);
    if (status == ND_OK) status = nd_io_rename(from, to, err);
    nd_free(from);
    nd_free(to);
    ND_TRY(status);
  }
  ND_TRY(nd_io_fsync_dir(w->dir, err));
  return remove_work(w, err);
}

void nd_workdir_close(nd_workdir *w) {
  /* A directory that holds no more than our lock leaves no trace. */
  bool begun = true;
  if (w->locked && exists(&begun, w->hidden, "manifest", NULL) == ND_OK && !begun) {
    nd_status ignored = remove_work(w, NULL);
    (void)ignored;
    if (w->created) rmdir(w->dir);
  }
  if (w->lock >= 0) close(w->lock);
  if (w->shard_lock >= 0) close(w->shard_lock);
  nd_free(w->dir);
  nd_free(w->hidden);
  nd_free(w->out);
  nd_free(w->work);
  nd_free(w->spool);
  *w = (nd_workdir){.lock = -1, .shard_lock = -1};
}
