/* What a run depends on; see manifest.h. */
#include "pipeline/manifest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "input/json.h"
#include "pipeline/summary.h"
#include "pipeline/sums.h"

enum { SHOWN = 300, HEAD = 1 << 16 };

/* Options that cannot change a byte of the result. */
static bool is_neutral(const char *name) {
  static const char *const neutral[] = {"threads",  "memory",       "tmp",   "shard", "resume",
                                        "progress", "max-document", "force", "sync",  "max-stdin"};
  for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
    if (strcmp(name, neutral[i]) == 0) return true;
  return false;
}

static bool counts(const nd_option_info *info) {
  return (info->commands & ND_FOR_DEDUP) && !is_neutral(info->name);
}

nd_status nd_manifest_make(nd_buf *out, const nd_settings *s, const nd_walk *walk, uint64_t plan,
                           nd_error *err) {
  ND_TRY(nd_buf_printf(out, err, "neardup %s\n", ND_VERSION));
  for (const nd_option_info *info = nd_option_table(); info->name; info++) {
    if (!counts(info)) continue;
    char value[ND_OPTION_VALUE];
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

nd_status nd_manifest_differ(const char *dir, const char *old, const char *now, nd_error *err) {
  size_t m, n;
  while ((m = strcspn(old, "\n")) == (n = strcspn(now, "\n")) && memcmp(old, now, n) == 0) {
    old += m + (old[m] == '\n');
    now += n + (now[n] == '\n');
  }
  const bool limit = strncmp(now, "--max-document ", 15) == 0;
  return nd_fail(err, ND_ERR_STATE,
                 "%s was made by another run: there [%.*s], now [%.*s]%s; repeat that run, use "
                 "--resume never to replace its result, or choose another directory",
                 dir, (int)(m < SHOWN ? m : SHOWN), old, (int)(n < SHOWN ? n : SHOWN), now,
                 limit ? " (at most an eighth of --memory)" : "");
}

/* ---- complete results ---- */

/* The value of a member at a depth, as JSON has it; false if the text has none. */
static bool find_member(nd_str *out, const char *text, const char *indent, const char *name) {
  char wanted[100];
  snprintf(wanted, sizeof wanted, "\n%s\"%s\": ", indent, name);
  const char *p = strstr(text, wanted);
  if (!p) return false;
  p += strlen(wanted);
  size_t n = strcspn(p, "\n");
  if (n && p[n - 1] == ',') n--;
  if (n >= 2 && p[0] == '"') {
    p++;
    n -= 2;
  }
  *out = (nd_str){p, n};
  return true;
}

static nd_status of_another_run(nd_error *err, const nd_dir *d, const char *what, nd_str there,
                                const char *now) {
  return nd_fail(err, ND_ERR_STATE,
                 "%s holds the result of another run: there [%s %.*s], now [%s %s]; choose another "
                 "directory, or use --resume never to replace it",
                 d->path, what, (int)(there.n < SHOWN ? there.n : SHOWN), there.p, what, now);
}

static nd_status compare_options(const nd_dir *d, const char *text, const nd_settings *s,
                                 nd_error *err) {
  nd_buf plain = {0};
  nd_status status = ND_OK;
  const char *options = strstr(text, "\n  \"options\": {");
  if (!options) return ND_OK;
  for (const nd_option_info *info = nd_option_table(); info->name && status == ND_OK; info++) {
    char value[ND_OPTION_VALUE], what[80];
    nd_str there;
    if (!counts(info) || !find_member(&there, options, "    ", info->name)) continue;
    plain.n = 0;
    status = nd_buf_reserve(&plain, there.n, err);
    if (status == ND_OK) status = nd_json_unescape(&plain, there, err);
    nd_summary_option(value, s, info);
    snprintf(what, sizeof what, "--%s", info->name);
    if (status == ND_OK && !nd_str_eq(nd_buf_str(&plain), nd_str_of(value)))
      status = of_another_run(err, d, what, nd_buf_str(&plain), value);
  }
  nd_buf_clear(&plain);
  return status;
}

static nd_status name_difference(const nd_dir *d, const char *text, const nd_settings *s,
                                 nd_error *err) {
  char number[32];
  nd_str there;
  if (find_member(&there, text, "  ", "neardup") && !nd_str_eq(there, nd_str_of(ND_VERSION)))
    return of_another_run(err, d, "neardup", there, ND_VERSION);
  ND_TRY(compare_options(d, text, s, err));
  snprintf(number, sizeof number, "%" PRIu64, s->input.max_document);
  if (find_member(&there, text, "    ", "max_document_in_force") &&
      !nd_str_eq(there, nd_str_of(number)))
    return of_another_run(err, d, "--max-document (at most an eighth of --memory)", there, number);
  return nd_fail(err, ND_ERR_STATE,
                 "%s holds the result of another run: the inputs%s are others, or have changed "
                 "since; choose another directory, or use --resume never to replace it",
                 d->path, s->sample.plan.n ? " or the sampling plan" : "");
}

nd_status nd_manifest_check_result(uint64_t *rejected, const nd_dir *d, uint64_t fingerprint,
                                   const nd_settings *s, nd_error *err) {
  int fd;
  nd_buf text = {0};
  size_t got = 0;
  char run[32];
  nd_str value;
  snprintf(run, sizeof run, "%016" PRIx64, fingerprint);
  ND_TRY(nd_dir_open_file(&fd, d, ND_SUMMARY, O_RDONLY, 0, err));
  nd_status status = nd_buf_reserve(&text, HEAD + 1, err);
  while (status == ND_OK && text.n < HEAD) {
    status = nd_io_read(&got, fd, text.p + text.n, HEAD - text.n, ND_SUMMARY, err);
    text.n += got;
    if (got == 0) break;
  }
  close(fd);
  if (status == ND_OK) text.p[text.n] = '\0';
  if (status == ND_OK) {
    if (!find_member(&value, text.p, "  ", "run") || !nd_str_eq(value, nd_str_of(run)))
      status = name_difference(d, text.p, s, err);
    else if (find_member(&value, text.p, "    ", "rejected"))
      *rejected = strtoull(value.p, NULL, 10);
  }
  nd_buf_clear(&text);
  return status;
}
