/* neardup prevalence */
#include "cli.h"

enum { RUN, QRELS, PAIRS, PAIRS_KIND, THRESHOLD, OUTPUT, FILTER };
static const cli_extra extras[] = {
    {"run", 0, "FILE...", "Input", "TREC run; may be repeated, and more runs may follow"},
    {"qrels", 0, "FILE", "Input", "relevance judgements; also counts among the relevant documents"},
    {"pairs", 0, "FILE", "Input", "near-duplicates: pairs with their resemblance, or clusters"},
    {"pairs-kind", 0, "KIND", "Input", "content of --pairs: pairs, clusters, or auto to detect it"},
    {"threshold", 0, "T", "What counts as a near-duplicate",
     "least resemblance of near-duplicates, for run-topics and filtering; normally 0.5"},
    {"output", 'o', "DIR", "Result", "also write the tables, charts and a page to this directory"},
    {"filter-runs", 0, "DIR", "Result",
     "write the runs without their near-duplicates to this directory"},
    {NULL, 0, NULL, NULL, NULL}};

static void warn(uint64_t n, const char *what, const char *first) {
  if (n) cli_warn("%s: %s (%s)", what, cli_count(n), first);
}

static int measure(const cli_args *args) {
  nd_prevalence_request q = {.runs = args->inputs,
                             .run_n = args->input_n,
                             .qrels = args->extra[QRELS],
                             .pairs = args->extra[PAIRS],
                             .pairs_kind = args->extra[PAIRS_KIND],
                             .threshold = args->extra[THRESHOLD],
                             .directory = args->extra[OUTPUT],
                             .filtered = args->extra[FILTER]};
  nd_prevalence_summary s;
  nd_summary none = {.rejected = 0};
  nd_error err = {0};
  nd_hooks hooks;
  nd_sink out = cli_stdout();
  q.sink = &out;
  cli_interruptible(&hooks);
  nd_status status = nd_prevalence(&s, &q, args->options, &hooks, &err);
  if (status == ND_OK) {
    warn(s.missing, "topics missing from a run, not counted for it", s.first_missing);
    warn(s.repeated, "documents listed twice by a run; the best rank counts", s.first_repeated);
    warn(s.ties, "equal scores, ordered by rank, then by line", s.first_tie);
    warn(s.unranked, "ranks that contradict the scores; the scores count", s.first_unranked);
    warn(s.qrels_disagreeing, "judgements that contradict an earlier one; the earlier one counts",
         s.first_disagreeing);
    cli_note("runs      %s, with %s run-topics of %s topics, %s documents\n", cli_count(s.runs),
             cli_count(s.run_topics), cli_count(s.topics), cli_count(s.documents));
    if (q.qrels && s.unjudged)
      cli_note("judged    %s topics have no relevant document\n", cli_count(s.unjudged));
    if (q.filtered)
      cli_note("removed   %s lines; the rest is in %s\n", cli_count(s.removed), q.filtered);
  }
  return cli_exit(status, &err, &none);
}

static int run(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  if (!args->extra[PAIRS]) {
    cli_complain("prevalence needs the near-duplicates: --pairs FILE");
    exit_status = EXIT_USAGE;
  } else {
    exit_status = measure(args);
  }
  return exit_status;
}

const cli_command cli_prevalence = {
    "prevalence",
    ND_FOR_PREVALENCE,
    "Evaluate",
    "--run FILE... --pairs FILE [OPTION...]",
    "count near-duplicates in the results of search systems",
    "Reads TREC runs and a list of near-duplicates and writes tables: the share of "
    "near-duplicates in the results of all runs for each topic, and among its relevant "
    "documents, at every resemblance; how many run-topics have a given share in their first n "
    "results; and the share in each run. With --filter-runs it also writes the runs without the "
    "results that are near-duplicates of better ranked ones, so that they can be scored again.",
    "  neardup prevalence --run runs/*.txt --qrels qrels.txt --pairs pairs.tsv\n"
    "  neardup prevalence --run a.txt --run b.txt --pairs groups.tsv --filter-runs unique\n",
    run,
    extras};
