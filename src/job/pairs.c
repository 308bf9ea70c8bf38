/* nd_pairs: lists near-duplicate pairs. */
#include "job/job.h"
#include "result/best_pairs.h"
#include "result/columns.h"
#include "store/workdir.h"

static nd_status run(nd_run *j, const char *const *inputs, size_t n, const char *work,
                     nd_lines *lines, nd_error *err) {
  char *spool = NULL;
  ND_TRY(nd_path_join(&spool, work, "stdin", err));
  nd_status status = nd_job_input(j, inputs, n, NULL, spool, err);
  nd_free(spool);
  ND_TRY(status);
  ND_TRY(nd_job_read(j, work, err));
  ND_TRY(nd_job_match(j, work, err));
  if (j->options->top) ND_TRY(nd_best_pairs(j, (uint32_t)j->options->top, work, err));
  ND_TRY(nd_columns_pairs(lines, j, j->options->collapse, work, err));
  j->summary->against_documents = j->store.documents - j->source.split;
  j->summary->kept = j->source.split;
  j->summary->documents -= j->summary->against_documents;
  j->summary->write_seconds = nd_job_lap(j);
  return nd_lines_flush(lines, true, err);
}

nd_status nd_pairs(nd_summary *out, const nd_pairs_request *request, const nd_options *options,
                   const nd_hooks *hooks, nd_error *err) {
  nd_run j;
  nd_lines lines = {.sink = request->sink};
  char *work = NULL;
  nd_status status = nd_job_open(&j, out, options, hooks, err);
  if (status == ND_OK && request->input_n == 0)
    status = nd_fail(err, ND_ERR_USAGE, "no input given; name files or directories, or -");
  if (status == ND_OK) status = nd_workdir_private(&work, options->tmp, err);
  if (status == ND_OK) status = run(&j, request->inputs, request->input_n, work, &lines, err);
  nd_job_finish(&j);
  nd_job_close(&j);
  nd_lines_clear(&lines);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  return status;
}
