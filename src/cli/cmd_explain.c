/* neardup explain */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { OUTPUT, WHOLE };
static const cli_extra extras[] = {
    {"output", 'o', "FILE", "Result", "write an HTML page with both documents side by side"},
    {"whole", 0, NULL, "Result", "also show long passages that are the same"},
    {NULL, 0, NULL, NULL, NULL}};

static int wants_colour(void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0);
}

static nd_status explain(nd_summary *s, nd_explain_request request, const char *path,
                         const nd_options *options, const nd_hooks *hooks, nd_error *err) {
  nd_sink out = cli_stdout_coloured();
  request.sink = &out;
  if (!path) return nd_explain(s, &request, options, hooks, err);
  request.form = ND_EXPLAIN_HTML;
  if (strcmp(path, "-") == 0) return nd_explain(s, &request, options, hooks, err);
  const char *const files[] = {request.a, request.b};
  const bool by_file = request.input_n == 0;
  const nd_output_request place = {.path = path,
                                   .kind = ND_OUTPUT_PAGE,
                                   .inputs = by_file ? files : request.inputs,
                                   .input_n = by_file ? 2 : request.input_n};
  nd_output *file;
  nd_status status = nd_output_open(&file, &place, options, err);
  if (status != ND_OK) return status;
  out = nd_output_sink(file);
  status = nd_explain(s, &request, options, hooks, err);
  return nd_output_close(file, status, err);
}

static int run(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  if (args->input_n < 2) {
    cli_complain("explain needs two documents: their ids and INPUT, or two files");
    exit_status = EXIT_USAGE;
  } else {
    nd_summary s;
    nd_error err = {0};
    nd_hooks hooks;
    cli_progress progress;
    nd_explain_request request = {.a = args->inputs[0],
                                  .b = args->inputs[1],
                                  .inputs = args->inputs + 2,
                                  .input_n = args->input_n - 2,
                                  .colour = wants_colour(),
                                  .width = cli_width(stdout),
                                  .whole = args->extra[WHOLE] != NULL};
    cli_progress_start(&progress, args->options, &hooks);
    nd_status status = explain(&s, request, args->extra[OUTPUT], args->options, &hooks, &err);
    cli_progress_end(&progress);
    exit_status = cli_exit(status, &err, &s);
  }
  return exit_status;
}

const cli_command cli_explain = {
    "explain",
    ND_FOR_EXPLAIN,
    "Find near-duplicates",
    "A B [INPUT...] [-o page.html] [OPTION...]",
    "show why two documents are near-duplicates",
    "Finds the documents with ids A and B in INPUT (or, without INPUT, in the files A and B) "
    "and shows how similar they are under every measure, what kind of difference it is, and "
    "which words differ: [-only in A-] {+only in B+}, in colour on a terminal unless NO_COLOR "
    "is set.",
    "  neardup explain art-001 art-007 corpus.jsonl\n"
    "  neardup explain old.html new.html\n"
    "  neardup explain art-001 art-007 corpus.jsonl -o page.html\n",
    run,
    extras};
