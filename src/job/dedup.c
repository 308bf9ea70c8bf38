/* nd_dedup: removes near-duplicates from a corpus. */
#include <stdio.h>

#include "job/job.h"
#include "outdir/guard.h"
#include "report/report_data.h"
#include "result/columns.h"
#include "result/kept.h"
#include "result/summary.h"
#include "result/survivors.h"
#include "store/workdir.h"

/* Length of "/.neardup/result/kept/" and of the suffix of a temporary name. */
enum { BETWEEN = 32 };

typedef struct dedup {
  nd_run job;
  nd_workdir dir;
  bool agreed, piped; /* the manifest is that of this run; standard input is read */
  char *spool_dir;    /* with --tmp: a directory in it for standard input; owned */
  nd_clusters clusters;
  uint32_t *size; /* members per centre */
  nd_report report;
  nd_report_source source;
} dedup;

static nd_status fill_pairs(nd_lines *l, void *context, nd_error *err) {
  return nd_columns_pairs(l, context, true, NULL, err);
}

static nd_status fill_rejects(nd_lines *l, void *context, nd_error *err) {
  const nd_run *j = context;
  ND_TRY(nd_lines_begin(l, j->options, "place\treason\n", err));
  return nd_lines_rejects(l, context, err);
}

static nd_status fill_clusters(nd_lines *l, void *context, nd_error *err) {
  dedup *d = context;
  ND_TRY(nd_lines_begin(l, d->job.options, "id\tcluster\tstatus\tsimilarity\n", err));
  return nd_lines_clusters(l, &d->job, &d->clusters, d->size, err);
}

static nd_status count_clusters(dedup *d, nd_error *err) {
  nd_summary *s = d->job.summary;
  uint32_t n = d->clusters.n;
  ND_TRY(nd_survivors_count(&d->size, s, &d->clusters, err));
  s->against_documents = n - d->job.source.split;
  s->documents -= s->against_documents;
  s->kept = n - s->against_documents - s->dropped;
  return ND_OK;
}

/* Writes the lists and gathers the report, on one thread, while the others copy kept documents. */
static nd_status write_lists(void *context, nd_error *err) {
  dedup *d = context;
  const char *out = d->dir.out;
  const bool csv = d->job.options->csv;
  ND_TRY(nd_lines_file(out, csv ? "pairs.csv" : "pairs.tsv", fill_pairs, &d->job, err));
  ND_TRY(nd_lines_file(out, csv ? "clusters.csv" : "clusters.tsv", fill_clusters, d, err));
  ND_TRY(nd_lines_file(out, csv ? "rejected.csv" : "rejected.tsv", fill_rejects, &d->job, err));
  return nd_report_gather(&d->report, &d->source, err);
}

static nd_status write_results(dedup *d, nd_error *err) {
  nd_run *j = &d->job;
  const char *out = d->dir.out;
  ND_TRY(nd_run_report(j, "write", 0, 0, err));
  ND_TRY(nd_io_mkdirs(out, err));
  char *path = NULL;
  nd_kept kept = {0};
  ND_TRY(nd_path_join(&path, out, "kept", err));
  nd_status status = nd_kept_write(&kept, j, d->clusters.centre, path, write_lists, d, err);
  nd_free(path);
  path = NULL;
  if (status == ND_OK) {
    j->summary->write_seconds = nd_job_lap(j);
    nd_job_finish(j);
    status = nd_report_finish(&d->report, &d->source, out, err);
  }
  const nd_summary_files files = {out, kept.sum, kept.written};
  if (status == ND_OK) status = nd_path_join(&path, out, ND_SUMMARY, err);
  if (status == ND_OK) status = nd_summary_write(j, path, &files, d->dir.fingerprint, err);
  nd_kept_clear(&kept);
  nd_free(path);
  return status == ND_OK ? nd_workdir_commit(&d->dir, err) : status;
}

