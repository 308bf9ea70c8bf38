/* Help, made from the table of options, as wide as the terminal. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cli.h"

enum { NARROWEST = 40, WIDEST = 100, USUAL = 80, INDENT = 26 };

unsigned cli_width(FILE *of) {
  const char *columns = getenv("COLUMNS");
  int width = columns ? atoi(columns) : 0;
  struct winsize size = {0}; /* stays so where there is no terminal */
  (void)ioctl(fileno(of), TIOCGWINSZ, &size);
  if (width <= 0) width = size.ws_col;
  if (width <= 0) width = USUAL;
  return width < NARROWEST ? NARROWEST : (unsigned)width;
}

/* Words wrapped between `indent` and the width; the cursor is at `at`. */
static void wrap(FILE *to, const char *text, unsigned at, unsigned indent, unsigned width) {
  if (width > WIDEST) width = WIDEST;
  if (indent + 20 > width) indent = 4;
  int first = 1;
  while (*text) {
    unsigned n = (unsigned)strcspn(text, " \n");
    if (!first && at + 1 + n > width) {
      fprintf(to, "\n%*s", (int)indent, "");
      at = indent;
      first = 1;
    }
    if (!first) {
      fputc(' ', to);
      at++;
    }
    fwrite(text, 1, n, to);
    at += n;
    first = 0;
    text += n + (text[n] != '\0');
  }
  fputc('\n', to);
}

/* `left` is at most INDENT - 4 long. */
static void help_option(FILE *to, const char *left, const char *help, unsigned width) {
  fprintf(to, "  %s", left);
  if (INDENT + 20 > width) {
    fprintf(to, "\n%*s", 4, "");
  } else {
    fprintf(to, "%*s", (int)(INDENT - 2 - strlen(left)), "");
  }
  wrap(to, help, INDENT, INDENT, width);
}

static void help_table(FILE *to, const cli_command *command, unsigned width) {
  for (const nd_option_info *i = nd_option_table(); i->name; i++) {
    if (!(i->commands & command->bit)) continue;
    char left[80], help[600];
    snprintf(left, sizeof left, "--%s%s%s", i->name, i->metavar ? " " : "",
             i->metavar ? i->metavar : "");
    size_t n = (size_t)snprintf(help, sizeof help, "%s", i->help);
    if (i->values) n += (size_t)snprintf(help + n, sizeof help - n, " (one of: %s)", i->values);
    const char *standard = i->standard;
    if (command->bit == ND_FOR_CLUSTER && strcmp(i->name, "threshold") == 0) standard = "";
    if (i->type != ND_OPTION_FLAG && standard[0])
      snprintf(help + n, sizeof help - n, " [%s]", standard);
    help_option(to, left, help, width);
  }
}

static void help_extras(FILE *to, const cli_command *command, unsigned width) {
  for (const cli_extra *e = command->extras; e && e->name; e++) {
    char left[80], letter[] = {'-', e->letter, ',', ' ', '\0'};
    snprintf(left, sizeof left, "%s--%s%s%s", e->letter ? letter : "", e->name,
             e->metavar ? " " : "", e->metavar ? e->metavar : "");
    help_option(to, left, e->help, width);
  }
}

static void help_overview(FILE *to, unsigned width) {
  fprintf(to, "neardup finds near-duplicate documents.\n\nUsage: neardup COMMAND …\n\n");
  for (const cli_command *const *c = cli_commands; *c; c++)
    help_option(to, (*c)->name, (*c)->summary, width);
  fprintf(to,
          "\nExamples:\n"
          "  neardup dedup crawl.warc.gz -o out     # out/kept is the crawl without duplicates\n"
          "  neardup pairs --threshold 0.9 docs/    # near-duplicate pairs on standard output\n"
          "\nMore: neardup COMMAND --help, man neardup, neardup --version\n");
}

static int has_options(const cli_command *command) {
  if (command->extras) return 1;
  for (const nd_option_info *i = nd_option_table(); i->name; i++)
    if (i->commands & command->bit) return 1;
  return 0;
}

void cli_help(FILE *to, const cli_command *command) {
  unsigned width = cli_width(to);
  if (!command) {
    help_overview(to, width);
    return;
  }
  fprintf(to, "Usage: neardup %s %s\n\n", command->name, command->usage);
  wrap(to, command->text, 0, 0, width);
  if (has_options(command)) fprintf(to, "\nOptions:\n");
  help_extras(to, command, width);
  help_table(to, command, width);
  fprintf(to, "\nExamples:\n%s", command->examples);
  fputc('\n', to);
  wrap(to, "Exit status: 0 done; 1 failed; 2 wrong usage; 3 done, but records were rejected.", 0, 0,
       width);
}
