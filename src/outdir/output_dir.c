/* Result directories for callers of the library; see neardup/outdir.h. */
#include <ctype.h>

#include "neardup/outdir.h"
#include "outdir/result_dir.h"
#include "outdir/sums.h"

struct nd_output_dir {
  nd_result_dir dir;
  nd_options options;
};

nd_status nd_output_dir_open(nd_output_dir **out, const char *dir, const nd_options *options,
                             nd_error *err) {
  nd_output_dir *o = nd_malloc(sizeof *o);
  if (!o) return nd_fail_memory(err, sizeof *o);
  o->options = *options;
  nd_status status = nd_result_dir_open(&o->dir, dir, nd_result_rule_of(options), err);
  if (status != ND_OK) {
    nd_output_dir_close(o);
    o = NULL;
  }
  *out = o;
  return status;
}

int nd_output_dir_is_complete(const nd_output_dir *o) {
  return o->dir.finished;
}

nd_status nd_output_dir_begin(const char **folder, nd_output_dir *o, nd_error *err) {
  *folder = o->dir.out;
  return nd_result_dir_begin(&o->dir, &o->options, err);
}

/* Appends the members that the library adds to `text`, an object without its closing brace. */
static nd_status add_files(nd_buf *text, const nd_output_dir *o, nd_error *err) {
  nd_json_out j = {.err = err};
  nd_json_put_begin(&j, NULL, '{');
  nd_sums_put_origin(&j, o->dir.rule.sync);
  nd_json_put_begin(&j, "files", '[');
  nd_status status = nd_sums_put_tree(&j, o->dir.out, NULL, err);
  nd_json_put_end(&j, ']');
  nd_json_put_end(&j, '}');
  if (status == ND_OK) status = j.status;
  /* Skips the opening brace: the object is open already. */
  if (status == ND_OK) status = nd_buf_append(text, ",", 1, err);
  if (status == ND_OK) status = nd_buf_append(text, j.text.p + 1, j.text.n - 1, err);
  nd_buf_clear(&j.text);
  return status;
}

nd_status nd_output_dir_commit(nd_output_dir *o, nd_str summary, nd_error *err) {
  while (summary.n && isspace((unsigned char)summary.p[summary.n - 1])) summary.n--;
  if (!summary.n || summary.p[summary.n - 1] != '}')
    return nd_fail(err, ND_ERR_USAGE, "the summary is not a JSON object");
  summary.n--;
  while (summary.n && isspace((unsigned char)summary.p[summary.n - 1])) summary.n--;
  nd_buf text = {0};
  char *path = NULL;
  nd_status status = nd_buf_append(&text, summary.p, summary.n, err);
  if (status == ND_OK) status = add_files(&text, o, err);
  if (status == ND_OK) status = nd_path_join(&path, o->dir.out, ND_SUMMARY, err);
  if (status == ND_OK) status = nd_writer_file(path, nd_buf_str(&text), false, err);
  if (status == ND_OK) status = nd_result_dir_commit(&o->dir, err);
  nd_free(path);
  nd_buf_clear(&text);
  return status;
}

void nd_output_dir_close(nd_output_dir *o) {
  if (!o) return;
  nd_result_dir_close(&o->dir);
  nd_free(o);
}

nd_status nd_output_dir_verify(const char *dir, nd_error *err) {
  nd_dir d;
  ND_TRY(nd_dir_open(&d, dir, err));
  nd_status status = nd_sums_check(&d, err);
  nd_dir_close(&d);
  return status;
}
