#include "little_memory.h"

#include "job/job.h"
#include "result/best_pairs.h"
#include "result/columns.h"
#include "store/workdir.h"

static nd_status little_job(nd_run *j, const char *const *inputs, size_t n, const char *work,
                            nd_lines *lines, nd_error *e) {
  ND_TRY(nd_job_input(j, inputs, n, NULL, NULL, e));
  ND_TRY(nd_job_read(j, work, e));
  ND_TRY(nd_job_match(j, work, e));
  if (j->options->top) ND_TRY(nd_best_pairs(j, (uint32_t)j->options->top, work, e));
  ND_TRY(nd_columns_pairs(lines, j, j->options->collapse, work, e));
  j->summary->against_documents = j->store.documents - j->source.split;
  j->summary->documents -= j->summary->against_documents;
  return nd_lines_flush(lines, true, e);
}

nd_status little_pairs(nd_summary *out, const char *const *inputs, size_t n, const nd_sink *sink,
                       const nd_options *options, const nd_hooks *hooks, uint64_t memory,
                       nd_error *e) {
  nd_run j;
  nd_lines lines = {.sink = sink};
  char *work = NULL;
  nd_status status = nd_job_open(&j, out, options, hooks, e);
  j.settings.memory = memory;
  if (status == ND_OK) status = nd_workdir_private(&work, options->tmp, e);
  if (status == ND_OK) status = little_job(&j, inputs, n, work, &lines, e);
  nd_job_finish(&j);
  nd_job_close(&j);
  nd_buf_clear(&lines.text);
  nd_status removed = work ? nd_remove_tree(work, status == ND_OK ? e : NULL) : ND_OK;
  nd_free(work);
  return status == ND_OK ? removed : status;
}
