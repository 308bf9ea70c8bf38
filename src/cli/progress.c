/* Progress, Ctrl-C, numbers for people, and exit statuses. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupted;
static int stdout_gone;

/* What a terminal would take for an order: control characters but tab and line end, also those
 * that UTF-8 writes as two bytes (C2 80 to C2 9F). */
static void make_harmless(char *p, size_t n) {
  unsigned char before = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)p[i];
    if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f) p[i] = '?';
    if (before == 0xc2 && c >= 0x80 && c < 0xa0) p[i - 1] = p[i] = '?';
    before = c;
  }
}

const char *cli_shown(const char *text) {
  static char buffers[4][2048];
  static int next;
  if (!isatty(STDERR_FILENO)) return text;
  char *out = buffers[next++ & 3];
  snprintf(out, sizeof *buffers, "%s", text);
  make_harmless(out, strlen(out));
  return out;
}

void cli_complain(const char *format, ...) {
  char message[8192];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (isatty(STDERR_FILENO)) make_harmless(message, strlen(message));
  fprintf(stderr, "neardup: %s\n", message);
}

static void on_signal(int number) {
  if (interrupted) _exit(128 + number); /* asked twice: at once */
  interrupted = number;
}

static int is_cancelled(void *context) {
  (void)context;
  return interrupted;
}

/* Waits for room in a pipe or terminal; 0: a signal came first.  A write of at most PIPE_BUF
 * bytes does not block then, so that a reader who is stuck cannot hold us. */
static int wait_for_room(int fd) {
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  while (!interrupted) {
    int ready = poll(&p, 1, 20);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return 1;
  }
  return 0;
}

/* Whether a message to stderr would be read, or could at least be left there. */
static int has_room(int fd) {
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  return poll(&p, 1, 0) != 0;
}

const char *cli_count(uint64_t n) {
  static char buffers[8][32];
  static int next;
  char *out = buffers[next++ & 7], digits[32];
  int length = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) out[at++] = ',';
    out[at++] = digits[i];
  }
  out[at] = '\0';
  return out;
}

const char *cli_bytes(double n) {
  static char buffers[8][32];
  static int next;
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (n >= 999.5 && unit < 5) {
    n /= 1000;
    unit++;
  }
  char *out = buffers[next++ & 7];
  snprintf(out, 32, unit && n < 99.95 ? "%.1f %s" : "%.0f %s", n, units[unit]);
  return out;
}

static void draw_bar(cli_progress *p, const nd_progress *now) {
  enum { BAR = 24 };
  char line[256];
  double share = fmin(1, (double)now->done / (double)now->total); /* a file may grow */
  int n = snprintf(line, sizeof line, "%-6s ", now->stage);
  if (now->total) {
    line[n++] = '[';
    for (int i = 0; i < BAR; i++) line[n++] = i < (int)(share * BAR) ? '#' : '.';
    line[n++] = ']';
    n += snprintf(line + n, sizeof line - (size_t)n, " %3d%%  %s documents", (int)(share * 100),
                  cli_count(now->documents));
    if (strcmp(now->stage, "read") == 0 && now->seconds > 0.5) {
      double rate = (double)now->done / now->seconds;
      int left = (int)ceil((double)now->total * (1 - share) / fmax(rate, 1));
      n += snprintf(line + n, sizeof line - (size_t)n, "  %s/s  %d:%02d left", cli_bytes(rate),
                    left / 60, left % 60);
    }
  } else if (strcmp(now->stage, "verify") == 0) {
    n += snprintf(line + n, sizeof line - (size_t)n, "%s pairs", cli_count(now->done));
  }
  unsigned width = cli_width(stderr);
  if ((unsigned)n >= width) n = (int)width - 1;
  fprintf(stderr, "\r%.*s\033[K", n, line);
  fflush(stderr);
  p->drawn = 1;
}

static void show(void *context, const nd_progress *now) {
  cli_progress *p = context;
  if (!wait_for_room(STDERR_FILENO)) return;
  if (p->how == CLI_PROGRESS_JSON) {
    fprintf(stderr,
            "{\"stage\": \"%s\", \"done\": %" PRIu64 ", \"total\": %" PRIu64
            ", \"documents\": %" PRIu64 ", \"seconds\": %.3f}\n",
            now->stage, now->done, now->total, now->documents, now->seconds);
    return;
  }
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  double clock = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
  if (clock - p->last < 0.1) return;
  p->last = clock;
  draw_bar(p, now);
}

void cli_interruptible(nd_hooks *hooks) {
  *hooks = (nd_hooks){.cancelled = is_cancelled};
  /* Without SA_RESTART, so that a signal ends a call that waits. */
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

void cli_progress_start(cli_progress *p, nd_options *options, nd_hooks *hooks) {
  memset(p, 0, sizeof *p);
  const char *term = getenv("TERM");
  int able = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
  const char *how = nd_options_get(options, "progress");
  p->how = strcmp(how, "json") == 0           ? CLI_PROGRESS_JSON
           : strcmp(how, "auto") == 0 && able ? CLI_PROGRESS_BAR
                                              : CLI_PROGRESS_NONE;
  cli_interruptible(hooks);
  hooks->context = p;
  hooks->progress = p->how == CLI_PROGRESS_NONE ? NULL : show;
}

void cli_progress_end(cli_progress *p) {
  if (p->drawn) cli_say("\r\033[K");
  p->drawn = 0;
}

static nd_status write_all(const char *bytes, size_t n, nd_error *err) {
  struct stat st;
  int plain = fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode);
  while (n) {
    if (!plain && !wait_for_room(STDOUT_FILENO))
      return nd_fail(err, ND_ERR_CANCELLED, "interrupted");
    ssize_t put = write(STDOUT_FILENO, bytes, plain || n < PIPE_BUF ? n : PIPE_BUF);
    if (interrupted) return nd_fail(err, ND_ERR_CANCELLED, "interrupted");
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      stdout_gone = errno == EPIPE;
      return nd_fail(err, ND_ERR_IO, "cannot write to standard output: %s", strerror(errno));
    }
    bytes += put;
    n -= (size_t)put;
  }
  return ND_OK;
}

