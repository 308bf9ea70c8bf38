/* Help, made from the table of options, as wide as the terminal.
 *
 * Options stand below the headings of their topics.  --help shows the basic ones and those of
 * the command alone, --help-all every one. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cli.h"

enum { NARROWEST = 40, WIDEST = 100, USUAL = 80, LEAST_TEXT = 20 };
enum { OPTION_INDENT = 26, COMMAND_INDENT = 14 };
enum { FEW = 16 };    /* so many options --help shows in full */
enum { TOPICS = 16 }; /* at most */

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
  if (indent + LEAST_TEXT > width) indent = at = 4;
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

/* "  LEFT      HELP", or HELP on a line of its own where it is narrow.  `left` is at most
 * indent - 4 long. */
static void help_line(FILE *to, const char *left, const char *help, unsigned indent,
                      unsigned width) {
  if (indent + LEAST_TEXT > width)
    fprintf(to, "  %s\n    ", left);
  else
    fprintf(to, "  %-*s", (int)indent - 2, left);
  wrap(to, help, indent, indent, width);
}

static void help_extra(FILE *to, const cli_extra *e, unsigned width) {
  char left[80], letter[] = {'-', e->letter, ',', ' ', '\0'};
  snprintf(left, sizeof left, "%s--%s%s%s", e->letter ? letter : "", e->name, e->metavar ? " " : "",
           e->metavar ? e->metavar : "");
  help_line(to, left, e->help, OPTION_INDENT, width);
}

/* An earlier option of the command with the same list of values, or NULL. */
static const nd_option_info *same_values(const cli_command *command, const nd_option_info *info) {
  for (size_t i = 0; nd_option_at(i) != info; i++) {
    const nd_option_info *earlier = nd_option_at(i);
    if ((earlier->commands & command->bit) && earlier->values &&
        strcmp(earlier->values, info->values) == 0)
      return earlier;
  }
  return NULL;
}

/* Prints a line for each value that is described: "- VALUE: what it means". */
static void help_values(FILE *to, const nd_option_info *info, unsigned width) {
  const unsigned indent = OPTION_INDENT + LEAST_TEXT > width ? 4 : OPTION_INDENT;
  for (const char *p = info->values; *p;) {
    char value[32], line[200];
    size_t length = strcspn(p, " ");
    snprintf(value, sizeof value, "%.*s", (int)length, p);
    p += length + (p[length] == ' ');
    const char *help = nd_option_value_help(info, value);
    snprintf(line, sizeof line, "- %s: %s", value, help ? help : "");
    fprintf(to, "%*s", (int)indent, "");
    wrap(to, line, indent, indent + 2, width);
  }
}

static void help_option(FILE *to, const cli_command *command, const nd_option_info *info, bool all,
                        unsigned width) {
  char left[80], help[600], first[32] = "";
  snprintf(left, sizeof left, "--%s%s%s", info->name, info->metavar ? " " : "",
           info->metavar ? info->metavar : "");
  size_t n = (size_t)snprintf(help, sizeof help, "%s", info->help);
  const nd_option_info *same = info->values ? same_values(command, info) : NULL;
  if (info->values)
    snprintf(first, sizeof first, "%.*s", (int)strcspn(info->values, " "), info->values);
  const bool described = all && first[0] && nd_option_value_help(info, first);
  if (same)
    n += (size_t)snprintf(help + n, sizeof help - n, " (one of those of --%s)", same->name);
  else if (info->values && !described)
    n += (size_t)snprintf(help + n, sizeof help - n, " (%s of: %s)",
                          info->type == ND_OPTION_WORD ? "one" : "any", info->values);
  const char *standard = info->standard;
  if (command->bit == ND_FOR_CLUSTER && strcmp(info->name, "threshold") == 0) standard = "";
  if (info->type != ND_OPTION_FLAG && standard[0])
    snprintf(help + n, sizeof help - n, " [%s]", standard);
  help_line(to, left, help, OPTION_INDENT, width);
  if (described) help_values(to, info, width);
}

/* Prints the heading before the first line below it. */
static void head(FILE *to, const char *topic, bool *headed) {
  if (!*headed) fprintf(to, "\n%s:\n", topic);
  *headed = true;
}

static void help_topic(FILE *to, const cli_command *command, const char *topic, bool all,
                       unsigned width) {
  bool headed = false;
  for (const cli_extra *e = command->extras; e && e->name; e++) {
    if (strcmp(e->topic, topic) != 0) continue;
    head(to, topic, &headed);
    help_extra(to, e, width);
  }
  const nd_option_info *info;
  for (size_t i = 0; (info = nd_option_at(i)); i++) {
    if (!(info->commands & command->bit) || strcmp(info->topic, topic) != 0) continue;
    if (!all && !info->basic) continue;
    head(to, topic, &headed);
    help_option(to, command, info, all, width);
  }
  for (const cli_extra *e = cli_everywhere; e->name; e++) {
    if (strcmp(e->topic, topic) != 0) continue;
    head(to, topic, &headed);
    help_extra(to, e, width);
  }
}

/* Topics in the order of the table, those with basic options first. */
static size_t list_topics(const char *topics[TOPICS]) {
  size_t n = 0;
  const nd_option_info *info;
  for (int basic = 1; basic >= 0; basic--) {
    for (size_t i = 0; (info = nd_option_at(i)); i++) {
      size_t k = 0;
      while (k < n && strcmp(topics[k], info->topic) != 0) k++;
      if (k == n && n < TOPICS && (info->basic || !basic)) topics[n++] = info->topic;
    }
  }
  return n;
}

static size_t count_options(const cli_command *command) {
  size_t n = 0;
  const nd_option_info *info;
  for (size_t i = 0; (info = nd_option_at(i)); i++) n += (info->commands & command->bit) != 0;
  for (const cli_extra *e = command->extras; e && e->name; e++) n++;
  return n;
}

static void help_overview(FILE *to, unsigned width) {
  fputs("neardup finds near-duplicate documents.\n\nUsage: neardup COMMAND ARGUMENT...\n", to);
  const char *topic = "";
  for (const cli_command *const *c = cli_commands; *c; c++) {
    if (strcmp(topic, (*c)->topic) != 0) fprintf(to, "\n%s:\n", (*c)->topic);
    topic = (*c)->topic;
    help_line(to, (*c)->name, (*c)->summary, COMMAND_INDENT, width);
  }
  fputs(
      "\nExamples:\n"
      "  neardup dedup crawl.warc.gz -o out   # out/kept: the crawl without duplicates\n"
      "  neardup pairs --threshold 0.9 docs/  # pairs on standard output\n\n",
      to);
  wrap(to, "More: neardup COMMAND --help, man neardup, neardup --version", 0, 6, width);
}

void cli_help(FILE *to, const cli_command *command, int all) {
  unsigned width = cli_width(to);
  if (!command) {
    help_overview(to, width);
    return;
  }
  char usage[200];
  snprintf(usage, sizeof usage, "Usage: neardup %s %s", command->name, command->usage);
  wrap(to, usage, 0, 7, width);
  fputc('\n', to);
  wrap(to, command->text, 0, 0, width);
  const char *topics[TOPICS];
  size_t n = list_topics(topics);
  for (size_t i = 0; i < n; i++)
    help_topic(to, command, topics[i], all || count_options(command) <= FEW, width);
  fprintf(to, "\nExamples:\n%s\n", command->examples);
  wrap(to, "Exit status: 0 done; 1 failed; 2 wrong usage; 3 done, but records were rejected.", 0, 0,
       width);
}
