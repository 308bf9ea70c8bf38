/* neardup COMMAND …: finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* clang-format off: a line per topic */
const cli_command *const cli_commands[] = {
    &cli_dedup, &cli_pairs, &cli_cluster, &cli_explain, &cli_inspect,    &cli_plan, &cli_sketch,
    &cli_merge, &cli_info,  &cli_eval,    &cli_study,   &cli_prevalence, NULL};
/* clang-format on */

const cli_command *cli_find_command(const char *name) {
  for (const cli_command *const *c = cli_commands; *c; c++) {
    if (strcmp((*c)->name, name) == 0) return *c;
  }
  return NULL;
}

static int complain_unknown(const char *word) {
  cli_nearest best = {NULL, 0};
  for (const cli_command *const *c = cli_commands; *c; c++) cli_offer(&best, word, (*c)->name);
  if (best.name)
    cli_complain("unknown command %s; did you mean %s?", word, best.name);
  else
    cli_complain("unknown command %s; `neardup --help` lists all", word);
  return EXIT_USAGE;
}

static int print_version(void) {
  printf("neardup %s (%s, CPU level %s)\n", nd_version(), nd_compiler(), nd_cpu_level_name());
  return EXIT_DONE;
}

/* A standard stream that is closed must not become one of our files: /dev/null
 * takes its place, opened so that using it fails. */
static void guard_standard_streams(void) {
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    int lowest = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY); /* that is fd */
    (void)lowest;
  }
}

static int run(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  if (argc < 2) {
    cli_help(stderr, NULL, 0);
    return EXIT_USAGE;
  }
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "--help-all") == 0 ||
      (strcmp(word, "help") == 0 && argc == 2)) {
    cli_help(stdout, NULL, 0);
    return EXIT_DONE;
  }
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return print_version();
  if (strcmp(word, "help") == 0) {
    const cli_command *command = cli_find_command(argv[2]);
    if (command) {
      cli_help(stdout, command, 0);
      return EXIT_DONE;
    }
    word = argv[2];
  }
  const cli_command *command = cli_find_command(word);
  if (!command) return complain_unknown(word);
  cli_args args;
  int exit_status = EXIT_DONE;
  if (cli_parse(&args, command, argc - 2, argv + 2, &exit_status) == 0)
    exit_status = command->run(command, &args);
  nd_options_free(args.options);
  return exit_status;
}

int main(int argc, char **argv) {
  guard_standard_streams();
  /* A reader that goes away and a file that may not grow are errors to report
   * after tidying up. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  int exit_status = run(argc, argv);
  /* What help and version printed. */
  if (fflush(stdout) != 0 && errno != EPIPE) {
    cli_complain("cannot write to standard output: %s", strerror(errno));
    exit_status = EXIT_FAILED;
  }
  return exit_status;
}
