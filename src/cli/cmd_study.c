/* neardup study */
#include "cli.h"

enum { OUTPUT, TRUTH };
static const cli_extra extras[] = {
    {"output", 'o', "DIR", "Result", "also write the tables, charts and a page to this directory"},
    {"truth", 0, "FILE", "Input", "ground truth, pairs or clusters, to compare the results with"},
    {NULL, 0, NULL, NULL, NULL}};

static int run(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  nd_summary s;
  nd_error err = {0};
  nd_hooks hooks;
  cli_progress progress;
  nd_sink out = cli_stdout();
  nd_study_request request = {.name = args->inputs[0],
                              .inputs = args->inputs + 1,
                              .input_n = args->input_n - 1,
                              .directory = args->extra[OUTPUT],
                              .truth = args->extra[TRUTH],
                              .sink = &out};
  cli_progress_start(&progress, args->options, &hooks);
  nd_status status = nd_study(&s, &request, args->options, &hooks, &err);
  cli_progress_end(&progress);
  exit_status = cli_exit(status, &err, &s);
  return exit_status;
}

const cli_command cli_study = {
    "study",
    ND_FOR_STUDY,
    "Evaluate",
    "NAME INPUT... [-o DIR] [OPTION...]",
    "run the papers' experiments on any corpus",
    "Runs a study on your documents and writes its tables to standard output; with -o also to "
    "files, with charts and a page that compares them with the published figures. NAME is "
    "sampling (the cost of comparing only part of the shingles), sources (how the documents of "
    "a pair differ), web (super-shingles and projections on web pages), library (simhash and "
    "MinHash values) or join (candidates and times of the exact set joins).",
    "  neardup study sampling corpus.jsonl -o study\n"
    "  neardup study web crawl.warc.gz --truth pairs.tsv -o study\n",
    run,
    extras};
