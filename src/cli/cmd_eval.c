/* neardup eval */
#include "cli.h"

enum {
  TRUTH,
  BY,
  DOCUMENTS,
  CORPUS,
  AS,
  JUDGED,
  THRESHOLD,
  TRUTH_THRESHOLD,
  TRUTH_KIND,
  RESULT_KIND,
  JSON
};
static const cli_extra extras[] = {
    {"truth", 0, "FILE", "Input", "pairs or clusters of the ground truth"},
    {"by", 0, "WHAT", "Result",
     "also measure by group: size (tokens of the smaller document) or site"},
    {"documents", 0, "FILE", "Input",
     "all documents, one per line: id, tokens, URL; other ids are unknown"},
    {"corpus", 0, "INPUT", "Input", "all documents, read from the corpus"},
    {"as", 0, "WHAT", "Result",
     "unit of measurement: pairs, clusters (of pairs: their components), or auto: clusters if both "
     "lists are clusters"},
    {"judged", 0, NULL, "Result", "leave out result pairs that the ground truth does not list"},
    {"threshold", 0, "T", "What counts as a near-duplicate",
     "least similarity of a pair of the result; by default every pair counts"},
    {"truth-threshold", 0, "T", "What counts as a near-duplicate",
     "least similarity of a pair of the ground truth; by default above 0"},
    {"truth-kind", 0, "KIND", "Input",
     "content of the ground truth: pairs, clusters, or auto to detect it"},
    {"result-kind", 0, "KIND", "Input", "content of the result, likewise"},
    {"json", 0, NULL, "Result", "write JSON"},
    {NULL, 0, NULL, NULL, NULL}};

static void warn(const char *name, const nd_eval_list *l) {
  if (l->lines == 0) cli_warn("%s is an empty list", name);
  if (l->unknown)
    cli_warn("%s: skipped %s line%s with unknown documents (%s)", name, cli_count(l->unknown),
             cli_plural(l->unknown), l->first_unknown);
  if (l->contradicting)
    cli_warn("%s: skipped %s %s%s about which lines disagree (%s)", name,
             cli_count(l->contradicting), l->kind[0] == 'p' ? "pair" : "document",
             cli_plural(l->contradicting), l->first_contradicting);
  if (l->selves)
    cli_warn("%s: skipped %s pair%s of a document with itself", name, cli_count(l->selves),
             cli_plural(l->selves));
  if (l->repeated)
    cli_warn("%s: %s repeated line%s", name, cli_count(l->repeated), cli_plural(l->repeated));
}

static int compare(const cli_args *args) {
  nd_eval_request q = {.truth = args->extra[TRUTH],
                       .result = args->inputs[0],
                       .truth_kind = args->extra[TRUTH_KIND],
                       .result_kind = args->extra[RESULT_KIND],
                       .as = args->extra[AS],
                       .truth_threshold = args->extra[TRUTH_THRESHOLD],
                       .threshold = args->extra[THRESHOLD],
                       .by = args->extra[BY],
                       .documents = args->extra[DOCUMENTS],
                       .corpus = &args->extra[CORPUS],
                       .corpus_n = args->extra[CORPUS] != NULL,
                       .judged = args->extra[JUDGED] != NULL};
  nd_eval_result r;
  nd_error err = {0};
  nd_hooks hooks;
  nd_sink out = cli_stdout();
  cli_interruptible(&hooks);
  nd_status status = nd_eval(&r, &q, args->options, &hooks, &err);
  if (status == ND_OK) {
    if (r.rejected)
      cli_warn("%s: skipped %s unreadable document%s (see `neardup inspect`)", q.corpus[0],
               cli_count(r.rejected), cli_plural(r.rejected));
    warn(q.truth, &r.truth);
    warn(q.result, &r.result);
    status = nd_eval_write(&r, args->extra[JSON] != NULL, &out, &err);
  }
  nd_summary s = {.rejected = 0};
  int exit_status = cli_exit(status, &err, &s);
  uint64_t bad = status == ND_OK ? r.rejected + r.truth.unknown + r.truth.contradicting +
                                       r.result.unknown + r.result.contradicting
                                 : 0;
  return exit_status == EXIT_DONE && bad ? EXIT_REJECTED : exit_status;
}

static int run(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  if (!args->extra[TRUTH] || args->input_n != 1) {
    cli_complain("eval takes --truth FILE and one result to compare with it");
    exit_status = EXIT_USAGE;
  } else {
    exit_status = compare(args);
  }
  return exit_status;
}

const cli_command cli_eval = {
    "eval",
    ND_FOR_EVAL,
    "Evaluate",
    "--truth FILE RESULT [OPTION...]",
    "compare pairs or clusters with the ground truth",
    "Compares two lists as written by `neardup pairs`, `neardup cluster` and `neardup dedup`, "
    "or any list of id TAB id TAB number or id TAB cluster. Writes a line per measure: "
    "precision, recall, F1, average error and correlation of pairs; pairwise and B-cubed "
    "precision, recall and F1, adjusted Rand index and homogeneity of clusters; and the share "
    "of documents whose duplicates are exactly the true ones. Unusable lines are counted on "
    "standard error.",
    "  neardup eval --truth truth.tsv pairs.tsv\n"
    "  neardup eval --truth truth.tsv --by site --corpus crawl.warc.gz pairs.tsv\n"
    "  neardup eval --truth labels.tsv out/clusters.tsv --json\n",
    run,
    extras};
