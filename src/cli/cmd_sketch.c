/* neardup sketch, merge, info: sketch files */
#include "cli.h"

enum { OUTPUT };
static const cli_extra extras[] = {
    {"output", 'o', "FILE", "Result", "sketch file to write"},
    {NULL, 0, NULL, NULL, NULL},
};

static int needs_output(const cli_command *self, const cli_args *args) {
  if (args->extra[OUTPUT]) return 0;
  cli_complain("%s needs -o FILE, the sketch file to write", self->name);
  return 1;
}

static int run_sketch(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  nd_summary s = {0};
  nd_error err = {0};
  nd_hooks hooks;
  cli_progress progress;
  if (needs_output(self, args)) {
    exit_status = EXIT_USAGE;
  } else {
    cli_progress_start(&progress, args->options, &hooks);
    nd_status status = nd_sketch_documents(
        &s,
        &(nd_sketch_request){
            .inputs = args->inputs, .input_n = args->input_n, .file = args->extra[OUTPUT]},
        args->options, &hooks, &err);
    cli_progress_end(&progress);
    if (status == ND_OK && progress.how != CLI_PROGRESS_JSON) {
      cli_note("sketched  %s documents to %s", cli_count(s.kept), args->extra[OUTPUT]);
      if (s.rejected) cli_note("; %s rejected (see `neardup inspect`)", cli_count(s.rejected));
      cli_note("\n");
      cli_report_cost(&s);
    }
    exit_status = cli_exit(status, &err, &s);
  }
  return exit_status;
}

static int run_merge(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  nd_summary s = {0};
  nd_error err = {0};
  if (needs_output(self, args)) {
    exit_status = EXIT_USAGE;
  } else {
    nd_hooks hooks;
    cli_interruptible(&hooks);
    nd_status status = nd_sketch_merge(
        &s,
        &(nd_sketch_request){
            .inputs = args->inputs, .input_n = args->input_n, .file = args->extra[OUTPUT]},
        args->options, &hooks, &err);
    if (status == ND_OK)
      cli_note("merged    %s documents from %s files to %s\n", cli_count(s.documents),
               cli_count(s.files), args->extra[OUTPUT]);
    exit_status = cli_exit(status, &err, &s);
  }
  return exit_status;
}

static int run_info(const cli_command *self, const cli_args *args) {
  int exit_status = EXIT_DONE;
  nd_summary s = {0};
  nd_error err = {0};
  nd_hooks hooks;
  nd_sink out = cli_stdout();
  nd_status status = ND_OK;
  cli_interruptible(&hooks);
  for (size_t i = 0; i < args->input_n && status == ND_OK; i++) {
    status = nd_sketch_info(args->inputs[i], &out, &hooks, &err);
    if (status == ND_OK && i + 1 < args->input_n) status = out.write(out.context, "\n", 1, &err);
  }
  exit_status = cli_exit(status, &err, &s);
  return exit_status;
}

const cli_command cli_sketch = {
    "sketch",
    ND_FOR_SKETCH,
    "Sketch files",
    "INPUT... -o FILE [OPTION...]",
    "write sketches to a file, to use in place of documents",
    "Writes the sketches that the method needs (and those of --candidates, --confirm and "
    "--columns) to a file. `neardup pairs` takes sketch files in place of documents, with the "
    "same options, so that a sketch is computed once; several files can be read together, or "
    "merged.",
    "  neardup sketch crawl.warc.gz -o crawl.nds --method combined --columns site\n"
    "  neardup pairs crawl.nds --method combined > pairs.tsv\n"
    "  neardup pairs crawl.nds --method projection --agree-bits 360 > more.tsv\n",
    run_sketch,
    extras};

const cli_command cli_merge = {
    "merge",
    ND_FOR_MERGE,
    "Sketch files",
    "FILE... -o FILE",
    "merge sketch files",
    "Concatenates files of `neardup sketch`. They must have been made with the same options; "
    "differences are reported.",
    "  neardup merge part-*.nds -o all.nds\n",
    run_merge,
    extras};

const cli_command cli_info = {
    "info",
    ND_FOR_INFO,
    "Sketch files",
    "FILE...",
    "describe sketch files",
    "Checks files of `neardup sketch` and writes a line per property: name TAB value.",
    "  neardup info crawl.nds\n",
    run_info,
    NULL};
