/* neardup pairs */
#include "cli.h"

static int run(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  nd_summary s;
  nd_error err = {0};
  nd_hooks hooks;
  cli_progress progress;
  nd_sink out = cli_stdout();
  cli_progress_start(&progress, args->options, &hooks);
  nd_status status = nd_pairs(
      &s, &(nd_pairs_request){.inputs = args->inputs, .input_n = args->input_n, .sink = &out},
      args->options, &hooks, &err);
  cli_progress_end(&progress);
  if (status == ND_OK) cli_report_join(&s.join, args->options);
  if (status == ND_OK && progress.how != CLI_PROGRESS_JSON) {
    cli_note("pairs     %s among %s documents", cli_count(s.pairs), cli_count(s.documents));
    if (s.rejected) cli_note("; %s rejected (see `neardup inspect`)", cli_count(s.rejected));
    cli_note("\n");
    cli_report_sample(&s);
    cli_report_finding(&s, args->options);
    cli_report_cost(&s);
  }
  exit_status = cli_exit(status, &err, &s);
  return exit_status;
}

const cli_command cli_pairs = {
    "pairs",
    ND_FOR_PAIRS,
    "Find near-duplicates",
    "INPUT... [OPTION...]",
    "list near-duplicate pairs",
    "Writes a line per near-duplicate pair: id TAB id TAB similarity, in input order. Every "
    "pair of exact duplicates is listed; with --collapse, an exact duplicate is listed only "
    "with its first occurrence.",
    "  neardup pairs corpus.jsonl > pairs.tsv\n"
    "  neardup pairs --threshold 0.5 --recall 0.99 docs/ | sort -t$'\\t' -k3,3r | head\n"
    "  neardup pairs corpus.jsonl | neardup cluster -\n",
    run,
    NULL};
