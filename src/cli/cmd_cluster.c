/* neardup cluster */
#include "cli.h"

static int run(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  if (args->input_n != 1) {
    cli_complain("cluster takes one list of pairs");
    exit_status = EXIT_USAGE;
  } else {
    nd_summary s;
    nd_error err = {0};
    nd_hooks hooks;
    nd_sink out = cli_stdout();
    cli_interruptible(&hooks);
    nd_status status = nd_cluster(&s, &(nd_cluster_request){.pairs = args->inputs[0], .sink = &out},
                                  args->options, &hooks, &err);
    if (status == ND_OK)
      cli_note("clusters  %s of %s documents, the largest has %s\n", cli_count(s.clusters),
               cli_count(s.documents), cli_count(s.largest_cluster));
    exit_status = cli_exit(status, &err, &s);
  }
  return exit_status;
}

const cli_command cli_cluster = {
    "cluster",
    ND_FOR_CLUSTER,
    "Find near-duplicates",
    "PAIRS [OPTION...]",
    "turn pairs into clusters",
    "Reads pairs as written by `neardup pairs` (a file or -) and writes a line per document of "
    "a cluster: id TAB cluster TAB kept|dropped TAB similarity to the kept member, or - if that "
    "pair is not in the list. The document of a cluster that appears first is kept.",
    "  neardup cluster pairs.tsv > clusters.tsv\n"
    "  neardup cluster --cluster star --threshold 0.9 pairs.tsv\n",
    run,
    NULL};
