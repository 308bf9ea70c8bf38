/* Manifests: what the result of a run depends on; see manifest.h. */
#include "store/manifest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/line_reader.h"
#include "base/sum.h"
#include "base/writer.h"
#include "input/json.h"
#include "outdir/sums.h"
#include "output/tsv.h"

enum { SHOWN = ND_MANIFEST_SHOWN, HEAD = 1 << 16 };

/* Returns true for options that cannot change a byte of the result. */
static bool is_neutral(const char *name) {
  static const char *const neutral[] = {"threads",  "memory",       "tmp",   "shard", "resume",
                                        "progress", "max-document", "force", "sync",  "max-stdin"};
  for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
    if (strcmp(name, neutral[i]) == 0) return true;
  return false;
}

static bool counts(const nd_option_row *row) {
  return (row->info.commands & ND_FOR_DEDUP) && !is_neutral(row->info.name);
}

/* ---- the lines ---- */

typedef nd_status (*take_line)(void *context, nd_str line, nd_error *err);

static nd_status options_lines(nd_buf *line, take_line take, void *context, const nd_manifest *m,
                               nd_error *err) {
  const nd_settings *s = m->settings;
  for (const nd_option_row *row = nd_option_rows(); row->info.name; row++) {
    if (!counts(row)) continue;
    char value[ND_OPTION_VALUE];
    nd_option_text(value, sizeof value, s->options, row);
    line->n = 0;
    ND_TRY(nd_buf_printf(line, err, "--%s ", row->info.name));
    ND_TRY(nd_tsv_append(line, nd_str_of(value), err));
    ND_TRY(take(context, nd_buf_str(line), err));
  }
  if (s->sample.plan.n) {
    line->n = 0;
    ND_TRY(nd_buf_printf(line, err, "sampling plan %016" PRIx64, s->sample.plan.digest));
    ND_TRY(take(context, nd_buf_str(line), err));
  }
  line->n = 0;
  ND_TRY(nd_buf_printf(line, err, "--max-document %" PRIu64, s->input.max_document));
  return take(context, nd_buf_str(line), err);
}

static nd_status all_lines(nd_buf *line, take_line take, void *context, const nd_manifest *m,
                           nd_error *err) {
  ND_TRY(take(context, nd_str_of("neardup " ND_VERSION), err));
  ND_TRY(options_lines(line, take, context, m, err));
  for (size_t i = 0; i < m->walk->n; i++) {
    const nd_input_file *f = &m->walk->files[i];
    line->n = 0;
    ND_TRY(nd_tsv_append(line, nd_str_of(f->path), err));
    ND_TRY(
        nd_buf_printf(line, err, ": %" PRIu64 " bytes, changed at %" PRId64, f->size, f->mtime_ns));
    ND_TRY(take(context, nd_buf_str(line), err));
  }
  /* A file that could not be opened before, and now can, changes how the input is partitioned. */
  line->n = 0;
  ND_TRY(nd_buf_printf(line, err, "shares of the input: %016" PRIx64, m->tasks));
  return take(context, nd_buf_str(line), err);
}

static nd_status each_line(take_line take, void *context, const nd_manifest *m, nd_error *err) {
  nd_buf line = {0};
  nd_status status = all_lines(&line, take, context, m, err);
  nd_buf_clear(&line);
  return status;
}

/* ---- fingerprint and file ---- */

static nd_status sum_line(void *context, nd_str line, nd_error *err) {
  (void)err;
  nd_sum_add(context, line.p, line.n);
  nd_sum_add(context, "\n", 1);
  return ND_OK;
}

nd_status nd_manifest_fingerprint(uint64_t *out, const nd_manifest *m, nd_error *err) {
  nd_sum sum;
  nd_sum_begin(&sum);
  ND_TRY(each_line(sum_line, &sum, m, err));
  *out = nd_sum_value(&sum);
  return ND_OK;
}

static nd_status write_line(void *context, nd_str line, nd_error *err) {
  ND_TRY(nd_writer_put(context, line.p, line.n, err));
  return nd_writer_put(context, "\n", 1, err);
}