static nd_status write_as_it_is(void *context, const char *bytes, size_t n, nd_error *err) {
  (void)context;
  return write_all(bytes, n, err);
}

static nd_status write_harmless(void *context, const char *bytes, size_t n, nd_error *err) {
  (void)context;
  char part[4096];
  while (n) {
    size_t m = n < sizeof part ? n : sizeof part;
    if (m < n && (unsigned char)bytes[m - 1] == 0xc2) m--; /* its other half must be seen, too */
    memcpy(part, bytes, m);
    make_harmless(part, m);
    nd_status status = write_all(part, m, err);
    if (status != ND_OK) return status;
    bytes += m;
    n -= m;
  }
  return ND_OK;
}

nd_sink cli_stdout(void) {
  return (nd_sink){NULL, isatty(STDOUT_FILENO) ? write_harmless : write_as_it_is};
}

nd_sink cli_stdout_coloured(void) {
  return (nd_sink){NULL, write_as_it_is};
}

void cli_say(const char *line) {
  if (has_room(STDERR_FILENO)) fputs(line, stderr);
}

int cli_exit(nd_status status, const nd_error *err, const nd_summary *summary) {
  if (stdout_gone) { /* the reader left: end as programs in a pipe do */
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  if (status == ND_OK) return summary->rejected ? EXIT_REJECTED : EXIT_DONE;
  if (!interrupted || has_room(STDERR_FILENO)) cli_complain("%s", err->message);
  if (interrupted) return 128 + interrupted; /* also where it made a call fail */
  return status == ND_ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

void cli_report_join(const nd_join_counts *j, nd_options *options) {
  if (!j->given || strcmp(nd_options_get(options, "stats"), "yes") != 0) return;
  const struct {
    const char *name;
    uint64_t number;
  } rows[] = {{"records", j->records},
              {"tokens", j->tokens},
              {"index-entries", j->index_entries},
              {"candidates-after-size", j->after_size},
              {"candidates-after-positional", j->after_positional},
              {"candidates-after-suffix", j->after_suffix},
              {"verified", j->verified},
              {"results", j->results},
              {"joins", j->joins}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    fprintf(stderr, "%s\t%" PRIu64 "\n", rows[i].name, rows[i].number);
  fprintf(stderr, "average-length\t%.2f\nprepare-seconds\t%.3f\njoin-seconds\t%.3f\n", j->average,
          j->prepare_seconds, j->join_seconds);
}

static void report_boilerplate(const nd_summary *s) {
  if (!s->boilerplate_documents && !s->boilerplate_whole && !s->no_site) return;
  fprintf(stderr, "boiler    %s tokens of boilerplate left out of %s document%s",
          cli_count(s->boilerplate_tokens), cli_count(s->boilerplate_documents),
          s->boilerplate_documents == 1 ? "" : "s");
  if (s->boilerplate_whole)
    fprintf(stderr, "; compared whole, being nothing else: %s", cli_count(s->boilerplate_whole));
  if (s->no_site) fprintf(stderr, "; compared whole, having no URL: %s", cli_count(s->no_site));
  fputc('\n', stderr);
}

void cli_report_sample(const nd_summary *s) {
  report_boilerplate(s);
  if (!s->sampled) return;
  double share = s->sample_seen ? 100.0 * (double)s->sample_kept / (double)s->sample_seen : 100;
  fprintf(stderr, "sample    %.2f %% of %s shingles kept", share, cli_count(s->sample_seen));
  if (s->sample_emptied)
    fprintf(stderr, "; %s document%s none left and match%s only copies",
            cli_count(s->sample_emptied), s->sample_emptied == 1 ? " has" : "s have",
            s->sample_emptied == 1 ? "es" : "");
  fprintf(stderr, "; similarities are %s\n",
          strcmp(s->verify, "exact") == 0 ? "of whole documents" : "of what is kept");
}

void cli_report_finding(const nd_summary *s, nd_options *o) {
  if (s->decision[0]) fprintf(stderr, "decided   %s\n", s->decision);
  if (s->bands)
    fprintf(stderr, "recall    %.4f predicted at similarity %s (%u bands x %u rows)\n",
            s->predicted_recall, nd_options_get(o, "threshold"), s->bands, s->rows);
  if (s->coverage[0]) fprintf(stderr, "found     %s\n", s->coverage);
  if (s->hot_buckets)
    fprintf(stderr, "hot       %s bucket%s above --bucket-cap, compared with the first only\n",
            cli_count(s->hot_buckets), s->hot_buckets == 1 ? "" : "s");
}

void cli_report_cost(const nd_summary *s) {
  double rate = (double)s->raw_bytes / fmax(s->seconds, 1e-9);
  fprintf(stderr, "time      %.2f s (%.2f s CPU, %u thread%s), %s/s, peak memory %s\n", s->seconds,
          s->cpu_seconds, s->threads, s->threads == 1 ? "" : "s", cli_bytes(rate),
          cli_bytes((double)s->peak_memory));
}
