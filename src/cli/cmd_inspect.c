/* neardup inspect */
#include "cli.h"

enum { WHOLE };
static const cli_extra extras[] = {
    {"whole", 0, NULL, "Result", "show all tokens of every document"}, {NULL, 0, NULL, NULL, NULL}};

static int run(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  nd_summary s;
  nd_error err = {0};
  nd_hooks hooks;
  cli_progress progress;
  nd_sink out = cli_stdout();
  cli_progress_start(&progress, args->options, &hooks);
  hooks.progress = NULL; /* the lines themselves show it */
  nd_status status = nd_inspect(&s,
                                &(nd_inspect_request){.inputs = args->inputs,
                                                      .input_n = args->input_n,
                                                      .whole = args->extra[WHOLE] != NULL,
                                                      .sink = &out},
                                args->options, &hooks, &err);
  exit_status = cli_exit(status, &err, &s);
  return exit_status;
}

const cli_command cli_inspect = {
    "inspect",
    ND_FOR_INSPECT,
    "Inspect and plan",
    "INPUT... [OPTION...]",
    "show what the readers and the tokeniser see",
    "Writes a line per record: location, format, kind (text, html, set, other, rejected), id, "
    "bytes, number of tokens, and the first tokens, or the reason why the record is rejected or "
    "not a document.",
    "  neardup inspect crawl.warc.gz | head\n"
    "  neardup inspect --whole page.html\n"
    "  neardup inspect corpus.jsonl | awk -F'\\t' '$3 == \"rejected\"'\n",
    run,
    extras};