nd_status nd_manifest_write(const nd_dir *d, const nd_manifest *m, bool sync, nd_error *err) {
  char unique[ND_DIR_UNIQUE], fresh[40];
  char *path = NULL;
  int fd;
  nd_writer *w = NULL;
  nd_dir_unique(unique);
  snprintf(fresh, sizeof fresh, "manifest.%s", unique);
  ND_TRY(nd_path_join(&path, d->path, fresh, err));
  nd_status status = nd_dir_open_file(&fd, d, fresh, O_WRONLY | O_CREAT | O_EXCL, 0600, err);
  if (status == ND_OK) status = nd_writer_take(&w, fd, path, err);
  if (status == ND_OK) status = each_line(write_line, w, m, err);
  if (status == ND_OK)
    status = nd_writer_close(w, sync, err);
  else
    nd_writer_abandon(w);
  if (status == ND_OK) status = nd_dir_rename(d, fresh, d, "manifest", err);
  if (status != ND_OK) {
    nd_status ignored = nd_dir_remove(d, fresh, NULL);
    (void)ignored;
  }
  nd_free(path);
  return status;
}

/* ---- comparing ---- */

typedef struct comparing {
  nd_line_reader old;
  nd_manifest_difference *found;
} comparing;

static void show(char out[ND_MANIFEST_SHOWN + 1], nd_str line) {
  const size_t n = line.n < ND_MANIFEST_SHOWN ? line.n : ND_MANIFEST_SHOWN;
  if (line.p && n) memcpy(out, line.p, n);
  out[n] = '\0';
}

static nd_status compare_line(void *context, nd_str now, nd_error *err) {
  comparing *c = context;
  nd_str old;
  if (c->found->differs) return ND_OK;
  ND_TRY(nd_line_reader_next(&old, &c->old, err));
  c->found->piped |= old.p && old.n > 3 && memcmp(old.p, "-: ", 3) == 0;
  if (old.p && nd_str_eq(old, now)) return ND_OK;
  c->found->differs = true;
  show(c->found->there, old);
  show(c->found->now, now);
  return ND_OK;
}

nd_status nd_manifest_compare(nd_manifest_difference *out, const nd_dir *d, const nd_manifest *m,
                              nd_error *err) {
  comparing c = {.old = {.name = "manifest"}, .found = out};
  nd_str rest = {0};
  *out = (nd_manifest_difference){0};
  ND_TRY(nd_dir_open_file(&c.old.fd, d, "manifest", O_RDONLY, 0, err));
  nd_status status = each_line(compare_line, &c, m, err);
  while (status == ND_OK) { /* the remaining lines of the old manifest; only one line matters */
    status = nd_line_reader_next(&rest, &c.old, err);
    if (status != ND_OK || !rest.p) break;
    if (!out->differs) show(out->there, rest);
    out->differs = true;
    out->piped |= rest.n > 3 && memcmp(rest.p, "-: ", 3) == 0;
  }
  nd_line_reader_clear(&c.old);
  close(c.old.fd);
  return status;
}

nd_status nd_manifest_differ(const char *dir, const nd_manifest_difference *found, nd_error *err) {
  const bool limit = strncmp(found->now, "--max-document ", 15) == 0;
  return nd_fail(err, ND_ERR_STATE,
                 "%s was made by another run: there [%s], now [%s]%s; repeat that run, use "
                 "--resume never to replace its result, or choose another directory",
                 dir, found->there, found->now, limit ? " (at most an eighth of --memory)" : "");
}

/* ---- complete results ---- */

/* Finds a member at a nesting depth, as JSON text; returns false if there is none. */
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
  for (const nd_option_row *row = nd_option_rows(); row->info.name && status == ND_OK; row++) {
    char value[ND_OPTION_VALUE], what[80];
    nd_str there;
    if (!counts(row) || !find_member(&there, options, "    ", row->info.name)) continue;
    plain.n = 0;
    status = nd_buf_reserve(&plain, there.n, err);
    if (status == ND_OK) status = nd_json_unescape(&plain, there, err);
    nd_settings_option(value, s, row);
    snprintf(what, sizeof what, "--%s", row->info.name);
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
                 "%s holds the result of another run: the inputs%s differ or have changed "
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
