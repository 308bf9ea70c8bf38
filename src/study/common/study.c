/* The studies by name, and their tables. */
#include "study/common/study_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/writer.h"
#include "outdir/guard.h"
#include "output/tsv.h"
#include "study/common/study_dir.h"

/* One row per study. */
static const nd_study_info list[] = {
    {"join", "candidates and times of the exact joins; shingles against exact joins"},
    {"sampling", "what a sample of the shingles does to precision and recall"},
    {"sources", "what kinds of difference lie between near-duplicates"},
    {"web", "super-shingles, projections and their combination on web pages"},
    {"library", "simhash and min values on a digital library"},
    {NULL, NULL}};
static const nd_study_function functions[] = {nd_study_join, nd_study_sampling, nd_study_sources,
                                              nd_study_web,  nd_study_library,  NULL};

const nd_study_info *nd_study_at(size_t i) {
  return i < sizeof list / sizeof *list - 1 ? &list[i] : NULL;
}

nd_status nd_table_start(nd_table *t, const char *name, const char *title, const char *columns,
                         nd_error *err) {
  *t = (nd_table){.name = name, .title = title, .columns = 1};
  for (const char *p = columns; *p; p++) t->columns += *p == '\t';
  ND_TRY(nd_buf_append(&t->text, columns, strlen(columns), err));
  return nd_buf_append(&t->text, "\n", 1, err);
}

static nd_status put(nd_table *t, nd_str cell, nd_error *err) {
  ND_TRY(nd_tsv_append(&t->text, cell, err));
  bool last = ++t->cells == t->columns;
  if (last) t->cells = 0;
  return nd_buf_append(&t->text, last ? "\n" : "\t", 1, err);
}

nd_status nd_table_text(nd_table *t, const char *text, nd_error *err) {
  return put(t, nd_str_of(text), err);
}

nd_status nd_table_count(nd_table *t, uint64_t n, nd_error *err) {
  char cell[24];
  snprintf(cell, sizeof cell, "%" PRIu64, n);
  return put(t, nd_str_of(cell), err);
}

nd_status nd_table_real(nd_table *t, double x, int decimals, nd_error *err) {
  char cell[64];
  if (isnan(x)) /* the denominator is 0 */
    snprintf(cell, sizeof cell, "-");
  else
    snprintf(cell, sizeof cell, "%.*f", decimals, x);
  return put(t, nd_str_of(cell), err);
}

void nd_table_clear(nd_table *t) {
  nd_buf_clear(&t->text);
}

static nd_status write_file(const char *dir, const nd_table *t, nd_error *err) {
  char name[128];
  snprintf(name, sizeof name, "%s.tsv", t->name);
  char *path = NULL;
  ND_TRY(nd_path_join(&path, dir, name, err));
  const nd_status status = nd_writer_file(path, nd_buf_str(&t->text), false, err);
  nd_free(path);
  return status;
}

nd_status nd_study_table(nd_study_run *run, const nd_table *t, nd_error *err) {
  const nd_sink *s = run->sink;
  ND_TRY(s->write(s->context, "# ", 2, err));
  ND_TRY(s->write(s->context, t->title, strlen(t->title), err));
  ND_TRY(s->write(s->context, "\n", 1, err));
  ND_TRY(s->write(s->context, t->text.p, t->text.n, err));
  ND_TRY(s->write(s->context, "\n", 1, err));
  return run->request->directory ? write_file(run->request->directory, t, err) : ND_OK;
}

static nd_status unknown(const char *name, nd_error *err) {
  char names[256] = "";
  for (size_t i = 0; list[i].name; i++) {
    const size_t n = strlen(names);
    snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", list[i].name);
  }
  return nd_fail(err, ND_ERR_USAGE, "unknown study %s; the studies are: %s", name, names);
}

static nd_status run_in_directory(nd_study_function function, nd_study_run *run, nd_error *err) {
  const nd_study_request *q = run->request;
  const nd_output_path output = {"-o", q->directory, 1}, truth = {"--truth", q->truth, 0};
  const nd_guard guard = {.outputs = &output,
                          .output_n = 1,
                          .inputs = q->inputs,
                          .input_n = q->input_n,
                          .more = &truth,
                          .more_n = 1,
                          .options = run->options};
  if (q->input_n == 0)
    return nd_fail(err, ND_ERR_USAGE, "no input given; name files or directories, or -");
  ND_TRY(nd_options_check(run->options, err));
  ND_TRY(nd_guard_check(&guard, err));
  nd_study_dir dir;
  nd_study_request inside = *q;
  char command[64];
  nd_status status = nd_study_dir_open(&dir, q->directory, run->options, err);
  inside.directory = dir.out;
  run->request = &inside;
  if (status == ND_OK) status = function(run, err);
  snprintf(command, sizeof command, "study %s", q->name);
  if (status == ND_OK) status = nd_study_dir_commit(&dir, command, err);
  nd_study_dir_close(&dir);
  run->request = q;
  return status;
}

nd_status nd_study(nd_summary *out, const nd_study_request *request, const nd_options *options,
                   const nd_hooks *hooks, nd_error *err) {
  nd_study_run run = {request, options, hooks, request->sink, out};
  *out = (nd_summary){0};
  for (size_t i = 0; list[i].name; i++) {
    if (strcmp(list[i].name, request->name) != 0) continue;
    return run_in_directory(functions[i], &run, err);
  }
  return unknown(request->name, err);
}
