/* neardup dedup */
#include <string.h>

#include "cli.h"

enum { OUTPUT };
static const cli_extra extras[] = {
    {"output", 'o', "DIR", "Result", "directory for the result, new or empty"},
    {NULL, 0, NULL, NULL, NULL}};

static const char *list_ending(const cli_args *args) {
  return strcmp(nd_options_get(args->options, "csv"), "yes") == 0 ? "csv" : "tsv";
}

static void report_input(const nd_summary *s, const cli_args *args) {
  fprintf(stderr, "read      %s document%s in %s file%s, %s", cli_count(s->documents),
          s->documents == 1 ? "" : "s", cli_count(s->files), s->files == 1 ? "" : "s",
          cli_bytes((double)s->bytes));
  if (s->resumed_documents)
    fprintf(stderr, "; %s of them by an earlier run", cli_count(s->resumed_documents));
  fputc('\n', stderr);
  if (s->rejected)
    fprintf(stderr, "rejected  %s: see %s/rejected.%s\n", cli_count(s->rejected),
            cli_shown(args->extra[OUTPUT]), list_ending(args));
  if (s->repeated_ids)
    fprintf(stderr, "warning   %s id%s came before, such as %s\n", cli_count(s->repeated_ids),
            s->repeated_ids == 1 ? "" : "s", cli_shown(s->repeated_id));
}

static void report_method(const nd_summary *s, nd_options *o) {
  fprintf(stderr, "pairs     %s: %s of exact copies, %s from %s candidates%s\n",
          cli_count(s->pairs), cli_count(s->copies), cli_count(s->pairs - s->copies),
          cli_count(s->candidates),
          strcmp(s->verify, "exact") == 0    ? ", each verified exactly"
          : strcmp(s->verify, "sample") == 0 ? ", compared on the sample"
                                             : ", not verified exactly");
  cli_report_sample(s);
  cli_report_finding(s, o);
}

static void report(const nd_summary *s, const cli_args *args, const cli_progress *p) {
  if (p->how == CLI_PROGRESS_JSON) return;
  if (s->already_complete) {
    fprintf(stderr, "%s is complete already: nothing to do", cli_shown(args->extra[OUTPUT]));
    if (s->rejected)
      fprintf(stderr, "; %s rejected (use --resume never to read the input again)",
              cli_count(s->rejected));
    fputs("\n", stderr);
    return;
  }
  if (s->shard_only) {
    fprintf(stderr, "shard %s is read: %s documents so far; run without --shard to finish\n",
            nd_options_get(args->options, "shard"), cli_count(s->documents));
    return;
  }
  report_input(s, args);
  fprintf(stderr, "kept      %s\n", cli_count(s->kept));
  fprintf(stderr, "dropped   %s (%s exact cop%s) from %s cluster%s\n", cli_count(s->dropped),
          cli_count(s->copies), s->copies == 1 ? "y" : "ies", cli_count(s->clusters),
          s->clusters == 1 ? "" : "s");
  report_method(s, args->options);
  cli_report_cost(s);
  fprintf(stderr, "result    %s/report.html, kept, clusters.%s, pairs.%s, summary.json\n",
          cli_shown(args->extra[OUTPUT]), list_ending(args), list_ending(args));
}

/* What the same command would do now. */
static void advise(const nd_summary *s, const cli_args *args) {
  int piped = 0;
  for (size_t i = 0; i < args->input_n; i++) piped |= strcmp(args->inputs[i], "-") == 0;
  if (piped)
    cli_say("Nothing is kept of a run that reads standard input; it cannot be resumed.\n");
  else if (s->resumable && strcmp(nd_options_get(args->options, "resume"), "never") == 0)
    cli_say("Run the same command without --resume never to resume; with it, it starts over.\n");
  else if (s->resumable)
    cli_say("Run the same command to resume.\n");
}

static int run(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  if (!args->extra[OUTPUT]) {
    cli_complain("dedup needs -o DIR, the directory for its result");
    exit_status = EXIT_USAGE;
  } else {
    nd_summary summary;
    nd_error err = {0};
    nd_hooks hooks;
    cli_progress progress;
    cli_progress_start(&progress, args->options, &hooks);
    nd_status status = nd_dedup(&summary, args->inputs, args->input_n, args->extra[OUTPUT],
                                args->options, &hooks, &err);
    cli_progress_end(&progress);
    if (status == ND_OK) cli_report_join(&summary.join, args->options);
    if (status == ND_OK) report(&summary, args, &progress);
    exit_status = cli_exit(status, &err, &summary);
    if (status == ND_ERR_CANCELLED) advise(&summary, args);
  }
  return exit_status;
}

const cli_command cli_dedup = {
    "dedup",
    ND_FOR_DEDUP,
    "Find near-duplicates",
    "INPUT... -o DIR [OPTION...]",
    "write a corpus without its near-duplicates: the main job",
    "Reads files, directories or - (standard input), finds near-duplicate documents, keeps one "
    "of each cluster, and writes DIR/kept (the kept documents in the input's own format, byte "
    "for byte), clusters.tsv, pairs.tsv, rejected.tsv, summary.json and report.html (an HTML "
    "page with charts, clusters and side-by-side texts). Every dropped document is a verified "
    "near-duplicate of the one kept in its place. If a run is interrupted, the same command "
    "resumes it.",
    "  neardup dedup corpus.jsonl -o out\n"
    "  neardup dedup crawl/*.warc.gz -o out --threshold 0.9 --keep newest\n"
    "  neardup dedup --format lines --shingle chars:9 titles.txt -o out\n"
    "  zcat big.jsonl.gz | neardup dedup - -o out --memory 4G\n",
    run,
    extras};
