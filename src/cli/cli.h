/* The command: what its parts share.  Only public headers of the library. */
#ifndef ND_CLI_CLI_H
#define ND_CLI_CLI_H

#include <neardup.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_REJECTED = 3, EXIT_INTERRUPTED = 130 };

/* An option of one command only; those that several share are in the library's
 * table.  Without a metavar it is a flag; when that ends in "..." the option may
 * repeat, and its values join the inputs. */
typedef struct cli_extra {
  const char *name; /* without the dashes; NULL ends the list */
  char letter;      /* -o, which takes a value; 0: none */
  const char *metavar;
  const char *topic; /* heading of help, one of those of the library's table */
  const char *help;
} cli_extra;
struct cli_args;
enum { CLI_EXTRAS = 16 }; /* of one command, at most */

extern const cli_extra cli_everywhere[]; /* options of every command */

typedef struct cli_command {
  const char *name;
  unsigned bit;        /* ND_FOR_… */
  const char *topic;   /* heading of the overview */
  const char *usage;   /* after the name */
  const char *summary; /* one line: what it does */
  const char *text;    /* a paragraph */
  const char *examples;
  int (*run)(const struct cli_command *self, const struct cli_args *args);
  const cli_extra *extras; /* NULL: none */
} cli_command;

extern const cli_command cli_dedup, cli_pairs, cli_cluster, cli_inspect, cli_study, cli_eval,
    cli_prevalence, cli_plan, cli_explain;
extern const cli_command cli_sketch, cli_merge, cli_info;
extern const cli_command *const cli_commands[]; /* ends with NULL */

/* Parsed arguments of a command. */
typedef struct cli_args {
  nd_options *options;
  const char *extra[CLI_EXTRAS]; /* values of the command's extras, by place; NULL: not given */
  const char **inputs;           /* in argv */
  size_t input_n;
} cli_args;

/* The command of that name, or NULL. */
const cli_command *cli_find_command(const char *name);

/* For "did you mean": makes `name` the nearest one if it is near enough and nearer than those
 * offered before.  Begin with all zero. */
typedef struct cli_nearest {
  const char *name;
  unsigned distance;
} cli_nearest;
void cli_offer(cli_nearest *best, const char *word, const char *name);

/* Returns 0 if the command can run; otherwise *exit_status is set, and help or a mistake is
 * printed. out->options is owned either way. */
int cli_parse(cli_args *out, const cli_command *command, int argc, char **argv, int *exit_status);

/* Prints help on a command with its basic options, or with all; NULL: lists the commands. */
void cli_help(FILE *to, const cli_command *command, int all);
unsigned cli_width(FILE *of);

/* A name for a line on stderr: without control characters when that is a terminal.  In one of a
 * few static buffers. */
const char *cli_shown(const char *text);

/* Prints "neardup: MESSAGE" on stderr: an error. */
void cli_complain(const char *format, ...) ND_PRINTF(1, 2);

/* The same for a warning, and a part of the summary as it is.  Not after cli_set_quiet. */
void cli_warn(const char *format, ...) ND_PRINTF(1, 2);
void cli_note(const char *format, ...) ND_PRINTF(1, 2);
void cli_set_quiet(void);
int cli_is_quiet(void);

/* Prints a note after an interruption, unless a full pipe would hold us. */
void cli_say(const char *line);

/* Replaces what a terminal would take for a command: control characters but tab and line end,
 * also those that UTF-8 writes as two bytes (C2 80 to C2 9F). */
void cli_make_harmless(char *p, size_t n);

/* Waits for room in a pipe or terminal; returns 0 if a signal came first.  A write of at most
 * PIPE_BUF bytes does not block afterwards, so a reader who is stuck cannot hold us. */
int cli_wait_for_room(int fd);

/* Progress on stderr, as --progress says; Ctrl-C. */
typedef struct cli_progress {
  enum { CLI_PROGRESS_NONE, CLI_PROGRESS_BAR, CLI_PROGRESS_JSON } how;
  int drawn;
  double last;
} cli_progress;
/* Ctrl-C alone, for commands without progress. */
void cli_interruptible(nd_hooks *hooks);
void cli_progress_start(cli_progress *p, nd_options *options, nd_hooks *hooks);
void cli_progress_end(cli_progress *p);

/* Standard output as a sink.  A terminal gets no control characters of the input's. */
nd_sink cli_stdout(void);
nd_sink cli_stdout_coloured(void); /* for output that holds escape sequences of ours only */

/* The exit status for how a job ended; complains where it must. */
int cli_exit(nd_status status, const nd_error *err, const nd_summary *summary);

/* "s", or nothing for 1. */
const char *cli_plural(uint64_t n);

/* "1,234,567" and "12.3 MB", in one of a few static buffers. */
const char *cli_count(uint64_t n);
const char *cli_bytes(double n);

/* --stats: a join's counts on stderr, name TAB number. */
void cli_report_join(const nd_join_counts *join, nd_options *options);

/* What --sample and --ignore-boilerplate left out, on stderr. */
void cli_report_sample(const nd_summary *s);

/* How pairs were decided, what was found for sure, and what was cut, on stderr. */
void cli_report_finding(const nd_summary *s, nd_options *options);

/* The closing lines on stderr. */
void cli_report_cost(const nd_summary *s);

#endif
