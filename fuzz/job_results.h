/* A folder to run jobs in, and everything that a job wrote, as bytes to compare. */
#ifndef FUZZ_JOB_RESULTS_H
#define FUZZ_JOB_RESULTS_H

#include <fts.h>
#include <unistd.h>

#include "codec/stream.h"
#include "grammar.h"
#include "neardup/run.h"

/* --- a folder to work in ------------------------------------------------------------ */
static char folder[256];

static void remove_below(const char *path) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", path);
  char *const roots[] = {copy, NULL};
  FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  fuzz_check(walk);
  for (FTSENT *e; (e = fts_read(walk));) {
    if (e->fts_info == FTS_DP && e->fts_level > 0) fuzz_check(rmdir(e->fts_accpath) == 0);
    if (e->fts_info == FTS_F || e->fts_info == FTS_SL) fuzz_check(unlink(e->fts_accpath) == 0);
  }
  fts_close(walk);
}

static void remove_folder(void) {
  remove_below(folder);
  (void)rmdir(folder);
}

static void make_folder(void) {
  const char *tmp = getenv("TMPDIR");
  if (!tmp) tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(folder, sizeof folder, "%s/neardup-fuzz-XXXXXX", tmp);
  fuzz_check(mkdtemp(folder));
  atexit(remove_folder);
}

/* --- what came out -------------------------------------------------------------------- */
static void append_file(nd_buf *out, const char *path) {
  nd_error err = {0};
  nd_stream *s = NULL;
  nd_str seen = {0};
  fuzz_check(nd_stream_open(&s, path, &err) == ND_OK); /* unpacked, whatever it is */
  do {
    fuzz_check(nd_stream_peek(&seen, s, 1 << 16, &err) == ND_OK);
    fuzz_put_str(out, seen);
    nd_stream_skip(s, seen.n);
  } while (seen.n);
  nd_stream_close(s);
}

static int by_name(const FTSENT **a, const FTSENT **b) {
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Names and bytes of all files of a result, but for those that tell times. */
static void append_result(nd_buf *out, const char *dir) {
  char copy[64];
  snprintf(copy, sizeof copy, "%s", dir);
  char *const roots[] = {copy, NULL};
  FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
  fuzz_check(walk);
  for (FTSENT *e; (e = fts_read(walk));) {
    bool hidden = e->fts_level > 0 && e->fts_name[0] == '.';
    fuzz_check(!hidden); /* no work is left */
    if (e->fts_info != FTS_F || strcmp(e->fts_name, "summary.json") == 0 ||
        strcmp(e->fts_name, "report.html") == 0)
      continue;
    fuzz_putf(out, "%s\n", e->fts_path + strlen(dir));
    append_file(out, e->fts_path);
  }
  fts_close(walk);
}

/* The counts that do not depend on how a job ran. */
static void append_counts(nd_buf *out, const nd_summary *s) {
  fuzz_putf(out, "%llu kept, %llu dropped, %llu rejected, %llu empty, %llu copies, %llu pairs\n",
            (unsigned long long)s->kept, (unsigned long long)s->dropped,
            (unsigned long long)s->rejected, (unsigned long long)s->empty,
            (unsigned long long)s->copies, (unsigned long long)s->pairs);
  fuzz_putf(out, "%llu clusters, %llu candidates, %llu tokens, %llu repeated, %llu others\n",
            (unsigned long long)s->clusters, (unsigned long long)s->candidates,
            (unsigned long long)s->tokens, (unsigned long long)s->repeated_ids,
            (unsigned long long)s->others);
}

static nd_status take(void *context, const char *bytes, size_t n, nd_error *err) {
  (void)err;
  fuzz_put(context, bytes, n);
  return ND_OK;
}

#endif
