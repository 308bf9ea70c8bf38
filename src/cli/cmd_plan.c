/* neardup plan */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { OUTPUT, PRECISION, DOCUMENTS };
static const cli_extra extras[] = {
    {"output", 'o', "FILE", "Result", "file for the plan; normally standard output"},
    {"precision", 0, "P", "What counts as a near-duplicate",
     "plan the strongest sampling at which a share P of the pairs found is correct"},
    {"documents", 0, "N", "Resources", "number of documents to draw [20000]"},
    {NULL, 0, NULL, NULL, NULL}};

enum { FEWEST = 2, MOST = 1000000 }; /* documents to draw */

/* --documents; 0: not given.  Returns false if it is not a number of documents. */
static bool parse_documents(uint64_t *out, const cli_args *args) {
  const char *text = args->extra[DOCUMENTS];
  char *end = NULL;
  *out = 0;
  if (!text) return true;
  *out = strtoull(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && !*end && *out >= FEWEST && *out <= MOST) return true;
  cli_complain("--documents takes a whole number from %d to %d, not %s", FEWEST, MOST, text);
  return false;
}

static void range_of(char *out, size_t room, const nd_plan_group *g) {
  if (g->below == UINT64_MAX)
    snprintf(out, room, "%" PRIu64 " and more", g->from);
  else
    snprintf(out, room, "%" PRIu64 " to %" PRIu64, g->from, g->below - 1);
}

static void report_groups(const nd_plan_result *r, const nd_plan_request *q) {
  const double goal = q->precision ? strtod(q->precision, NULL) : 0;
  char range[64];
  for (unsigned i = 0; i < r->groups; i++) {
    const nd_plan_group *g = &r->group[i];
    range_of(range, sizeof range, g);
    cli_note("tokens    %s: ", range);
    if (g->modulus > 1)
      cli_note("1 in %" PRIu64 ", precision %.3f (%.3f to %.3f, from %.0f pairs), recall %.3f\n",
               g->modulus, g->precision, g->low, g->high, g->pairs, g->recall);
    else if (isnan(g->best_low))
      cli_note("all: no pair was found to measure with\n");
    else if (g->best_low >= goal)
      cli_note("all: larger documents need them\n");
    else
      cli_note("all; the best that sampling can promise is %.3f (1 in %" PRIu64
               ", from %.0f pairs)\n",
               g->best_low, g->best_modulus, g->pairs);
  }
  if (!r->reached)
    cli_note(
        "warning   precision %.10g is out of reach of sampling for some sizes: there all "
        "shingles are kept; the best for all sizes is %.3f\n",
        goal, r->best);
  cli_note(
      "predicted %.2f%% of %s shingles, %s, about %.0f s instead of %.0f with --method "
      "exact\n",
      100 * r->share, cli_count(r->shingles), cli_bytes(r->plan_bytes), r->plan_seconds,
      r->exact_seconds);
}

/* There are bands: a recall that is out of reach was refused before. */
static void report_minhash(const nd_plan_result *r) {
  cli_note("minhash   %u permutations, %u bands x %u rows: recall %.4f at the threshold",
           r->permutations, r->bands, r->rows, r->recall);
  if (!isnan(r->recall_of_pairs)) cli_note(", %.4f of all pairs", r->recall_of_pairs);
  cli_note("\npredicted about %.0f candidates, %s on disk, %.0f s\n", r->candidates,
           cli_bytes(r->minhash_bytes), r->minhash_seconds);
}

static int plan(const cli_args *args, nd_plan_request *q) {
  nd_plan_result r = {0};
  nd_error err = {0};
  nd_hooks hooks;
  cli_progress progress;
  nd_sink out = cli_stdout();
  const char *path = q->precision ? args->extra[OUTPUT] : NULL;
  const nd_output_request place = {
      .path = path, .kind = ND_OUTPUT_PLAN, .inputs = q->inputs, .input_n = q->input_n};
  nd_output *file = NULL;
  nd_status status = ND_OK;
  if (path && strcmp(path, "-") != 0) status = nd_output_open(&file, &place, args->options, &err);
  if (file) out = nd_output_sink(file);
  if (status != ND_OK) return cli_exit(status, &err, &r.summary);
  q->sink = &out;
  cli_progress_start(&progress, args->options, &hooks);
  status = nd_plan(&r, q, args->options, &hooks, &err);
  cli_progress_end(&progress);
  if (file) status = nd_output_close(file, status, &err);
  if (status == ND_OK && progress.how != CLI_PROGRESS_JSON) {
    cli_note("drawn     %s of %s documents, %s distinct; about %.0f near-duplicate pairs in all\n",
             cli_count(r.drawn), cli_count(r.documents), cli_count(r.different), r.near_duplicates);
    if (r.groups) report_groups(&r, q);
    report_minhash(&r);
  }
  if (status == ND_OK && !q->precision)
    printf("--method minhash --permutations %u --bands %u --rows %u\n", r.permutations, r.bands,
           r.rows);
  return cli_exit(status, &err, &r.summary);
}

static int run(const cli_command *self, const cli_args *args) {
  nd_plan_request q = {
      .inputs = args->inputs, .input_n = args->input_n, .precision = args->extra[PRECISION]};
  return parse_documents(&q.documents, args) ? plan(args, &q) : EXIT_USAGE;
}

const cli_command cli_plan = {
    "plan",
    ND_FOR_PLAN,
    "Inspect and plan",
    "INPUT... [--precision P] [-o FILE] [OPTION...]",
    "choose sampling ratios and sketch parameters for a goal",
    "Draws documents from the corpus and measures on them. With --precision it writes a plan: "
    "how many shingles documents of each size must keep so that a share P of the pairs found by "
    "--sample adaptive:FILE is correct, with 95% bounds. Otherwise it prints the MinHash "
    "parameters for --recall. The predicted cost on the entire corpus goes to standard error.",
    "  neardup plan --precision 0.85 --threshold 0.85 corpus.jsonl -o corpus.plan\n"
    "  neardup pairs --threshold 0.85 --sample adaptive:corpus.plan --method exact corpus.jsonl\n"
    "  neardup plan --recall 0.99 --threshold 0.7 corpus.jsonl\n",
    run,
    extras};
