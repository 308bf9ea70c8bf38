/* Arguments → options, through the library's table. */
#include <stdbool.h>
#include <string.h>

#include "cli.h"

static const nd_option_info *find_option(const char *name, size_t n) {
  const nd_option_info *info = nd_option_at(0);
  for (size_t i = 0; info; info = nd_option_at(++i))
    if (strlen(info->name) == n && memcmp(info->name, name, n) == 0) break;
  return info;
}

void cli_offer(cli_nearest *best, const char *word, const char *name) {
  unsigned distance = nd_name_distance(word, name);
  bool near = distance <= 3 && 2 * distance <= strlen(name);
  if (near && (!best->name || distance < best->distance)) *best = (cli_nearest){name, distance};
}

static int wrong(const cli_command *command, int *exit_status) {
  fprintf(stderr, "Try `neardup %s --help`.\n", command->name);
  *exit_status = EXIT_USAGE;
  return 1;
}

enum { QUIET, HELP, HELP_ALL };
const cli_extra cli_everywhere[] = {
    {"quiet", 'q', NULL, "General", "print no summary and no warnings, only errors"},
    {"help", 'h', NULL, "General", "show the basic options"},
    {"help-all", 0, NULL, "General", "show all options, by topic"},
    {NULL, 0, NULL, NULL, NULL}};

/* Returns the index of an option by name or by letter, or -1. */
static int find_extra(const cli_extra *e, const char *name, size_t n, char letter) {
  for (int i = 0; e && e[i].name; i++) {
    if (letter ? e[i].letter == letter : strlen(e[i].name) == n && memcmp(e[i].name, name, n) == 0)
      return i;
  }
  return -1;
}

static int complain_unknown(const cli_command *command, const char *word, int *exit_status) {
  cli_nearest best = {NULL, 0};
  for (const cli_extra *e = command->extras; e && e->name; e++) cli_offer(&best, word, e->name);
  const nd_option_info *info;
  for (size_t i = 0; (info = nd_option_at(i)); i++)
    if (info->commands & command->bit) cli_offer(&best, word, info->name);
  for (const cli_extra *e = cli_everywhere; e->name; e++) cli_offer(&best, word, e->name);
  if (best.name)
    cli_complain("unknown option --%s; did you mean --%s?", word, best.name);
  else
    cli_complain("unknown option --%s", word);
  return wrong(command, exit_status);
}

static int repeats(const char *metavar) {
  size_t n = strlen(metavar);
  return n > 3 && strcmp(metavar + n - 3, "...") == 0;
}

static int take_extra(cli_args *out, const cli_command *command, int place, const char *value,
                      int *exit_status) {
  const cli_extra *e = &command->extras[place];
  if (!e->metavar && value) {
    cli_complain("--%s takes no value", e->name);
    return wrong(command, exit_status);
  }
  if (e->metavar && !value) {
    cli_complain("--%s needs a value: %s", e->name, e->metavar);
    return wrong(command, exit_status);
  }
  out->extra[place] = value ? value : "yes";
  if (value && repeats(e->metavar)) out->inputs[out->input_n++] = value;
  return 0;
}

/* Returns the index of an option that every command takes, or -1. */
static int find_everywhere(const char *a) {
  if (a[1] == '-') return find_extra(cli_everywhere, a + 2, strcspn(a + 2, "="), 0);
  return a[2] ? -1 : find_extra(cli_everywhere, NULL, 0, a[1]);
}

static int take_everywhere(const cli_command *command, const char *a, int *exit_status) {
  const int place = find_everywhere(a);
  if (strchr(a, '=')) {
    cli_complain("--%s takes no value", cli_everywhere[place].name);
    return wrong(command, exit_status);
  }
  if (place == QUIET) {
    cli_set_quiet();
    return 0;
  }
  cli_help(stdout, command, place == HELP_ALL);
  *exit_status = EXIT_DONE;
  return 1;
}

/* One --option; *i is moved past its value. */
static int take_option(cli_args *out, const cli_command *command, int argc, char **argv, int *i,
                       int *exit_status) {
  const char *name = argv[*i] + 2;
  size_t n = strcspn(name, "=");
  const char *value = name[n] == '=' ? name + n + 1 : NULL;
  const nd_option_info *info = find_option(name, n);
  nd_error err = {0};
  char plain[64];
  snprintf(plain, sizeof plain, "%.*s", (int)(n < 63 ? n : 63), name);
  int extra = find_extra(command->extras, name, n, 0);
  if (extra >= 0) {
    if (!value && command->extras[extra].metavar && *i + 1 < argc) value = argv[++*i];
    return take_extra(out, command, extra, value, exit_status);
  }
  if (!info) return complain_unknown(command, plain, exit_status);
  if (!(info->commands & command->bit)) {
    cli_complain("--%s is not an option of `neardup %s`", info->name, command->name);
    return wrong(command, exit_status);
  }
  if (info->type == ND_OPTION_FLAG) {
    if (!value) value = "yes";
  } else if (!value && *i + 1 < argc) {
    value = argv[++*i];
  }
  if (!value) {
    cli_complain("--%s needs a value", info->name);
    return wrong(command, exit_status);
  }
  if (nd_options_set(out->options, info->name, value, &err) == ND_OK) return 0;
  cli_complain("%s", err.message);
  return wrong(command, exit_status);
}

int cli_parse(cli_args *out, const cli_command *command, int argc, char **argv, int *exit_status) {
  memset(out, 0, sizeof *out);
  nd_error err = {0};
  if (nd_options_new(&out->options, &err) != ND_OK) {
    cli_complain("%s", err.message);
    *exit_status = EXIT_FAILED;
    return 1;
  }
  /* Inputs gather where arguments stood that were read before. */
  memcpy(&out->inputs, &argv, sizeof argv);
  int options_end = 0;
  for (int i = 0; i < argc; i++) {
    const char *a = argv[i];
    if (options_end || a[0] != '-' || a[1] == '\0') {
      out->inputs[out->input_n++] = a;
    } else if (strcmp(a, "--") == 0) {
      options_end = 1;
    } else if (find_everywhere(a) >= 0) {
      if (take_everywhere(command, a, exit_status)) return 1;
    } else if (a[1] != '-' && find_extra(command->extras, NULL, 0, a[1]) >= 0) {
      int place = find_extra(command->extras, NULL, 0, a[1]);
      const char *value = a[2] ? a + 2 : NULL;
      if (!value && i + 1 < argc) value = argv[++i];
      if (take_extra(out, command, place, value, exit_status)) return 1;
    } else if (a[1] == '-') {
      if (take_option(out, command, argc, argv, &i, exit_status)) return 1;
    } else {
      cli_complain("unknown option %s", a);
      return wrong(command, exit_status);
    }
  }
  if (command->bit != ND_FOR_CLUSTER && nd_options_check(out->options, &err) != ND_OK) {
    cli_complain("%s", err.message);
    return wrong(command, exit_status);
  }
  if (out->input_n == 0) {
    cli_complain("no input given");
    return wrong(command, exit_status);
  }
  return 0;
}
