/* nd_inspect: shows records as the readers and the tokenizer see them. */
#include <inttypes.h>
#include <stdlib.h>

#include "job/job.h"
#include "output/tsv.h"
#include "read/sign.h"
#include "result/lines.h"
#include "store/ids.h"
#include "store/workdir.h"

enum { SHOWN = 12 };

typedef struct inspector {
  nd_run job;
  nd_lines lines;
  nd_batch batch;
  nd_signer *signer;
  bool whole;
  uint64_t line_base; /* lines before the range being read */
  uint32_t range_file;
} inspector;

static const char *kind_name(const nd_read *read) {
  switch (read->document.kind) { /* untaken: no further value */
    case ND_KIND_TEXT: return "text";
    case ND_KIND_HTML: return "html";
    case ND_KIND_SNIFF: return nd_html_looks_like(read->document.body) ? "html" : "text";
    case ND_KIND_SETS: return "set";
    case ND_KIND_OTHER: return "other";
  }
  return "?";
}

static nd_status put_place(inspector *s, const nd_raw *raw, nd_error *err) {
  nd_buf *out = &s->lines.text;
  return nd_ids_append_location(out, s->job.walk.files[raw->file].path,
                                raw->line ? s->line_base + raw->line : 0, raw->offset, err);
}

static nd_status put_rejected(inspector *s, const nd_raw *raw, nd_str reason, nd_error *err) {
  ND_TRY(put_place(s, raw, err));
  ND_TRY(nd_buf_printf(&s->lines.text, err, "\t%s\trejected\t-\t%" PRIu64 "\t0\t",
                       raw->format ? raw->format->name : "-", raw->length));
  ND_TRY(nd_tsv_append(&s->lines.text, reason, err));
  s->job.summary->rejected++;
  return nd_buf_append(&s->lines.text, "\n", 1, err);
}

static nd_status put_tokens(inspector *s, const nd_tokens *t, nd_error *err) {
  nd_buf *out = &s->lines.text;
  size_t n = s->whole || t->count < SHOWN ? t->count : SHOWN;
  if (n) ND_TRY(nd_tsv_append(out, (nd_str){t->text.p, t->end[n - 1]}, err));
  return n < t->count ? nd_buf_append(out, " …", strlen(" …"), err) : ND_OK;
}

static nd_status put_record(inspector *s, const nd_raw *raw, nd_error *err) {
  if (raw->rejected)
    return put_rejected(s, raw, (nd_str){s->batch.reasons.p + raw->at, raw->n}, err);
  nd_read read;
  nd_error local;
  nd_str bytes = {s->batch.bytes.p + raw->at, raw->n};
  nd_status status = nd_signer_read(&read, s->signer, raw->format, bytes, &local);
  if (status == ND_ERR_DATA || status == ND_ERR_LIMIT)
    return put_rejected(s, raw, nd_str_of(local.message), err);
  if (status != ND_OK) {
    nd_error_pass(err, &local);
    return status;
  }
  nd_buf *out = &s->lines.text;
  ND_TRY(put_place(s, raw, err));
  ND_TRY(nd_buf_printf(out, err, "\t%s\t%s\t", raw->format->name, kind_name(&read)));
  if (read.document.id.n)
    ND_TRY(nd_tsv_append(out, read.document.id, err));
  else
    ND_TRY(nd_buf_append(out, "-", 1, err));
  ND_TRY(nd_buf_printf(out, err, "\t%" PRIu64 "\t%zu\t", raw->length, read.tokens->count));
  if (read.document.kind == ND_KIND_OTHER)
    ND_TRY(nd_tsv_append(out, nd_str_of(read.document.why), err));
  else
    ND_TRY(put_tokens(s, read.tokens, err));
  s->job.summary->tokens += read.tokens->count;
  return nd_buf_append(out, "\n", 1, err);
}

static nd_status run(inspector *s, const char *const *inputs, size_t n, const char *spool,
                     nd_error *err) {
  ND_TRY(nd_job_input(&s->job, inputs, n, NULL, spool, err));
  ND_TRY(nd_signer_new(&s->signer, &s->job.settings, err));
  s->range_file = UINT32_MAX;
  for (;;) {
    bool more;
    ND_TRY(nd_feed_next(&more, &s->batch, s->job.feed, err));
    if (!more) break;
    uint32_t range = s->batch.lines_relative ? s->batch.range_file : UINT32_MAX;
    if (range != s->range_file || range == UINT32_MAX) s->line_base = 0;
    s->range_file = range;
    for (size_t i = 0; i < s->batch.n; i++) {
      ND_TRY(put_record(s, &s->batch.raws[i], err));
      ND_TRY(nd_lines_flush(&s->lines, false, err));
    }
    s->job.summary->documents += s->batch.n;
    s->job.summary->others += s->batch.others;
    s->line_base += s->batch.lines;
    ND_TRY(
        nd_run_report(&s->job, "read", nd_feed_done(s->job.feed), nd_feed_bytes(s->job.feed), err));
  }
  for (size_t i = 0; i < s->job.walk.problem_n; i++) {
    ND_TRY(nd_tsv_append(&s->lines.text, nd_str_of(s->job.walk.problems[i].path), err));
    ND_TRY(nd_buf_printf(&s->lines.text, err, "\t-\trejected\t-\t0\t0\t%s\n",
                         s->job.walk.problems[i].reason));
    s->job.summary->rejected++;
    s->job.summary->documents++;
  }
  return nd_lines_flush(&s->lines, true, err);
}

nd_status nd_inspect(nd_summary *out, const nd_inspect_request *request, const nd_options *options,
                     const nd_hooks *hooks, nd_error *err) {
  const char *const *inputs = request->inputs;
  const size_t n = request->input_n;
  inspector s = {.lines = {.sink = request->sink}, .whole = request->whole};
  char *work = NULL, *spool = NULL;
  nd_status status = nd_job_open(&s.job, out, options, hooks, err);
  if (status == ND_OK && n == 0)
    status = nd_fail(err, ND_ERR_USAGE, "no input given; name files or directories, or -");
  bool piped = false;
  for (size_t i = 0; i < n; i++) piped |= strcmp(inputs[i], "-") == 0;
  if (status == ND_OK && piped) status = nd_workdir_private(&work, options->tmp, err);
  if (status == ND_OK && piped) status = nd_path_join(&spool, work, "stdin", err);
  if (status == ND_OK) status = run(&s, inputs, n, spool, err);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_job_finish(&s.job);
  nd_signer_free(s.signer);
  nd_batch_clear(&s.batch);
  nd_lines_clear(&s.lines);
  nd_job_close(&s.job);
  nd_free(spool);
  nd_free(work);
  return status;
}
