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
  cli_note("read      %s document%s in %s file%s, %s", cli_count(s->documents),
           cli_plural(s->documents), cli_count(s->files), cli_plural(s->files),
           cli_bytes((double)s->bytes));
  if (s->resumed_documents)
    cli_note("; %s of them by an earlier run", cli_count(s->resumed_documents));
  cli_note("\n");
  if (s->rejected)
    cli_note("rejected  %s: see %s/rejected.%s\n", cli_count(s->rejected),
             cli_shown(args->extra[OUTPUT]), list_ending(args));
  if (s->repeated_ids)
    cli_note("warning   %s repeated id%s, e.g. %s\n", cli_count(s->repeated_ids),
             cli_plural(s->repeated_ids), cli_shown(s->repeated_id));
}

static void report_method(const nd_summary *s, nd_options *o) {
  cli_note("pairs     %s: %s of exact duplicates, %s from %s candidates%s\n", cli_count(s->pairs),
           cli_count(s->copies), cli_count(s->pairs - s->copies), cli_count(s->candidates),
           strcmp(s->verify, "exact") == 0    ? ", each verified exactly"
           : strcmp(s->verify, "sample") == 0 ? ", compared on the sample"
                                              : ", not verified exactly");
  cli_report_sample(s);
  cli_report_finding(s, o);
}

static void report(const nd_summary *s, const cli_args *args, const cli_progress *p) {
  if (p->how == CLI_PROGRESS_JSON) return;
  if (s->already_complete) {
    cli_note("%s is complete already: nothing to do", cli_shown(args->extra[OUTPUT]));
    if (s->rejected)
      cli_note("; %s rejected (use --resume never to read the input again)",
               cli_count(s->rejected));
    cli_note("\n");
    return;
  }
  if (s->shard_only) {
    cli_note("shard %s is read: %s documents so far; run without --shard to finish\n",
             nd_options_get(args->options, "shard"), cli_count(s->documents));
    return;
  }
  report_input(s, args);
  cli_note("kept      %s\n", cli_count(s->kept));
  cli_note("dropped   %s (%s exact duplicate%s) from %s cluster%s\n", cli_count(s->dropped),
           cli_count(s->copies), cli_plural(s->copies), cli_count(s->clusters),
           cli_plural(s->clusters));
  report_method(s, args->options);
  cli_report_cost(s);
  cli_note("result    %s/report.html, kept, clusters.%s, pairs.%s, summary.json\n",
           cli_shown(args->extra[OUTPUT]), list_ending(args), list_ending(args));
}

/* What the same command would do now. */
static void advise(const nd_summary *s, const cli_args *args) {
  int piped = 0;
  for (size_t i = 0; i < args->input_n; i++) piped |= strcmp(args->inputs[i], "-") == 0;
  if (piped)
    cli_say("A run that reads standard input cannot be resumed; nothing of it is kept.\n");
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
    nd_status status = nd_dedup(
        &summary,
        &(nd_dedup_request){
            .inputs = args->inputs, .input_n = args->input_n, .directory = args->extra[OUTPUT]},
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
