/* Directories of studies; see study_dir.h. */
#include "study/common/study_dir.h"

#include "base/writer.h"
#include "outdir/sums.h"

static nd_status begin(nd_study_dir *d, const char *directory, nd_error *err) {
  nd_result_dir *r = &d->result;
  nd_file_info manifest;
  ND_TRY(nd_result_dir_open(r, directory, nd_result_rule_of(d->options), err));
  ND_TRY(nd_dir_probe(&manifest, &r->hidden, "manifest", err));
  if (manifest.exists && strcmp(d->options->resume, "never") != 0)
    return nd_fail(err, ND_ERR_STATE,
                   "%s holds an interrupted dedup; choose another directory, or use --resume never "
                   "to discard it",
                   directory);
  ND_TRY(nd_result_dir_begin(r, d->options, err));
  d->out = r->out;
  return ND_OK;
}

nd_status nd_study_dir_open(nd_study_dir *d, const char *directory, const nd_options *options,
                            nd_error *err) {
  *d = (nd_study_dir){.result = ND_RESULT_CLOSED, .options = options};
  return directory ? begin(d, directory, err) : ND_OK;
}

static nd_status write_summary(const nd_study_dir *d, const char *command, nd_error *err) {
  nd_json_out j = {.err = err};
  char *path = NULL;
  nd_json_put_begin(&j, NULL, '{');
  nd_json_put_string(&j, "neardup", nd_str_of(ND_VERSION));
  nd_json_put_string(&j, "command", nd_str_of(command));
  nd_sums_put_origin(&j, d->result.rule.sync);
  nd_json_put_begin(&j, "files", '[');
  nd_status status = nd_sums_put_tree(&j, d->out, NULL, err);
  nd_json_put_end(&j, ']');
  nd_json_put_end(&j, '}');
  if (status == ND_OK) status = j.status;
  if (status == ND_OK) status = nd_path_join(&path, d->out, ND_SUMMARY, err);
  if (status == ND_OK) status = nd_writer_file(path, nd_buf_str(&j.text), false, err);
  nd_free(path);
  nd_buf_clear(&j.text);
  return status;
}

nd_status nd_study_dir_commit(nd_study_dir *d, const char *command, nd_error *err) {
  if (!d->out) return ND_OK;
  ND_TRY(write_summary(d, command, err));
  return nd_result_dir_commit(&d->result, err);
}

void nd_study_dir_close(nd_study_dir *d) {
  if (d->options) nd_result_dir_close(&d->result);
  *d = (nd_study_dir){.result = ND_RESULT_CLOSED};
}