/* With --tmp, moves the spool file for standard input there. */
static nd_status move_spool(dedup *d, nd_error *err) {
  const char *tmp = d->job.options->tmp;
  if (!d->piped || !tmp[0]) return ND_OK;
  ND_TRY(nd_workdir_private(&d->spool_dir, tmp, err));
  nd_free(d->dir.spool);
  d->dir.spool = NULL;
  return nd_path_join(&d->dir.spool, d->spool_dir, "stdin", err);
}

static nd_status run(dedup *d, const char *const *inputs, size_t n, const char *directory,
                     nd_error *err) {
  nd_run *j = &d->job;
  if (j->settings.every_pair) { /* applies to listing only; dropping needs a threshold */
    j->settings.every_pair = false;
    j->settings.threshold = j->options->threshold;
    if (j->settings.threshold.num == 0)
      return nd_fail(err, ND_ERR_USAGE, "--threshold 0 is out of range: above 0, at most 1");
  }
  const nd_output_path output = {"-o", directory, 1};
  const nd_guard guard = {
      .outputs = &output, .output_n = 1, .inputs = inputs, .input_n = n, .options = j->options};
  ND_TRY(nd_guard_check(&guard, err));
  ND_TRY(nd_io_check_length(directory, BETWEEN, "summary.json", err));
  for (size_t i = 0; i < n; i++) d->piped |= strcmp(inputs[i], "-") == 0;
  ND_TRY(nd_workdir_open(&d->dir, directory, &j->settings, d->piped, err));
  ND_TRY(move_spool(d, err));
  j->writes_documents = true;
  ND_TRY(nd_job_input(j, inputs, n, directory, d->dir.spool, err));
  for (size_t i = 0; i < j->walk.inputs; i++)
    ND_TRY(nd_io_check_length(directory, BETWEEN, j->walk.files[i].name, err));
  ND_TRY(nd_workdir_agree(&d->dir, &j->settings, &j->walk, nd_feed_fingerprint(j->feed), err));
  d->agreed = true;
  if (d->dir.complete) {
    j->summary->already_complete = 1;
    j->summary->rejected = d->dir.rejected;
    return ND_OK;
  }
  ND_TRY(nd_job_read(j, d->dir.work, err));
  if (j->summary->shard_only) return ND_OK;
  ND_TRY(nd_job_match(j, d->dir.work, err));
  ND_TRY(nd_survivors(&d->clusters, j, d->dir.work, err));
  ND_TRY(count_clusters(d, err));
  d->source = (nd_report_source){.job = j,
                                 .clusters = &d->clusters,
                                 .size = d->size,
                                 .tmp = d->dir.work,
                                 .inputs = inputs,
                                 .input_n = n,
                                 .directory = directory};
  return write_results(d, err);
}

/* After a failure: keeps stored blocks for a resume, unless they were read from a pipe. */
static void keep_or_drop(dedup *d) {
  const nd_run *j = &d->job;
  if (d->agreed && d->piped) nd_workdir_drop(&d->dir);
  j->summary->resumable = d->agreed && !d->piped && j->store_open && j->store.block_n > 0;
}

nd_status nd_dedup(nd_summary *out, const nd_dedup_request *request, const nd_options *options,
                   const nd_hooks *hooks, nd_error *err) {
  dedup d = {.dir = ND_WORKDIR_CLOSED};
  nd_status status = nd_job_open(&d.job, out, options, hooks, err);
  if (status == ND_OK && request->input_n == 0)
    status = nd_fail(err, ND_ERR_USAGE, "no input given; name files or directories, or -");
  if (status == ND_OK) status = run(&d, request->inputs, request->input_n, request->directory, err);
  if (status != ND_OK) keep_or_drop(&d);
  nd_job_finish(&d.job);
  nd_clusters_clear(&d.clusters);
  nd_free(d.size);
  nd_report_clear(&d.report);
  nd_job_close(&d.job);
  nd_workdir_close(&d.dir);
  if (d.spool_dir) {
    nd_status removed = nd_remove_tree(d.spool_dir, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(d.spool_dir);
  return status;
}
